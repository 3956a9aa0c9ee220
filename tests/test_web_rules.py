"""The rules, the encoding and the bot in JavaScript are those of Python (nardy_rl/export/web).

`benchmarks/prove_web_rules.py` is the long form.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl.encoding import Encoding
from nardy_rl.export.web_rules import rules_json
from nardy_rl.rules import Position, Rules, variant, variants
from nardy_rl.train.checkpoint import load_checkpoint
from tests.reachable import Turns, play_turns
from tests.web_node import (
    MODULES,
    ROOT,
    WALKED,
    Node,
    choices,
    disagreements,
    python_series,
    question,
)

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None, reason="node is not installed (apt-get install nodejs)"
)

TURNS, EVERY = 120, 10
"""Of so many turns one in so many is compared: the beginning, the middle and the end of games."""


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with Node() as running:
        yield running


def _differences(node: Node, rules: Rules, seed: int = 0) -> Iterator[str]:
    turns = play_turns(rules, games=1, turns=TURNS, rng=np.random.default_rng(seed))
    for now in islice(turns, 0, None, EVERY):
        yield from disagreements(node, rules, now)


@pytest.mark.parametrize("name", variants())
def test_decisions_are_those_of_the_kernels(node: Node, name: str) -> None:
    rng = np.random.default_rng(len(name))
    options = {o.name: str(rng.choice(o.allowed)) for o in variant(name).options()}
    for rules in (variant(name), variant(name, **options)):
        assert node.use_rules(rules) == Encoding.of(rules).size
        assert list(_differences(node, rules)) == []


@pytest.mark.parametrize(
    "rules",
    [
        variant("long_nardy", next_starter="winner"),
        variant("long_nardy_draw", opening_roll="use_opening_dice"),
        variant("gul_bara", next_starter="roll"),
        variant("hypergammon"),
        variant("plakoto"),
    ],
    ids=lambda rules: rules.name,
)
def test_series_are_those_of_env(node: Node, rules: Rules) -> None:
    node.use_rules(rules)
    expected = python_series(rules, seed=3, games=4)
    assert node.ask("series", seed=3, games=4)["lines"] == expected


@pytest.mark.parametrize("name", ["long_nardy", "hypergammon", "mad_gyulbar", "plakoto"])
def test_the_bot_chooses_as_the_player(node: Node, name: str) -> None:
    checkpoint = load_checkpoint(ROOT / "checkpoints" / name)
    node.use_rules(checkpoint.rules)
    node.use_net(checkpoint)
    for choice in choices(node, checkpoint, 20, np.random.default_rng(0)):
        assert choice.lost <= 1e-6, choice
        assert choice.apart < 1e-5, choice


MUTATIONS: list[tuple[str, str, str, dict[str, str]]] = [
    ("limits.js", "point === 12 ? 2 : 1", "1", {"variant": "long_nardy"}),
    ("limits.js", "start + 5 >= front", "start + 6 >= front", {"variant": "long_nardy"}),
    ("limits.js", "runnerOnTheWay(board) {", "runnerOnTheWay(board) { return false;",
     {"variant": "fevga"}),
    ("limits.js", "count(19) > most", "count(19) > 6", {"variant": "fevga"}),
    ("ladder.js", "steps - used, GIVEN", "steps, GIVEN", {"variant": "mad_gyulbar"}),
    ("ladder.js", "head -= before[HEAD] - after[HEAD]", "head -= 0", {"variant": "mad_gyulbar"}),
    ("rules.js", "results.best === 0)", "true)", {"variant": "backgammon"}),
    ("rules.js", "Math.min(die, farthest)", "die", {"variant": "backgammon"}),
    ("rules.js", "board[SIDE + BAR]++", "board[SIDE + OFF]++", {"variant": "backgammon"}),
    ("rules.js", "marks[from]--", "marks[from] -= 0",
     {"variant": "backgammon", "hit_run": "no_hide", "hit_run_zone": "all"}),
    ("rules.js", "board[point] > 0 ? PINNED : 1", "PINNED", {"variant": "plakoto"}),
    ("rules.js", "const first = this.ended++", "const first = this.ended",
     {"variant": "plakoto", "mother": "at_once"}),
    ("steps.js", "dice.length || isEnd(turn, node)) return false", "1) return false",
     {"variant": "long_nardy"}),
    ("encoding.js", "0.5 * (count - 3)", "count - 3", {"variant": "long_nardy"}),
    ("encoding.js", "listed.push(size - 1)", "listed.push(size - 2)",
     {"variant": "mad_gyulbar"}),
]  # fmt: skip


def _larger_die() -> Turns:
    """A lone checker that can play either die but not both, which random games hardly bring."""
    opponent = {16: 2, 19: 13}
    position = Position.from_points(variant("backgammon"), {20: 1}, opponent, me_off=14)
    state = np.zeros(1, np.uint8)
    return Turns(
        position.points[None].copy(), state, state, np.array([[6, 5]], np.int8), np.zeros(0)
    )


@pytest.mark.parametrize(("file", "old", "new", "game"), MUTATIONS)
def test_a_wrong_rule_is_noticed(
    tmp_path: Path, file: str, old: str, new: str, game: dict[str, str]
) -> None:
    """The comparison above can fail: each of these changes makes it."""
    modules = tmp_path / "web"
    shutil.copytree(MODULES, modules, ignore=lambda _, names: [n for n in names if "." not in n])
    text = (modules / file).read_text()
    assert text.count(old) == 1
    (modules / file).write_text(text.replace(old, new))
    options = dict(game)
    rules = variant(options.pop("variant"), **options)
    with Node(modules) as wrong:
        wrong.use_rules(rules)
        turns = play_turns(rules, games=6, turns=TURNS, rng=np.random.default_rng(1))
        walked = WALKED if file == "steps.js" else 0
        with suppress(RuntimeError):  # a board that cannot be is noticed as well
            seen = chain([_larger_die()] if rules == variant("backgammon") else [], turns)
            assert any(True for now in seen for _ in disagreements(wrong, rules, now, walked))


def _asked(position: Position, roll: tuple[int, int]) -> dict[str, Any]:
    return question(position.points, position.flags, position.pending, roll)


def test_steps_of_a_turn_in_progress(node: Node) -> None:
    """From 6-5 on the bar: it enters with either die, and then the rest goes with the other."""
    rules = variant("backgammon")
    node.use_rules(rules)
    position = Position.from_points(
        rules, {13: 5, 8: 4, 6: 5}, {24: 2, 13: 5, 8: 3, 6: 5}, me_bar=1
    )
    asked = _asked(position, (6, 5))
    first = node.ask("steps", **asked, made=[])
    assert [(move["from"], move["to"]) for move in first["steps"]] == [(25, 20)]
    assert (first["result"], sorted(first["dice"])) == (-1, [5, 6])
    second = node.ask("steps", **asked, made=[{"from": 25, "die": 5}])
    assert second["dice"] == [6]
    assert {move["from"] for move in second["steps"]} == {20, 13, 8}
    last = node.ask("steps", **asked, made=[{"from": 25, "die": 5}, {"from": 20, "die": 6}])
    assert (last["steps"], last["dice"]) == ([], [])
    assert last["result"] >= 0
    with pytest.raises(RuntimeError, match="cannot be made"):
        node.ask("steps", **asked, made=[{"from": 13, "die": 5}])


def _long(me: dict[int, int], opp: dict[int, int], **more: Any) -> Position:
    return Position.from_points(variant("long_nardy"), me, opp, **more)


WHY = [
    (Position.start(variant("long_nardy")), (6, 5), 24, 20, "the dice left are 6 and 5"),
    (Position.start(variant("long_nardy")), (6, 5), 23, 17, "no checker of yours stands there"),
    (_long({24: 14, 18: 1}, {24: 14, 1: 1}), (6, 5), 18, 12, "point 12 is closed"),
    (_long({24: 14, 3: 1}, {24: 14, 1: 1}), (6, 5), 3, 0, "all checkers must be home before"),
    (_long({3: 15}, {24: 15}), (2, 1), 3, 0, "no die left is large enough"),
    (_long({5: 14, 3: 1}, {24: 15}), (4, 1), 3, 0, "a die larger than 3 bears off only when"),
]


@pytest.mark.parametrize(("position", "roll", "start", "end", "reason"), WHY)
def test_why_a_move_is_not_legal(
    node: Node, position: Position, roll: tuple[int, int], start: int, end: int, reason: str
) -> None:
    node.use_rules(position.rules)
    found = node.ask("why", **_asked(position, roll), made=[], **{"from": start, "to": end})
    assert found["reason"].startswith(reason)


def test_why_names_the_rule_that_forbids(node: Node) -> None:
    rules = variant("long_nardy")
    node.use_rules(rules)
    asked = _asked(Position.start(rules), (6, 5))
    made = [{"from": 24, "die": 6}]
    found = node.ask("why", **asked, made=made, **{"from": 24, "to": 19})
    assert found["reason"] == "head rule (classic): no more checkers may leave the head this turn"
    wall = _long({24: 3, 20: 2, **dict.fromkeys(range(13, 18), 2)}, {24: 15})
    found = node.ask("why", **_asked(wall, (6, 2)), made=[], **{"from": 20, "to": 18})
    assert found["reason"] == "prime rule (ahead): it would build a forbidden prime"


def test_why_asks_for_more_dice_or_the_larger(node: Node) -> None:
    rules = variant("backgammon")
    node.use_rules(rules)
    # 20/15 leaves no six: the opponent holds 9 and 7, and 2.
    two = Position.from_points(rules, {20: 1, 13: 1}, {16: 2, 18: 2, 23: 2, 24: 9}, me_off=13)
    assert [str(play) for play in two.plays((6, 5))] == ["20/14 13/8"]
    found = node.ask("why", **_asked(two, (6, 5)), made=[], **{"from": 20, "to": 15})
    assert found["reason"] == "only 1 die could be played so, but 2 dice must be"
    one = Position.from_points(rules, {20: 1}, {16: 2, 19: 13}, me_off=14)
    assert [str(play) for play in one.plays((6, 5))] == ["20/14"]
    found = node.ask("why", **_asked(one, (6, 5)), made=[], **{"from": 20, "to": 15})
    assert found["reason"] == "the larger die, 6, can be played and must be"


def test_rules_of_another_version_are_refused(node: Node) -> None:
    told = rules_json(variant("fevga")) | {"rules_version": 0}
    with pytest.raises(RuntimeError, match="rules_version: 0"):
        node.ask("rules", json=told)
    del (missing := rules_json(variant("fevga")))["kernel"]
    with pytest.raises(RuntimeError, match="kernel is missing"):
        node.ask("rules", json=missing)


def test_rules_are_plain_json() -> None:
    for name in variants():
        told = rules_json(variant(name))
        assert json.loads(json.dumps(told)) == told

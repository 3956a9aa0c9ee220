"""gnubg as a player and a judge: its own answers, whatever the batch; clear words without it."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.arena import play_match
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.players import GnubgPlayer, GnubgValuer, make_player
from nardy_rl.players import gnubg as players_gnubg
from nardy_rl.rules import LegalAfterstates, Position, legal_afterstates, set_threads, variant
from nardy_rl.search import preroll_equities
from tests.reachable import play_turns

BACKGAMMON = variant("backgammon")
KEYS = np.zeros(4096, np.uint64)
installed = importlib.util.find_spec("gnubg_nn") is not None
needs_gnubg = pytest.mark.skipif(not installed, reason="gnubg-nn is not installed")


@pytest.fixture(autouse=True)
def one_process() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


@lru_cache
def decisions_of(name: str = "backgammon") -> tuple[Decisions, np.ndarray]:
    """Some hundred decisions from the start to the end of games, and their rolls."""
    rules = variant(name)
    turns = play_turns(rules, games=8, turns=120, rng=np.random.default_rng(4))
    kept = list(itertools.islice(turns, 0, None, 8))
    points = np.concatenate([turn.points for turn in kept])
    return decisions_at(points, np.concatenate([turn.rolls for turn in kept]), name)


def decisions_at(
    points: np.ndarray, rolls: np.ndarray, name: str = "backgammon"
) -> tuple[Decisions, np.ndarray]:
    none = np.zeros(len(points), np.uint8)
    return Decisions(points, none, none, legal_afterstates(variant(name), points, rolls)), rolls


def chosen_by(plies: int, decisions: Decisions, rolls: np.ndarray) -> np.ndarray:
    return GnubgPlayer(BACKGAMMON, plies).choose(decisions, rolls, KEYS[: len(rolls)])


def asked_directly(board: np.ndarray, plies: int) -> tuple[float, ...]:
    """The library's own five numbers for the side that is not on roll, in this process."""
    import gnubg_nn  # type: ignore[import-untyped]

    answer: tuple[float, ...] = gnubg_nn.probabilities(
        [board[0, 1:].tolist(), board[1, 1:].tolist()], plies
    )
    return answer


@needs_gnubg
@pytest.mark.parametrize(
    ("name", "plies"), [("backgammon", 0), ("nackgammon", 0), ("backgammon", 1)]
)
def test_equities_are_the_librarys_own(name: str, plies: int) -> None:
    decisions, _ = decisions_of(name)
    if plies:
        some = decisions.legal.after[:40]
        legal = LegalAfterstates(some, np.array([0, 40]), decisions.legal.dice_used[:1])
        decisions = Decisions(
            decisions.points[:1], decisions.flags[:1], decisions.pending[:1], legal
        )
    equities = GnubgValuer(variant(name), plies).equities(decisions)
    assert equities.dtype == np.float32
    running = (decisions.legal.after[:, :, 0] < 15).all(1)
    assert plies or running.sum() > 1000
    for row in np.flatnonzero(running):
        win, gammon, backgammon, lost, lost_more = asked_directly(decisions.legal.after[row], plies)
        theirs = 2 * win - 1 + gammon + backgammon - lost - lost_more
        assert equities[row] == pytest.approx(-theirs, abs=2e-6)


@needs_gnubg
def test_distributions_are_distributions_and_results_are_exact() -> None:
    decisions, _ = decisions_of()
    valuer = GnubgValuer(BACKGAMMON)
    shares = valuer.distributions(decisions)
    assert shares.shape == (len(decisions.legal.after), 6)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-6)
    np.testing.assert_allclose(
        shares @ np.array(BACKGAMMON.outcomes), valuer.equities(decisions), atol=1e-5
    )
    # The last checker off against a checker in my home, on his 24: a backgammon, or less.
    last = np.zeros((3, 2, 26), np.int8)
    last[:, 0, [0, 1]] = 14, 1
    last[0, 1, [24, 6]] = 1, 14
    last[1, 1, 6] = 15
    last[2, 1, [0, 6]] = 1, 14
    ended, _ = decisions_at(last, np.tile(np.array([[2, 1]], np.int8), (3, 1)))
    assert valuer.equities(ended).tolist() == [3.0, 2.0, 1.0]
    assert valuer.distributions(ended).argmax(1).tolist() == [5, 4, 3]


@needs_gnubg
@pytest.mark.parametrize("plies", [0, 1])
def test_plays_what_the_library_would_play(plies: int) -> None:
    import gnubg_nn

    decisions, rolls = decisions_of()
    if plies:
        decisions, rolls = decisions_at(decisions.points[::8], rolls[::8])
    rows = chosen_by(plies, decisions, rolls)
    low, high = decisions.legal.offsets[:-1], decisions.legal.offsets[1:]
    assert ((low <= rows) & (rows < high)).all()
    differ = 0
    for b in np.flatnonzero(high - low > 1):
        mine, his = decisions.points[b]
        board = [his[1:].tolist(), mine[1:].tolist()]
        _, key, *_ = gnubg_nn.best_move(board, *rolls[b].tolist(), n=plies, b=1)
        theirs = np.array(gnubg_nn.board_from_position_key(key))
        differ += bool((decisions.legal.after[rows[b], :, 1:] != theirs).any())
    # Plays of exactly equal worth, in won races and finished games.
    assert differ <= (0 if plies else len(rolls) // 25)


@needs_gnubg
def test_openings_and_the_worth_of_the_first_roll() -> None:
    start = Position.start(BACKGAMMON)
    for roll, play in (((3, 1), "8/5 6/5"), ((6, 1), "13/7 8/7"), ((4, 2), "8/4 6/4")):
        decisions, rolls = decisions_at(start.points[None].copy(), np.array([roll], np.int8))
        row = chosen_by(0, decisions, rolls)[0]
        wanted = next(p for p in start.plays(roll) if str(p) == play)
        assert (decisions.legal.after[row] == wanted.after.points).all()
    flags = np.zeros(1, np.uint8)
    # Rollouts of the start give the side on roll +0.07 points, doubles counted.
    worth = preroll_equities(BACKGAMMON, GnubgValuer(BACKGAMMON), start.points[None].copy(), flags)
    assert worth[0] == pytest.approx(0.07, abs=0.03)


@needs_gnubg
@pytest.mark.parametrize("plies", [0, 1])
def test_a_choice_depends_on_its_own_decision_alone(plies: int) -> None:
    decisions, rolls = decisions_of()
    if plies:
        decisions, rolls = decisions_at(decisions.points[::9], rolls[::9])
    forward = chosen_by(plies, decisions, rolls) - decisions.legal.offsets[:-1]
    order = np.random.default_rng(1).permutation(len(rolls))
    set_threads(3)
    turned, turned_rolls = decisions_at(decisions.points[order].copy(), rolls[order])
    again = chosen_by(plies, turned, turned_rolls) - turned.legal.offsets[:-1]
    assert (again == forward[order]).all()


@needs_gnubg
def test_against_itself_exactly_0_and_above_pubeval_as_published() -> None:
    gnubg = make_player("gnubg", BACKGAMMON)
    assert gnubg.name == "gnubg 0-ply"
    assert play_match(BACKGAMMON, gnubg, gnubg, 20, seed=3).ppg == (0.0, 0.0)
    result = play_match(BACKGAMMON, gnubg, make_player("pubeval", BACKGAMMON), 400, seed=3)
    assert abs(result.ppg.value - 0.63) < 4 * result.ppg.se
    assert result.ppg.se < 0.1


@needs_gnubg
def test_a_process_that_dies_is_an_error_and_the_next_question_starts_another() -> None:
    decisions, _ = decisions_of()
    valuer = GnubgValuer(BACKGAMMON)
    before = valuer.equities(decisions)
    players_gnubg._workers()._running[0][0].kill()
    with pytest.raises(RuntimeError, match=r"gnubg stopped while it was asked: .*exit status -9"):
        valuer.equities(decisions)
    assert (valuer.equities(decisions) == before).all()


@needs_gnubg
def test_an_interrupted_question_leaves_no_answers_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions, _ = decisions_of()
    valuer = GnubgValuer(BACKGAMMON)
    before = valuer.equities(decisions)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        # After the question went out, before the answer is read.
        patched.setattr(players_gnubg, "_read_answer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            valuer.distributions(decisions)
    assert (valuer.equities(decisions) == before).all()


def test_nothing_imports_an_extra_unasked() -> None:
    code = (
        "import sys, nardy_rl.players, nardy_rl.arena, nardy_rl.export;"
        "print({'gnubg_nn', 'onnx', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("long_nardy", {}, "gnubg does not play long_nardy; it plays backgammon and nackgammon"),
        ("hypergammon", {}, "gnubg does not play hypergammon"),
        ("tavla", {}, "gnubg does not play tavla with hit_run=no_continue; it knows hit_run=allow"),
        ("backgammon", {"koks": "none"}, "backgammon with koks=none; it knows koks=backgammon"),
    ],
)
def test_other_games_are_refused(name: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_player("gnubg", variant(name, **options))


def test_plies_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"plies=3 is not allowed; whole numbers 0\.\.2"):
        GnubgPlayer(BACKGAMMON, plies=3)


def test_without_the_library_the_install_line_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'nardy-rl\[gnubg\]'"):
        GnubgValuer(BACKGAMMON)
    assert cli.main(["arena", "a=gnubg", "b=pips", "variant=backgammon", "games=2"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "error: a: the player gnubg needs the package gnubg-nn: pip install 'nardy-rl[gnubg]'\n"
    )

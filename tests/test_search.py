"""Looking ahead: the replies of every roll, plies and filters, against plain loops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nardy_rl.encoding import Encoding
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions, FloatEvaluator, KernelEvaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules import Position, Rules, legal_afterstates, set_threads, variant, variants
from nardy_rl.rules.board import turn_flags
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.search import (
    ROLL_CHANCES,
    ROLLS,
    Filter,
    Lookahead,
    NetValuer,
    Valuer,
    best_replies,
    best_rows,
    decisions_at,
    preroll_equities,
    turned,
)
from nardy_rl.search.distinct import once_each
from tests.reachable import play_turns

EVERYTHING = Filter(10_000, 100.0)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def a_net(rules: Rules, hidden: tuple[int, ...] = (8,)) -> ValueNet:
    net = ValueNet(
        Encoding.of(rules).size, hidden, rules.outcomes, torch.Generator().manual_seed(4)
    )
    with torch.no_grad():
        list(net.parameters())[-2].mul_(10.0)  # a fresh net has hardly an opinion
    return net


@lru_cache
def net_valuer(name: str, kind: str = "kernel") -> NetValuer:
    rules = variant(name)
    encoding = Encoding.of(rules)
    make = KernelEvaluator if kind == "kernel" else FloatEvaluator
    return NetValuer(rules, make(a_net(rules), encoding))


@lru_cache
def positions_of(name: str, count: int = 24) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """Positions before a roll, from the start to the end of random games."""
    rules = variant(name)
    turns = list(play_turns(rules, games=8, turns=90, rng=np.random.default_rng(9)))
    points = np.concatenate([turn.points for turn in turns])
    flags = np.concatenate([turn.flags for turn in turns])
    some = np.linspace(0, len(points) - 1, count).astype(int)
    return points[some].copy(), flags[some].copy()


class PipsValuer:
    """The lead in pips: a valuer without any net."""

    name = "lead"

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        after = decisions.legal.after.astype(np.float32)
        lead = (after[:, 1] - after[:, 0]) @ np.arange(26, dtype=np.float32) / np.float32(100)
        flags = np.repeat(decisions.flags, np.diff(decisions.legal.offsets))
        for row, (board, flag) in enumerate(zip(decisions.legal.after, flags, strict=True)):
            score = score_after(self.rules.kernel, board, int(flag))
            if score != NOT_OVER:
                lead[row] = score
        return lead.astype(np.float32)


def plain_value(
    rules: Rules, valuer: Valuer, board: NDArray[np.int8], flag: int, plies: int
) -> float:
    """What an afterstate is worth to who made it: the definition, one roll after the other."""
    score = score_after(rules.kernel, board, flag)
    if score != NOT_OVER:
        return float(score)
    points = np.ascontiguousarray(board[None, ::-1])
    flags = np.array([turn_flags(rules.kernel, flag)], np.uint8)
    mean = 0.0
    for roll, chance in zip(ROLLS, ROLL_CHANCES, strict=True):
        decisions = decisions_at(rules, points, flags, roll[None])
        values = valuer.equities(decisions)
        best = int(np.argmax(values))
        value = float(values[best])
        if plies > 1:
            after, flag_after = decisions.legal.after[best], int(decisions.flags[0])
            value = plain_value(rules, valuer, after, flag_after, plies - 1)
        mean += chance * value
    return -mean


def test_the_rolls_are_all_rolls() -> None:
    assert len({tuple(sorted(roll)) for roll in ROLLS.tolist()}) == 21
    assert ROLL_CHANCES.sum() == pytest.approx(1.0, abs=1e-15)
    assert sorted(set(ROLL_CHANCES * 36)) == [1, 2]


@pytest.mark.parametrize("name", variants())
def test_one_pass_gives_what_blocks_give(name: str) -> None:
    rules = variant(name)
    points, flags = positions_of(name)
    fused = best_replies(rules, net_valuer(name), points, flags)
    plain = best_replies(rules, net_valuer(name, "float32"), points, flags)
    np.testing.assert_allclose(fused.equities, plain.equities, atol=3e-6)
    assert (fused.flags == plain.flags).all()
    same = (fused.boards == plain.boards).all((2, 3))
    assert same.mean() > 0.98  # near ties may fall either way
    for b in range(0, len(points), 7):
        for roll in range(21):
            legal = legal_afterstates(
                rules, points[b : b + 1], ROLLS[None, roll], flags=flags[b : b + 1]
            )
            assert (legal.after == fused.boards[b, roll]).all((1, 2)).any()


@pytest.mark.parametrize("name", ["long_nardy", "backgammon", "long_nardy_draw"])
@pytest.mark.parametrize("plies", [1, 2])
def test_plies_are_what_they_are_defined_to_be(name: str, plies: int) -> None:
    rules = variant(name)
    # The last positions are nearest to the end, where games end within the look.
    some = slice(-3, None) if plies == 2 else slice(None, None, 8)
    points, flags = (positions_of(name)[0][some], positions_of(name)[1][some])
    rolls = np.tile(np.array([[2, 1], [6, 4], [5, 1]], np.int8), (2, 1))[: len(points)]
    points, flags = points[: len(rolls)], flags[: len(rolls)]
    for valuer in (net_valuer(name), PipsValuer(rules)):
        decisions = decisions_at(rules, points, flags, rolls)
        found = Lookahead(rules, valuer, plies, [EVERYTHING] * plies).equities(decisions)
        offsets = decisions.legal.offsets
        for b in range(len(points)):
            for row in range(offsets[b], offsets[b + 1])[: 1 if plies == 2 else 4]:
                board = decisions.legal.after[row]
                expected = plain_value(rules, valuer, board, int(decisions.flags[b]), plies)
                assert found[row] == pytest.approx(expected, abs=2e-5)


def test_no_plies_is_the_valuer_itself() -> None:
    rules = variant("backgammon")
    points, flags = positions_of("backgammon")
    decisions = decisions_at(rules, points, flags, np.full((len(points), 2), 3, np.int8))
    valuer = net_valuer("backgammon")
    np.testing.assert_array_equal(
        Lookahead(rules, valuer, 0).equities(decisions), valuer.equities(decisions)
    )


@pytest.mark.parametrize("keep", [1, 3])
@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_the_filter_keeps_the_best_few_within_the_margin(keep: int, margin: float) -> None:
    rules = variant("long_nardy")
    points, flags = positions_of("long_nardy")
    rolls = np.random.default_rng(3).integers(1, 7, (len(points), 2)).astype(np.int8)
    decisions = decisions_at(rules, points, flags, rolls)
    valuer = net_valuer("long_nardy")
    shallow = valuer.equities(decisions)
    deep = Lookahead(rules, valuer, 1, [EVERYTHING]).equities(decisions)
    found = Lookahead(rules, valuer, 1, [Filter(keep, margin)]).equities(decisions)
    offsets = decisions.legal.offsets
    for low, high in itertools.pairwise(offsets):
        order = np.argsort(-shallow[low:high], kind="stable")
        floor = np.float32(shallow[low:high].max() - np.float32(margin))
        kept = [low + i for i in order[:keep] if shallow[low + i] >= floor]
        dropped = sorted(set(range(low, high)) - set(kept))
        np.testing.assert_array_equal(found[kept], deep[kept])
        assert (found[dropped] < found[kept].min()).all()
        assert (found[dropped] <= shallow[dropped]).all()


def test_forced_plays_can_be_left_alone() -> None:
    rules = variant("long_nardy")
    points = np.zeros((1, 2, 26), np.int8)
    points[0, :, 24] = 15
    decisions = decisions_at(rules, points, np.array([3], np.uint8), np.array([[2, 1]], np.int8))
    valuer = net_valuer("long_nardy")
    lone = [Filter(1, 0.0)]
    looked = Lookahead(rules, valuer, 1, lone).equities(decisions)
    left = Lookahead(rules, valuer, 1, lone, forced=False).equities(decisions)
    shallow = valuer.equities(decisions)
    best = int(np.argmax(shallow))
    assert left[best] == shallow[best] != looked[best]
    assert best_rows(left, decisions.legal.offsets)[0] == best


@pytest.mark.parametrize("plies", [1, 2])
def test_a_value_depends_on_its_own_decision_alone(plies: int) -> None:
    rules = variant("backgammon")
    points, flags = positions_of("backgammon", 6)
    rolls = np.random.default_rng(1).integers(1, 7, (len(points), 2)).astype(np.int8)
    for kind in ("kernel", "float32"):
        look = Lookahead(rules, net_valuer("backgammon", kind), plies, [Filter(3, 0.3)] * plies)
        decisions = decisions_at(rules, points, flags, rolls)
        together = look.equities(decisions)
        set_threads(2)
        np.testing.assert_array_equal(together, look.equities(decisions))
        set_threads(1)
        some = [4, 2]
        apart = decisions_at(rules, points[some], flags[some], rolls[some])
        offsets = decisions.legal.offsets
        rows = np.concatenate([np.arange(offsets[b], offsets[b + 1]) for b in some])
        np.testing.assert_array_equal(together[rows], look.equities(apart))


def test_a_position_is_worth_the_mean_of_its_rolls() -> None:
    rules = variant("backgammon")
    points, flags = positions_of("backgammon", 12)
    valuer = net_valuer("backgammon")
    expected = best_replies(rules, valuer, points, flags).equities @ ROLL_CHANCES
    np.testing.assert_allclose(preroll_equities(rules, valuer, points, flags), expected, atol=1e-6)


def test_turning_twice_changes_nothing() -> None:
    rules = variant("long_nardy_draw")
    start = Position.start(rules)
    points = np.stack([start.points] * 2)
    points[0, 0, 24], points[0, 0, 20] = 14, 1
    flags = np.array([0, 4], np.uint8)
    once = turned(rules, points, flags)
    assert (once[0][:, 0] == points[:, 1]).all()
    assert (once[1] & 4 != flags & 4).all()
    twice = turned(rules, *once)
    assert (twice[0] == points).all()
    assert (twice[1] == flags).all()


@pytest.mark.parametrize(
    ("plies", "filters", "named"),
    [
        (-1, None, "plies: -1"),
        (4, None, "plies: 4"),
        (2, [Filter(3, 0.1)], "filters: 1 given for 2"),
        (1, [Filter(0, 0.1)], "keep=0"),
        (1, [Filter(1, -0.1)], "margin=-0.1"),
        (1, [Filter(1, float("nan"))], "margin=nan"),
    ],
)
def test_numbers_out_of_range(plies: int, filters: list[Filter] | None, named: str) -> None:
    rules = variant("backgammon")
    with pytest.raises(ConfigError, match=named):
        Lookahead(rules, PipsValuer(rules), plies, filters)


@pytest.mark.parametrize("name", ["backgammon", "long_nardy", "hypergammon"])
def test_no_result_of_a_position_is_evaluated_twice(name: str) -> None:
    rules = variant(name)
    points, flags = positions_of(name)
    decisions = decisions_at(
        rules,
        np.repeat(points, 21, axis=0),
        np.repeat(flags, 21),
        np.tile(ROLLS, (len(points), 1)),
    )
    distinct, place = once_each(rules, decisions)
    boards = decisions.legal.after
    np.testing.assert_array_equal(distinct.legal.after[place], boards)
    np.testing.assert_array_equal(distinct.points, points)
    owner = np.repeat(np.arange(len(points)), np.diff(decisions.legal.offsets[::21]))
    found = np.searchsorted(distinct.legal.offsets, place, side="right") - 1
    np.testing.assert_array_equal(found, owner)
    expected = [len({board.tobytes() for board in boards[owner == p]}) for p in range(len(points))]
    np.testing.assert_array_equal(np.diff(distinct.legal.offsets), expected)
    assert len(distinct.legal.after) < len(boards)
    values = net_valuer(name, "float").equities
    np.testing.assert_allclose(values(distinct)[place], values(decisions), atol=1e-6)


def test_rungs_of_a_ladder_game_are_kept_apart() -> None:
    rules = variant("mad_gyulbar")
    points, flags = positions_of("mad_gyulbar")
    decisions = decisions_at(
        rules, points.repeat(21, 0), flags.repeat(21), np.tile(ROLLS, (len(points), 1))
    )
    distinct, place = once_each(rules, decisions)
    assert distinct is decisions
    np.testing.assert_array_equal(place, np.arange(len(decisions.legal.after)))

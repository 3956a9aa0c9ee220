"""Rollouts: what they are by definition, against lookahead, and unbiased whatever the valuer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.rollout import Rollout
from nardy_rl.rules import Position, set_threads, variant
from nardy_rl.rules.dice import roll_dice
from nardy_rl.search import (
    ROLLS,
    Filter,
    best_replies,
    decisions_at,
    preroll_equities,
    turned,
)
from tests.test_search import EVERYTHING, PipsValuer, net_valuer, positions_of


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def some_decisions(name: str, count: int = 4) -> Decisions:
    points, flags = positions_of(name)
    some = np.linspace(2, len(points) - 1, count).astype(int)
    rolls = np.array([[3, 1], [6, 5], [4, 2], [2, 1]], np.int8)[:count]
    return decisions_at(variant(name), points[some], flags[some], rolls)


def live_rows(decisions: Decisions) -> tuple[np.ndarray, np.ndarray]:
    flags = np.repeat(decisions.flags, np.diff(decisions.legal.offsets))
    going_on = (decisions.legal.after[:, :, 0] < 15).all(1)
    return decisions.legal.after[going_on][:6], flags[going_on][:6]


@pytest.mark.parametrize("name", ["backgammon", "long_nardy"])
def test_one_ply_of_every_first_roll_is_lookahead(name: str) -> None:
    """The luck of the only roll goes, and its mean over all rolls stays: no noise is left."""
    rules = variant(name)
    points, flags = live_rows(some_decisions(name))
    found, se = Rollout(rules, net_valuer(name), 36, 1).afterstates(points, flags)
    looked = -preroll_equities(rules, net_valuer(name), *turned(rules, points, flags))
    np.testing.assert_allclose(found, looked, atol=1e-6)
    assert se.max() < 1e-6


def plain_game(
    name: str, board: np.ndarray, flag: int, game: int, plies: int, seed: int
) -> tuple[float, bool]:
    """One game of a rollout, by its definition; and whether it ended before it was truncated."""
    rules, valuer = variant(name), net_valuer(name)
    total, sign = 0.0, 1.0
    boards, flags = board[None], np.array([flag], np.uint8)
    for ply in range(plies):
        boards, flags = turned(rules, boards, flags)
        sign = -sign
        replies = best_replies(rules, valuer, boards, flags)
        dice = divmod(game % 36, 6) if ply == 0 else [die - 1 for die in roll_dice(seed, game, ply)]
        roll = sorted(die + 1 for die in dice)
        index = ROLLS.tolist().index(roll)
        mean = sum(
            (1 if a == b else 2) / 36 * replies.equities[0, i] for i, (a, b) in enumerate(ROLLS)
        )
        value = float(replies.equities[0, index])
        total -= sign * (value - mean)
        boards, flags = replies.boards[:, index], replies.flags
        if (boards[0, :, 0] == 15).any():
            return total + sign * value, True
    return total + sign * value, False


@pytest.mark.parametrize("name", ["backgammon", "long_nardy_draw"])
def test_games_are_played_as_defined(name: str) -> None:
    rules = variant(name)
    points, flags = live_rows(some_decisions(name))
    points, flags = points[-2:], flags[-2:]
    found, se = Rollout(rules, net_valuer(name), 38, 4, seed=5).afterstates(points, flags)
    for row in range(len(points)):
        games = [plain_game(name, points[row], int(flags[row]), g, 4, 5)[0] for g in range(38)]
        assert found[row] == pytest.approx(np.mean(games), abs=1e-5)
        assert se[row] == pytest.approx(np.std(games, ddof=1) / np.sqrt(38), abs=1e-5)


def test_luck_is_nothing_in_expectation_even_of_a_bad_valuer() -> None:
    """To the end of a race, with and without the luck: PipsValuer's luck is far from the truth."""
    rules = variant("backgammon")
    place = Position.from_points(rules, me={6: 1, 3: 1}, opp={4: 1, 2: 1}, me_off=13, opp_off=13)
    points = place.points[None].astype(np.int8)
    flags = np.zeros(1, np.uint8)
    whole = Rollout(rules, PipsValuer(rules), 36 * 40, 0, seed=1)
    found, se = whole.afterstates(points, flags)

    def chance(board: np.ndarray) -> float:
        """Equity of who just moved, every roll counted, plays as the valuer makes them."""
        if (board[:, 0] == 15).any():
            return 1.0 if board[0, 0] == 15 else -1.0
        seen, flag = turned(rules, board[None], flags)
        replies = best_replies(rules, PipsValuer(rules), seen, flag)
        weights = [(1 if a == b else 2) / 36 for a, b in ROLLS]
        return -sum(w * chance(replies.boards[0, i]) for i, w in enumerate(weights))

    exact = chance(points[0])
    assert 0 < se[0] < 0.03
    assert abs(found[0] - exact) < 4 * se[0]


def test_the_best_few_are_rolled_out_and_rows_asked_for_as_well() -> None:
    name = "backgammon"
    rules, decisions = variant(name), some_decisions(name)
    offsets = decisions.legal.offsets
    shallow = net_valuer(name).equities(decisions)
    rollout = Rollout(rules, net_valuer(name), 36, 2, keep=Filter(2, 10.0))
    result = rollout.rollout(decisions)
    assert result.rolled.sum() == sum(min(2, n) for n in np.diff(offsets))
    worst = int(offsets[0] + np.argmin(shallow[offsets[0] : offsets[1]]))
    also = rollout.rollout(decisions, np.array([worst]))
    assert also.rolled.sum() == result.rolled.sum() + 1
    assert also.rolled[worst]
    np.testing.assert_array_equal(also.equities[result.rolled], result.equities[result.rolled])
    assert np.isnan(result.se[~result.rolled]).all()
    for low, high in itertools.pairwise(offsets):
        kept = result.rolled[low:high]
        assert result.equities[low:high][kept].min() > max(
            result.equities[low:high][~kept], default=-9
        )
    np.testing.assert_array_equal(rollout.equities(decisions), result.equities)


def test_a_value_depends_on_its_own_decision_alone() -> None:
    name = "long_nardy"
    rules, decisions = variant(name), some_decisions(name)
    rollout = Rollout(rules, net_valuer(name), 40, 3, keep=EVERYTHING)
    points, flags = live_rows(decisions)
    together = rollout.afterstates(points, flags)
    set_threads(2)
    apart = rollout.afterstates(points[3:4], flags[3:4])
    assert (together[0][3], together[1][3]) == (apart[0][0], apart[1][0])


def test_progress_is_told() -> None:
    rules = variant("backgammon")
    told: list[tuple[int, int]] = []
    points, flags = live_rows(some_decisions("backgammon"))
    Rollout(
        rules, PipsValuer(rules), 4096, 1, progress=lambda done, total: told.append((done, total))
    ).afterstates(points[:3], flags[:3])
    assert told == [(2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"games": 1}, "games"),
        ({"plies": -1}, "plies"),
        ({"seed": -1}, "seed"),
        ({"keep": Filter(0, 1.0)}, "keep=0"),
    ],
)
def test_numbers_out_of_range(options: dict[str, object], named: str) -> None:
    rules = variant("backgammon")
    with pytest.raises(ConfigError, match=named):
        Rollout(rules, PipsValuer(rules), **options)  # type: ignore[arg-type]

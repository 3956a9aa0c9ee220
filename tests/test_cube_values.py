"""Cube decisions against closed forms, and match equities against a recursion of their own."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.cube import CubeValues, Terms, Worth, cube_values, equity_table, terms
from nardy_rl.errors import ConfigError

SINGLE = (-1, 1)
SHORT = (-3, -2, -1, 1, 2, 3)
CHANCES = np.linspace(0.0, 1.0, 20_001)
"""Chances to win: windows are found to 1 in 20,000."""

ALL, MINE, HIS = 0, 1, 2


def at_money(
    played_for: Terms,
    life: float,
    owner: int = ALL,
    stake: int = 1,
    gammons: tuple[float, float] = (0.0, 0.0),
) -> CubeValues:
    """Values at all `CHANCES`; `gammons` are the parts of my wins and losses that count two."""
    won, lost = CHANCES, 1 - CHANCES
    shares = np.stack([lost * gammons[1], lost * (1 - gammons[1]), won * (1 - gammons[0])], 1)
    shares = np.concatenate([shares, (won * gammons[0])[:, None]], 1)
    count = len(CHANCES)
    worth = Worth(np.zeros((count, 2), np.int64))
    whole = (np.full(count, stake), np.full(count, owner))
    return cube_values(played_for, (-2, -1, 1, 2), shares, *whole, worth, life)


def take_point(values: CubeValues) -> float:
    """The chance of the side that answers below which it passes."""
    return 1 - float(CHANCES[values.takes].max())


def window(values: CubeValues) -> tuple[float, float]:
    """The least and the greatest chance at which doubling is right."""
    right = CHANCES[values.doubles]
    return float(right.min()), float(right.max())


MONEY = terms("backgammon", cube="standard")


@pytest.mark.parametrize(("life", "point"), [(0.0, 0.25), (0.68, 0.5 / 2.34), (1.0, 0.20)])
def test_take_points_of_money_without_gammons(life: float, point: float) -> None:
    assert take_point(at_money(MONEY, life)) == pytest.approx(point, abs=1e-4)


@pytest.mark.parametrize("life", [0.0, 0.3, 0.68, 1.0])
@pytest.mark.parametrize("gammons", [(0.2, 0.2), (0.4, 0.1), (0.0, 0.5)])
def test_janowski_take_points_with_gammons(life: float, gammons: tuple[float, float]) -> None:
    # The side that answers wins W a game it wins, and loses L a game it loses.
    lose, win = 1 + gammons[0], 1 + gammons[1]
    expected = (lose - 0.5) / (win + lose + life / 2)
    assert take_point(at_money(MONEY, life, gammons=gammons)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("life", [0.0, 0.3, 0.68, 0.95])
def test_janowski_redoubling_windows(life: float) -> None:
    low, high = window(at_money(MONEY, life, owner=MINE, stake=2))
    assert low == pytest.approx((1 + life) / (2 + life / 2), abs=1e-4)
    assert high == pytest.approx(1.0, abs=1e-4), "without gammons nobody is too good"


def test_a_cube_in_the_middle_is_turned_earlier_than_ones_own() -> None:
    assert window(at_money(MONEY, 0.0))[0] == pytest.approx(0.5, abs=1e-4)
    for life in (0.3, 0.68):
        assert window(at_money(MONEY, life))[0] < window(at_money(MONEY, life, MINE, 2))[0]


def test_only_who_has_the_cube_gains_by_it() -> None:
    mine, middle, his = (at_money(MONEY, 0.68, owner, 2).no_double for owner in (MINE, ALL, HIS))
    inner = slice(1, -1)
    assert (mine[inner] >= middle[inner] - 1e-9).all()
    assert (middle[inner] >= his[inner] - 1e-9).all()
    assert (mine[inner] > his[inner]).all()
    # With the sides exchanged the same game is worth the opposite.
    assert mine == pytest.approx(-his[::-1], abs=1e-9)


def test_too_good_to_double() -> None:
    many = at_money(MONEY, 0.68, gammons=(0.6, 0.1))
    high = window(many)[1]
    assert high < 0.95
    best = high + 1e-3 < CHANCES
    assert (many.no_double[best] > many.refused[best]).all()
    assert not many.takes[best].any()
    # Nobody is with Jacoby's rule: a cube in the middle makes every win a single one.
    jacoby = at_money(terms("backgammon", cube="standard", jacoby=True), 0.68, gammons=(0.6, 0.1))
    assert window(jacoby)[1] > 0.9999
    # Nor with dave, who knows no mars.
    assert window(at_money(terms("backgammon_dave"), 0.68, gammons=(0.6, 0.1)))[1] > 0.9999


def test_beavers_are_right_where_the_taker_is_ahead() -> None:
    values = at_money(terms("backgammon", cube="standard", beavers=True), 0.68)
    # With the cube at 2 the taker is ahead of nothing from (1 / (2 + life / 2)) on.
    assert 1 - CHANCES[values.beavers].max() == pytest.approx(1 / 2.34, abs=1e-4)


@cache
def arithmetic_take_point(stake: int, life: float) -> float:
    """Of a double from `stake` by one: the line of a cube of my own at `stake + 1`."""
    if stake > 200:
        return 0.0
    then = stake + 1
    cash = 1 - arithmetic_take_point(then, 1.0)
    # Worth -then at 0; the live line gains 2 * then to the cash point, the dead one to 1.
    slope = life * 2 * then / cash + (1 - life) * 2 * then
    return (then - stake) / slope


@pytest.mark.parametrize("life", [0.0, 0.68, 1.0])
@pytest.mark.parametrize("stake", [1, 2, 5])
def test_arithmetic_dave(life: float, stake: int) -> None:
    dave = terms("backgammon_dave", cube_progression="arithmetic")
    owner = ALL if stake == 1 else MINE
    point = take_point(at_money(dave, life, owner, stake))
    assert point == pytest.approx(arithmetic_take_point(stake, life), abs=1e-4)
    if life == 0.0:
        assert point == pytest.approx(1 / (2 * (stake + 1)), abs=1e-4)


def even(rate: float, koks: float = 0.0, draw: float = 0.0) -> NDArray[np.float64]:
    """Shares over `SHORT` of a game that begins; `rate` of wins count more than one."""
    won = (1 - draw) / 2
    side = [won * (1 - rate), won * (rate - koks), won * koks]
    return np.array([*side[::-1], *side])


TABLES = [
    ({"cube": "standard"}, 0.68),
    ({"cube": "standard"}, 0.0),
    ({"cube": "standard"}, 1.0),
    ({"cube": "standard", "crawford": False}, 0.68),
    ({"cube": "dave"}, 0.68),
    ({"cube": "dave", "cube_progression": "arithmetic"}, 0.68),
    ({}, 0.68),
]


@pytest.mark.parametrize(("options", "life"), TABLES)
def test_a_table_is_symmetric_and_monotone(options: dict[str, str], life: float) -> None:
    played_for = terms("backgammon", match_length=9, **options)
    table = equity_table(played_for, SHORT, even(0.26, 0.01), life)
    for part in (table.before, table.after):
        inner = part[1:, 1:]
        assert inner + inner.T == pytest.approx(np.ones_like(inner), abs=1e-9)
        assert (np.diff(part[1:], axis=1) >= -1e-9).all(), "the more he needs the better"
        assert part[1, 1] == pytest.approx(0.5), "double match point"
    # Without mars two scores are alike where one side needs 1 and nobody needs an odd point.
    assert (np.diff(table.before[2:, 2:], axis=1) > 0).all()
    assert table.before[0, 1:] == pytest.approx(1.0)
    assert table.before[1:, 0] == pytest.approx(0.0)


@pytest.mark.parametrize("rate", [0.0, 0.26, 0.5])
@pytest.mark.parametrize("options", [{"cube": "standard"}, {}])
def test_one_away_against_two_is_a_quarter_and_the_gammons(
    rate: float, options: dict[str, str]
) -> None:
    # No cube: with half the chance he wins; a single win leads to 1-1, anything more wins.
    table = equity_table(terms("backgammon", match_length=5, **options), SHORT, even(rate))
    assert table.before[2, 1] == pytest.approx((1 + rate) / 4)


def test_scores_after_the_crawford_game() -> None:
    rate = 0.26
    table = equity_table(terms("backgammon", cube="standard", match_length=7), SHORT, even(rate))
    # Who is behind doubles at once: two points, four with a gammon.
    behind = [1.0, 0.5]
    for away in range(2, 8):
        taken = 0.5 * ((1 - rate) * behind[max(away - 2, 0)] + rate * behind[max(away - 4, 0)])
        behind.append(min(taken, behind[away - 1]))
    assert table.after[1:, 1] == pytest.approx(behind[1:])


def test_without_a_cube_it_is_the_plain_recursion() -> None:
    chances = dict(zip(SHORT, even(0.3, 0.05), strict=True))

    @cache
    def ahead(mine: int, his: int) -> float:
        if mine <= 0 or his <= 0:
            return float(mine <= 0)
        return sum(
            share * ahead(mine - max(score, 0), his + min(score, 0))
            for score, share in chances.items()
        )

    table = equity_table(terms("backgammon", match_length=6), SHORT, even(0.3, 0.05))
    for mine in range(1, 7):
        for his in range(1, 7):
            assert table.before[mine, his] == pytest.approx(ahead(mine, his))


def test_backgammon_is_near_what_is_known() -> None:
    # GNU Backgammon's and other tables, to two points in a hundred: 2-away against 3 is 0.60,
    # 3 against 5 0.65 or so, 1 against 2 0.32 for who is behind, 1 against 4 0.18.
    table = equity_table(terms("backgammon", cube="standard", match_length=7), SHORT, even(0.26))
    assert table.before[2, 3] == pytest.approx(0.60, abs=0.02)
    assert table.before[3, 5] == pytest.approx(0.65, abs=0.02)
    assert table.before[2, 1] == pytest.approx(0.32, abs=0.02)
    assert table.before[4, 1] == pytest.approx(0.18, abs=0.02)


def test_draws_leave_the_score_as_it_is() -> None:
    outcomes = (-2, -1, 0, 1, 2)
    shares = np.array([0.1, 0.3, 0.2, 0.3, 0.1])
    decided = np.array([0.125, 0.375, 0.0, 0.375, 0.125])
    played_for = terms("long_nardy", cube="standard", match_length=5)
    drawn, plain = (equity_table(played_for, outcomes, s) for s in (shares, decided))
    assert drawn.after[1] == pytest.approx(plain.after[1])
    # But a drawn Crawford game is not played again.
    expected = 0.8 * plain.before[3, 1] + 0.2 * plain.after[3, 1]
    assert drawn.before[3, 1] == pytest.approx(expected)


def at_score(
    away: tuple[int, int], stake: int, owner: int, length: int = 7, behind: bool = False
) -> CubeValues:
    """Values at all `CHANCES` in a match."""
    played_for = terms("backgammon", cube="standard", match_length=length)
    table = equity_table(played_for, SHORT, even(0.0))
    shares = np.stack([1 - CHANCES, CHANCES], 1)
    count = len(CHANCES)
    worth = Worth(np.tile(away, (count, 1)), table.after if behind else table.before)
    whole = (np.full(count, stake), np.full(count, owner))
    return cube_values(played_for, SINGLE, shares, *whole, worth)


def test_a_dead_cube_at_the_score_is_never_turned() -> None:
    # Two points are all that he needs: raising the stake can only lose him more.
    assert not at_score((2, 4), stake=2, owner=MINE).doubles.any()
    assert at_score((4, 2), stake=2, owner=MINE).doubles.any()
    # The leader after the Crawford game, and the one who is behind.
    assert not at_score((1, 4), 1, ALL, behind=True).doubles.any()
    assert at_score((4, 1), 1, ALL, behind=True).doubles[1:-1].mean() > 0.6


def test_a_double_at_two_away_each_is_for_the_match() -> None:
    values = at_score((2, 2), 1, ALL)
    assert values.take == pytest.approx(CHANCES)
    # Passing leaves him 2-away against the Crawford game: (1 + 0) / 4.
    assert take_point(values) == pytest.approx(0.25, abs=1e-4)


def test_money_has_no_match_equities() -> None:
    with pytest.raises(ConfigError, match="add match_length=N"):
        equity_table(terms("backgammon"), SHORT, even(0.2))

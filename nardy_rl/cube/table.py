"""Match equities computed from how the games of a net end, not copied from anyone.

Both players are alike and every game is even at its start. A score's value is that of one game by
`values`, whose results lead to scores nearer the end (the recursion of N. Zadeh and G. Kobliska,
1977, with Janowski's cube): where doubling before the first roll is better than waiting, as for a
player who trails after the Crawford game, it is done.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube.terms import Terms
from nardy_rl.cube.values import CUBE_LIFE, Worth, cube_values
from nardy_rl.errors import ConfigError


@dataclass(frozen=True)
class EquityTable:
    """Chances to win the match, for the player named first.

    Attributes:
        before: float64[N + 1, N + 1] by points needed, 0: has won. Where one needs a single
            point, the Crawford game comes next, where there is one.
        after: likewise, once the Crawford game is played; differs only where one needs 1.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]


def equity_table(
    terms: Terms,
    outcomes: tuple[int, ...],
    shares: NDArray[np.float64],
    cube_life: float = CUBE_LIFE,
) -> EquityTable:
    """The table of a match.

    Args:
        terms: with a match length.
        outcomes: scores, ascending, as of `Rules.outcomes`.
        shares: float64[K], how often a game of the net ends so; made even between the players.
        cube_life: see `values`.

    Raises:
        ConfigError: terms without a match length.
    """
    length = terms.match_length
    if length is None:
        raise ConfigError("match_length=none: money has no match equities; add match_length=N")
    even = (np.asarray(shares, np.float64) + np.asarray(shares, np.float64)[::-1]) / 2
    scores = np.array(outcomes)
    drawn = float(even[scores == 0].sum())
    # A draw leaves the score as it is: the next game decides.
    even = np.where(scores == 0, 0.0, even) / (1.0 - drawn)
    after = np.full((length + 1, length + 1), 0.5)
    after[0, 1:], after[1:, 0] = 1.0, 0.0
    before = after.copy()
    for total in range(2, 2 * length + 1):
        for mine in range(max(1, total - length), total // 2 + 1):
            theirs = total - mine
            # From the leader's seat; wins lead to `after` where he needs one point already.
            leads_to = after if mine == 1 else before
            live = _game(terms, outcomes, even, (mine, theirs), leads_to, cube_life)
            first = live
            if mine == 1 and terms.crawford:
                first = _without_cube(terms, scores, even, (mine, theirs), after)
                first = drawn * live + (1 - drawn) * first
            if mine == theirs:
                live = first = 0.5
            after[mine, theirs], after[theirs, mine] = live, 1 - live
            before[mine, theirs], before[theirs, mine] = first, 1 - first
    return EquityTable(before, after)


def _without_cube(
    terms: Terms,
    scores: NDArray[np.int64],
    shares: NDArray[np.float64],
    away: tuple[int, int],
    table: NDArray[np.float64],
) -> float:
    worth = Worth(np.array([away]), table)
    if terms.cube != "none" and not terms.mars_with_cube:
        scores = np.sign(scores)
    return float(sum(s * worth.of(np.array([k]))[0] for k, s in zip(scores, shares, strict=True)))


def _game(
    terms: Terms,
    outcomes: tuple[int, ...],
    shares: NDArray[np.float64],
    away: tuple[int, int],
    table: NDArray[np.float64],
    cube_life: float,
) -> float:
    if terms.cube == "none":
        return _without_cube(terms, np.array(outcomes), shares, away, table)
    one, centre = np.ones(1, np.int64), np.zeros(1, np.int64)
    seen = []
    for view, worth in (
        (1, Worth(np.array([away]), table)),
        (-1, Worth(np.array([away[::-1]]), table)),
    ):
        v = cube_values(terms, outcomes, shares[None, ::view], one, centre, worth, cube_life)
        doubled = float(min(v.take[0], v.refused[0]))
        seen.append((float(v.no_double[0]), doubled))
    value = max(seen[0])
    return min(value, 1 - seen[1][1])

"""What the rules of thumb of every game measure: the race, closed points, who is walled in."""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.record import HOME

WIN = 1e9
"""Pips that a won game counts."""

_AHEAD = 12
_WINDOW = np.int64((1 << _AHEAD) - 1)
_WALLED_EACH = 3  # checkers of one point that count as walled in


def _count_stuck() -> NDArray[np.int64]:
    """Rolls of 36 that a lone checker cannot play in full, by which of 12 points ahead are closed.

    Bit i of an index stands for the point i + 1 pips ahead. Of a double two steps are asked for.
    """
    stuck = np.zeros(1 << _AHEAD, np.int64)
    closed = np.arange(1 << _AHEAD)
    for die1, die2 in itertools.product(range(1, 7), repeat=2):
        stuck += (closed >> (die1 + die2 - 1) | closed >> (die1 - 1) & closed >> (die2 - 1)) & 1
    return stuck


_STUCK = _count_stuck()


@njit(nogil=True, cache=True)
def running(weights, mine, his):
    """The race, crossing over and the mars."""
    score = race(his) - race(mine)
    saving = his[0] > 0 and mine[0] == 0
    for point in range(HOME + 1, 26):
        score -= weights.outside * abs(mine[point])
        if saving:
            score -= weights.mars * (point - HOME) * abs(mine[point])
    return score


@njit(nogil=True, cache=True)
def race(own):
    """Pips that `own` int8[26] has to go, with waste and its waste (see `HeuristicPlayer`)."""
    count = 0.0
    for point in range(1, 26):
        count += point * abs(own[point])
    count += 2.0 * max(own[1] - 1, 0) + max(own[2] - 1, 0) + max(own[3] - 3, 0)
    for point in range(4, 7):
        count += own[point] == 0
    return count - 2.0 * own[0]


@njit(nogil=True, cache=True)
def closed(rules, own, closing):
    """The points that `own` int8[26] closes, as holes on the other player's path."""
    closed = np.int64(0)
    for point in range(1, 25):
        if own[point] >= closing:
            closed |= np.int64(1) << (25 - opponent_point(rules.opposite, point))
    return closed


@njit(nogil=True, cache=True)
def walled(own, closed):
    """Rolls of 36 that the checkers `own` int8[26] cannot play in full, each for itself, summed."""
    total = 0
    for point in range(1, 26):
        if own[point] > 0:
            ahead = (closed >> (26 - point)) & _WINDOW
            total += min(own[point], _WALLED_EACH) * _STUCK[ahead]
    return total

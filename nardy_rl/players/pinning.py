"""The rules of thumb of games in which lone checkers are pinned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from nardy_rl.players.shots import expected_pin
from nardy_rl.players.thumbs import WIN, closed, running, walled
from nardy_rl.rules.pins import MOTHER, PINNED
from nardy_rl.rules.scoring import NOT_OVER, mother_score


class PinWeights(NamedTuple):
    """What the rules of thumb count where lone checkers are pinned, in pips.

    Attributes:
        pin: for each checker of his that I hold down,
        deep: and for each pip that it still had to go: the farther back the longer it waits.
        held: for each own checker that is held down,
        far: and for each pip that it still has to go.
        risk: for each pip that his next roll may be expected to cost me by a new pin.
        mother: as so many pips more for the last checker on my start, pinned or exposed.
        head: for each own checker still on the start point.
        points: for each point that I hold with two or more.
        wall: for each roll of 36 that one of his checkers cannot play in full.
        walled: for each roll of 36 that one of mine cannot.
        stack: for each checker beyond the third on a point short of the start.
        mars: for each pip short of home once he bears off and I have not: save the double loss.
        outside: for each checker short of home: in a race cross into home first.
    """

    pin: float = 12.0
    deep: float = 1.0
    held: float = 6.0
    far: float = 0.5
    risk: float = 1.0
    mother: float = 60.0
    head: float = 1.0
    points: float = 2.0
    wall: float = 0.1
    walled: float = 0.05
    stack: float = 1.0
    mars: float = 1.0
    outside: float = 0.5


@njit(nogil=True, cache=True)
def choose_pin(low, high, rules, weights, boards, offsets, chosen):
    """Write the best row of decisions low..high-1 to `chosen` int64[B]; rows int8[M, 2, 26]."""
    for b in range(low, high):
        best = offsets[b]
        best_score = _pin_score(rules, weights, boards[best])
        for row in range(best + 1, offsets[b + 1]):
            score = _pin_score(rules, weights, boards[row])
            if score > best_score:
                best = row
                best_score = score
        chosen[b] = best


@njit(nogil=True, cache=True)
def _pin_score(rules, weights, board):
    """Pips that int8[2, 26] is worth to the player of row 0, who just moved: pinning."""
    mine, his = board[0], board[1]
    if mine[0] == rules.checkers:
        return WIN
    decided = mother_score(rules, board)
    if decided != NOT_OVER:
        return WIN * decided
    score = running(weights, mine, his)
    for point in range(1, 25):
        if his[point] == PINNED:
            score += weights.pin + weights.deep * point
            score += weights.mother if point == MOTHER else 0.0
        if mine[point] == PINNED:
            score -= weights.held + weights.far * point
            score -= weights.mother if point == MOTHER else 0.0
        if mine[point] > 1:
            score += weights.points
        if mine[point] > 3 and point < MOTHER:
            score -= weights.stack * (mine[point] - 3)
    score -= weights.head * max(mine[MOTHER], 0)
    closed_to_him = closed(rules, mine, 2)
    for point in range(1, 25):
        if his[point] == PINNED:  # a pinned point is closed to its owner
            closed_to_him |= np.int64(1) << (25 - point)
    score += weights.wall * walled(his, closed_to_him)
    score -= weights.walled * walled(mine, closed(rules, his, 2))
    return score - weights.risk * expected_pin(rules, mine, his, closed_to_him, weights)

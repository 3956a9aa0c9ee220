"""The baselines: `random`, the zero of every scale, and `pips`, which only races."""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.inference import Decisions
from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.dice import uniform_index
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules


class RandomPlayer:
    """Every distinct result with the same probability, as its key says."""

    name = "random"

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        chosen = np.empty(len(keys), np.int64)
        run_chunks(_choose_any, len(keys), decisions.legal.offsets, keys, chosen, min_chunk=4096)
        return chosen


class PipsPlayer:
    """Races, and brings up the rear; it knows no blocks, no points worth holding and no plan.

    Of all results it takes, in this order of weight:

    1. the largest lead in pips: the opponent's count less its own (a checker on the bar counts
       25). Where checkers are hit, each of its blots also costs what it stands to lose, `25 -
       point` pips times the chance that the nearest enemy checker behind it hits on an open
       road. (A race that shuts its eyes to this never ends: two such players hit each other for
       thousands of turns.)
    2. the most checkers borne off;
    3. the fewest checkers on the point farthest from home, then on the next, and so on: the last
       ones move first, so the head of nardy is emptied and the back checkers of backgammon run;
    4. the first one in the order of generation.

    Args:
        rules: the variant.
    """

    name = "pips"

    def __init__(self, rules: Rules) -> None:
        self._rules = rules.kernel

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        chosen = np.empty(len(keys), np.int64)
        legal = decisions.legal
        run_chunks(_choose_race, len(keys), self._rules, legal.after, legal.offsets, chosen)
        return chosen


def _count_shots() -> NDArray[np.int64]:
    """How many of the 36 rolls hit at each distance 0..24, nothing standing between."""
    shots = np.zeros(25, np.int64)
    for die1, die2 in itertools.product(range(1, 7), repeat=2):
        further = (3 * die1, 4 * die1) if die1 == die2 else ()
        for distance in {die1, die2, die1 + die2, *further}:
            shots[distance] += 1
    return shots


_SHOTS = _count_shots()
_ROLLS = 36


@njit(nogil=True, cache=True)
def _choose_any(low, high, offsets, keys, chosen):
    for b in range(low, high):
        chosen[b] = offsets[b] + uniform_index(keys[b], offsets[b + 1] - offsets[b])


@njit(nogil=True, cache=True)
def _choose_race(low, high, rules, boards, offsets, chosen):
    for b in range(low, high):
        best = offsets[b]
        best_lead = _lead(rules, boards[best])
        for row in range(best + 1, offsets[b + 1]):
            lead = _lead(rules, boards[row])
            if lead > best_lead or (lead == best_lead and _nearer(boards[row, 0], boards[best, 0])):
                best = row
                best_lead = lead
        chosen[b] = best


@njit(nogil=True, cache=True)
def _lead(rules, board):
    """The opponent's pips less the own of int8[2, 26], less what blots may lose; in 36ths."""
    lead = np.int64(0)
    for point in range(1, 26):
        lead += point * (abs(np.int64(board[1, point])) - abs(np.int64(board[0, point])))
    lead *= _ROLLS
    if rules.hit:
        for point in range(1, 25):
            if board[0, point] == 1:
                lead -= (25 - point) * _shots_at(rules, board[1], point)
    return lead


@njit(nogil=True, cache=True)
def _shots_at(rules, enemy, point):
    """Rolls of 36 with which the nearest checker of `enemy` int8[26] hits a blot on `point`."""
    target = opponent_point(rules.opposite, point)
    for place in range(target + 1, 26):
        if enemy[place] > 0:
            return _SHOTS[place - target]
    return 0


@njit(nogil=True, cache=True)
def _nearer(own, other):
    """Whether the checkers `own` int8[26] are to be preferred to `other` at equal pips."""
    if own[0] != other[0]:
        return own[0] > other[0]
    for point in range(25, 0, -1):
        if own[point] != other[point]:
            return own[point] < other[point]
    return False

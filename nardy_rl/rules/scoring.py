"""When a game is over and what it scores, as a kernel over one afterstate."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import STARTED
from nardy_rl.rules.pins import MOTHER, PINNED
from nardy_rl.rules.record import HOME, KernelRules

NOT_OVER = 127
"""What `score_after` returns while the game goes on."""

_KOKS_NONE, _KOKS_FIRST_QUARTER, _KOKS_NONE_HOME, _KOKS_BACKGAMMON = range(4)
_LAST_ROLL_CHECKERS = 4
_NO_MOTHER, _MOTHER_WINS, _MOTHER_AT_ONCE = range(3)


@njit(nogil=True, cache=True)
def _loss_size(rules: KernelRules, loser: NDArray[np.int8]) -> int:
    """What the loser's checkers int8[26] (his numbering) cost him: 1, 2 or 3."""
    if loser[0] > 0:
        return 1
    if rules.koks == _KOKS_FIRST_QUARTER or rules.koks == _KOKS_BACKGAMMON:
        # The winner's home is the loser's 24..19 where the players travel in opposite
        # directions, and so is the loser's first quarter everywhere.
        for point in range(25 - HOME, 26):
            if loser[point] > 0:
                return 3
        return 2
    if rules.koks == _KOKS_NONE_HOME:
        for point in range(1, HOME + 1):
            if loser[point] > 0:
                return 2
        return 3
    return 2


@njit(nogil=True, cache=True, forceinline=True)
def score_after(rules: KernelRules, points: NDArray[np.int8], flags: int) -> int:
    """The final score for the player who just moved, or `NOT_OVER`.

    Args:
        rules: `KernelRules`.
        points: int8[2, 26] after the decision, the player who moved first.
        flags: flag bits in the same view (`STARTED`: he started the game).

    Source: RULES.md 0, Score; 1, last_roll and koks; 2, koks; 4, mother. With a drawn last roll the
    second player is owed one more roll when the starter finishes first and it could clear.
    """
    me_done = points[0, 0] == rules.checkers
    opponent_done = points[1, 0] == rules.checkers
    if me_done:
        if opponent_done:
            return 0
        owed = rules.last_roll != 0 and (flags & STARTED) != 0
        if owed and rules.checkers - points[1, 0] <= _LAST_ROLL_CHECKERS:
            return NOT_OVER
        return _loss_size(rules, points[1])
    if opponent_done:
        return -_loss_size(rules, points[0])
    if rules.pin is not None:
        return mother_score(rules, points)
    return NOT_OVER


@njit(nogil=True, cache=True)
def mother_score(rules: KernelRules, points: NDArray[np.int8]) -> int:
    """What pinned mothers decide for the player of row 0, or `NOT_OVER`.

    Args:
        rules: `KernelRules` with `pin`.
        points: int8[2, 26], in either view.

    Source: RULES.md 4, mother. Nobody comes back to his start, so a checker pinned there is the
    last one. Only by bearing off could that pin be lifted, and whoever is pinned himself may not:
    both mothers pinned are a draw under every option.
    """
    mine, his = points[0, MOTHER], points[1, MOTHER]
    if his == PINNED and mine == PINNED:
        return 0
    if rules.mother != _NO_MOTHER:
        if his == PINNED and (mine == 0 or rules.mother == _MOTHER_AT_ONCE):
            return 2
        if mine == PINNED and (his == 0 or rules.mother == _MOTHER_AT_ONCE):
            return -2
    return NOT_OVER

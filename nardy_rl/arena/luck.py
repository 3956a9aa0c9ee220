"""The luck of the dice, so that it can be taken out of a score.

The luck of a roll is what it was worth less what a roll is worth on average there, by the values
of some net. Whatever the net believes and however the players play, that difference has mean 0
given all that went before; so a score less the luck of its rolls has the mean of the score, and a
spread that is the smaller the more the net knows.

Of games that were truncated neither score nor luck counts. That they were is known only later, so
where there are many of them the luck of the others has no longer exactly mean 0.

Source: D. Montgomery, "Variance Reduction", GammOnLine (February 2000), for backgammon.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.record import Rules
from nardy_rl.search import ROLLS, Valuer, mean_over_rolls, roll_equities

_ROLL_INDEX = np.zeros((7, 7), np.int64)
"""Place in `ROLLS` of two dice in either order."""
for _i, (_low, _high) in enumerate(ROLLS):
    _ROLL_INDEX[_low, _high] = _ROLL_INDEX[_high, _low] = _i


def roll_luck(
    rules: Rules,
    valuer: Valuer,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    rolls: NDArray[np.int8],
) -> NDArray[np.float64]:
    """Luck of the player to move, in points: his roll's best result less that of all 36 rolls.

    For every roll but a game's first, of which see `opening_luck`.

    Args:
        rules: the variant.
        valuer: of the results.
        points: int8[B, 2, 26], seen by the player to move.
        flags: uint8[B], in the same view, before the play.
        rolls: int8[B, 2], the dice in either order.

    Returns:
        float64[B].
    """
    values = roll_equities(rules, valuer, points, flags)
    thrown = values[np.arange(len(values)), _ROLL_INDEX[rolls[:, 0], rolls[:, 1]]]
    return thrown - mean_over_rolls(values)


def opening_luck(
    rules: Rules,
    valuer: Valuer,
    flags: int,
    rolls: NDArray[np.int8],
) -> NDArray[np.float64]:
    """Luck of the player who begins, in points: that he begins, and with this roll.

    Both sides start alike and each begins with the same chance, whichever way `opening_roll` has
    the first dice thrown: before them neither can expect anything, so their luck is all that
    they are worth.

    Args:
        rules: the variant.
        valuer: of the results.
        flags: flag bits of the player who begins.
        rolls: int8[B, 2], what he plays first.

    Returns:
        float64[B].
    """
    start = rules.start_points()[None]
    values = roll_equities(rules, valuer, start, np.array([flags], np.uint8))[0]
    return values.astype(np.float64)[_ROLL_INDEX[rolls[:, 0], rolls[:, 1]]]

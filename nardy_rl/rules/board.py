"""The board as the kernels see it: flag bits, the other side's numbers, sets of holes.

A hole counts the way travelled, hole = 25 - point: 0 the bar, 1 the head, 24 the last point.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from nardy_rl.rules.record import KernelRules

ROW_WORDS = 13
"""int32 words of one row int8[2, 26]: rows are copied by word."""

Bits = int | np.int64
"""A set of holes, bit by bit."""

FIRST_TURN = 1
"""Flag bit: the first turn of the player whose view it is, is still to come."""
OPPONENT_FIRST_TURN = 2
"""Flag bit: the other player's first turn is still to come."""
STARTED = 4
"""Flag bit: the player whose view it is started the game."""
TURNS, OPPONENT_TURNS = 3, 5
"""Flag bits from here on, two each: turns taken by the player whose view it is, and by the other,
as far as `ladder_from_turn` counts them."""
_MY_TURNS, _HIS_TURNS = 3 << TURNS, 3 << OPPONENT_TURNS

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_BIT_INDEX = np.zeros(64, np.int64)
for _i in range(64):
    _BIT_INDEX[((int(_DE_BRUIJN) << _i) & (2**64 - 1)) >> 58] = _i
_S58 = np.uint64(58)


@njit(nogil=True, cache=True, forceinline=True)
def lowest_bit_index(bits: Bits) -> np.int64:
    """Index of the lowest set bit of a positive int64."""
    isolated = np.uint64(bits & -bits)
    index: np.int64 = _BIT_INDEX[np.int64((isolated * _DE_BRUIJN) >> _S58)]
    return index


@njit(nogil=True, cache=True, forceinline=True)
def opponent_point(opposite: int, point: Bits) -> Bits:
    """The opponent's number of my point 1..24 (RULES.md 0, Numbering)."""
    if opposite:
        return 25 - point
    return point + 12 if point <= 12 else point - 12


@njit(nogil=True, cache=True, forceinline=True)
def turn_flags(rules: KernelRules, flags: int) -> int:
    """The flag bits of the same position seen by the other player."""
    swapped = (flags & FIRST_TURN) << 1 | (flags & OPPONENT_FIRST_TURN) >> 1
    swapped |= (flags & _MY_TURNS) << 2 | (flags & _HIS_TURNS) >> 2
    return (swapped | (flags & STARTED) ^ STARTED) & rules.flag_mask

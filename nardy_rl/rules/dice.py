"""Dice as a pure function of (seed, game, turn), whatever the number of threads.

A splitmix64 finaliser over the counter (Steele, Lea and Flood, "Fast splittable pseudorandom
number generators", 2014). Mapping 32 random bits to a die by multiplication leaves a bias
below 2e-9 per face. `PURPOSE_*` keeps the streams of one (seed, game, turn) apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_A = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_SIX = np.uint64(6)

PURPOSE_ROLL = np.uint64(0)
PURPOSE_OPENING = np.uint64(1)
PURPOSE_CHOICE = np.uint64(2)


@njit(nogil=True, cache=True, inline="always")
def mix(word: np.uint64) -> np.uint64:
    """A well-mixed uint64 from a uint64 counter."""
    word = (word ^ (word >> _S30)) * _MIX_A
    word = (word ^ (word >> _S27)) * _MIX_B
    return word ^ (word >> _S31)


@njit(nogil=True, cache=True)
def random_word(seed: int, game: int, turn: int, purpose: np.uint64) -> np.uint64:
    """64 random bits of one purpose at (seed, game, turn); all arguments are integers."""
    word = mix(np.uint64(seed) + _GOLDEN)
    word = mix(word ^ (np.uint64(game) * _GOLDEN + purpose))
    return mix(word + np.uint64(turn) * _GOLDEN + _GOLDEN)


@njit(nogil=True, cache=True)
def roll_of(word: np.uint64) -> tuple[np.int8, np.int8]:
    """Two dice, each 1..6, from 64 random bits."""
    low = ((word & _LOW32) * _SIX) >> _S32
    high = ((word >> _S32) * _SIX) >> _S32
    return np.int8(low) + np.int8(1), np.int8(high) + np.int8(1)


@njit(nogil=True, cache=True)
def roll_dice(seed: int, game: int, turn: int) -> tuple[np.int8, np.int8]:
    """The dice thrown at (seed, game, turn)."""
    return roll_of(random_word(seed, game, turn, PURPOSE_ROLL))


@njit(nogil=True, cache=True)
def opening(seed: int, game: int) -> tuple[int, np.int8, np.int8]:
    """Who starts: one die for each seat, ties thrown again (RULES.md 0, Starting).

    Returns (starting seat 0 or 1, seat 0's die, seat 1's die).
    """
    attempt = 0
    while True:
        first, second = roll_of(random_word(seed, game, attempt, PURPOSE_OPENING))
        if first != second:
            return (0 if first > second else 1), first, second
        attempt += 1


@njit(nogil=True, cache=True)
def uniform_index(word: np.uint64, count: int) -> np.int64:
    """An index 0..count-1 from 64 random bits (count below 2**31; bias below count / 2**32)."""
    return np.int64(((word >> _S32) * np.uint64(count)) >> _S32)

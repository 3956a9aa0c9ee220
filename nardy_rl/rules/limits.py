"""The limits of the same-direction games: who may leave the head, and which primes may not stand.

Long nardy counts what leaves the head and weighs every prime (RULES.md 1); fevga holds all but
the runner back and limits two kinds of prime (RULES.md 4).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import FIRST_TURN, Bits, opponent_point
from nardy_rl.rules.record import KernelRules

_FREE, _CLASSIC, _ANY_FIRST, _ANY_DOUBLE, _STRICT = range(5)
_ALLOW, _AHEAD, _HOME, _FORBID = range(4)
_OPPONENT_PATH, _CIRCULAR, _OWN_PATH = range(3)

_OWN_QUARTER, _HIS_QUARTER = 1, 2  # bits of start_prime

_BOARD = np.int64((1 << 25) - 2)  # holes 1..24
_LOW12 = np.int64((1 << 12) - 1)
_PASSED = np.int64(1 << 14)  # the first hole beyond the opponent's head, my 11
_MY_QUARTER = np.int64(0b111111 << 1)  # my 24..19
_HIS_HOLES = np.int64(0b111111 << 13)  # his 24..19, my 12..7


def _window_starts(*ranges: tuple[int, int]) -> np.int64:
    return np.int64(sum(1 << s for low, high in ranges for s in range(low, high + 1)))


# Starts (hole on the enemy's path, his farthest point first) of the six-point windows that count.
_STARTS_OPPONENT = _window_starts((1, 19))
_STARTS_CIRCULAR = _window_starts((1, 24))
_STARTS_OWN = _window_starts((1, 7), (13, 24))
_SEAM = _window_starts((20, 24))


@njit(nogil=True, cache=True, forceinline=True)
def forbidden_prime(rules: KernelRules, own: Bits, enemy_front: int) -> bool:
    """Whether the mover's checkers `own` (bitboard by hole) form a forbidden prime.

    `enemy_front` is the enemy's most advanced checker, as a hole on his own path; 0 when he has
    none on the board. Same-direction games (RULES.md 1, prime_rule and prime_wrap).
    """
    if enemy_front == 0:
        return False
    board = (own & _BOARD) >> 1
    path = (board >> 12) | ((board & _LOW12) << 12)  # the same checkers by hole on his path
    ring = path | (path << 24)
    run = ring & (ring >> 1)
    run = run & (run >> 2) & (ring >> 4) & (ring >> 5)
    starts = run << 1
    if rules.prime_wrap == _OPPONENT_PATH:
        starts &= _STARTS_OPPONENT
    elif rules.prime_wrap == _CIRCULAR:
        starts &= _STARTS_CIRCULAR
    else:
        starts &= _STARTS_OWN
    if starts == 0:
        return False
    if rules.prime_rule == _FORBID or starts & _SEAM:
        return True
    if rules.prime_rule == _HOME and enemy_front < 19:
        return True
    # Window s..s+5 has an enemy beyond it when his front stands past hole s+5.
    return enemy_front < 7 or (starts >> (enemy_front - 5)) != 0


@njit(nogil=True, cache=True, forceinline=True)
def head_quota(rules: KernelRules, flags: int, die1: int, die2: int, opp: NDArray[np.int8]) -> int:
    """How many checkers may leave the head this turn (RULES.md 1, head_rule, head_exception)."""
    if rules.head_rule == _FREE:
        return 99
    if rules.head_rule == _STRICT or die1 != die2:
        return 1
    if rules.head_rule == _ANY_DOUBLE:
        return 2
    if not flags & FIRST_TURN:
        return 1
    if rules.head_rule == _ANY_FIRST:
        return 2
    if die1 != 3 and die1 != 4 and die1 != 6:
        return 1
    if rules.head_exception == 1:
        return 2
    point = 24
    for _ in range(4):
        point -= die1
        if point < 1:
            return 1
        if opp[opponent_point(rules.opposite, point)] > 0:
            return 2 if point == 12 else 1
    return 1


@njit(nogil=True, cache=True, forceinline=True)
def runner_on_the_way(own: Bits) -> bool:
    """Whether no checker on the board has passed the opponent's start (RULES.md 4, runner)."""
    return bool(own < _PASSED)


@njit(nogil=True, cache=True)
def runner_of(own: Bits) -> Bits:
    """The hole of the foremost of the mover's checkers, as a set of one."""
    while own & (own - 1):
        own &= own - 1
    return own


@njit(nogil=True, cache=True)
def trapping_holes(opp: NDArray[np.int8]) -> np.int64:
    """The mover's holes that would shut in an opponent who stands on a single point, else 0.

    `opp` int8[26] in his numbering. They are the six points right before that one on his path;
    0 where there are not six. Same-direction games (RULES.md 4, trapping_prime).
    """
    stands = 0
    for point in range(1, 25):
        if opp[point] > 0:
            if stands > 0:
                return np.int64(0)
            stands = point
    holes = np.int64(0)
    if stands > 6:
        for point in range(stands - 6, stands):
            holes |= np.int64(1) << (25 - opponent_point(0, point))
    return holes


@njit(nogil=True, cache=True)
def forbidden_start_prime(rules: KernelRules, own: Bits) -> bool:
    """Whether the mover holds too many points of a limited starting quarter (RULES.md 4)."""
    most = 5 - rules.start_prime_points
    if (rules.start_prime & _OWN_QUARTER) and _count(own & _MY_QUARTER) > most:
        return True
    return (rules.start_prime & _HIS_QUARTER) != 0 and _count(own & _HIS_HOLES) > most


@njit(nogil=True, cache=True)
def walls_fit(rules: KernelRules, trapping: Bits, own: Bits) -> bool:
    """Whether a turn may end with the mover on `own` (RULES.md 4, start_prime, trapping_prime).

    `trapping`: see `trapping_holes`.
    """
    if trapping != 0 and own & trapping == trapping:
        return False
    return not forbidden_start_prime(rules, own)


@njit(nogil=True, cache=True)
def _count(bits: Bits) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count

"""A number for every position of a small game, and the way back.

One side is a multiset of places (0 borne off, 1..24, and 25 the bar where checkers are hit); its
rank is the combinatorial number of the places in order. Kernels find it with a sum of one weight
a checker, chosen so that no two sides have the same sum (`_weights`). A position is (flags, my
rank, the opponent's rank), seen by the player to roll:

* `layers * sides * sides` positions without a first turn to come, one layer for each value of
  the starter's flag where the rules read it;
* after them, where first turns count, `layers * sides` in which the player to roll stands at the
  start with his first turn to come. (The opponent's can only be to come in the very first
  position of a game, which is nobody's result and needs no place.)
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import FIRST_TURN, STARTED
from nardy_rl.rules.record import Rules

_BAR = 25
_FIELD = 29
_REDUCTIONS = {2: (2, 2), 3: (2, 0, 3)}  # the first that the search in `_weights` finds


class PositionIndex(NamedTuple):
    """What the kernels number positions with; see `position_index`.

    Attributes:
        checkers: of a side.
        places: 25, or 26 with a bar.
        sides: int8[S, 26], the checkers by place of every rank.
        pips: int64[S], distance still to go, 25 for a checker on the bar.
        weights: int64[26], of a checker by place.
        ranks: int16[], the rank of the side whose weights have this sum; -1 where none has.
        layers: 2 where the rules read who started, else 1.
        start: rank of the start.
        first_turns: 1 where the rules read first turns.
    """

    checkers: int
    places: int
    sides: NDArray[np.int8]
    pips: NDArray[np.int64]
    weights: NDArray[np.int64]
    ranks: NDArray[np.int16]
    layers: int
    start: int
    first_turns: int


def count_sides(rules: Rules) -> int:
    """How many ways one side can stand."""
    places = _BAR + (rules.contact == "hit")
    return comb(places + rules.checkers - 1, rules.checkers)


def count_positions(rules: Rules) -> int:
    """How many numbers a table of the game has; some are of positions that cannot be.

    >>> from nardy_rl.rules.record import variant
    >>> count_positions(variant("hypergammon"))
    10732176
    """
    sides = count_sides(rules)
    layers = 2 if rules.flag_mask & STARTED else 1
    lines = sides if rules.flag_mask & FIRST_TURN else 0
    return layers * (sides * sides + lines)


def position_index(rules: Rules) -> PositionIndex:
    """The numbering of the positions of a game; only for games with few checkers."""
    n = rules.checkers
    places = _BAR + (rules.contact == "hit")
    sides = np.zeros((count_sides(rules), 26), np.int8)
    # Colexicographic: by the farthest checker, then the next, and so on.
    for held in combinations_with_replacement(range(places), n):
        rank = sum(comb(place + k, k + 1) for k, place in enumerate(held))
        sides[rank] = np.bincount(held, minlength=26)
    weights = _weights(n)
    sums = sides @ weights
    ranks = np.full(sums.max() + 1, -1, np.int16)
    ranks[sums] = np.arange(len(sides))
    index = PositionIndex(
        n,
        places,
        sides,
        sides.astype(np.int64) @ np.arange(26),
        weights,
        ranks,
        2 if rules.flag_mask & STARTED else 1,
        0,
        1 if rules.flag_mask & FIRST_TURN else 0,
    )
    start = rules.start_points()[:1]
    return index._replace(start=int(side_rank(index, start, 0)))


@lru_cache
def _weights(checkers: int) -> NDArray[np.int64]:
    """A weight for each place, int64[26], such that `checkers` of them have their sum alone.

    With g a generator of the field of q**h elements, of degree h over that of q, the q logarithms
    of g + a to the base g are such weights (Bose and Chowla, 1962, "Theorems in the additive
    theory of numbers"); here q = 29, which has room for 26 places.
    """
    if checkers == 1:
        return np.arange(26, dtype=np.int64)
    known = _REDUCTIONS.get(checkers)
    everything = product(range(1, _FIELD), *[range(_FIELD)] * (checkers - 1))
    for reduction in [known] if known else everything:
        # g**h = sum of reduction[k] g**k; try whether the powers of g run through the field.
        power = [0, 1, *[0] * (checkers - 2)]
        found = {0: 1}
        exponent = 1
        while exponent < _FIELD**checkers - 1 and power != [1, *[0] * (checkers - 1)]:
            if power[1] == 1 and not any(power[2:]):
                found[power[0]] = exponent
            top = power[-1]
            power = [
                (low + top * r) % _FIELD for low, r in zip([0, *power[:-1]], reduction, strict=True)
            ]
            exponent += 1
        if exponent == _FIELD**checkers - 1 and len(found) == _FIELD:
            return np.array([found[a] for a in range(26)], np.int64)
    raise AssertionError("every finite field has a generator")


@njit(nogil=True, cache=True)
def known_rank(index: PositionIndex, boards: NDArray[np.int8], row: int, side: int) -> np.int64:
    """The rank of the checkers boards[row, side] of int8[N, 2, 26], which are known to be a side.

    (Handing over a view would cost more than the look-up.)
    """
    total = np.int64(0)
    for place in range(26):
        total += index.weights[place] * boards[row, side, place]
    return np.int64(index.ranks[total])


@njit(nogil=True, cache=True)
def side_rank(index: PositionIndex, boards: NDArray[np.int8], row: int) -> np.int64:
    """The rank of the checkers boards[row], int8[N, 26]; -1 where they are no side of this game."""
    total = np.int64(0)
    held = 0
    for place in range(26):
        count = boards[row, place]
        if count < 0 or (count > 0 and place >= index.places):
            return np.int64(-1)
        held += count
        total += index.weights[place] * count
    return np.int64(index.ranks[total]) if held == index.checkers else np.int64(-1)


@njit(nogil=True, cache=True)
def place_of(
    index: PositionIndex, mine: int | np.int64, his: int | np.int64, flags: int
) -> int | np.int64:
    """The number of the position of two ranks, seen by the player to roll, with his flags.

    -1 where it has none: a rank of -1, or a first turn to come that cannot be.
    """
    if mine < 0 or his < 0:
        return -1
    sides = len(index.pips)
    layer = 1 if index.layers == 2 and flags & STARTED else 0
    if index.first_turns:
        if flags & 2:
            return -1
        if flags & FIRST_TURN:
            if mine != index.start:
                return -1
            return (index.layers * sides + layer) * sides + his
    return (layer * sides + mine) * sides + his


@njit(nogil=True, cache=True)
def position_at(index: PositionIndex, place: int) -> tuple[int, int, int]:
    """(my rank, the opponent's rank, flags) of a number: the inverse of `place_of`."""
    sides = len(index.pips)
    row = place // sides
    his = place - row * sides
    if row >= index.layers * sides:
        layer = row - index.layers * sides
        return index.start, his, FIRST_TURN | (STARTED if layer else 0)
    layer = row // sides
    return row - layer * sides, his, STARTED if layer else 0

"""The list of distinct results of one roll, by a hash table of their keys."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import ROW_WORDS
from nardy_rl.rules.scratch import TABLE_SIZE, Scratch

_SLOT_MASK = np.uint64(TABLE_SIZE - 1)
_S20 = np.uint64(20)


@njit(nogil=True, cache=True, forceinline=True)
def insert(
    scratch: Scratch,
    depth: int,
    after: NDArray[np.int32],
    paths: NDArray[np.int64],
    row0: int,
    count: int,
) -> int:
    """Add the scratch board to the results unless it is there; returns the new count."""
    key = scratch.keys[depth]
    slot = np.int64((key ^ (key >> _S20)) & _SLOT_MASK)
    while scratch.table[slot] != 0:
        if scratch.table[slot] == key:
            return count
        slot = (slot + 1) & (TABLE_SIZE - 1)
    scratch.table[slot] = key
    scratch.slots[count] = slot
    row = row0 + count
    for i in range(ROW_WORDS):
        after[row, i] = scratch.words[i]
    paths[row] = scratch.path[depth]
    return count + 1


@njit(nogil=True, cache=True)
def insert_ended(
    scratch: Scratch,
    depth: int,
    after: NDArray[np.int32],
    paths: NDArray[np.int64],
    row0: int,
    count: int,
) -> int:
    """`insert` a result that ends the game, among the first rows; returns the new count."""
    grown = insert(scratch, depth, after, paths, row0, count)
    if grown > count:
        first = scratch.ended[1]
        scratch.ended[1] = first + 1
        here, there = row0 + first, row0 + count
        for i in range(ROW_WORDS):
            after[here, i], after[there, i] = after[there, i], after[here, i]
        paths[here], paths[there] = paths[there], paths[here]
        slots = scratch.slots
        slots[first], slots[count] = slots[count], slots[first]
    return grown


@njit(nogil=True, cache=True)
def clear_table(scratch: Scratch, count: int, first: int = 0) -> None:
    """Forget the keys of results first..count-1."""
    for i in range(first, count):
        scratch.table[scratch.slots[i]] = 0

"""Memory that play generation works in: one `Scratch` a thread, `Rows` for its results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.board import ROW_WORDS

MAX_AFTERSTATES = 20_475
"""Bound on the distinct results of one roll: multisets of four sources out of 24 and the bar."""

TABLE_SIZE = 32_768


class Scratch(NamedTuple):
    """Working memory of one thread; see `new_scratch`."""

    board: NDArray[np.int8]  # [2, 26] checkers by point: the mover's, the opponent's
    words: NDArray[np.int32]  # [ROW_WORDS] the same memory, to copy a row quickly
    marks: NDArray[np.int8]  # [26] checkers by hole that hit this turn
    table: NDArray[np.uint64]  # [TABLE_SIZE] keys seen, 0 empty
    slots: NDArray[np.int32]  # [MAX_AFTERSTATES] used slots, in order
    dice: NDArray[np.int64]  # [4] the die of each step, in the order being tried
    cand: NDArray[np.int64]  # [5] candidate sources still to try, by depth
    steps: NDArray[np.int64]  # [4, 4] by depth: source hole, die, hit (bits), mover was a hitter
    keys: NDArray[np.uint64]  # [5] key by depth
    own: NDArray[np.int64]  # [5] own bitboard by depth
    path: NDArray[np.int64]  # [5] steps so far, packed, by depth
    head: NDArray[np.int64]  # [5] head moves left by depth
    open_holes: NDArray[np.int64]  # [4] open, blots, enemy's front on his path, trapping
    ended: NDArray[np.int64]  # [2] may the mother end the game (0/1), first results that do so


class Rows(NamedTuple):
    """Room for results; see `new_rows`."""

    boards: NDArray[np.int8]  # [N, 2, 26]
    words: NDArray[np.int32]  # [N, ROW_WORDS], the same memory: what `generate` writes
    paths: NDArray[np.int64]  # [N]


def new_rows(count: int) -> Rows:
    """Uninitialised room for `count` results of `generate`."""
    words = np.empty((count, ROW_WORDS), np.int32)
    return Rows(words.view(np.int8).reshape(count, 2, 26), words, np.empty(count, np.int64))


def new_scratch() -> Scratch:
    """Working memory for one thread's calls of `generate`."""
    words = np.zeros(ROW_WORDS, np.int32)
    return Scratch(
        words.view(np.int8).reshape(2, 26),
        words,
        np.zeros(26, np.int8),
        np.zeros(TABLE_SIZE, np.uint64),
        np.zeros(MAX_AFTERSTATES, np.int32),
        np.zeros(4, np.int64),
        np.zeros(5, np.int64),
        np.zeros((4, 4), np.int64),
        np.zeros(5, np.uint64),
        np.zeros(5, np.int64),
        np.zeros(5, np.int64),
        np.zeros(5, np.int64),
        np.zeros(4, np.int64),
        np.zeros(2, np.int64),
    )

"""No result of a position twice: what several of its 21 rolls lead to is evaluated once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.inference import Decisions
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.record import Rules


def once_each(rules: Rules, decisions: Decisions) -> tuple[Decisions, NDArray[np.int64]]:
    """The decisions of all 21 rolls of some positions, no result of a position in it twice.

    About a ninth of what the rolls lead to is led to by another roll as well, as 6-1 and 5-2 can
    end alike. In a ladder game they leave different rungs to play, so there nothing is left out.

    Args:
        rules: the variant.
        decisions: 21 of each position, position by position.

    Returns:
        One decision of each position, and for every result its row there, int64[M].
    """
    boards, offsets = np.ascontiguousarray(decisions.legal.after), decisions.legal.offsets
    if rules.ladder:
        return decisions, np.arange(len(boards))
    first = offsets[::21]
    words = boards.reshape(len(boards), 52).view(np.uint32)
    same = np.empty(len(boards), np.int64)

    def work(low: int, high: int) -> None:
        longest = int((first[low + 1 : high + 1] - first[low:high]).max(initial=1))
        table = np.zeros(1 << int(2 * longest).bit_length(), np.int64)
        _same_range(low, high, words, first, table, same)

    map_chunks(work, len(first) - 1, min_chunk=16)
    kept = same == np.arange(len(boards))
    place = np.cumsum(kept) - 1
    starts = np.append(0, place + 1)[first]
    legal = LegalAfterstates(boards[kept], starts, decisions.legal.dice_used[::21])
    return (
        Decisions(decisions.points[::21], decisions.flags[::21], decisions.pending[::21], legal),
        place[same],
    )


@njit(nogil=True, cache=True)
def _same_range(low, high, words, first, table, same):
    """same[m]: the first row of its position that equals row m of `words` uint32[M, 13].

    `table` int64[a power of two] has room for twice the rows of any position, and is zero: a row
    stands in it by its number in the position, from 1, and is taken out again at the end.
    """
    mask = len(table) - 1
    for p in range(low, high):
        start, stop = first[p], first[p + 1]
        for row in range(start, stop):
            place = _hash(words[row]) & mask
            while True:
                entry = table[place]
                if entry == 0:
                    table[place] = row - start + 1
                    same[row] = row
                    break
                other = start + entry - 1
                equal = True
                for w in range(words.shape[1]):
                    if words[row, w] != words[other, w]:
                        equal = False
                        break
                if equal:
                    same[row] = other
                    break
                place = (place + 1) & mask
        for place in range(len(table)):
            table[place] = 0


@njit(nogil=True, cache=True)
def _hash(row):
    """A number of words uint32[W], all bits of which depend on all of theirs."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for w in range(len(row)):
        mixed = (mixed ^ np.uint64(row[w])) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed >> np.uint64(1))

"""Games of self-play as they are recorded: afterstates, what the net said of them, results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.tables import TRUNCATED


class Episodes(NamedTuple):
    """Games back to back; game g owns positions offsets[g]:offsets[g + 1].

    Attributes:
        points: int8[N, 2, 26], the afterstates chosen, each seen by the player who moved.
        flags, pending: uint8[N], in the same view; the player who moved may be to move again.
        values: float32[N, K], the outcome distribution that the net gave the choice (exact,
            one-hot, where it ended the game), the mover's view.
        mover: uint8[N], the seat (0 or 1) that moved.
        offsets: int64[G + 1].
        score: int8[G], final score in the view of the last mover; 0 where truncated.
        truncated: bool[G], stopped at the ply cap without a score.
        candidates: rows that were evaluated to make these choices, in all.
    """

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    values: NDArray[np.float32]
    mover: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    score: NDArray[np.int8]
    truncated: NDArray[np.bool_]
    candidates: int


class Record(NamedTuple):
    """Where a chunk of games is written; see `Episodes`."""

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    values: NDArray[np.float32]
    mover: NDArray[np.uint8]


def new_record(rows: int, outcomes: int) -> Record:
    """Room for `rows` positions."""
    return Record(
        np.empty((rows, 2, 26), np.int8),
        np.empty(rows, np.uint8),
        np.empty(rows, np.uint8),
        np.empty((rows, outcomes), np.float32),
        np.empty(rows, np.uint8),
    )


def episodes_of(
    record: Record, lengths: NDArray[np.int64], results: NDArray[np.int8], candidates: int
) -> Episodes:
    """Games as they were recorded: lengths int64[G], what `advance` said at their ends int8[G]."""
    truncated = results == TRUNCATED
    return Episodes(
        record.points,
        record.flags,
        record.pending,
        record.values,
        record.mover,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.where(truncated, 0, results).astype(np.int8),
        truncated,
        candidates,
    )

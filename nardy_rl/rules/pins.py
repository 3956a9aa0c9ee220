"""Pins: a lone checker is held under the enemy checkers that landed on it (RULES.md 4, plakoto).

Who lies under whom where each side has one checker on a point cannot be told from counts, so a
pinned checker stands as `PINNED` in its owner's row: `points > 0` are the checkers that may move,
`abs(points)` how many there are. Whoever is pinned was alone and nobody may join him, so there is
never more than one, and never anybody pinned on both sides of a point.

During a turn the mover's own pinned checkers stay what they are, and a lone enemy checker on an
open point is pinned just where the mover has a checker: his row follows from the mover's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PINNED = -1
"""A pinned checker, in its owner's row of points."""

MOTHER = 24
"""The start point, where all checkers stand at first; the last of them is the mother."""


def counts_of(points: NDArray[np.int8]) -> NDArray[np.int8]:
    """How many checkers there are: `points`, with each pinned one counted as one."""
    counts: NDArray[np.int8] = np.abs(points)
    return counts


def impossible_counts(points: NDArray[np.int8]) -> bool:
    """Whether int8[2, 26] holds a count below `PINNED`, or a pinned checker that is on no point."""
    return bool(points.min() < PINNED or points[:, [0, 25]].min() < 0)


def pinned_under_nobody(points: NDArray[np.int8]) -> bool:
    """Whether a pinned checker of int8[2, 26] has no enemy checker on it that may move."""
    mine, across = points[0, 1:25], points[1, 24:0:-1]
    held = (mine == PINNED) & (across <= 0) | (across == PINNED) & (mine <= 0)
    return bool(held.any())

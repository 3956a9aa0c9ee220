"""Legal afterstates of many positions at once: one ragged buffer, on all threads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN
from nardy_rl.rules.kernels import MAX_AFTERSTATES, Rows, Scratch, generate, new_rows, new_scratch
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.pins import PINNED, counts_of
from nardy_rl.rules.record import KernelRules, Rules


class LegalAfterstates(NamedTuple):
    """The results of a batch of rolls; position b owns rows offsets[b]:offsets[b + 1].

    Attributes:
        after: int8[M, 2, 26], each seen by the player who played (row 0).
        offsets: int64[B + 1].
        dice_used: int8[B], dice that every result of that roll uses; 0 is a pass, whose one
            row is the position itself. A result that ends the game by the mother (RULES.md 4)
            may use fewer.
    """

    after: NDArray[np.int8]
    offsets: NDArray[np.int64]
    dice_used: NDArray[np.int8]


@njit(nogil=True, cache=True)
def _generate_range(
    rules: KernelRules,
    scratch: Scratch,
    start: int,
    stop: int,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    pending: NDArray[np.uint8],
    rolls: NDArray[np.int8],
    room: Rows,
    counts: NDArray[np.int64],
    used: NDArray[np.int8],
) -> tuple[int, int]:
    """Fill `room` (`Rows`) for positions start..stop-1 until it is full.

    Returns (positions done, rows written).
    """
    rows = 0
    for b in range(start, stop):
        if len(room.paths) - rows < MAX_AFTERSTATES:
            return b - start, rows
        counts[b], used[b] = generate(
            rules,
            scratch,
            points[b],
            flags[b],
            pending[b],
            rolls[b, 0],
            rolls[b, 1],
            room.words,
            room.paths,
            rows,
        )
        rows += counts[b]
    return stop - start, rows


def generate_batch(
    rules: KernelRules,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    pending: NDArray[np.uint8],
    rolls: NDArray[np.int8],
) -> tuple[LegalAfterstates, NDArray[np.int64]]:
    """Unchecked `legal_afterstates`, with one way to reach each row: paths int64[M].

    Pass `Rules.kernel`; arrays must be C-contiguous with the dtypes named.
    """
    total = len(points)
    if total == 0:
        nothing = LegalAfterstates(
            np.empty((0, 2, 26), np.int8), np.zeros(1, np.int64), np.empty(0, np.int8)
        )
        return nothing, np.empty(0, np.int64)
    counts = np.zeros(total, np.int64)
    used = np.zeros(total, np.int8)

    def work(start: int, stop: int) -> list[tuple[NDArray[np.int8], NDArray[np.int64]]]:
        scratch = new_scratch()
        parts = []
        while start < stop:
            room = new_rows(MAX_AFTERSTATES + 32 * (stop - start))
            done, written = _generate_range(
                rules, scratch, start, stop, points, flags, pending, rolls, room, counts, used
            )
            parts.append((room.boards[:written], room.paths[:written]))
            start += done
        return parts

    parts = [part for chunk in map_chunks(work, total) for part in chunk]
    offsets = np.zeros(total + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    if len(parts) == 1:
        after, paths = parts[0]
    else:
        after = np.concatenate([part[0] for part in parts])
        paths = np.concatenate([part[1] for part in parts])
    return LegalAfterstates(after, offsets, used), paths


def legal_afterstates(
    rules: Rules,
    points: ArrayLike,
    rolls: ArrayLike,
    first_turn: ArrayLike | None = None,
    *,
    flags: ArrayLike | None = None,
    pending: ArrayLike | None = None,
) -> LegalAfterstates:
    """Every distinct legal result of every roll, for a batch of positions.

    Args:
        rules: the variant.
        points: int8[B, 2, 26], the player to move in row 0, each side in its own numbering.
        rolls: int8[B, 2], dice 1..6 in any order.
        first_turn: bool[B] (the mover's first turn is still to come) or bool[B, 2] (his and
            the opponent's); none by default.
        flags: uint8[B], all flag bits at once, instead of `first_turn`.
        pending: uint8[B], ladder state; 0 outside ladder games, which is the default.

    Returns:
        `LegalAfterstates(after, offsets, dice_used)`.

    Raises:
        ValueError: a shape that does not fit, dice outside 1..6, checkers that do not add up.

    Source: RULES.md 0, "A legal turn", 1 and 2.

    >>> from nardy_rl.rules.record import variant
    >>> from nardy_rl.rules.position import Position
    >>> start = Position.start(variant("backgammon")).points
    >>> legal_afterstates(variant("backgammon"), start[None], [[3, 1]]).offsets
    array([ 0, 16])
    """
    least = PINNED if rules.contact == "pin" else 0
    board = checked("points", points, least, rules.checkers).astype(np.int8)
    if board.ndim != 3 or board.shape[1:] != (2, 26):
        raise ValueError(f"points has shape {board.shape}; int8[B, 2, 26] is needed")
    total = len(board)
    if (counts_of(board).sum(2, dtype=np.int64) != rules.checkers).any():
        raise ValueError(f"points must hold {rules.checkers} checkers a side")
    dice = checked("rolls", rolls, 1, 6).astype(np.int8)
    if dice.shape != (total, 2):
        raise ValueError(f"rolls has shape {dice.shape}; int8[{total}, 2] is needed")
    bits = flag_bits(total, first_turn) if flags is None else _per_position(flags, total, "flags")
    rungs = np.zeros(total, np.uint8)
    if pending is not None:
        rungs = _per_position(pending, total, "pending")
    return generate_batch(rules.kernel, board, bits, rungs, dice)[0]


def unpack_path(path: int, steps: int) -> list[tuple[int, int]]:
    """The (source point, die) of each of the `steps` steps packed in a path, in order.

    Fewer where the path ends before: it ends the game by the mother.
    """
    parts = [(path >> 8 * step) & 255 for step in range(steps)]
    return [(25 - (part & 31), part >> 5) for part in parts if part]


def flag_bits(total: int, first_turn: ArrayLike | None) -> NDArray[np.uint8]:
    """Flag bits uint8[total] from `first_turn` bool[total] or bool[total, 2] (mine, his)."""
    if first_turn is None:
        return np.zeros(total, np.uint8)
    turns = np.asarray(first_turn, bool)
    if turns.shape == (total,):
        return np.where(turns, FIRST_TURN, 0).astype(np.uint8)
    if turns.shape == (total, 2):
        bits: NDArray[np.uint8] = (turns @ [FIRST_TURN, OPPONENT_FIRST_TURN]).astype(np.uint8)
        return bits
    raise ValueError(f"first_turn has shape {turns.shape}; bool[{total}] or bool[{total}, 2]")


def checked(name: str, values: ArrayLike, low: int, high: int) -> NDArray[np.integer]:
    """`values` as a C-contiguous array of whole numbers low..high; ValueError for any other."""
    array = np.ascontiguousarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise ValueError(f"{name} has dtype {array.dtype}; whole numbers are needed")
    if array.min() < low or array.max() > high:
        raise ValueError(f"{name} holds {array.min()}..{array.max()}; {low}..{high} are allowed")
    return array


def _per_position(values: ArrayLike, total: int, name: str) -> NDArray[np.uint8]:
    array = checked(name, values, 0, 255).astype(np.uint8)
    if array.shape != (total,):
        raise ValueError(f"{name} has shape {array.shape}; uint8[{total}] is needed")
    return array

"""Positions as the input units of the net.

One description serves everybody: `Encoding` says which unit belongs to which checker count,
`encode` fills dense rows for torch, and the incremental kernel of `nardy_rl.inference` adds and
subtracts the weight rows of the same units. `ENCODER_VERSION` changes whenever a net trained
before would read its inputs differently.

Per side (first the player who just moved, then the other) and per point four units, the truncated
unary code of TD-Gammon (Tesauro 1992, 2002): at least one, two, three checkers, and half of every
checker beyond the third; where lone checkers are pinned a fifth says that this one is. Then the
bar (half a unit a checker, only where checkers are hit), the checkers borne off as a share of all,
the flags that the variant's rules read, and in ladder games what is pending: whose rung of which
die, how many steps are left of it, or that I roll again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.ladder import GIVEN, HANDED, ROLL_AGAIN, rung_code, rung_of
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules

ENCODER_VERSION = 1

UNARY, LINEAR = 1, 2
"""Values of `Encoding.kind`: four units for a count, or one unit proportional to it."""

PINNED_UNIT = 4
"""Where lone checkers are pinned: the unit that says so, counted from the first of its place."""

OFF, BAR = 0, 25
PENDING_UNITS = 6
"""Most units that one value of `pending` switches on: the die, up to four steps, handed over."""
_FLAG_NAMES = (
    "my first turn to come",
    "opponent's first turn to come",
    "I started the game",
    "my turns taken, 1",
    "my turns taken, 2",
    "opponent's turns taken, 1",
    "opponent's turns taken, 2",
)


class EncodingArrays(NamedTuple):
    """The arrays of an `Encoding`, as numba kernels take them."""

    base: NDArray[np.int32]
    kind: NDArray[np.int8]
    scale: NDArray[np.float32]
    flag_units: NDArray[np.int32]
    pending_units: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Encoding:
    """Which input unit means what.

    Attributes:
        names: meaning of each of the `size` units.
        base: int32[2, 26], first unit of the count at (side, location), -1 where none.
        kind: int8[2, 26], 0 (no unit), `UNARY` (four units) or `LINEAR` (one).
        scale: float32[2, 26], factor of a linear unit, 1 elsewhere.
        flag_units: int32[8], unit switched on by each bit of a position's flags, -1 where none.
        pending_units: int32[256, PENDING_UNITS], units switched on by each value of `pending`,
            in the view after a decision (see `rules.ladder`), filled up with -1.
    """

    names: tuple[str, ...]
    base: NDArray[np.int32]
    kind: NDArray[np.int8]
    scale: NDArray[np.float32]
    flag_units: NDArray[np.int32]
    pending_units: NDArray[np.int32]

    @property
    def size(self) -> int:
        """Number of input units."""
        return len(self.names)

    @cached_property
    def kernel(self) -> EncodingArrays:
        """The same arrays as a NamedTuple for njit functions."""
        return EncodingArrays(self.base, self.kind, self.scale, self.flag_units, self.pending_units)

    @staticmethod
    def of(rules: Rules) -> Encoding:
        """The encoding of a variant; the same object for equal rules."""
        return _encoding_of(rules)


@lru_cache(maxsize=64)
def _encoding_of(rules: Rules) -> Encoding:
    names: list[str] = []
    base = np.full((2, 26), -1, np.int32)
    kind = np.zeros((2, 26), np.int8)
    scale = np.ones((2, 26), np.float32)
    flag_units = np.full(8, -1, np.int32)

    for side, who in enumerate(("me", "opponent")):
        for point in range(1, 25):
            base[side, point], kind[side, point] = len(names), UNARY
            names += [f"{who} {point} >= {count}" for count in (1, 2, 3)]
            names.append(f"{who} {point} beyond 3, halved")
            if rules.contact == "pin":
                names.append(f"{who} {point} pinned")
    linear = [("off", OFF, 1.0 / rules.checkers)]
    if rules.contact == "hit":
        linear.insert(0, ("bar", BAR, 0.5))
    for place, location, factor in linear:
        for side, who in enumerate(("me", "opponent")):
            base[side, location], kind[side, location] = len(names), LINEAR
            scale[side, location] = factor
            names.append(f"{who} {place}")
    for bit in _flags_read(rules):
        flag_units[bit] = len(names)
        names.append(_FLAG_NAMES[bit])
    pending_units = _pending_units(rules, names)
    for array in (base, kind, scale, flag_units, pending_units):
        array.setflags(write=False)
    return Encoding(tuple(names), base, kind, scale, flag_units, pending_units)


def _pending_units(rules: Rules, names: list[str]) -> NDArray[np.int32]:
    """The units of each value of `pending`; their names are appended to `names`.

    The head moves that are left differ between the results of one decision, and are no input.
    """
    units = np.full((256, PENDING_UNITS), -1, np.int32)
    if not rules.ladder:
        return units
    repeats = int(rules.ladder_repeats)
    first = len(names)
    units[ROLL_AGAIN, 0] = first
    names.append("I roll next")
    for who in ("my", "opponent's"):
        names += [f"{who} rung is {die}" for die in range(1, 7)]
        names += [f"{who} steps left >= {steps}" for steps in range(1, repeats + 1)]
    names.append("my rung is handed over")
    for pending in range(1, rung_code(6, 4, GIVEN, 2) + 1):
        die, steps, whose, _head = rung_of(pending)
        side = first + 1 + (6 + repeats if whose == GIVEN else 0)
        listed = [side + die - 1, *range(side + 6, side + 6 + min(steps, repeats))]
        if whose == HANDED:
            listed.append(len(names) - 1)
        units[pending, : len(listed)] = listed
    return units


def _flags_read(rules: Rules) -> list[int]:
    """The flag bits that can change what is legal or what a game scores."""
    bits = []
    if rules.contact == "block" and rules.head_rule in ("classic", "any_double_first"):
        bits += [0, 1]
    if rules.last_roll != "none":
        bits.append(2)
    return bits + [bit for bit in range(3, 7) if rules.flag_mask >> bit & 1]


@njit(nogil=True, cache=True, inline="always")
def unary_level(count):
    """How many of the three threshold units `count` checkers switch on, and the fourth's value."""
    if count > 3:
        return np.int64(3), np.float32(0.5) * np.float32(count - 3)
    return np.int64(count), np.float32(0.0)


@njit(nogil=True, cache=True)
def write_row(points, flags, pending, enc, out):
    """Write the units of one position into `out` (float32[F]), every one of them.

    `points` is int8[2, 26], `flags` and `pending` its bytes, `enc` an `EncodingArrays`.
    """
    out[:] = np.float32(0.0)
    for side in range(2):
        for location in range(26):
            count = points[side, location]
            kind = enc.kind[side, location]
            if count == 0 or kind == 0:
                continue
            first = enc.base[side, location]
            if count < 0:
                out[first] = np.float32(1.0)
                out[first + PINNED_UNIT] = np.float32(1.0)
            elif kind == UNARY:
                level, beyond = unary_level(count)
                for unit in range(first, first + level):
                    out[unit] = np.float32(1.0)
                out[first + 3] = beyond
            else:
                out[first] = enc.scale[side, location] * np.float32(count)
    for bit in range(8):
        unit = enc.flag_units[bit]
        if unit >= 0 and (flags >> bit) & 1:
            out[unit] = np.float32(1.0)
    if pending != 0:
        for i in range(PENDING_UNITS):
            unit = enc.pending_units[pending, i]
            if unit >= 0:
                out[unit] = np.float32(1.0)


@njit(nogil=True, cache=True)
def _write_rows(start, stop, points, flags, pending, enc, out):
    for row in range(start, stop):
        write_row(points[row], flags[row], pending[row], enc, out[row])


@njit(nogil=True, cache=True)
def _write_chosen(start, stop, points, flags, pending, chosen, enc, out):
    for i in range(start, stop):
        row = chosen[i]
        write_row(points[row], flags[row], pending[row], enc, out[i])


def encode(
    rules: Rules | Encoding,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8] | None = None,
    pending: NDArray[np.uint8] | None = None,
) -> NDArray[np.float32]:
    """Input rows of many positions.

    Args:
        rules: the variant, or its encoding.
        points: int8[N, 2, 26], row 0 the player whose view it is.
        flags: uint8[N], zeros when left out.
        pending: uint8[N], in the view after a decision (see `rules.ladder`); zeros when left
            out, and without a ladder.

    Returns:
        float32[N, F], whatever the number of threads.

    Raises:
        ValueError: an array of another shape, or a pending rung where there is no ladder.
    """
    encoding = rules if isinstance(rules, Encoding) else Encoding.of(rules)
    points = np.ascontiguousarray(points, np.int8)
    if points.ndim != 3 or points.shape[1:] != (2, 26):
        raise ValueError(f"points: shape {points.shape}, expected (N, 2, 26)")
    total = len(points)
    flags = np.zeros(total, np.uint8) if flags is None else np.ascontiguousarray(flags, np.uint8)
    if flags.shape != (total,):
        raise ValueError(f"flags: shape {flags.shape}, expected ({total},)")
    rungs = np.zeros(total, np.uint8) if pending is None else pending
    rungs = np.ascontiguousarray(rungs, np.uint8)
    if rungs.shape != (total,):
        raise ValueError(f"pending: shape {rungs.shape}, expected ({total},)")
    if np.any(rungs) and encoding.pending_units[ROLL_AGAIN, 0] < 0:
        raise ValueError("pending: not 0, but this variant has no ladder")
    out = np.empty((total, encoding.size), np.float32)
    run_chunks(_write_rows, total, points, flags, rungs, encoding.kernel, out, min_chunk=2048)
    return out


def encode_chosen(
    encoding: Encoding,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    out: NDArray[np.float32],
    pending: NDArray[np.uint8] | None = None,
) -> None:
    """Write the rows of the positions `chosen` into `out`, which a caller reuses.

    Args:
        encoding: of the variant.
        points, flags: int8[N, 2, 26] and uint8[N], C-contiguous.
        chosen: int64[M], indices into them.
        out: float32[M or more, F]; its first M rows are overwritten.
        pending: uint8[N], of the positions; zeros when left out.
    """
    rungs = np.zeros(len(flags), np.uint8) if pending is None else pending
    run_chunks(
        _write_chosen,
        len(chosen),
        points,
        flags,
        rungs,
        chosen,
        encoding.kernel,
        out,
        min_chunk=512,
    )

"""The incremental kernel: nets with one hidden layer, a few weight rows a candidate.

The units of the position before the play are summed once, and each candidate adds and subtracts
only the weight rows of the checkers that moved (the accumulator idea of NNUE, Nasu 2018).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import nn

from nardy_rl.encoding import LINEAR, PENDING_UNITS, PINNED_UNIT, UNARY, unary_level
from nardy_rl.net import ValueNet
from nardy_rl.rules.board import ROW_WORDS, lowest_bit_index

MAX_UNITS = 52 * 4 + 8 + PENDING_UNITS
"""Room for the units of one position: four a place, the flags, and what is pending."""


class KernelWeights(NamedTuple):
    """A net with one hidden layer, laid out for the incremental kernel."""

    first: NDArray[np.float32]  # [F, H], a row for each input unit
    first_bias: NDArray[np.float32]  # [H]
    last: NDArray[np.float32]  # [K', H], K' = K filled up with zeros to a multiple of 3
    last_bias: NDArray[np.float32]  # [K']


class EvaluationScratch(NamedTuple):
    """Working memory of one thread of the incremental kernel."""

    before: NDArray[np.int32]  # [ROW_WORDS] the board before the play
    before_board: NDArray[np.int8]  # [2, 26] the same memory
    base: NDArray[np.float32]  # [H] hidden sums before the play
    total: NDArray[np.float32]  # [H] and of the candidate
    logits: NDArray[np.float32]  # [K']
    units: NDArray[np.int64]  # [MAX_UNITS] units to add,
    factors: NDArray[np.float32]  # [MAX_UNITS] each so many times


def _unit_changes() -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
    """What a change of a place's count does to its units, for every kind and pair of counts.

    Returns (unit offsets int64[3, 17, 17, 4], factors float32[3, 17, 17, 4], how many of the
    four int64[3, 17, 17]), indexed [kind, before, now]; the last place, which is also the place
    -1, is of a pinned checker. Tables, because a branch a count that the processor cannot foresee
    costs more than all the additions.
    """
    offsets = np.zeros((3, 17, 17, 4), np.int64)
    factors = np.zeros((3, 17, 17, 4), np.float32)
    counts = np.zeros((3, 17, 17), np.int64)
    for before in range(-1, 16):
        for now in range(-1, 16):
            old_level, old_beyond = unary_level(abs(before))
            level, beyond = unary_level(abs(now))
            changes = [(step, 1.0) for step in range(old_level, level)]
            changes += [(step, -1.0) for step in range(level, old_level)]
            if beyond != old_beyond:
                changes.append((3, beyond - old_beyond))
            if (now < 0) != (before < 0):
                changes.append((PINNED_UNIT, 1.0 if now < 0 else -1.0))
            for kind, listed in ((UNARY, changes), (LINEAR, [(0, now - before)])):
                if now != before:
                    counts[kind, before, now] = len(listed)
                    for i, (offset, factor) in enumerate(listed):
                        offsets[kind, before, now, i] = offset
                        factors[kind, before, now, i] = factor
    return offsets, factors, counts


_OFFSETS, _FACTORS, _CHANGES = _unit_changes()


def new_evaluation_scratch(weights: KernelWeights) -> EvaluationScratch:
    """Working memory for one thread."""
    words = np.zeros(ROW_WORDS, np.int32)
    hidden = len(weights.first_bias)
    return EvaluationScratch(
        words,
        words.view(np.int8).reshape(2, 26),
        np.zeros(hidden, np.float32),
        np.zeros(hidden, np.float32),
        np.zeros(len(weights.last_bias), np.float32),
        np.zeros(MAX_UNITS, np.int64),
        np.zeros(MAX_UNITS, np.float32),
    )


_POWERS = np.ldexp(np.float32(1.0), -np.arange(128)).astype(np.float32)
_LOG2_E = np.float32(math.log2(math.e))
# log 2 in two parts: a whole number of times the first, of few bits, is exact in float32.
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(math.log(2) - 0.693359375)


@njit(nogil=True, cache=True, forceinline=True)
def exp_below(x):
    """exp(x) of a float32 x <= 0, relative error below 3e-7; 0 below 2**-126.

    A call of the library's exp for each outcome was a quarter of an evaluation.
    """
    if x < np.float32(-87.0):
        return np.float32(0.0)
    halvings = np.int32(np.float32(0.5) - x * _LOG2_E)
    whole = np.float32(halvings)
    # What is left lies within half of log 2 of 0, where the seventh term is below 1e-7.
    rest = (x + whole * _LN2_HIGH) + whole * _LN2_LOW
    series = np.float32(1.0 / 720.0)
    series = series * rest + np.float32(1.0 / 120.0)
    series = series * rest + np.float32(1.0 / 24.0)
    series = series * rest + np.float32(1.0 / 6.0)
    series = series * rest + np.float32(0.5)
    series = series * rest + np.float32(1.0)
    series = series * rest + np.float32(1.0)
    return series * _POWERS[halvings]


@njit(nogil=True, cache=True, forceinline=True)
def note_change(scratch, count, enc, side, place, before, now):
    """Append the units that differ between `before` and `now` checkers at one place."""
    kind = enc.kind[side, place]
    unit = enc.base[side, place]
    scale = enc.scale[side, place]
    for i in range(4):
        scratch.units[count + i] = unit + _OFFSETS[kind, before, now, i]
        scratch.factors[count + i] = scale * _FACTORS[kind, before, now, i]
    return count + _CHANGES[kind, before, now]


@njit(nogil=True, cache=True, fastmath=True)
def add_units(total, base, first, units, factors, count):
    """total = base + the noted weight rows; two rows a pass halve the traffic."""
    hidden = len(total)
    for j in range(hidden):
        total[j] = base[j]
    for i in range(0, count - 1, 2):
        unit, other = units[i], units[i + 1]
        factor, factor2 = factors[i], factors[i + 1]
        for j in range(hidden):
            total[j] += factor * first[unit, j] + factor2 * first[other, j]
    if count & 1:
        unit, factor = units[count - 1], factors[count - 1]
        for j in range(hidden):
            total[j] += factor * first[unit, j]


@njit(nogil=True, cache=True, forceinline=True)
def note_state(scratch, count, enc, flags, pending):
    """Append the units that flags and pending switch on."""
    for bit in range(8):
        unit = enc.flag_units[bit]
        if unit >= 0 and (flags >> bit) & 1:
            scratch.units[count] = unit
            scratch.factors[count] = np.float32(1.0)
            count += 1
    if pending != 0:
        for i in range(PENDING_UNITS):
            unit = enc.pending_units[pending, i]
            if unit >= 0:
                scratch.units[count] = unit
                scratch.factors[count] = np.float32(1.0)
                count += 1
    return count


@njit(nogil=True, cache=True, fastmath=True)
def sum_before(enc, weights, points, flags, pending, scratch):
    """Sum the units of a position before the play; `evaluate_sums` goes on from there.

    Args:
        enc: `EncodingArrays`.
        weights: `KernelWeights`.
        points: int8[2, 26] before the play.
        flags, pending: after it.
        scratch: `EvaluationScratch` of this thread.
    """
    for side in range(2):
        for place in range(26):
            scratch.before_board[side, place] = points[side, place]
    count = 0
    for side in range(2):
        for place in range(26):
            if points[side, place] != 0:
                count = note_change(
                    scratch, count, enc, side, place, np.int8(0), points[side, place]
                )
    count = note_state(scratch, count, enc, flags, pending)
    add_units(
        scratch.base, weights.first_bias, weights.first, scratch.units, scratch.factors, count
    )


@njit(nogil=True, cache=True, fastmath=True)
def evaluate_sums(enc, weights, words, boards, low, high, scratch, out):
    """Outcome distributions of the candidates low..high-1 of the position of `sum_before`.

    Args:
        enc, weights, scratch: as there.
        words, boards: the candidates, int32[M, 13] and int8[M, 2, 26] on the same memory.
        low, high: which of them.
        out: float32[M, K], rows low..high-1 are written.
    """
    before = scratch.before
    points = scratch.before_board
    base = scratch.base
    total = scratch.total
    logits = scratch.logits
    hidden = len(base)
    outcomes = out.shape[1]
    for row in range(low, high):
        count = 0
        for word in range(ROW_WORDS):
            changed = np.int64(np.uint32(words[row, word] ^ before[word]))
            while changed != 0:
                byte = lowest_bit_index(changed) >> 3
                changed &= ~(np.int64(255) << (8 * byte))
                index = 4 * word + byte
                row_side = int(index >= 26)
                at = index - 26 * row_side
                count = note_change(
                    scratch,
                    count,
                    enc,
                    row_side,
                    at,
                    points[row_side, at],
                    boards[row, row_side, at],
                )
        add_units(total, base, weights.first, scratch.units, scratch.factors, count)
        # Three outcomes a pass: as many running sums as hide the latency of the adds.
        for k in range(0, len(logits), 3):
            sum0 = weights.last_bias[k]
            sum1 = weights.last_bias[k + 1]
            sum2 = weights.last_bias[k + 2]
            for j in range(hidden):
                active = max(total[j], np.float32(0.0))
                sum0 += active * weights.last[k, j]
                sum1 += active * weights.last[k + 1, j]
                sum2 += active * weights.last[k + 2, j]
            logits[k] = sum0
            logits[k + 1] = sum1
            logits[k + 2] = sum2
        top = np.float32(-1e30)
        for k in range(outcomes):
            top = max(top, logits[k])
        norm = np.float32(0.0)
        for k in range(outcomes):
            share = exp_below(logits[k] - top)
            out[row, k] = share
            norm += share
        scale = np.float32(1.0) / norm
        for k in range(outcomes):
            out[row, k] *= scale


@njit(nogil=True, cache=True)
def evaluate_candidates(
    enc, weights, points, flags, pending, words, boards, low, high, scratch, out
):
    """Outcome distributions of one decision: `sum_before`, then `evaluate_sums`."""
    sum_before(enc, weights, points, flags, pending, scratch)
    evaluate_sums(enc, weights, words, boards, low, high, scratch, out)


@njit(nogil=True, cache=True)
def evaluate_range(
    low, high, enc, weights, points, flags, pending, words, boards, offsets, scratch, out
):
    """`evaluate_candidates` of the decisions low..high-1; decision b owns rows offsets[b:b + 2]."""
    for b in range(low, high):
        evaluate_candidates(
            enc,
            weights,
            points[b],
            flags[b],
            pending[b],
            words,
            boards,
            offsets[b],
            offsets[b + 1],
            scratch,
            out,
        )


def kernel_weights(net: ValueNet) -> KernelWeights:
    """Copies of the weights of a net with one hidden layer, as the kernel reads them."""
    first, last = (layer for layer in net.layers if isinstance(layer, nn.Linear))
    fill = -len(net.outcomes) % 3
    with torch.no_grad():
        return KernelWeights(
            np.ascontiguousarray(first.weight.numpy(force=True).T),
            first.bias.numpy(force=True).copy(),
            np.pad(last.weight.numpy(force=True), ((0, fill), (0, 0))),
            np.pad(last.bias.numpy(force=True), (0, fill)),
        )

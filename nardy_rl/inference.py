"""Evaluators: distributions over outcomes for every candidate of a batch of decisions.

`FloatEvaluator` in float32 is the definition; `bfloat16` and the incremental kernel are faster
ways to nearly the same numbers, tested against it. The kernel serves nets with one hidden layer:
the units of the position before the play are summed once, and each candidate adds and subtracts
only the weight rows of the checkers that moved (the accumulator idea of NNUE, Nasu 2018).
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from nardy_rl.encoding import LINEAR, UNARY, Encoding, encode, unary_level
from nardy_rl.errors import ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.rules.board import ROW_WORDS, lowest_bit_index
from nardy_rl.rules.parallel import get_threads, map_chunks

EVALUATORS = ("auto", "kernel", "float32", "bfloat16")
"""Names that `make_evaluator` knows."""

MAX_UNITS = 52 * 4 + 8
"""Room for the units of one position: four a place, and the flags."""

# Rows of one torch forward: activations stay near the caches. Every forward has exactly so many,
# the last filled up: the last bits of a matrix product can depend on how many rows there are,
# and a choice must not depend on the other decisions of its batch.
_BLOCK_ROWS = 384
_DEVICE_ROWS = 12_288  # and on an accelerator


class Decisions(NamedTuple):
    """A batch of decisions: what was, and what each player may turn it into.

    Attributes:
        points: int8[B, 2, 26] before the play, seen by the player to move.
        flags: uint8[B], the flag bits *after* the play (all results of a decision share them).
        pending: uint8[B], likewise.
        legal: the results, `LegalAfterstates`.
    """

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    legal: LegalAfterstates


class Evaluator(Protocol):
    """Anything that values the candidates of a batch of decisions."""

    name: str

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """Probability of each outcome for each candidate, float32[M, K], the mover's view."""
        ...


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

    Returns (unit offsets int64[3, 16, 16, 4], factors float32[3, 16, 16, 4], how many of the
    four int64[3, 16, 16]), indexed [kind, before, now]. Tables, because a branch a count that
    the processor cannot foresee costs more than all the additions.
    """
    offsets = np.zeros((3, 16, 16, 4), np.int64)
    factors = np.zeros((3, 16, 16, 4), np.float32)
    counts = np.zeros((3, 16, 16), np.int64)
    for before in range(16):
        for now in range(16):
            old_level, old_beyond = unary_level(before)
            level, beyond = unary_level(now)
            changes = [(step, 1.0) for step in range(old_level, level)]
            changes += [(step, -1.0) for step in range(level, old_level)]
            if beyond != old_beyond:
                changes.append((3, beyond - old_beyond))
            for kind, listed in ((UNARY, changes), (LINEAR, [(0, now - before)])):
                if now != before:
                    counts[kind, before, now] = len(listed)
                    for i, (offset, factor) in enumerate(listed):
                        offsets[kind, before, now, i] = offset
                        factors[kind, before, now, i] = factor
    return offsets, factors, counts


_OFFSETS, _FACTORS, _CHANGES = _unit_changes()


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


@njit(nogil=True, cache=True, fastmath=True)
def evaluate_candidates(enc, weights, points, flags, words, boards, low, high, scratch, out):
    """Outcome distributions of the candidates low..high-1 of one decision.

    Args:
        enc: `EncodingArrays`.
        weights: `KernelWeights`.
        points: int8[2, 26] before the play.
        flags: flag bits after it.
        words, boards: the candidates, int32[M, 13] and int8[M, 2, 26] on the same memory.
        low, high: which of them.
        scratch: `EvaluationScratch` of this thread.
        out: float32[M, K], rows low..high-1 are written.
    """
    before = scratch.before
    base = scratch.base
    total = scratch.total
    logits = scratch.logits
    hidden = len(base)
    outcomes = out.shape[1]
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
    for bit in range(8):
        unit = enc.flag_units[bit]
        if unit >= 0 and (flags >> bit) & 1:
            scratch.units[count] = unit
            scratch.factors[count] = np.float32(1.0)
            count += 1
    add_units(base, weights.first_bias, weights.first, scratch.units, scratch.factors, count)
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
            share = np.float32(math.exp(logits[k] - top))
            out[row, k] = share
            norm += share
        scale = np.float32(1.0) / norm
        for k in range(outcomes):
            out[row, k] *= scale


@njit(nogil=True, cache=True)
def _evaluate_range(low, high, enc, weights, points, flags, words, boards, offsets, scratch, out):
    for b in range(low, high):
        evaluate_candidates(
            enc,
            weights,
            points[b],
            flags[b],
            words,
            boards,
            offsets[b],
            offsets[b + 1],
            scratch,
            out,
        )


class KernelEvaluator:
    """The incremental kernel; for nets with exactly one hidden layer."""

    name = "kernel"

    def __init__(self, net: ValueNet, encoding: Encoding) -> None:
        if len(net.hidden) != 1:
            raise ConfigError(
                f"evaluator=kernel needs one hidden layer, this net has {list(net.hidden)}; "
                "choose float32, bfloat16 or auto"
            )
        self.encoding = encoding.kernel
        self.outcomes = len(net.outcomes)
        self.weights = kernel_weights(net)

    def new_scratch(self) -> EvaluationScratch:
        """Working memory for one thread."""
        words = np.zeros(ROW_WORDS, np.int32)
        hidden = len(self.weights.first_bias)
        return EvaluationScratch(
            words,
            words.view(np.int8).reshape(2, 26),
            np.zeros(hidden, np.float32),
            np.zeros(hidden, np.float32),
            np.zeros(len(self.weights.last_bias), np.float32),
            np.zeros(MAX_UNITS, np.int64),
            np.zeros(MAX_UNITS, np.float32),
        )

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Evaluator`."""
        legal = decisions.legal
        boards = np.ascontiguousarray(legal.after)
        words = boards.reshape(len(boards), 52).view(np.int32)
        out = np.empty((len(boards), self.outcomes), np.float32)

        def work(low: int, high: int) -> None:
            _evaluate_range(
                low,
                high,
                self.encoding,
                self.weights,
                decisions.points,
                decisions.flags,
                words,
                boards,
                legal.offsets,
                self.new_scratch(),
                out,
            )

        map_chunks(work, len(decisions.points), min_chunk=16)
        return out


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


class FloatEvaluator:
    """Dense torch evaluation, float32 (the definition) or bfloat16."""

    def __init__(
        self,
        net: ValueNet,
        encoding: Encoding,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> None:
        self.name = "bfloat16" if dtype == torch.bfloat16 else "float32"
        self.encoding = encoding
        self.device = torch.device(device)
        self.dtype = dtype
        self._block = _BLOCK_ROWS if self.device.type == "cpu" else _DEVICE_ROWS
        self.net = net
        if dtype != torch.float32 or self.device.type != "cpu":
            self.net = ValueNet(net.inputs, net.hidden, net.outcomes)
            self.net.load_state_dict(net.state_dict())
            self.net = self.net.to(device=self.device, dtype=dtype)

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Evaluator`."""
        legal = decisions.legal
        counts = np.diff(legal.offsets)
        return self.rows(
            legal.after, np.repeat(decisions.flags, counts), np.repeat(decisions.pending, counts)
        )

    def rows(
        self,
        points: NDArray[np.int8],
        flags: NDArray[np.uint8],
        pending: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.float32]:
        """Distributions float32[N, K] of positions int8[N, 2, 26], seen by who just moved."""
        out = np.empty((len(points), len(self.net.outcomes)), np.float32)
        starts = range(0, len(points), self._block)

        def work(first: int, stop: int) -> None:
            # Torch's own threads would spin at the end of every layer; whole blocks on threads
            # of ours meet once. The setting belongs to the thread that makes it.
            torch.set_num_threads(1)
            with torch.inference_mode():
                for low in starts[first:stop]:
                    part = slice(low, low + self._block)
                    rungs = None if pending is None else pending[part]
                    rows = encode(self.encoding, points[part], flags[part], rungs)
                    units = torch.from_numpy(rows).to(device=self.device, dtype=self.dtype)
                    units = functional.pad(units, (0, 0, 0, self._block - len(rows)))
                    shares = torch.softmax(self.net(units).float(), 1)
                    out[part] = shares[: len(rows)].cpu().numpy()

        map_chunks(work, len(starts), min_chunk=1)
        return out


def make_evaluator(net: ValueNet, encoding: Encoding, name: str = "auto") -> Evaluator:
    """The evaluator called `name`; `auto` takes the kernel where it serves, else the faster
    of float32 and bfloat16 by a short measurement on this machine (`fastest_dense`).

    Raises ConfigError for an unknown name, or `kernel` with a net it does not serve.
    """
    if name not in EVALUATORS:
        raise ConfigError(f"evaluator={name!r} is not allowed; choose from {', '.join(EVALUATORS)}")
    if name == "kernel" or (name == "auto" and len(net.hidden) == 1):
        return KernelEvaluator(net, encoding)
    if name == "auto":
        name = fastest_dense(net, encoding)
    dtype = torch.bfloat16 if name == "bfloat16" else torch.float32
    return FloatEvaluator(net, encoding, dtype)


_fastest: dict[tuple[object, ...], str] = {}


def fastest_dense(net: ValueNet, encoding: Encoding) -> str:
    """ "float32" or "bfloat16", whichever evaluates this shape of net faster here.

    Measured once a process and shape, on 4,096 rows. bfloat16 must win by a quarter: its
    equities are coarser, so it has to be worth it.
    """
    key = (net.inputs, net.hidden, get_threads())
    if key not in _fastest:
        points = np.zeros((4096, 2, 26), np.int8)
        points[:, :, 1:16] = 1
        flags = np.zeros(4096, np.uint8)
        seconds = {}
        for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
            evaluator = FloatEvaluator(net, encoding, dtype)
            evaluator.rows(points, flags)
            start = time.perf_counter()
            for _ in range(3):
                evaluator.rows(points, flags)
            seconds[name] = time.perf_counter() - start
        faster = seconds["bfloat16"] < 0.8 * seconds["float32"]
        _fastest[key] = "bfloat16" if faster else "float32"
    return _fastest[key]

"""The gradient of a minibatch: by torch, and by a kernel for nets with one hidden layer.

Torch's autograd is the definition. A position switches on some 30 of 200 input units, so in a net
with one hidden layer, where the first layer is nearly all of the work, the kernel reads and
writes a few weight rows instead of a matrix: the same gradient (`tests/test_gradient.py`) at a
fraction of its time (`benchmarks/learner.py`).

Both cut a minibatch into shards of a fixed size, one a thread at a time, and sum them in order,
so that the number of threads changes nothing. Torch itself runs single-threaded: its threads
spin at every barrier, and a minibatch this small is worth few barriers.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nardy_rl.encoding import Encoding, encode_chosen
from nardy_rl.errors import ConfigError
from nardy_rl.incremental import MAX_UNITS, add_units, note_change, note_state
from nardy_rl.net import ValueNet
from nardy_rl.rules.parallel import map_chunks

DENSE_SHARD = 512
SPARSE_SHARD = 256
"""Positions of a shard, for torch and for the kernel."""


class Batch(NamedTuple):
    """Positions and what the net should say of them; see `Learner.learn`."""

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    targets: NDArray[np.float32]
    pending: NDArray[np.uint8] | None = None

    def rungs(self) -> NDArray[np.uint8]:
        """`pending`, zeros when left out."""
        return np.zeros(len(self.flags), np.uint8) if self.pending is None else self.pending


class Gradient(Protocol):
    """Computes the gradient of a minibatch."""

    def of(self, batch: Batch, chosen: NDArray[np.int64]) -> tuple[float, Tensor]:
        """Mean cross entropy of the positions `chosen` (int64[M]), and its flat gradient,
        in the order of the net's parameters."""
        ...


def make_gradient(net: ValueNet, encoding: Encoding, name: str = "auto") -> Gradient:
    """`torch`, `kernel`, or `auto`: the kernel where it serves the net.

    Raises ConfigError for `kernel` with a net that has not exactly one hidden layer.
    """
    if name == "kernel" and len(net.hidden) != 1:
        raise ConfigError(
            f"learner.gradient: kernel needs one hidden layer, this net has {list(net.hidden)}; "
            "choose torch or auto"
        )
    if name == "torch" or len(net.hidden) != 1:
        return DenseGradient(net, encoding)
    return SparseGradient(net, encoding)


class DenseGradient:
    """By torch's autograd over dense input rows."""

    def __init__(self, net: ValueNet, encoding: Encoding) -> None:
        self._net = net
        self._encoding = encoding
        self._parameters = list(net.parameters())

    def of(self, batch: Batch, chosen: NDArray[np.int64]) -> tuple[float, Tensor]:
        """See `Gradient`."""
        starts = range(0, len(chosen), DENSE_SHARD)

        def work(first: int, stop: int) -> list[tuple[Tensor, Tensor]]:
            torch.set_num_threads(1)  # of this thread
            shards = (chosen[start : start + DENSE_SHARD] for start in starts[first:stop])
            return [self._shard(batch, shard, len(chosen)) for shard in shards]

        parts = [part for found in map_chunks(work, len(starts), min_chunk=1) for part in found]
        loss, gradient = parts[0]
        for more, summand in parts[1:]:
            loss += more
            gradient += summand
        return float(loss), gradient

    def _shard(self, batch: Batch, shard: NDArray[np.int64], whole: int) -> tuple[Tensor, Tensor]:
        rows = np.empty((len(shard), self._encoding.size), np.float32)
        encode_chosen(self._encoding, batch.points, batch.flags, shard, rows, batch.rungs())
        logits = self._net(torch.from_numpy(rows))
        targets = torch.from_numpy(batch.targets[shard])
        loss = functional.cross_entropy(logits, targets, reduction="sum") / whole
        gradients = torch.autograd.grad(loss, self._parameters)
        return loss.detach(), torch.cat([gradient.flatten() for gradient in gradients])


class SparseGradient:
    """By the kernel below; for nets with exactly one hidden layer."""

    def __init__(self, net: ValueNet, encoding: Encoding) -> None:
        self._net = net
        self._encoding = encoding.kernel
        self._shards: list[GradientScratch] = []

    def of(self, batch: Batch, chosen: NDArray[np.int64]) -> tuple[float, Tensor]:
        """See `Gradient`."""
        weight, bias, last, last_bias = (p.detach().numpy() for p in self._net.parameters())
        first = np.ascontiguousarray(weight.T)
        outcomes = len(last_bias)
        last = np.pad(last, ((0, -outcomes % 3), (0, 0)))
        pending = batch.rungs()
        edges = [*range(0, len(chosen), SPARSE_SHARD), len(chosen)]
        shards = len(edges) - 1
        while len(self._shards) < shards:
            self._shards.append(new_gradient_scratch(self._net))

        def work(low: int, high: int) -> list[float]:
            return [
                gradient_of(
                    self._encoding,
                    first,
                    bias,
                    last,
                    last_bias,
                    batch.points,
                    batch.flags,
                    pending,
                    batch.targets,
                    chosen,
                    edges[shard],
                    edges[shard + 1],
                    np.float32(1.0 / len(chosen)),
                    self._shards[shard],
                )
                for shard in range(low, high)
            ]

        losses = [loss for part in map_chunks(work, shards, min_chunk=1) for loss in part]
        total = self._shards[0]
        for other in self._shards[1:shards]:
            for name in ("first", "first_bias", "last", "last_bias"):
                summed = getattr(total, name)
                summed += getattr(other, name)
        flat = np.concatenate(
            [
                total.first.T.ravel(),
                total.first_bias,
                total.last[:outcomes].ravel(),
                total.last_bias,
            ]
        )
        return float(np.sum(losses)), torch.from_numpy(flat)


class GradientScratch(NamedTuple):
    """Working memory of one shard: `gradient_of` fills `first` ... `last_bias`."""

    units: NDArray[np.int64]  # [MAX_UNITS] units that are on,
    factors: NDArray[np.float32]  # [MAX_UNITS] and how much
    hidden: NDArray[np.float32]  # [H]
    back: NDArray[np.float32]  # [H] what flows back into the hidden sums
    logits: NDArray[np.float32]  # [K'], K' = K filled up to a multiple of 3
    first: NDArray[np.float32]  # [F, H] gradients, transposed as the kernels read weights
    first_bias: NDArray[np.float32]  # [H]
    last: NDArray[np.float32]  # [K', H]
    last_bias: NDArray[np.float32]  # [K]


def new_gradient_scratch(net: ValueNet) -> GradientScratch:
    """Room for the gradient of one shard of a net with one hidden layer."""
    (hidden,), outcomes = net.hidden, len(net.outcomes)
    filled = outcomes + -outcomes % 3
    return GradientScratch(
        np.zeros(MAX_UNITS, np.int64),
        np.zeros(MAX_UNITS, np.float32),
        np.zeros(hidden, np.float32),
        np.zeros(hidden, np.float32),
        np.zeros(filled, np.float32),
        np.zeros((net.inputs, hidden), np.float32),
        np.zeros(hidden, np.float32),
        np.zeros((filled, hidden), np.float32),
        np.zeros(outcomes, np.float32),
    )


@njit(nogil=True, cache=True, fastmath=True)
def gradient_of(
    enc,
    first,
    first_bias,
    last,
    last_bias,
    points,
    flags,
    pending,
    targets,
    chosen,
    low,
    high,
    share,
    scratch,
):
    """Gradient of the mean cross entropy over positions chosen[low:high], into `scratch`.

    Args:
        enc: `EncodingArrays`.
        first, first_bias, last, last_bias: weights [F, H], [H], [K', H], [K], float32.
        points, flags, pending: int8[N, 2, 26], uint8[N], uint8[N].
        targets: float32[N, K].
        chosen: int64[M], which positions; low, high: the shard's part of them.
        share: what one position counts, 1 / (size of the minibatch).
        scratch: `GradientScratch`; its gradients are overwritten.

    Returns:
        The summed loss of the shard, times `share`.
    """
    hidden = len(first_bias)
    outcomes = len(last_bias)
    units, factors = scratch.units, scratch.factors
    total, back, logits = scratch.hidden, scratch.back, scratch.logits
    first_grad, bias_grad, last_grad = scratch.first, scratch.first_bias, scratch.last
    for unit in range(first_grad.shape[0]):
        for j in range(hidden):
            first_grad[unit, j] = np.float32(0.0)
    for j in range(hidden):
        bias_grad[j] = np.float32(0.0)
    for k in range(len(logits)):
        logits[k] = np.float32(0.0)
        for j in range(hidden):
            last_grad[k, j] = np.float32(0.0)
    for k in range(outcomes):
        scratch.last_bias[k] = np.float32(0.0)
    loss = np.float32(0.0)
    for index in range(low, high):
        row = chosen[index]
        count = 0
        for side in range(2):
            for place in range(26):
                if points[row, side, place] != 0:
                    count = note_change(
                        scratch, count, enc, side, place, np.int8(0), points[row, side, place]
                    )
        count = note_state(scratch, count, enc, flags[row], pending[row])
        add_units(total, first_bias, first, units, factors, count)
        for j in range(hidden):
            total[j] = max(total[j], np.float32(0.0))
            back[j] = np.float32(0.0)
        # Outcomes three at a time, as in `evaluate_candidates`; the last ones may be filling.
        for k in range(0, len(logits), 3):
            sum0 = np.float32(0.0)
            sum1 = np.float32(0.0)
            sum2 = np.float32(0.0)
            for j in range(hidden):
                sum0 += total[j] * last[k, j]
                sum1 += total[j] * last[k + 1, j]
                sum2 += total[j] * last[k + 2, j]
            logits[k] = sum0
            logits[k + 1] = sum1
            logits[k + 2] = sum2
        top = np.float32(-1e30)
        for k in range(outcomes):
            logits[k] += last_bias[k]
            top = max(top, logits[k])
        norm = np.float32(0.0)
        mass = np.float32(0.0)
        for k in range(outcomes):
            norm += np.float32(math.exp(logits[k] - top))
            mass += targets[row, k]
        log_norm = np.float32(math.log(norm)) + top
        for k in range(outcomes):
            log_share = logits[k] - log_norm
            loss -= targets[row, k] * log_share * share
            logits[k] = (mass * np.float32(math.exp(log_share)) - targets[row, k]) * share
            scratch.last_bias[k] += logits[k]
        for k in range(0, len(logits), 3):
            slope0, slope1, slope2 = logits[k], logits[k + 1], logits[k + 2]
            for j in range(hidden):
                active = total[j]
                last_grad[k, j] += slope0 * active
                last_grad[k + 1, j] += slope1 * active
                last_grad[k + 2, j] += slope2 * active
                back[j] += slope0 * last[k, j] + slope1 * last[k + 1, j] + slope2 * last[k + 2, j]
        for j in range(hidden):
            back[j] = back[j] if total[j] > np.float32(0.0) else np.float32(0.0)
            bias_grad[j] += back[j]
        for i in range(count):
            unit, factor = units[i], factors[i]
            for j in range(hidden):
                first_grad[unit, j] += factor * back[j]
    return loss

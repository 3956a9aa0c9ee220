"""Evaluators: distributions over outcomes for every candidate of a batch of decisions.

`FloatEvaluator` in float32 is the definition; `bfloat16` and the incremental kernel are faster
ways to nearly the same numbers, tested against it.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nardy_rl.encoding import Encoding, encode
from nardy_rl.errors import ConfigError
from nardy_rl.incremental import (
    EvaluationScratch,
    evaluate_range,
    kernel_weights,
    new_evaluation_scratch,
)
from nardy_rl.net import ValueNet
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.rules.parallel import get_threads, map_chunks

EVALUATORS = ("auto", "kernel", "float32", "bfloat16")
"""Names that `make_evaluator` knows."""


# Rows of one torch forward: activations stay near the caches. Every forward has exactly so many,
# the last filled up: the last bits of a matrix product can depend on how many rows there are,
# and a choice must not depend on the other decisions of its batch.
_BLOCK_ROWS = 1536
_DEVICE_ROWS = 12_288  # and on an accelerator


class Decisions(NamedTuple):
    """A batch of decisions: what was, and what each player may turn it into.

    Attributes:
        points: int8[B, 2, 26] before the play, seen by the player to move.
        flags: uint8[B], the flag bits *after* the play (all results of a decision share them).
        pending: uint8[B], likewise, as `rules.ladder` says of the view after a decision.
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
        return new_evaluation_scratch(self.weights)

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Evaluator`."""
        legal = decisions.legal
        boards = np.ascontiguousarray(legal.after)
        words = boards.reshape(len(boards), 52).view(np.int32)
        out = np.empty((len(boards), self.outcomes), np.float32)

        def work(low: int, high: int) -> None:
            evaluate_range(
                low,
                high,
                self.encoding,
                self.weights,
                decisions.points,
                decisions.flags,
                decisions.pending,
                words,
                boards,
                legal.offsets,
                self.new_scratch(),
                out,
            )

        map_chunks(work, len(decisions.points), min_chunk=16)
        return out


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

"""Fitting the net to a batch of positions and their targets, with Adam.

Everything here is a function of (weights, moments, seed, batch number, data): the order of the
positions comes from the counter (seed, batch, epoch), the learning rate from the games played, so
that a resumed run repeats an unbroken one bit for bit.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.train.gradient import Batch, make_gradient
from nardy_rl.train.settings import LearnerSettings


@dataclass(frozen=True)
class LearnReport:
    """What one batch did: means over its updates, and the learning rate of the last.

    `loss` is the cross entropy in nats; `excess` what of it is above the targets' own entropy,
    which no net could remove (the Kullback-Leibler divergence).
    """

    loss: float
    excess: float
    gradient_norm: float
    learning_rate: float
    updates: int
    positions: int
    seconds: float


def learning_rate(settings: LearnerSettings, games: float, horizon_games: int | None) -> float:
    """Adam's rate after `games` games, of a schedule that ends at `horizon_games`.

    >>> rate = LearnerSettings(learning_rate=1.0, schedule="linear", final_fraction=0.5)
    >>> [learning_rate(rate, games, 100) for games in (0, 50, 100, 200)]
    [1.0, 0.75, 0.5, 0.5]
    """
    done = min(1.0, games / horizon_games) if horizon_games else 0.0
    final = settings.final_fraction
    factor = 1.0
    if settings.schedule == "linear":
        factor = 1.0 - (1.0 - final) * done
    elif settings.schedule == "cosine":
        factor = final + (1.0 - final) * 0.5 * (1.0 + math.cos(math.pi * done))
    elif settings.schedule == "step":
        factor = final ** sum(done >= share for share in settings.step_at)
    if games < settings.warmup_games:
        factor *= games / settings.warmup_games
    return settings.learning_rate * factor


class Learner:
    """Owns the optimizer and, where asked for, the averaged weights of one net.

    Args:
        net: changed in place by `learn`.
        encoding: of the net's inputs.
        settings: see `LearnerSettings`; its `threads` is the caller's to set.
        seed: of the order of the positions.
        horizon_games: where the learning-rate schedule ends.
    """

    def __init__(
        self,
        net: ValueNet,
        encoding: Encoding,
        settings: LearnerSettings,
        seed: int,
        horizon_games: int | None,
    ) -> None:
        self.net = net
        self.encoding = encoding
        self.settings = settings
        self.seed = seed
        self.horizon_games = horizon_games
        self._parameters = list(net.parameters())
        # One flat tensor under all of the net's, so that a step of Adam is one operation.
        self._weights = nn.Parameter(torch.cat([p.detach().flatten() for p in self._parameters]))
        for parameter, part in zip(self._parameters, self._parts(self._weights), strict=True):
            parameter.data = part
        self.optimizer = torch.optim.AdamW(
            [self._weights],
            lr=settings.learning_rate,
            betas=settings.betas,
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        # Made here, not by the first update, so that every checkpoint has the same tensors.
        self._moments = {
            "exp_avg": torch.zeros_like(self._weights.data),
            "exp_avg_sq": torch.zeros_like(self._weights.data),
        }
        self._step = torch.zeros(())
        self.optimizer.state[self._weights] = {"step": self._step, **self._moments}
        self._average = self._weights.detach().clone() if settings.ema else None
        self.gradient = make_gradient(net, encoding, settings.gradient)

    def _parts(self, flat: Tensor) -> list[Tensor]:
        """Views of a flat tensor in the shapes of the net's parameters."""
        pieces = flat.detach().split([p.numel() for p in self._parameters])
        return [part.view(p.shape) for part, p in zip(pieces, self._parameters, strict=True)]

    def playing_net(self) -> ValueNet:
        """A copy of the net to measure and to save: the averaged weights where there are any."""
        net = copy.deepcopy(self.net)
        flat = self._weights if self._average is None else self._average
        for parameter, part in zip(net.parameters(), self._parts(flat), strict=True):
            parameter.data = part.clone()
        return net

    def learn(
        self,
        points: NDArray[np.int8],
        flags: NDArray[np.uint8],
        targets: NDArray[np.float32],
        pending: NDArray[np.uint8] | None = None,
        *,
        batch: int,
        games_before: int,
        games: int,
        check: Callable[[], None] = lambda: None,
    ) -> LearnReport:
        """Go over a batch once an epoch, in minibatches of nearly equal size.

        Args:
            points, flags: int8[N, 2, 26] and uint8[N], the positions.
            targets: float32[N, K], a distribution over the outcomes for each.
            pending: uint8[N], of the positions; zeros when left out.
            batch: its number, which fixes the order of the positions.
            games_before, games: games played before this batch, and in it; they fix the rate.
            check: called before each update; what it raises leaves the learner between updates.

        Raises:
            ConfigError: the loss or the gradient is no longer finite.
        """
        started = time.perf_counter()
        torch.set_num_threads(1)
        total, settings = len(points), self.settings
        per_epoch = max(1, -(-total // settings.minibatch))
        edges = [i * total // per_epoch for i in range(per_epoch + 1)]
        data = Batch(
            np.ascontiguousarray(points),
            np.ascontiguousarray(flags),
            np.ascontiguousarray(targets),
            np.zeros(total, np.uint8) if pending is None else np.ascontiguousarray(pending),
        )
        all_targets = torch.from_numpy(targets)
        updates = settings.epochs * per_epoch
        losses, norms = torch.empty(updates), torch.empty(updates)
        rate = 0.0
        for epoch in range(settings.epochs):
            order = np.random.default_rng((self.seed, batch, epoch)).permutation(total)
            for part in range(per_epoch):
                check()
                update = epoch * per_epoch + part
                rate = learning_rate(
                    settings, games_before + games * update / updates, self.horizon_games
                )
                losses[update], norms[update] = self._update(
                    data, order[edges[part] : edges[part + 1]], rate
                )
        loss, norm = float(losses.mean()), float(norms.mean())
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise ConfigError(
                f"learner.learning_rate: {settings.learning_rate!r} made the loss {loss:g} after "
                f"{games_before + games} games; choose a lower rate or a learner.clip_norm"
            )
        # 0 * log(0) is 0: xlogy says so.
        entropy = -float(torch.xlogy(all_targets, all_targets).sum()) / max(1, total)
        seconds = time.perf_counter() - started
        return LearnReport(
            loss, loss - entropy, norm, rate, updates, total * settings.epochs, seconds
        )

    def _update(self, data: Batch, chosen: NDArray[np.int64], rate: float) -> tuple[float, Tensor]:
        """One step of Adam on the mean cross entropy; returns that and the gradient's length."""
        loss, gradient = self.gradient.of(data, chosen)
        norm = torch.linalg.vector_norm(gradient)
        if self.settings.clip_norm:
            gradient *= (self.settings.clip_norm / norm).clamp(max=1.0)
        self._weights.grad = gradient
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        if self._average is not None:
            # Faster at first, so that the initial weights are forgotten.
            updates = float(self._step)
            decay = min(self.settings.ema, (1.0 + updates) / (10.0 + updates))
            self._average.lerp_(self._weights.detach(), 1.0 - decay)
        return loss, norm

    def state(self) -> dict[str, Tensor]:
        """Everything that `learn` changes, by name, as copies: what a checkpoint must hold."""
        tensors = {"step": self._step.clone()}
        for kind, flat in self._flat().items():
            for (name, _), part in zip(self.net.named_parameters(), self._parts(flat), strict=True):
                tensors[f"{kind}.{name}"] = part.clone()
        return tensors

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `state` returned.

        Raises:
            CheckpointError: a tensor too few, too many, or of another shape.
        """
        own = self.state()
        for name in sorted(own.keys() | tensors.keys()):
            if name not in tensors or name not in own:
                problem = "missing" if name in own else "not of this learner"
                raise CheckpointError(f"tensor {name}: {problem}")
            if own[name].shape != tensors[name].shape:
                raise CheckpointError(
                    f"tensor {name}: shape {list(tensors[name].shape)}, "
                    f"expected {list(own[name].shape)}"
                )
        self._step.copy_(tensors["step"])
        for kind, flat in self._flat().items():
            for (name, _), part in zip(self.net.named_parameters(), self._parts(flat), strict=True):
                part.copy_(tensors[f"{kind}.{name}"])

    def _flat(self) -> dict[str, Tensor]:
        flat = {"weight": self._weights.detach(), **self._moments}
        return flat if self._average is None else {**flat, "average": self._average}

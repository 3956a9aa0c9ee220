"""The value net: units of a position in, a distribution over the outcomes of the game out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class ValueNet(nn.Module):
    """A ReLU net with a softmax over the scores that a variant allows.

    The value is that of the position *after* a decision, in the view of the player who took it.

    Args:
        inputs: number of input units F (`Encoding.size`).
        hidden: width of each hidden layer; empty for a linear net.
        outcomes: the K possible scores, ascending and symmetric (`Rules.outcomes`).
        generator: source of the initial weights; without one they are those of seed 0, never
            those of torch's global generator.

    Attributes:
        layers: Linear, ReLU, ..., Linear; the last one has K outputs. There are no buffers, so
            the weights are all that a checkpoint has to hold.

    Raises:
        ValueError: a size below 1, or outcomes that are not ascending and symmetric.
    """

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int] = (80,),
        outcomes: Sequence[int] = (-1, 1),
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.hidden = tuple(int(width) for width in hidden)
        self.outcomes = tuple(int(score) for score in outcomes)
        self.inputs = int(inputs)
        if self.inputs < 1 or any(width < 1 for width in self.hidden):
            raise ValueError(f"sizes must be >= 1, not inputs={inputs}, hidden={self.hidden}")
        mirrored = tuple(sorted({-score for score in self.outcomes}))
        if len(self.outcomes) < 2 or self.outcomes != mirrored:
            raise ValueError(f"outcomes must be ascending and symmetric, not {self.outcomes}")
        sizes = (self.inputs, *self.hidden, len(self.outcomes))
        layers: list[nn.Module] = []
        for fan_in, fan_out in itertools.pairwise(sizes):
            # skip_init: nn.Linear's own initialisation would draw from the global generator.
            layers += [nn.utils.skip_init(nn.Linear, fan_in, fan_out), nn.ReLU()]
        self.layers = nn.Sequential(*layers[:-1])
        self._initialise(generator or torch.Generator().manual_seed(0))

    def _initialise(self, generator: torch.Generator) -> None:
        """He-uniform hidden layers; a small last layer, so that play starts near indifference."""
        linear = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            for layer in linear:
                bound = (6.0 / layer.in_features) ** 0.5
                if layer is linear[-1]:
                    bound *= 0.1
                layer.weight.uniform_(-bound, bound, generator=generator)
                layer.bias.zero_()

    def forward(self, units: Tensor) -> Tensor:
        """Logits [N, K] of input rows [N, F]."""
        logits: Tensor = self.layers(units)
        return logits

    def distribution(self, units: Tensor) -> Tensor:
        """Probability of each outcome, [N, K], rows summing to 1."""
        return torch.softmax(self(units), dim=-1)

    def equity(self, units: Tensor) -> Tensor:
        """Expected score in points, [N]."""
        probabilities = self.distribution(units)
        scores = torch.tensor(self.outcomes, dtype=probabilities.dtype, device=probabilities.device)
        return probabilities @ scores


def can_grow(hidden: Sequence[int], wider: Sequence[int]) -> bool:
    """Whether `grown` leads from layers `hidden` to layers `wider`; equal ones do.

    >>> can_grow((80,), (256, 256)), can_grow((256, 256), (256,)), can_grow((80,), (80, 40))
    (True, False, False)
    """
    if not hidden or len(wider) < len(hidden):
        return tuple(hidden) == tuple(wider)
    least = (*hidden, *(hidden[-1] for _ in range(len(wider) - len(hidden))))
    return all(old <= new for old, new in zip(least, wider, strict=True))


def grown(
    net: ValueNet, hidden: Sequence[int], generator: torch.Generator | None = None
) -> ValueNet:
    """A larger net that says what `net` says (Chen, Goodfellow and Shlens 2016, Net2Net).

    New units take in random weights and give out none: they change nothing yet, and learn from
    the first update on. A new layer hands on what comes in (a ReLU leaves what is positive as it
    is), and has its new units besides.

    Args:
        net: to be grown.
        hidden: widths of the larger net, none below the old ones; more layers than before are
            added after the last hidden one and must not be narrower.
        generator: of the new weights; without one they are those of seed 0.

    Raises:
        ValueError: `hidden` is narrower or shallower.
    """
    if not can_grow(net.hidden, hidden):
        raise ValueError(f"hidden: {list(net.hidden)} cannot grow to {list(hidden)}")
    larger = ValueNet(net.inputs, hidden, net.outcomes, generator)
    old = [layer for layer in net.layers if isinstance(layer, nn.Linear)]
    new = [layer for layer in larger.layers if isinstance(layer, nn.Linear)]
    handed_on = net.inputs  # units of the layer before that the old net had too
    with torch.no_grad():
        for place, layer in enumerate(new):
            last = place == len(new) - 1
            source = old[-1] if last else old[place] if place < len(old) - 1 else None
            kept = net.hidden[-1] if source is None else source.out_features
            layer.weight[:kept] = 0.0
            layer.bias[:kept] = 0.0
            if source is None:
                layer.weight[:kept, :kept] = torch.eye(kept)
            else:
                layer.weight[:kept, :handed_on] = source.weight
                layer.bias[:kept] = source.bias
            handed_on = kept
    return larger

"""What a run asks of whoever measures its nets: figures, pictures, and what to remember."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from nardy_rl.net import ValueNet
from nardy_rl.train.settings import TrainSettings

Evaluate = Callable[[ValueNet, int], Mapping[str, float]]
"""Measures a net in matches of so many games; figures by name, such as `pips/ppg`."""


@dataclass(frozen=True)
class Measured:
    """A net as it was measured.

    Attributes:
        figures: by name, such as `pips/ppg`; with `_low` and `_high` the ends of its interval.
        pictures: PNG by name.
        said: lines for who watches the run.
        ladder: plain data that the next measurement needs; every checkpoint holds it.
        champion: whether the net is one now.
    """

    figures: dict[str, float]
    pictures: dict[str, bytes] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    ladder: dict[str, Any] = field(default_factory=dict)
    champion: bool = False


@runtime_checkable
class Measuring(Protocol):
    """Measures the nets of a run, and remembers what they were measured against."""

    def begin(self, run_dir: Path, ladder: Mapping[str, Any]) -> None:
        """The run begins or goes on in `run_dir`, with what its checkpoint remembers."""
        ...

    def measure(
        self, net: ValueNet, settings: TrainSettings, trained: int, final: bool
    ) -> Measured:
        """Measure the net after `trained` games; may be cut short and must leave no trace."""
        ...

    def settle(self, net: ValueNet, measured: Measured) -> dict[str, Any]:
        """Keep what came of it; returns what checkpoints are to remember from now on."""
        ...


class _Plain:
    """A function as a `Measuring` that remembers nothing."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._ladder: dict[str, Any] = {}

    def begin(self, run_dir: Path, ladder: Mapping[str, Any]) -> None:
        self._ladder = dict(ladder)

    def measure(
        self, net: ValueNet, settings: TrainSettings, trained: int, final: bool
    ) -> Measured:
        games = settings.eval.final_games if final else settings.eval.games
        return Measured(dict(self._evaluate(net, games)))

    def settle(self, net: ValueNet, measured: Measured) -> dict[str, Any]:
        return self._ladder


def measuring_by(evaluate: Evaluate | Measuring) -> Measuring:
    """`evaluate` itself where it is a `Measuring`, else one that calls it."""
    return evaluate if isinstance(evaluate, Measuring) else _Plain(evaluate)

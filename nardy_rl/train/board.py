"""The TensorBoard side of a run: one event directory, the run's own folder.

Steps are games, so that runs with batches of different sizes lie over one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.selfplay import Episodes
from nardy_rl.train.learner import LearnReport
from nardy_rl.train.settings import TrainSettings

_HISTOGRAM_EVERY = 10  # batches
_SCORES = {0: "draw", 1: "oin", 2: "mars", 3: "koks"}


class Board:
    """Writes the figures of a run as TensorBoard events.

    Args:
        folder: of the run; event files are put beside what else is in it.
        settings: written as hparams when the run begins.
        games: games already played; later events of an interrupted run are purged.
        outcomes: the scores a game can have.
    """

    def __init__(
        self, folder: Path, settings: TrainSettings, games: int, outcomes: tuple[int, ...]
    ) -> None:
        # A second of imports that nothing else of the package needs.
        from torch.utils.tensorboard import SummaryWriter

        self._outcomes = outcomes
        self._writer = SummaryWriter(str(folder), purge_step=games + 1 if games else None)
        if games == 0:
            self._write_hparams(settings)

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def batch(
        self, games: int, batch: int, episodes: Episodes, report: LearnReport, play_seconds: float
    ) -> None:
        """The figures of one batch, at step `games`."""
        seconds = play_seconds + report.seconds
        figures = {
            "learn/loss": report.loss,
            "learn/loss_excess": report.excess,
            "learn/gradient_norm": report.gradient_norm,
            "learn/learning_rate": report.learning_rate,
            "speed/games_per_second": len(episodes.score) / seconds,
            "speed/positions_per_second": len(episodes.mover) / seconds,
            "speed/learning_share": report.seconds / seconds,
            **{f"games/{name}": value for name, value in game_figures(episodes).items()},
        }
        for name, value in figures.items():
            self._writer.add_scalar(name, value, games)
        if batch % _HISTOGRAM_EVERY == 1:
            equity = episodes.values @ np.array(self._outcomes, np.float32)
            edges = np.linspace(self._outcomes[0], self._outcomes[-1], 41)
            self._writer.add_histogram("games/value", equity, games, bins=edges)

    def measured(self, games: int, figures: Mapping[str, float]) -> None:
        """Arena figures, at step `games`."""
        for name, value in figures.items():
            self._writer.add_scalar(f"arena/{name}", value, games)

    def flush(self) -> None:
        """Put everything written so far on the disk."""
        self._writer.flush()

    def _write_hparams(self, settings: TrainSettings) -> None:
        from torch.utils.tensorboard.summary import hparams

        # SummaryWriter.add_hparams would open a second event directory for the same three records.
        metrics = {f"arena/{name}/ppg": 0.0 for name in settings.eval.opponents}
        writer = self._writer._get_file_writer()
        for record in hparams(flattened(settings.to_dict()), {"learn/loss": 0.0, **metrics}):
            writer.add_summary(record)


def game_figures(episodes: Episodes) -> dict[str, float]:
    """Mean length in decisions, share of each kind of result, and of truncated games.

    The shares of `oin`, `mars`, `koks` and `draw` are of the finished games.
    """
    finished = np.abs(episodes.score[~episodes.truncated])
    figures = {
        "length": len(episodes.mover) / max(1, len(episodes.score)),
        "truncated": float(episodes.truncated.mean()),
    }
    for score, name in _SCORES.items():
        figures[name] = float((finished == score).mean()) if len(finished) else 0.0
    return figures


def flattened(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as dotted names, with values of the kinds that TensorBoard takes.

    >>> flattened({"net": {"hidden": [80], "warm_start": None}, "seed": 0})
    {'net.hidden': '[80]', 'net.warm_start': 'None', 'seed': 0}
    """
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            plain = isinstance(value, bool | int | float | str)
            flat[f"{prefix}{name}"] = value if plain else str(value)
    return flat

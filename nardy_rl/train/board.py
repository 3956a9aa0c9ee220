"""The TensorBoard side of a run: one event directory, the run's own folder.

Steps are games, so that runs with batches of different sizes lie over one another.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import (  # type: ignore[import-untyped]
    Event,
    SessionLog,
)
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]
from torch.utils.tensorboard.summary import custom_scalars, histogram, hparams

from nardy_rl.episodes import Episodes
from nardy_rl.train.learner import LearnReport
from nardy_rl.train.measuring import Measured
from nardy_rl.train.rhythm import Counters
from nardy_rl.train.settings import TrainSettings

_HISTOGRAM_EVERY = 10  # batches
_SCORES = {0: "draw", 1: "oin", 2: "mars", 3: "koks"}


class Board:
    """Writes the figures of a run as TensorBoard events.

    Not by torch's `SummaryWriter`: that one puts hparams into a directory of their own, writes
    from a thread whose errors nobody catches, and names its files so that two of the same second
    are read in any order.

    Args:
        folder: of the run; event files are put beside what else is in it.
        settings: written as hparams when the run begins.
        games: games already played; later events of an interrupted run are purged.
        outcomes: the scores a game can have.

    Raises:
        OSError: naming the file, here or in any method, when the disk is full.
    """

    def __init__(
        self, folder: Path, settings: TrainSettings, games: int, outcomes: tuple[int, ...]
    ) -> None:
        self._outcomes = outcomes
        self._path = folder / f"events.out.tfevents.{int(time.time()):010d}.games-{games:09d}"
        # Unbuffered: what was logged before a kill -9 is there to read.
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115
        self._records = RecordWriter(self._file)
        self._write(Event(file_version="brain.Event:2"))
        if games == 0:
            metrics = {f"arena/{name}/ppg": 0.0 for name in settings.eval.opponents}
            for record in hparams(flattened(settings.to_dict()), {"learn/loss": 0.0, **metrics}):
                self._write(Event(summary=record))
        else:
            log = SessionLog(status=SessionLog.SessionStatus.Value("START"))
            self._write(Event(step=games + 1, session_log=log))
        self._write(Event(summary=custom_scalars(_with_errors(settings.eval.opponents))))

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

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
        self._scalars(games, figures)
        if batch % _HISTOGRAM_EVERY == 1:
            equity = episodes.values @ np.array(self._outcomes, np.float32)
            edges = np.linspace(self._outcomes[0], self._outcomes[-1], 41)
            self._write(Event(step=games, summary=histogram("games/value", equity, edges)))

    def measured(self, counters: Counters, measured: Measured) -> None:
        """Arena figures and pictures, at step `counters.games`; what share of time they took."""
        figures = {f"arena/{name}": value for name, value in measured.figures.items()}
        share = counters.measuring_seconds / max(counters.seconds, 1e-9)
        self._scalars(counters.games, {**figures, "speed/measuring_share": share})
        for name, png in measured.pictures.items():
            width, height = struct.unpack(">II", png[16:24])
            image = Summary.Image(
                width=width, height=height, colorspace=4, encoded_image_string=png
            )
            value = Summary.Value(tag=f"arena/{name}", image=image)
            self._write(Event(step=counters.games, summary=Summary(value=[value])))

    def _scalars(self, games: int, figures: Mapping[str, float]) -> None:
        values = [Summary.Value(tag=name, simple_value=x) for name, x in figures.items()]
        self._write(Event(step=games, summary=Summary(value=values)))

    def _write(self, event: Event) -> None:
        event.wall_time = time.time()
        try:
            self._records.write(event.SerializeToString())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error


def _with_errors(opponents: Sequence[str]) -> dict[str, dict[str, list[Any]]]:
    """TensorBoard's page Custom Scalars: curves with a band, their 95 % interval."""
    names = [f"{name}/{figure}" for figure in ("ppg", "win") for name in (*opponents, "champion")]
    charts = {
        name: ["Margin", [f"arena/{name}{end}" for end in ("", "_low", "_high")]]
        for name in (*names, "ladder/elo")
    }
    return {"arena, with 95 % intervals": charts}


def game_figures(episodes: Episodes) -> dict[str, float]:
    """Mean length in decisions, share of each kind of result, and of truncated games.

    Shares are of the finished games; `win` is won by either side, be it oin, mars or koks.
    """
    finished = np.abs(episodes.score[~episodes.truncated])
    figures = {
        "length": len(episodes.mover) / max(1, len(episodes.score)),
        "truncated": float(episodes.truncated.mean()),
    }
    figures["win"] = float((finished > 0).mean()) if len(finished) else 0.0
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

"""What a run has done so far, and when it is done, measures and saves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nardy_rl.train.settings import TrainSettings


@dataclass
class Counters:
    """What a run has done so far; stored in every checkpoint."""

    evaluator: str
    horizon_games: int | None = None
    games: int = 0
    batches: int = 0
    positions: int = 0
    seconds: float = 0.0
    measured_at: int = 0
    measured_finally_at: int = 0
    without_champion: int = 0
    measured: dict[str, float] = field(default_factory=dict)
    measuring_seconds: float = 0.0
    ladder: dict[str, Any] = field(default_factory=dict)


class Rhythm:
    """When the run is done, measures and saves; and the clock of its budget."""

    def __init__(self, settings: TrainSettings, counters: Counters) -> None:
        self._settings = settings
        self._counters = counters
        self.saved()

    def ended(self) -> str:
        """The limits of the budget that are used up; empty while the run goes on."""
        counters = self._counters
        return self._settings.budget.used_up(
            counters.games, counters.seconds, counters.without_champion
        )

    def measurement_due(self, done: bool) -> bool:
        """Whether the net is to be measured now; `done`: the run is."""
        wanted, counters = self._settings.eval, self._counters
        if done:
            return wanted.final_games > 0 and counters.measured_finally_at < counters.games
        every = wanted.every_games
        return every > 0 and counters.games // every > counters.measured_at // every

    def save_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        wanted = self._settings.checkpoint
        games = self._counters.games - self._saved_games
        seconds = time.perf_counter() - self._saved_time
        return 0 < wanted.every_games <= games or 0 < wanted.every_seconds <= seconds

    def saved(self) -> None:
        """Count from here: all there is has been saved."""
        self._saved_games, self._saved_time = self._counters.games, time.perf_counter()
        self._saved_measurement = self._counters.measured

    def unsaved(self) -> bool:
        """Whether the newest checkpoint lacks games or a measurement."""
        counters = self._counters
        return (
            counters.games != self._saved_games or counters.measured is not self._saved_measurement
        )

    @contextmanager
    def clock(self) -> Iterator[Clock]:
        """Adds the time of a block to the run's, however the block ends."""
        clock, started = Clock(), time.perf_counter()
        try:
            yield clock
        finally:
            clock.seconds = time.perf_counter() - started
            self._counters.seconds += clock.seconds


@dataclass
class Clock:
    """How long a block took."""

    seconds: float = 0.0

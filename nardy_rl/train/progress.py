"""What a run shows while it goes on: one live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import Console
from rich.live import Live
from rich.text import Text

_PLAIN_SECONDS = 10.0
"""Time between two lines where there is no terminal: a log, not a film."""


class Progress:
    """Games, games a second, loss, the last measurement and the time left.

    Args:
        console: where to; a live line is shown only if it is a terminal.
        games_budget, seconds_budget: when the run ends; None for no such limit.
        games, seconds: what earlier parts of the run did.
    """

    def __init__(
        self,
        console: Console,
        games_budget: int | None,
        seconds_budget: float | None,
        games: int = 0,
        seconds: float = 0.0,
    ) -> None:
        self._console = console
        self._budget = (games_budget, seconds_budget)
        self._start = (games, time.perf_counter() - seconds)
        self._first_games, self._first_time = games, time.perf_counter()
        self._games = games
        self._loss: float | None = None
        self._measured = ""
        self._next_line = time.perf_counter()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live = Live(console=self._console, get_renderable=self._render, transient=True)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        self._console.print(self.line(), highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, highlight=False, soft_wrap=True, markup=False)

    def played(self, games: int) -> None:
        """So many games have been played, in all; safe from any thread."""
        self._games = games

    def back_to(self, games: int) -> int:
        """Only so many games count; returns how many were shown beyond them."""
        dropped, self._games = self._games - games, games
        return dropped

    def learned(self, games: int, loss: float) -> None:
        """A batch was learned from; writes a plain line when one is due."""
        self._games, self._loss = games, loss
        now = time.perf_counter()
        if self._live is None and now >= self._next_line:
            self._next_line = now + _PLAIN_SECONDS
            self.say(self.line())

    def measured(self, figures: Mapping[str, float]) -> None:
        """The net was measured: shows the points a game of each opponent."""
        shown = {
            name.removesuffix("/ppg"): value
            for name, value in figures.items()
            # Of the champions, the newest is `champion`.
            if name.endswith("/ppg") and not name.startswith("champions/")
        }
        self._measured = "  ".join(f"{name} {value:+.3f}" for name, value in shown.items())
        if self._live is None and self._measured:
            self.say(f"{self._games:,} games: points a game against {self._measured}")

    def line(self) -> str:
        """The state of the run in one line."""
        now = time.perf_counter()
        rate = (self._games - self._first_games) / max(1e-9, now - self._first_time)
        goal = f"/{self._budget[0]:,}" if self._budget[0] is not None else ""
        parts = [f"{self._games:,}{goal} games", f"{rate:,.0f} games/s"]
        if self._loss is not None:
            parts.append(f"loss {self._loss:.4f}")
        if self._measured:
            parts.append(self._measured)
        left = self._seconds_left(now, rate)
        if left is not None:
            parts.append(f"{_clock(left)} left")
        return "  ".join(parts)

    def _render(self) -> Text:
        return Text(self.line(), overflow="ellipsis", no_wrap=True)

    def _seconds_left(self, now: float, rate: float) -> float | None:
        games_budget, seconds_budget = self._budget
        left = []
        if games_budget is not None and rate > 0:
            left.append((games_budget - self._games) / rate)
        if seconds_budget is not None:
            left.append(seconds_budget - (now - self._start[1]))
        return max(0.0, min(left)) if left else None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

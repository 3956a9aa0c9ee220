"""Figures of a trained net in its card: each with its interval, its command and the machine.

A card's `figures` is a list of objects, one a measurement:

    {"what": "against pips", "unit": "points a game", "value": 0.49, "low": 0.467, "high": 0.513,
     "win": 0.672, "games": 10000, "command": "nardy-rl arena ...", "machine": "2 cores, ...",
     "commit": "...", "date": "2026-12-01"}

`low` and `high` are the ends of a 95 % interval; `games` of a figure that is no match counts the
positions judged; `win` is there for matches only.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nardy_rl.errors import CheckpointError


@dataclass(frozen=True)
class Figure:
    """One measurement of a net; see the head of this module."""

    what: str
    unit: str
    value: float
    low: float
    high: float
    games: int
    command: str
    machine: str
    commit: str | None
    date: str
    win: float | None = None

    def __str__(self) -> str:
        """The value with half its interval and its unit, and what was won."""
        places = 3 if self.unit == "points a game" else 4
        sign = "+" if self.unit == "points a game" else ""
        half = (self.high - self.low) / 2
        won = "" if self.win is None else f", {100 * self.win:.1f} % won"
        return f"{self.value:{sign}.{places}f} ± {half:.{places}f} {self.unit}{won}"


def figures_of(card: Mapping[str, Any], source: str = "card.json") -> tuple[Figure, ...]:
    """The figures of a card; () where it has none.

    Raises:
        CheckpointError: they are not as this module writes them.
    """
    try:
        return tuple(Figure(**item) for item in card.get("figures", ()))
    except TypeError as error:
        known = ", ".join(field.name for field in fields(Figure))
        raise CheckpointError(f"{source}: figures: allowed in each: {known}; {error}") from error


def with_figure(figures: Sequence[Figure], new: Figure) -> list[dict[str, Any]]:
    """The figures as a card stores them, `new` in the place of one of the same thing, or last."""
    result = [new if old.what == new.what else old for old in figures]
    if new not in result:
        result.append(new)
    return [
        {
            name: value
            for name, value in asdict(figure).items()
            if value is not None or name != "win"
        }
        for figure in result
    ]


def machine() -> str:
    """The machine's size: cores, processor, memory."""
    processor = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (OSError, ValueError):
        return f"{os.cpu_count()} cores, {processor}"
    return f"{os.cpu_count()} cores, {processor}, {memory:.0f} GiB"

"""What a run remembers of its ladder: its champions and what each scored, as plain data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nardy_rl.arena.ratings import pair_counts, pair_wins
from nardy_rl.arena.result import MatchResult
from nardy_rl.errors import CheckpointError


@dataclass(frozen=True)
class Met:
    """A match that a net played when it was measured, in its view.

    Attributes:
        pairs: see `ratings.pair_counts`.
        ppg: points a game.
        half: half of their 95 % interval; NaN is not kept, 0 stands for it.
    """

    pairs: tuple[int, ...]
    ppg: float
    half: float


@dataclass(frozen=True)
class Champion:
    """A frozen net of the run: its number as a name, when it was crowned, what it is.

    Attributes:
        name: of its folder.
        games: of training behind it.
        sha256: of its weights.
        met: what it scored then, by opponent: a player as named, or an earlier champion's name.
    """

    name: str
    games: int
    sha256: str
    met: Mapping[str, Met]


@dataclass(frozen=True)
class Standing:
    """What a run remembers of its ladder.

    Attributes:
        spent: games that measuring on the way has played.
        champions: oldest first.
        course: of every measurement: games of training, elo of the net, ends of its interval.
    """

    spent: int = 0
    champions: tuple[Champion, ...] = ()
    course: tuple[tuple[float, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain nested data, as checkpoints hold it."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Standing:
        """What `to_dict` wrote, through JSON or not; `CheckpointError` for anything else."""
        try:
            champions = tuple(
                Champion(
                    str(one["name"]),
                    int(one["games"]),
                    str(one["sha256"]),
                    {
                        str(name): Met(tuple(map(int, met["pairs"])), met["ppg"], met["half"])
                        for name, met in one["met"].items()
                    },
                )
                for one in values.get("champions", ())
            )
            course = tuple(tuple(map(float, row)) for row in values.get("course", ()))
            return Standing(int(values.get("spent", 0)), champions, course)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CheckpointError(
                f"trainer.json: counters.ladder: {error!r}; the file is not of this program"
            ) from error


def met(result: MatchResult) -> Met:
    """A match in the view of its a."""
    low, high = result.intervals["ppg"]
    half = (high - low) / 2
    pairs = tuple(pair_counts(pair_wins(result)))
    return Met(pairs, _finite(result.ppg.value), _finite(half))


def _finite(value: float) -> float:
    """JSON has no NaN; a match without games has no pairs, which tells."""
    return value if math.isfinite(value) else 0.0

"""What matches and games with the cube came to, with intervals by pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.intervals import Interval, bootstrap_interval
from nardy_rl.cube import Terms
from nardy_rl.rules.record import Rules

_COUNTS = ("doubles", "takes", "passes", "beavers")


@dataclass(frozen=True)
class CubeResult:
    """The result of `play_matches`, in the view of a.

    Attributes:
        a, b: names.
        rules, terms: what was played.
        seed: of the dice.
        asked: matches (or games) asked for.
        ahead: int64[P, 2], 1 where a won the match, -1 where b did, 0 a drawn game.
        points: int64[P, 2], points of a less those of b over the match.
        games: int64[P, 2], games of it.
        counts: int64[P, 2, 2, 4], by player: doubles, takes, passes, beavers.
        truncated: matches broken off at the ply cap; their pairs are left out.
        seconds: it took.
    """

    a: str
    b: str
    rules: Rules
    terms: Terms
    seed: int
    asked: int
    ahead: NDArray[np.int64]
    points: NDArray[np.int64]
    games: NDArray[np.int64]
    counts: NDArray[np.int64]
    truncated: int
    seconds: float

    @classmethod
    def of(
        cls,
        columns: Sequence[NDArray[np.int64]] | None,
        a: str,
        b: str,
        rules: Rules,
        terms: Terms,
        seed: int,
        asked: int,
        seconds: float,
    ) -> CubeResult:
        """From columns of one row a table: ahead, points, games, counts, broken."""
        if columns is None:
            none = np.zeros(0, np.int64)
            columns = [none, none, none, np.zeros((0, 2, 4), np.int64), none]
        paired = [c.reshape(-1, 2, *c.shape[1:]) for c in columns]
        whole = ~paired[4].astype(bool).any(1)
        ahead, points, games, counts = (c[whole] for c in paired[:4])
        broken = int(paired[4].sum())
        return cls(a, b, rules, terms, seed, asked, ahead, points, games, counts, broken, seconds)

    @property
    def won(self) -> float:
        """Share of matches (or games) that a won, draws as halves; NaN for none."""
        return float(self._shares().mean()) if len(self.ahead) else float("nan")

    @property
    def won_interval(self) -> Interval:
        """Its 95 % interval, by pairs."""
        return bootstrap_interval(self._shares().mean(1), share=True)

    @property
    def ppg(self) -> float:
        """Points a game of a, the cube counted in; NaN for none."""
        return float(self.points.sum() / self.games.sum()) if len(self.games) else float("nan")

    @property
    def ppg_interval(self) -> Interval:
        """Its 95 % interval: pairs differ in games, so of the ratio to first order."""
        if len(self.games) == 0:
            return bootstrap_interval([])
        mean = self.games.sum(1).mean()
        off = (self.points.sum(1) - self.ppg * self.games.sum(1)) / mean
        return bootstrap_interval(self.ppg + off)

    @property
    def cube(self) -> dict[str, tuple[float, float]]:
        """Doubles, takes, passes and beavers a game, of a and of b."""
        games = max(int(self.games.sum()), 1)
        sums = self.counts.sum((0, 1)) / games
        return {name: (float(sums[0, i]), float(sums[1, i])) for i, name in enumerate(_COUNTS)}

    def _shares(self) -> NDArray[np.float64]:
        return (self.ahead + 1) / 2

    def __str__(self) -> str:
        """A few lines for people."""
        what = "games" if self.terms.match_length is None else "matches"
        low, high = self.won_interval
        ends = self.ppg_interval
        played = self.ahead.size
        lines = [
            f"{self.a} against {self.b}: won {100 * self.won:.2f} % "
            f"{_interval(100 * low, 100 * high, '.2f')} of {played:,} {what}",
            f"points a game {self.ppg:+.4f} {_interval(*ends, '+.4f')}, "
            f"{int(self.games.sum()):,} games",
        ]
        if self.terms.cube != "none":
            shown = ", ".join(f"{name} {x:.3f} / {y:.3f}" for name, (x, y) in self.cube.items())
            lines.append(f"a game, {self.a} / {self.b}: {shown}")
        if played < self.asked:
            lines.append(f"{played:,} of {self.asked:,} {what} count")
        if self.truncated:
            lines.append(f"{self.truncated:,} {what} reached the ply cap; their pairs are left out")
        return "\n".join(lines)


def _interval(low: float, high: float, form: str) -> str:
    """The ends of an interval, or why there is none.

    >>> _interval(1, 2, ".1f"), _interval(math.nan, math.nan, ".1f")
    ('[1.0, 2.0]', '(no interval from fewer than two pairs)')
    """
    if math.isnan(low) or math.isnan(high):
        return "(no interval from fewer than two pairs)"
    return f"[{low:{form}}, {high:{form}}]"

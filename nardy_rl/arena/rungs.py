"""Where a run's net, its champions and its fixed opponents stand on one scale, with pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.ratings import Match, Ratings, rate_counts
from nardy_rl.arena.standing import Met, Standing
from nardy_rl.rules.record import Rules

NET = "net"
"""What the ladder calls the net that is measured."""

_SHOWN = 6
"""Champions in the picture of the cross-table: the newest."""

_DRAWS = 400
"""Bootstrap samples of a rating: it is taken anew at every measurement."""


class Rungs:
    """Ratings of opponents, champions and the net, from what each of them scored."""

    def __init__(
        self, standing: Standing, opponents: Sequence[str], met: Mapping[str, Met]
    ) -> None:
        self.scores = {champion.name: champion.met for champion in standing.champions}
        self.scores[NET] = met
        asked = [name for scores in self.scores.values() for name in scores]
        fixed = dict.fromkeys(name for name in [*opponents, *asked] if name not in self.scores)
        self.names = [*fixed, *self.scores]
        self.anchor = self.names[0] if "random" not in fixed else "random"
        counts: dict[Match, list[int]] = {}
        place = {name: index for index, name in enumerate(self.names)}
        for name, scores in self.scores.items():
            for other, result in scores.items():
                match, pairs = (place[name], place[other]), list(result.pairs)
                if any(pairs):
                    turned = match[0] > match[1]
                    counts[match[::-1] if turned else match] = pairs[::-1] if turned else pairs
        self.ratings: Ratings = rate_counts(
            len(self.names), counts, anchor=place[self.anchor], draws=_DRAWS
        )

    @property
    def of_net(self) -> tuple[float, float, float]:
        """Elo of the net and the ends of its interval; NaN where nothing joins it to the anchor."""
        found = self.ratings
        return float(found.elo[-1]), float(found.low[-1]), float(found.high[-1])

    def pictures(
        self, rules: Rules, course: Sequence[Sequence[float]], trained: int
    ) -> dict[str, bytes]:
        """The cross-table, and the net's rating over the run."""
        from nardy_rl.arena.pictures import ratings_png, table_png

        names = [*self.names[: -len(self.scores)], *list(self.scores)[-_SHOWN - 1 :]]
        place = {name: index for index, name in enumerate(self.names)}
        elo = np.stack([self.ratings.elo, self.ratings.low, self.ratings.high])
        names.sort(key=lambda name: -np.nan_to_num(elo[0, place[name]], nan=-np.inf))
        values, halves = self._cells(names)
        shown = elo[:, [place[name] for name in names]]
        champions = self.scores.keys() - {NET}
        labels = [f"champion {name}" if name in champions else name for name in names]
        title = f"{rules.name}, {trained:,} games of training"
        note = (
            "Points a game of the row against the column, ± half the 95 % interval; champions as "
            f"they were crowned. Elo by games won, {self.anchor} = 0."
        )
        past = np.array(course).reshape(-1, 4)
        fixed = {
            name: float(elo[0, place[name]])
            for name in names
            if name not in self.scores and not math.isnan(elo[0, place[name]])
        }
        return {
            "ladder/crosstable": table_png(labels, values, halves, shown, title, note),
            "ladder/rating": ratings_png(
                past[:, 0].astype(int).tolist(), past[:, 1:].T, fixed, title
            ),
        }

    def _cells(self, names: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        values, halves = np.full((2, len(names), len(names)), math.nan)
        for row, name in enumerate(names):
            for column, other in enumerate(names):
                met = self.scores.get(name, {}).get(other)
                if met is not None and any(met.pairs):
                    values[row, column], values[column, row] = met.ppg, -met.ppg
                    halves[row, column] = halves[column, row] = met.half
        return values, halves

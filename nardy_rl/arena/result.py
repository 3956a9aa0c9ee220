"""What a match says: every figure with its standard error, the pair of games being the sample.

The two games of a pair have the same dice and are anything but independent; pairs are. So each
figure is a mean over pairs of the pair's own mean, and its standard error that of such a mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.record import Rules


class Games(NamedTuple):
    """Games of a match, by pair: in game 0 of a pair player a has seat 0, in game 1 seat 1.

    Attributes:
        score: int8[P, 2], for player a; 0 where truncated.
        truncated: bool[P, 2], stopped at the ply cap, without a score.
        plies: int32[P, 2], decisions taken.
    """

    score: NDArray[np.int8]
    truncated: NDArray[np.bool_]
    plies: NDArray[np.int32]


class Estimate(NamedTuple):
    """A mean and its standard error; NaN where there are too few games for it."""

    value: float
    se: float


def by_pair(values: NDArray[np.generic]) -> Estimate:
    """Mean over games of `values` [P, 2], with the standard error of P independent pairs.

    One pair has no standard error, no pair no mean: NaN.

    >>> import numpy as np
    >>> by_pair(np.array([[1, -1], [2, -2]]))
    Estimate(value=0.0, se=0.0)
    >>> by_pair(np.array([[1, 1], [-1, 1]]))
    Estimate(value=0.5, se=0.5)
    """
    pairs = np.asarray(values, np.float64).mean(1) if len(values) else np.empty(0)
    count = len(pairs)
    value = float(pairs.mean()) if count else math.nan
    se = float(pairs.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    return Estimate(value, se)


@dataclass(frozen=True)
class MatchResult:
    """A match of a against b, in the view of a.

    Shares are of the games scored, and what each means is exclusive: `win` counts every game that
    a won, `mars` those won by exactly two points, `koks` by three; `lost_mars` and `lost_koks`
    the same of b's wins. Two results are equal when every game was; how long it took is no part.

    Attributes:
        a, b: names of the players.
        rules: of the game.
        seed, first_pair, ply_cap: with the players, all that is needed to repeat the match.
        asked: games asked for.
        games: games scored.
        truncated: games that reached the ply cap. They have no score.
        excluded: games that are not scored: the truncated ones and the other game of their pair.
        ppg: points a game; a draw gives neither side any.
        win, mars, koks, draw, lost_mars, lost_koks: shares, 0 to 1.
        plies: mean decisions of the games scored.
        seconds: it took.
        played: the games themselves, the excluded ones among them.
    """

    a: str
    b: str
    rules: Rules
    seed: int
    first_pair: int
    ply_cap: int
    asked: int
    games: int
    truncated: int
    excluded: int
    ppg: Estimate
    win: Estimate
    draw: Estimate
    mars: Estimate
    koks: Estimate
    lost_mars: Estimate
    lost_koks: Estimate
    plies: float
    seconds: float = field(compare=False)
    played: Games = field(compare=False, repr=False)

    @property
    def games_per_second(self) -> float:
        """Games played a second, the excluded ones among them."""
        return self.played.score.size / self.seconds if self.seconds > 0 else math.nan

    def __str__(self) -> str:
        """One line: points a game and games won, each ± one standard error."""
        left_out = f", {self.excluded:,} left out" if self.excluded else ""
        if self.games == 0:
            return f"{self.a} against {self.b}: no game was scored{left_out}"
        return (
            f"{self.a} against {self.b}: {as_points(self.ppg)} points a game, "
            f"{as_percent(self.win)} % won, {self.games:,} games{left_out}"
        )

    def figures(self) -> dict[str, float]:
        """Every figure by its name, standard errors as `NAME_se`; those that are NaN left out.

        `koks` and `draw` are there where the game has them.
        """
        named = {"ppg": self.ppg, "win": self.win, "mars": self.mars, "lost_mars": self.lost_mars}
        if 3 in self.rules.outcomes:
            named |= {"koks": self.koks, "lost_koks": self.lost_koks}
        if 0 in self.rules.outcomes:
            named |= {"draw": self.draw}
        values = {}
        for name, estimate in named.items():
            values[name], values[f"{name}_se"] = estimate
        values |= {"plies": self.plies, "truncated": float(self.truncated)}
        return {name: value for name, value in values.items() if not math.isnan(value)}


def match_result(
    games: Games,
    *,
    a: str,
    b: str,
    rules: Rules,
    seed: int = 0,
    first_pair: int = 0,
    ply_cap: int = 0,
    asked: int | None = None,
    seconds: float = math.nan,
) -> MatchResult:
    """The statistics of games that were played; see `MatchResult` for the arguments."""
    scored = ~games.truncated.any(1)
    score = games.score[scored]
    plies = games.plies[scored]
    return MatchResult(
        a=a,
        b=b,
        rules=rules,
        seed=seed,
        first_pair=first_pair,
        ply_cap=ply_cap,
        asked=games.score.size if asked is None else asked,
        games=score.size,
        truncated=int(games.truncated.sum()),
        excluded=games.score.size - score.size,
        ppg=by_pair(score),
        win=by_pair(score > 0),
        draw=by_pair(score == 0),
        mars=by_pair(score == 2),
        koks=by_pair(score == 3),
        lost_mars=by_pair(score == -2),
        lost_koks=by_pair(score == -3),
        plies=float(plies.mean()) if plies.size else math.nan,
        seconds=seconds,
        played=games,
    )


def as_points(estimate: Estimate) -> str:
    """Points and standard error; a dash for what is not known.

    >>> as_points(Estimate(0.5, 0.01)), as_points(Estimate(-1.0, math.nan))
    ('+0.500 ± 0.010', '-1.000 ± -')
    """
    return f"{as_number(estimate.value, '+.3f')} ± {as_number(estimate.se, '.3f')}"


def as_percent(estimate: Estimate, with_error: bool = True) -> str:
    """A share in per cent, with its standard error if wanted; without the sign."""
    value = as_number(100 * estimate.value, ".1f")
    return f"{value} ± {as_number(100 * estimate.se, '.1f')}" if with_error else value


def as_number(value: float, form: str) -> str:
    """The number in a format; a dash for NaN."""
    return "-" if math.isnan(value) else format(value, form)

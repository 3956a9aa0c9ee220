"""What a match says: every figure with its error, the pair of games being the sample.

The two games of a pair have the same dice and are anything but independent; pairs are. So each
figure is a mean over pairs of the pair's own mean, its standard error that of such a mean, and its
interval from pairs drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.intervals import Interval, bootstrap_interval
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
    a won, `loss` those that b won, `mars` those that a won by exactly two points, `koks` by three;
    `lost_mars` and `lost_koks` the same of b's wins. Two results are equal when every game was;
    how long it took is no part of it.

    Attributes:
        a, b: names of the players.
        rules: of the game.
        seed, first_pair, ply_cap: with the players, all that is needed to repeat the match.
        asked: games asked for.
        games: games scored.
        truncated: games that reached the ply cap. They have no score.
        excluded: games that are not scored: the truncated ones and the other game of their pair.
        ppg: points a game; a draw gives neither side any.
        win, loss, draw, mars, koks, lost_mars, lost_koks: shares, 0 to 1.
        plies: mean decisions of the games scored.
        seconds: it took.
        played: the games themselves, the excluded ones among them.
        luck_by: whose values measured the luck of the dice; empty where nobody's did.
        luck: float64[P, 2] like `played`, points that the dice gave a; None where not measured.
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
    loss: Estimate
    draw: Estimate
    mars: Estimate
    koks: Estimate
    lost_mars: Estimate
    lost_koks: Estimate
    plies: float
    seconds: float = field(compare=False)
    played: Games = field(compare=False, repr=False)
    luck_by: str = field(default="", compare=False)
    luck: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)

    @property
    def games_per_second(self) -> float:
        """Games played a second, the excluded ones among them."""
        return self.played.score.size / self.seconds if self.seconds > 0 else math.nan

    @cached_property
    def adjusted_ppg(self) -> Estimate:
        """Points a game less the luck of the dice: the same mean as `ppg`, a smaller error.

        NaN where luck was not measured.
        """
        return _NOT_KNOWN if self.luck is None else by_pair(_less_luck(self))

    @cached_property
    def luck_ppg(self) -> Estimate:
        """Points a game that the dice gave a, by `luck_by`: of mean 0. NaN where not measured."""
        return _NOT_KNOWN if self.luck is None else by_pair(self.luck[_scored(self.played)])

    @property
    def worth(self) -> float:
        """Games that would be needed for the error of `adjusted_ppg` without it; NaN as there."""
        if self.adjusted_ppg.se == 0.0:
            return math.nan
        return self.games * (self.ppg.se / self.adjusted_ppg.se) ** 2

    @cached_property
    def pair_scores(self) -> NDArray[np.float64]:
        """What each scored pair says of the points a game, float64[P]; less luck if measured."""
        return _less_luck(self).mean(1)

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """The 95 % interval of every estimate by its name, by bootstrap of the pairs."""
        score = self.played.score[_scored(self.played)]
        pairs = {name: of(score).mean(1) for name, of in _SHARES.items()}
        found = {name: bootstrap_interval(values, share=True) for name, values in pairs.items()}
        found["ppg"] = bootstrap_interval(score.mean(1))
        if self.luck is not None:
            found["adjusted_ppg"] = bootstrap_interval(self.pair_scores)
            found["luck_ppg"] = bootstrap_interval(self.luck[_scored(self.played)].mean(1))
        return found

    def __str__(self) -> str:
        """One line: points a game, games won and drawn, each with its 95 % interval."""
        left_out = f", {self.excluded:,} left out" if self.excluded else ""
        if self.games == 0:
            return f"{self.a} against {self.b}: no game was scored{left_out}"
        said = [f"{as_points(self, 'ppg')} points a game"]
        if self.luck is not None:
            said.append(f"{as_points(self, 'adjusted_ppg')} luck-adjusted")
        said.append(f"{as_percent(self, 'win')} % won")
        if 0 in self.rules.outcomes:
            said.append(f"{as_percent(self, 'draw')} % drawn")
        return f"{self.a} against {self.b}: {', '.join(said)}, {self.games:,} games{left_out}"

    def figures(self) -> dict[str, float]:
        """Every figure by its name; those that are NaN left out.

        Standard errors are `NAME_se`, the ends of 95 % intervals `NAME_low` and `NAME_high`.
        `koks` and `draw` are there where the game has them, `adjusted_ppg`, `luck_ppg` and
        `worth` where luck was measured.
        """
        names = ["ppg", "win", "mars", "lost_mars"]  # what b won is the rest
        names += ["koks", "lost_koks"] if 3 in self.rules.outcomes else []
        names += ["draw"] if 0 in self.rules.outcomes else []
        names += ["adjusted_ppg", "luck_ppg"] if self.luck is not None else []
        values = {}
        for name in names:
            values[name], values[f"{name}_se"] = getattr(self, name)
            values[f"{name}_low"], values[f"{name}_high"] = self.intervals[name]
        values |= {"worth": self.worth} if self.luck is not None else {}
        values |= {"plies": self.plies, "truncated": float(self.truncated)}
        return {name: value for name, value in values.items() if not math.isnan(value)}


_NOT_KNOWN = Estimate(math.nan, math.nan)

_SHARES: dict[str, Callable[[NDArray[np.int8]], NDArray[np.bool_]]] = {
    "win": lambda score: score > 0,
    "loss": lambda score: score < 0,
    "draw": lambda score: score == 0,
    "mars": lambda score: score == 2,
    "koks": lambda score: score == 3,
    "lost_mars": lambda score: score == -2,
    "lost_koks": lambda score: score == -3,
}
"""Which games count, by the name of the share."""


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
    luck_by: str = "",
    luck: NDArray[np.float64] | None = None,
) -> MatchResult:
    """The statistics of games that were played; see `MatchResult` for the arguments."""
    scored = _scored(games)
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
        plies=float(plies.mean()) if plies.size else math.nan,
        seconds=seconds,
        played=games,
        luck_by=luck_by,
        luck=luck,
        **{name: by_pair(of(score)) for name, of in _SHARES.items()},
    )


def joined(parts: Sequence[MatchResult], asked: int | None = None) -> MatchResult:
    """One match of its parts, each of which went on at `first_pair` where the last had ended.

    `asked` is the sum of the parts' own unless given. Raises ValueError for parts of matches
    apart: other players, rules, seed or ply cap, or pairs that do not follow one another.
    """
    first = parts[0]
    expected = first.first_pair
    for part in parts:
        alike = ("a", "b", "rules", "seed", "ply_cap", "luck_by")
        apart = [name for name in alike if getattr(part, name) != getattr(first, name)]
        if part.first_pair != expected:
            apart.append(f"first_pair={part.first_pair}, not {expected}:")
        if apart:
            raise ValueError(f"parts of matches apart: {', '.join(apart)}")
        expected += len(part.played.score)
    lucks = [part.luck for part in parts if part.luck is not None]
    return match_result(
        Games(*(np.concatenate(arrays) for arrays in zip(*(p.played for p in parts), strict=True))),
        a=first.a,
        b=first.b,
        rules=first.rules,
        seed=first.seed,
        first_pair=first.first_pair,
        ply_cap=first.ply_cap,
        asked=sum(part.asked for part in parts) if asked is None else asked,
        seconds=sum(part.seconds for part in parts),
        luck_by=first.luck_by,
        luck=np.concatenate(lucks) if lucks else None,
    )


def _scored(games: Games) -> NDArray[np.bool_]:
    """The pairs both of whose games have a score, bool[P]."""
    return np.logical_not(games.truncated.any(1))


def _less_luck(result: MatchResult) -> NDArray[np.float64]:
    """The scores of the pairs scored, float64[P, 2], less luck where it was measured."""
    score = result.played.score.astype(np.float64)
    return (score if result.luck is None else score - result.luck)[_scored(result.played)]


def as_points(result: MatchResult, name: str) -> str:
    """The figure `name`, in points, with its 95 % interval; a dash for what is not known."""
    return _with_interval(getattr(result, name), result.intervals[name], "+.3f")


def as_percent(result: MatchResult, name: str) -> str:
    """The share `name` in per cent, with its 95 % interval; without the sign."""
    low, high = result.intervals[name]
    share = getattr(result, name)
    scaled = Estimate(100 * share.value, 100 * share.se)
    return _with_interval(scaled, Interval(100 * low, 100 * high), ".1f")


def _with_interval(estimate: Estimate, interval: Interval, form: str) -> str:
    """`VALUE ± HALF` where the ends are about as far from the value, else `VALUE [LOW, HIGH]`.

    >>> _with_interval(Estimate(0.5, 0.01), Interval(0.481, 0.52), "+.3f")
    '+0.500 ± 0.020'
    >>> _with_interval(Estimate(0.5, 0.3), Interval(0.1, 2.9), ".1f")
    '0.5 [0.1, 2.9]'
    >>> _with_interval(Estimate(-1.0, math.nan), Interval(math.nan, math.nan), "+.3f")
    '-1.000 ± -'
    """
    value = as_number(estimate.value, form)
    below, above = estimate.value - interval.low, interval.high - estimate.value
    half = (below + above) / 2
    last_place = 10.0 ** -int(form.strip("+.f"))
    if abs(above - below) > max(0.2 * half, last_place):
        return f"{value} [{interval.low:{form}}, {interval.high:{form}}]"
    return f"{value} ± {as_number(half, form.lstrip('+'))}"


def as_number(value: float, form: str) -> str:
    """The number in a format; a dash for NaN."""
    return "-" if math.isnan(value) else format(value, form)

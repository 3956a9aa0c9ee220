"""Bradley-Terry ratings of players who met in pairs of games, and where one number is not enough.

The model: i beats j with probability 1 / (1 + 10 ** ((elo_j - elo_i) / 400)). It is fitted to the
games won (a draw is half a win) by `choix`, the Luce spectral ranking iterated to the maximum of
the likelihood (Maystre and Grossglauser, NIPS 2015). To each two players who met, `alpha` wins
either way are added, so that a player who lost every game has a rating too.

Intervals are a Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981): each pair of games on
the same dice gets a random weight from the exponential distribution, the same one in every match
where those dice were thrown, and each of the added wins a gamma weight of mean `alpha`. Unlike
drawing pairs with replacement, that leaves a match won 100:0 with the doubt it deserves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.result import MatchResult
from nardy_rl.errors import ConfigError

ALPHA = 0.5
"""Wins added either way to each two players who met; a half is Jeffreys' prior of a share."""

DRAWS = 1000
"""Bootstrap samples: the ends of a 95 % interval then have an error of some 4 % of its width."""

ELO = 400.0 / math.log(10.0)
"""Elo points for one unit of the logit of winning."""

LEVEL = 0.95

_LEAST_WINS = 1e-4
"""An added win is at least so much, however small its random weight: 0 would rate at infinity."""

_NEWTON_STEPS = 100
"""Four or five are enough; an added win that is next to nothing takes some more."""

Match = tuple[int, int]
"""Numbers of two players, the lower first; figures of a match are in the first one's view."""


@dataclass(frozen=True)
class Ratings:
    """Fitted strengths of N players; NaN for one whom no chain of matches joins to the anchor.

    Attributes:
        elo: float64[N].
        low, high: float64[N], the 95 % interval of `elo`; the anchor's is its value.
        anchor: number of the player whose rating is fixed.
        matches: who met, the lower number first.
        predicted: of each match, the share of games that the fit says the first player wins.
        residual, residual_se: of each match, the share measured less the predicted one (the
            added wins in both), and its standard error by the bootstrap; 0 where the fit has as
            many free ratings as matches.
        misfit_p: the chance of residuals as large as these if one number a player were the whole
            truth; NaN where the fit has as many free ratings as matches.
    """

    elo: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    anchor: int
    matches: tuple[Match, ...]
    predicted: dict[Match, float]
    residual: dict[Match, float]
    residual_se: dict[Match, float]
    misfit_p: float


@dataclass(frozen=True)
class Cycle:
    """Players each of whom beats the next, and the last the first.

    Attributes:
        players: three numbers; the lowest first.
        p: chance of the least certain of the three results under equal strength, times the number
            of matches of the tournament (Bonferroni).
    """

    players: tuple[int, int, int]
    p: float


def rate(
    players: int,
    wins: Mapping[Match, NDArray[np.float64]],
    *,
    anchor: int = 0,
    anchor_elo: float = 0.0,
    alpha: float = ALPHA,
    draws: int = DRAWS,
    seed: int = 0,
) -> Ratings:
    """Rate players whose matches were all played on the same dice.

    Args:
        players: how many.
        wins: for each match, games of two that its first player won of each pair of games,
            float64[P], a draw being half of one; NaN for a pair that is not scored. Element p of
            every match belongs to the same dice.
        anchor, anchor_elo: whose rating is fixed, and at what.
        alpha: wins added either way to each match.
        draws: bootstrap samples.
        seed: of the bootstrap.

    Raises:
        ConfigError: `alpha` or `draws` out of range, an anchor that is no player.
    """
    _check(players, wins, anchor, alpha, draws)
    rng = np.random.default_rng(seed)
    longest = max((len(values) for values in wins.values()), default=0)
    won, lost = np.zeros((2, longest, len(wins)))
    for column, values in enumerate(wins.values()):
        scored = ~np.isnan(values)
        won[: len(values), column][scored] = values[scored]
        lost[: len(values), column][scored] = 2.0 - values[scored]
    weights = rng.exponential(size=(draws, longest))
    resampled = np.stack([weights @ won, weights @ lost], -1)
    measured = np.stack([won.sum(0), lost.sum(0)], -1)
    return _rated(players, list(wins), measured, resampled, anchor, anchor_elo, alpha, rng)


def rate_counts(
    players: int,
    counts: Mapping[Match, Sequence[int]],
    *,
    anchor: int = 0,
    anchor_elo: float = 0.0,
    alpha: float = ALPHA,
    draws: int = DRAWS,
    seed: int = 0,
) -> Ratings:
    """Rate players whose matches are taken as independent, from counts alone.

    Args:
        players: how many.
        counts: for each match, in how many pairs of games its first player won 0, 0.5, 1, 1.5
            and 2 games; see `pair_counts`.
        anchor, anchor_elo, alpha, draws, seed: see `rate`.

    Raises:
        ConfigError: as `rate`.
    """
    _check(players, counts, anchor, alpha, draws)
    rng = np.random.default_rng(seed)
    table = np.array([counts[match] for match in counts], np.float64).reshape(-1, 5)
    won = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    # The weights of n pairs, each exponential, add up to a gamma of shape n.
    weights = rng.gamma(table, size=(draws, *table.shape))
    resampled = np.stack([weights @ won, weights @ won[::-1]], -1)
    measured = np.stack([table @ won, table @ won[::-1]], -1)
    return _rated(players, list(counts), measured, resampled, anchor, anchor_elo, alpha, rng)


def pair_wins(result: MatchResult) -> NDArray[np.float64]:
    """Games that a won of each pair, float64[P], a draw half of one; NaN for pairs not scored."""
    score = result.played.score
    wins = (score > 0).sum(1) + 0.5 * (score == 0).sum(1)
    return np.where(result.played.truncated.any(1), np.nan, wins)


def pair_counts(wins: NDArray[np.float64]) -> list[int]:
    """How often the first player won 0, 0.5, 1, 1.5 and 2 games of a pair; NaN is left out.

    >>> pair_counts(np.array([2.0, 2.0, 1.0, np.nan, 0.5]))
    [0, 1, 1, 0, 2]
    """
    scored = wins[~np.isnan(wins)]
    return [int(n) for n in np.bincount((2 * scored).astype(np.int64), minlength=5)]


def expected_share(elo_difference: float) -> float:
    """The share of games that the model says the stronger wins.

    >>> round(expected_share(100.0), 3)
    0.64
    """
    return 1.0 / (1.0 + 10.0 ** (-elo_difference / 400.0))


def cycles(results: Mapping[Match, tuple[float, float]], level: float = LEVEL) -> tuple[Cycle, ...]:
    """Every three players of whom a beats b, b beats c and c beats a, beyond chance.

    Args:
        results: of each match, points a game in its first player's view and the standard error.
        level: a result counts where a two-sided test rejects 0 at 1 - `level` for all matches
            together (Bonferroni).

    Returns:
        Cycles in the order of their players' numbers.
    """
    p: dict[tuple[int, int], float] = {}
    for (a, b), (value, se) in results.items():
        if math.isnan(value) or value == 0.0 or math.isnan(se):
            continue
        z = abs(value) / se if se > 0 else math.inf
        chance = 2.0 * NormalDist().cdf(-z) * len(results)
        if chance < 1.0 - level:
            p[(a, b) if value > 0 else (b, a)] = chance
    players = sorted({player for match in results for player in match})
    found = []
    for a, b, c in itertools.permutations(players, 3):
        edges = [(a, b), (b, c), (c, a)]
        if a == min(a, b, c) and all(edge in p for edge in edges):
            found.append(Cycle((a, b, c), max(p[edge] for edge in edges)))
    return tuple(found)


def check_settings(alpha: float, draws: int) -> None:
    """Raise `ConfigError` unless both can be; see `rate`."""
    if not 0.0 < alpha <= 1000.0:
        raise ConfigError(f"alpha: {alpha} is not allowed; allowed: numbers > 0 and <= 1000")
    if not 2 <= draws <= 1_000_000:
        raise ConfigError(f"draws: {draws} is not allowed; allowed: whole numbers 2..1000000")


def _check(players: int, matches: Iterable[Match], anchor: int, alpha: float, draws: int) -> None:
    if not 0 <= anchor < players:
        raise ConfigError(f"anchor: {anchor} is not allowed; allowed: 0 to {players - 1}")
    check_settings(alpha, draws)
    for a, b in matches:
        if not 0 <= a < b < players:
            raise ConfigError(f"match ({a}, {b}): allowed: two of 0..{players - 1}, ascending")


def _rated(
    players: int,
    matches: list[Match],
    measured: NDArray[np.float64],
    resampled: NDArray[np.float64],
    anchor: int,
    anchor_elo: float,
    alpha: float,
    rng: np.random.Generator,
) -> Ratings:
    """The fit to `measured` [M, 2], games won by either side, and to every sample [D, M, 2]."""
    joined = _joined(players, matches, anchor)
    inside = [index for index, (a, _) in enumerate(matches) if a in joined]
    place = {player: index for index, player in enumerate(joined)}
    ends = np.array([(place[matches[i][0]], place[matches[i][1]]) for i in inside], np.int64)
    ends = ends.reshape(-1, 2)
    theta = _fit(len(joined), ends, measured[inside] + alpha)
    fitted = theta[ends[:, 0]] - theta[ends[:, 1]]
    added = np.maximum(rng.gamma(alpha, size=resampled.shape), _LEAST_WINS)
    draws = resampled + added
    thetas = _refit(theta, ends, draws[:, inside])
    residual = _residuals(ends, theta[None], measured[None, inside] + alpha)[0]
    residuals = _residuals(ends, thetas, draws[:, inside])

    elo, low, high = np.full((3, players), np.nan)
    around = ELO * (thetas - thetas[:, [place[anchor]]])
    tails = [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0]
    elo[joined] = ELO * (theta - theta[place[anchor]]) + anchor_elo
    low[joined], high[joined] = np.quantile(around, tails, axis=0) + anchor_elo
    free = len(inside) - (len(joined) - 1)
    names = [matches[i] for i in inside]
    spread = residuals.std(0, ddof=1) if free else np.zeros(len(inside))
    return Ratings(
        elo=elo,
        low=low,
        high=high,
        anchor=anchor,
        matches=tuple(names),
        predicted=dict(zip(names, (1.0 / (1.0 + np.exp(-fitted))).tolist(), strict=True)),
        residual=dict(zip(names, (residual if free else 0.0 * residual).tolist(), strict=True)),
        residual_se=dict(zip(names, spread.tolist(), strict=True)),
        misfit_p=_misfit(residual, residuals, free),
    )


def _joined(players: int, matches: Iterable[Match], anchor: int) -> list[int]:
    """The players whom a chain of matches joins to the anchor, itself included, ascending."""
    joined = {anchor}
    pending = list(matches)
    for _ in range(players):
        for a, b in pending:
            if a in joined or b in joined:
                joined |= {a, b}
    return sorted(joined)


def _fit(players: int, ends: NDArray[np.int64], won: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-strengths, float64[players], of mean 0, from games won [M, 2] by either end."""
    if players == 1:
        return np.zeros(1)
    import choix

    table = np.zeros((players, players))
    table[ends[:, 0], ends[:, 1]] = won[:, 0]
    table[ends[:, 1], ends[:, 0]] = won[:, 1]
    # Not choix's own regularisation: its alpha is a rate of its Markov chain, no number of games.
    fitted = choix.ilsr_pairwise_dense(table, 0.0, max_iter=100_000, tol=1e-9)
    return np.asarray(fitted, np.float64)


def _refit(
    theta: NDArray[np.float64], ends: NDArray[np.int64], won: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The fits, [D, N], to many samples of games won [D, M, 2], from a fit `theta` near by.

    Newton's method on the same likelihood, all samples at once: choix takes one at a time, at
    milliseconds each.
    """
    a, b = ends.T
    number = np.arange(len(ends))
    sides = np.zeros((len(ends), len(theta)))
    sides[number, a], sides[number, b] = 1.0, -1.0
    total = won.sum(2)
    thetas = np.tile(theta - theta.mean(), (len(won), 1))
    for _ in range(_NEWTON_STEPS):
        share = 1.0 / (1.0 + np.exp(thetas[:, b] - thetas[:, a]))
        gradient = (won[:, :, 0] - total * share) @ sides
        curvature = np.einsum("dm,mi,mj->dij", total * share * (1.0 - share), sides, sides)
        # Equal strengths added to all change nothing; a curvature of 1 that way keeps the mean.
        step = np.linalg.solve(curvature + 1.0, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(1, keepdims=True)
        thetas += step / np.maximum(longest, 1.0)
        if (longest < 1e-9).all():
            break
    return thetas


def _residuals(
    ends: NDArray[np.int64], theta: NDArray[np.float64], won: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Share won less the fitted one, [D, M], for strengths [D, N] and games won [D, M, 2]."""
    fitted = 1.0 / (1.0 + np.exp(theta[:, ends[:, 1]] - theta[:, ends[:, 0]]))
    return np.asarray(won[:, :, 0] / won.sum(2) - fitted)


def _misfit(residual: NDArray[np.float64], residuals: NDArray[np.float64], free: int) -> float:
    """The chance of such residuals under the model, by Hotelling's test.

    They spread in `free` directions alone, those in which no choice of ratings moves them; the
    others' variance is rounding.
    """
    draws = len(residuals)
    if not 1 <= free < draws:
        return math.nan
    from scipy.stats import f  # type: ignore[import-untyped]

    variance, directions = np.linalg.eigh(np.atleast_2d(np.cov(residuals.T)))
    along = directions[:, -free:].T @ residual
    square = float(np.sum(along**2 / variance[-free:]))
    return float(f.sf(square * (draws - free) / (free * (draws - 1)), free, draws - free))

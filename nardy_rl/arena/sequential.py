"""Matches that stop once they have said enough: a sequential test at stated error rates.

The generalised sequential probability ratio test. Nobody knows the distribution of a pair's score,
only that its mean is what is asked about; so each hypothesis is given the distribution that fits
the pairs best among all those with its mean, and the logarithm of the ratio of the two likelihoods
is held against Wald's bounds.

Source: A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics
16 (1945), for the bounds; A. Owen, "Empirical likelihood ratio confidence intervals for a single
functional", Biometrika 75 (1988), for the likelihood of a mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.result import MatchResult, joined
from nardy_rl.errors import ConfigError
from nardy_rl.players.protocol import Player
from nardy_rl.rules.record import Rules
from nardy_rl.search import Valuer

LOOK_PAIRS = 256
"""Pairs between two looks at the test: fewer stop a little earlier and play slower."""

MAX_GAMES = 100_000

TOP_SCORE = 3.0
"""No game is worth more points, in any variant."""

_END_WEIGHT = 1e-3
"""Pairs that each end of the scale is taken to have been seen: every mean is then possible."""

_NEWTON_STEPS = 200


class Verdict(StrEnum):
    """What a sequential test says so far."""

    GO_ON = "go on"
    H0 = "H0"
    H1 = "H1"


class SequentialTest:
    """Is a player's mean score ppg0 (H0) or ppg1 (H1)? Ask after every few pairs of games.

    If the truth is ppg0 or less, H1 is accepted with a chance of about `alpha` at most; if it is
    ppg1 or more, H0 with about `beta`. In between either may be, and it takes longest. The first
    verdict stands.

    Args:
        ppg0, ppg1: points a game in the view of a; ppg0 < ppg1.
        alpha: chance of accepting H1 where H0 holds.
        beta: chance of accepting H0 where H1 holds.

    Attributes:
        pairs: seen so far.
        llr: logarithm of the likelihood ratio of H1 to H0.
        bounds: H0 is accepted at the first of these or below, H1 at the second or above.
        verdict: `Verdict.GO_ON` while the ratio lies between.

    Raises:
        ConfigError: a hypothesis beyond any score, ppg0 >= ppg1, an error rate outside 0..0.5.

    >>> test = SequentialTest(0.0, 0.5)
    >>> test.add([0.5, -0.5, 0.0, 0.5] * 5)
    <Verdict.GO_ON: 'go on'>
    >>> test.add([0.5, 0.0, 1.0, 0.5] * 10)
    <Verdict.H1: 'H1'>
    >>> print(test)
    H1 (ppg 0.5, not 0) accepted after 60 pairs: log likelihood ratio +4.40 in -2.94..+2.94
    """

    def __init__(self, ppg0: float, ppg1: float, alpha: float = 0.05, beta: float = 0.05) -> None:
        for name, value in (("ppg0", ppg0), ("ppg1", ppg1)):
            if not -TOP_SCORE < value < TOP_SCORE:
                raise ConfigError(
                    f"{name}: {value} is not allowed; allowed: numbers between -3 and 3"
                )
        if not ppg0 < ppg1:
            raise ConfigError(f"ppg1: {ppg1} is not allowed; allowed: more than ppg0, {ppg0}")
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0.0 < value < 0.5:
                raise ConfigError(f"{name}: {value} is not allowed; allowed: numbers > 0 and < 0.5")
        self.ppg0, self.ppg1, self.alpha, self.beta = ppg0, ppg1, alpha, beta
        self.bounds = (math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha))
        self.pairs = 0
        self.llr = 0.0
        self.verdict = Verdict.GO_ON
        self._values = np.empty(0)
        self._counts: NDArray[np.float64] = np.empty(0)

    def add(self, pair_scores: ArrayLike) -> Verdict:
        """Take in the scores of further pairs and return the verdict so far.

        Args:
            pair_scores: float[P], each the mean over the two games of a pair, in the view of a;
                luck-adjusted ones serve as well, and decide sooner.

        Raises:
            ValueError: not one row of finite numbers.
        """
        scores = np.asarray(pair_scores, np.float64)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ValueError(f"pair_scores has shape {scores.shape}; finite numbers [P] are needed")
        every = np.concatenate([self._values, scores])
        weights = np.concatenate([self._counts, np.ones(len(scores))])
        self._values, place = np.unique(every, return_inverse=True)
        self._counts = np.bincount(place, weights).astype(np.float64)
        self.pairs += len(scores)
        self.llr = float(log_likelihood_ratio(self._values, self._counts, self.ppg0, self.ppg1))
        if self.verdict == Verdict.GO_ON:
            self.verdict = verdict_at(self.llr, self.bounds)
        return self.verdict

    def __str__(self) -> str:
        """One line: the verdict, after how many pairs, and the figures it rests on."""
        said = {
            Verdict.GO_ON: f"undecided between ppg {self.ppg0:g} and {self.ppg1:g}",
            Verdict.H0: f"H0 (ppg {self.ppg0:g}, not {self.ppg1:g}) accepted",
            Verdict.H1: f"H1 (ppg {self.ppg1:g}, not {self.ppg0:g}) accepted",
        }[self.verdict]
        low, high = self.bounds
        return (
            f"{said} after {self.pairs:,} pairs: log likelihood ratio {self.llr:+.2f} "
            f"in {low:+.2f}..{high:+.2f}"
        )


def verdict_at(llr: float, bounds: tuple[float, float]) -> Verdict:
    """What a ratio says of itself; see `SequentialTest.bounds`."""
    if llr >= bounds[1]:
        return Verdict.H1
    return Verdict.H0 if llr <= bounds[0] else Verdict.GO_ON


def log_likelihood_ratio(
    values: NDArray[np.float64], counts: NDArray[np.float64], mean0: float, mean1: float
) -> NDArray[np.float64]:
    """Of the likeliest distribution with mean `mean1` to the likeliest with `mean0`.

    Args:
        values: float[C], the scores there are.
        counts: float[..., C], how often each was seen; leading axes are tests apart.
        mean0, mean1: between -3 and 3.

    Returns:
        float[...], positive where `mean1` explains the scores better.
    """
    low, high = min(-TOP_SCORE, *values, 0.0), max(TOP_SCORE, *values, 0.0)
    ends = np.full((*counts.shape[:-1], 2), _END_WEIGHT)
    values = np.concatenate([values, [low, high]])
    counts = np.concatenate([counts, ends], axis=-1)
    return _lack_of_fit(values - mean0, counts) - _lack_of_fit(values - mean1, counts)


def _lack_of_fit(off: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the likeliest distribution with mean 0 falls short of the free one, float[...].

    With weights w it is w / (1 + t * off) for the t that maximises sum(w * log(1 + t * off)), and
    that maximum is the answer. Concave in t; Newton's steps, halved where they leave the bracket.

    Args:
        off: float[C], values less the mean, of both signs.
        counts: float[..., C], positive at the least and the greatest of `off`.
    """
    low = np.full(counts.shape[:-1], -1.0 / off.max())
    high = np.full(counts.shape[:-1], -1.0 / off.min())
    t = np.zeros(counts.shape[:-1])
    for _ in range(_NEWTON_STEPS):
        slope = off / (1.0 + t[..., None] * off)
        rise = (counts * slope).sum(-1)
        low, high = np.where(rise > 0, t, low), np.where(rise > 0, high, t)
        step = t + rise / (counts * slope**2).sum(-1)
        step = np.where((low < step) & (step < high), step, (low + high) / 2)
        settled = np.abs(step - t).max(initial=0.0) < 1e-12
        t = step
        if settled:
            break
    return (counts * np.log1p(t[..., None] * off)).sum(-1)


def play_until(
    rules: Rules,
    a: Player,
    b: Player,
    test: SequentialTest,
    max_games: int = MAX_GAMES,
    *,
    seed: int = 0,
    ply_cap: int = PLY_CAP,
    first_pair: int = 0,
    look_pairs: int = LOOK_PAIRS,
    luck: Valuer | None = None,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MatchResult:
    """Play a against b until `test` has a verdict, or for `max_games` games.

    A pure function of its arguments, as `play_match` is; `test` is told every pair. With `luck`
    it is told luck-adjusted scores: the same mean, a smaller spread, fewer games.

    The result's own figures come from a match that ended *because* of how it stood, and so
    overstate the difference a little: quote the verdict, or play a match of a fixed length.

    Args:
        rules, a, b, seed, ply_cap, first_pair, luck, should_stop: see `play_match`.
        test: a fresh one, or one that has seen the pairs before `first_pair`.
        max_games: games at most, rounded up to pairs.
        look_pairs: pairs between two looks at the test.
        progress: told how many games have ended.

    Raises:
        ConfigError: a number out of range.
    """
    if look_pairs < 1:
        raise ConfigError(f"look_pairs: {look_pairs} is not allowed; allowed: whole numbers >= 1")
    if max_games < 2:
        raise ConfigError(f"max_games: {max_games} is not allowed; allowed: whole numbers >= 2")
    parts: list[MatchResult] = []
    played, pairs = 0, (max_games + 1) // 2

    def ended(games: int) -> None:
        if progress is not None:
            progress(2 * played + games)

    while not parts or (test.verdict == Verdict.GO_ON and played < pairs):
        wanted = min(look_pairs, pairs - played)
        part = play_match(
            rules,
            a,
            b,
            2 * wanted,
            seed=seed,
            ply_cap=ply_cap,
            first_pair=first_pair + played,
            block_pairs=wanted,
            luck=luck,
            progress=ended,
            should_stop=should_stop,
        )
        parts.append(part)
        played += len(part.played.score)
        test.add(part.pair_scores)
        if len(part.played.score) < wanted:
            break
    return joined(parts, asked=max_games)

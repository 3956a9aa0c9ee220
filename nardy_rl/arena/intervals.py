"""Intervals that hold the truth 95 times in a hundred, by drawing the pairs again.

A figure of a match is a mean over pairs, and a pair has few results: what 100,000 pairs drawn
again look like is one draw of how often each result comes. The ends are BCa's, corrected for
bias and skewness, without which the interval of a rare share would lie too low.

Source: B. Efron, "Better Bootstrap Confidence Intervals", Journal of the American Statistical
Association 82 (1987).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95

RESAMPLES = 10_000

_MOST_DISTINCT = 512
"""More distinct values than that are put together, neighbour with neighbour, in `_BINS`."""

_BINS = 128


class Interval(NamedTuple):
    """Both ends of a confidence interval; NaN where there are too few pairs for one."""

    low: float
    high: float


def bootstrap_interval(
    pair_values: ArrayLike,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    share: bool = False,
) -> Interval:
    """BCa interval of a mean over pairs; a pure function of its arguments.

    Pairs that are all alike give an interval without width, as a player's score against itself
    should have. Not so a share of 0 or 1: there the far end is the exact binomial bound.

    Args:
        pair_values: float[P], the mean of each pair.
        level: the probability of holding the truth.
        resamples: how often to draw; the ends scatter by 2 or 3 % of the width at 10,000.
        seed: of the draws.
        share: the values are shares, 0 to 1.

    Returns:
        NaN for fewer than 2 pairs.

    >>> bootstrap_interval([0.5, 0.5, 0.5])
    Interval(low=0.5, high=0.5)
    >>> bootstrap_interval([0.0] * 100, share=True).high  # 1 - 0.025 ** (1 / 100)
    0.036216...
    """
    values, counts = _distinct(np.asarray(pair_values, np.float64))
    total = int(counts.sum())
    if total < 2:
        return Interval(math.nan, math.nan)
    if len(values) == 1:
        return _without_spread(float(values[0]), total, level, share)
    mean = float(counts @ values) / total
    off = values - mean
    draws = np.random.default_rng(seed).multinomial(total, counts / total, resamples)
    means = np.sort(draws @ off) / total
    ends = _bca_levels(means, off, counts, level)
    low, high = np.quantile(means, ends)
    return Interval(mean + float(low), mean + float(high))


def _distinct(pair_values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values and how often each comes; very many are put together around their means."""
    values, counts = np.unique(pair_values, return_counts=True)
    if len(values) <= _MOST_DISTINCT:
        return values, counts
    # Of equal width: what is lost of the spread is the twelfth of a small square.
    edges = np.linspace(values[0], values[-1], _BINS + 1)[1:-1]
    place = np.searchsorted(edges, values, side="right")
    sizes = np.bincount(place, counts, _BINS)
    sums = np.bincount(place, counts * values, _BINS)
    some = sizes > 0
    return sums[some] / sizes[some], sizes[some].astype(np.int64)


def _bca_levels(
    means: NDArray[np.float64],
    off: NDArray[np.float64],
    counts: NDArray[np.int64],
    level: float,
) -> list[float]:
    """The two quantiles of the drawn means (less the mean) that are the interval's ends."""
    normal = NormalDist()
    nothing = 1e-9 * np.abs(off).max()
    below = (means < -nothing).mean() + (np.abs(means) <= nothing).mean() / 2
    rarest = 0.5 / len(means)
    bias = normal.inv_cdf(min(max(float(below), rarest), 1 - rarest))
    squares = float(counts @ off**2)
    acceleration = float(counts @ off**3) / (6 * squares**1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + z / (1 - acceleration * z)))
    return ends


def _without_spread(value: float, total: int, level: float, share: bool) -> Interval:
    if share and value in (0.0, 1.0):
        bound = 1 - ((1 - level) / 2) ** (1 / total)
        return Interval(0.0, bound) if value == 0.0 else Interval(1 - bound, 1.0)
    return Interval(value, value)

"""Means of figures that come in games: one game's decisions are not independent, games are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from nardy_rl.arena import Estimate

NOT_KNOWN = Estimate(math.nan, math.nan)


def clustered(values: ArrayLike, games: ArrayLike) -> Estimate:
    """The mean of `values` with its standard error, the game being the sample.

    A mean over decisions is a ratio of two sums over games, what they lose and how many there
    are; its error is that of such a ratio.

    Args:
        values: float[N].
        games: int[N], which game each belongs to.

    Returns:
        NaN for no values; an error of NaN for a single game.

    Source: W. G. Cochran, "Sampling Techniques", 3rd edition (1977), section 2.11.

    >>> clustered([1.0, 3.0], [0, 1])
    Estimate(value=2.0, se=1.0)
    >>> clustered([1.0, 3.0], [0, 0])
    Estimate(value=2.0, se=nan)
    """
    each = np.asarray(values, np.float64)
    if len(each) == 0:
        return NOT_KNOWN
    mean = float(each.mean())
    _, place = np.unique(np.asarray(games), return_inverse=True)
    sums = np.bincount(place, each - mean)
    count = len(sums)
    if count < 2:
        return Estimate(mean, math.nan)
    spread = count / (count - 1) * float(sums @ sums)
    return Estimate(mean, math.sqrt(spread) / len(each))


def root_mean_square(values: ArrayLike, games: ArrayLike) -> Estimate:
    """The root of the mean square, its error by the delta method; as `clustered`.

    >>> root_mean_square([3.0, -3.0], [0, 1])
    Estimate(value=3.0, se=0.0)
    """
    square = clustered(np.square(np.asarray(values, np.float64)), games)
    if math.isnan(square.value):
        return NOT_KNOWN
    root = math.sqrt(square.value)
    return Estimate(root, square.se / (2 * root) if root > 0 else 0.0)

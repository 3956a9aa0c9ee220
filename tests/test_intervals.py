"""Intervals: they hold the truth as often as they say, and are what scipy's bootstrap gives."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from nardy_rl.arena import Games, Interval, bootstrap_interval, match_result
from nardy_rl.rules import variant

Draw = Callable[[np.random.Generator], np.ndarray]


def scores(rng: np.random.Generator, pairs: int) -> np.ndarray:
    """int8[pairs, 2]: scores of games that share their luck in part, the seats exchanged."""
    luck, own = rng.normal(size=(pairs, 1)), rng.normal(size=(pairs, 2))
    strength = 0.4 + 0.9 * own + luck * np.array([1.0, -1.0])
    return np.select([strength > 1.5, strength > 0, strength > -1.5], [2, 1, -1], -2).astype(
        np.int8
    )


@pytest.mark.parametrize(
    "values",
    [
        scores(np.random.default_rng(1), 300).mean(1),
        (scores(np.random.default_rng(2), 300) == -2).mean(1),
        np.exp(np.random.default_rng(3).normal(size=250)),
        np.repeat([1.0, 0.5, 0.0], [2, 3, 295]),
    ],
    ids=["points", "share", "skewed", "rare"],
)
def test_the_interval_is_scipys(values: np.ndarray) -> None:
    ours = bootstrap_interval(values, resamples=40_000)
    drawn = stats.bootstrap((values,), np.mean, n_resamples=40_000, batch=1000, method="BCa", rng=1)
    theirs = drawn.confidence_interval
    # Both scatter by about 1 % of the width, and means of few pairs are on a grid.
    near = 0.03 * (theirs.high - theirs.low) + 0.5 / len(values) * np.ptp(np.unique(values)[:2])
    assert ours.low == pytest.approx(theirs.low, abs=near)
    assert ours.high == pytest.approx(theirs.high, abs=near)


@pytest.mark.parametrize(
    ("draw", "truth", "matches"),
    [
        (
            lambda rng: scores(rng, 150).mean(1),
            scores(np.random.default_rng(4), 10**6).mean(),
            1000,
        ),
        (lambda rng: rng.binomial(1, 0.02, (200, 2)).mean(1), 0.02, 1000),
        (lambda rng: rng.exponential(size=(60, 2)).mean(1), 1.0, 500),
    ],
    ids=["points", "rare share", "luck-adjusted"],
)
def test_95_intervals_in_a_hundred_hold_the_truth(draw: Draw, truth: float, matches: int) -> None:
    rng = np.random.default_rng(5)
    found = np.array([bootstrap_interval(draw(rng), resamples=1000) for _ in range(matches)])
    too_low, too_high = (found[:, 1] < truth).mean(), (found[:, 0] > truth).mean()
    # Each should be 0.025, with a standard error of 0.005 (0.007); of a rare share it is less, as
    # the interval's ends are on a grid. Plain percentiles fail: see the next test.
    assert 0.005 < too_low < 0.045
    assert 0.005 < too_high < 0.045


def test_percentiles_of_a_rare_share_would_lie_too_low() -> None:
    """Why the interval is BCa's."""
    rng = np.random.default_rng(5)
    shares = rng.binomial(400, 0.02, 20_000) / 400
    too_low = np.mean(stats.binom.ppf(0.975, 400, shares) < 400 * 0.02)
    assert too_low > 0.04


def test_very_many_values_lose_nothing_by_being_put_together() -> None:
    values = np.random.default_rng(6).standard_t(4, 20_000)
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.05 * half)
    assert (high - low) / 2 == pytest.approx(half, rel=0.03)


def test_intervals_are_a_function_of_the_pairs_and_the_seed() -> None:
    values = scores(np.random.default_rng(7), 200).mean(1)
    one = bootstrap_interval(values)
    assert bootstrap_interval(values[::-1]) == one
    assert bootstrap_interval(values, seed=1) != one
    low, high = bootstrap_interval(values, level=0.5)
    assert one.low < low < high < one.high
    assert bootstrap_interval(np.tile(values, 500)).low > low, "100,000 pairs know more"


def test_pairs_without_spread() -> None:
    assert bootstrap_interval([0.25] * 9) == (0.25, 0.25)
    assert bootstrap_interval([0.0] * 9) == (0.0, 0.0)
    # The chance of no pair in 9 is then 0.025.
    low, high = bootstrap_interval([0.0] * 9, share=True)
    assert low == 0.0
    assert (1 - high) ** 9 == pytest.approx(0.025)
    assert bootstrap_interval([1.0] * 9, share=True) == (pytest.approx(1 - high), 1.0)
    for few in ([], [0.5]):
        assert all(math.isnan(end) for end in bootstrap_interval(few))


def test_a_match_has_an_interval_for_every_figure() -> None:
    score = scores(np.random.default_rng(8), 400)
    games = Games(score, np.zeros(score.shape, bool), np.full(score.shape, 50, np.int32))
    luck = np.random.default_rng(9).normal(size=score.shape)
    result = match_result(games, a="a", b="b", rules=variant("long_nardy"), luck=luck)
    figures = result.figures()
    assert {name for name in figures if name.endswith("_low")} == {
        f"{name}_low" for name in ("ppg", "win", "mars", "lost_mars", "adjusted_ppg", "luck_ppg")
    }
    for name in ("ppg", "win", "mars", "lost_mars", "adjusted_ppg", "luck_ppg"):
        low, high = figures[f"{name}_low"], figures[f"{name}_high"]
        assert low < figures[name] < high
        assert high - low == pytest.approx(2 * 1.96 * figures[f"{name}_se"], rel=0.1)
    assert result.intervals["mars"] == bootstrap_interval((score == 2).mean(1), share=True)
    assert isinstance(result.intervals["ppg"], Interval)

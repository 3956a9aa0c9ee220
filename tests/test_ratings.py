"""Ratings against an independent fit, their intervals by simulation, and where they do not do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize  # type: ignore[import-untyped]

from nardy_rl.arena.ratings import (
    Match,
    Ratings,
    _fit,
    _refit,
    cycles,
    expected_share,
    pair_counts,
    rate,
    rate_counts,
)
from nardy_rl.errors import ConfigError


def all_pairs(players: int) -> list[Match]:
    return [(a, b) for a in range(players) for b in range(a + 1, players)]


def played(
    elo: np.ndarray, pairs: int, rng: np.random.Generator, matches: list[Match] | None = None
) -> dict[Match, np.ndarray]:
    """Games won of each pair of games by players who are as strong as their ratings say."""
    return {
        (a, b): rng.binomial(2, expected_share(elo[a] - elo[b]), pairs).astype(float)
        for a, b in (matches or all_pairs(len(elo)))
    }


def slow_fit(players: int, wins: dict[Match, np.ndarray], alpha: float) -> np.ndarray:
    """Elo by maximising the likelihood with a general minimiser; player 0 is at 0."""

    def cost(free: np.ndarray) -> float:
        elo = np.concatenate([[0.0], free]) * 100.0
        total = 0.0
        for (a, b), values in wins.items():
            scored = values[~np.isnan(values)]
            chance = expected_share(elo[a] - elo[b])
            total -= (scored.sum() + alpha) * math.log(chance)
            total -= ((2 - scored).sum() + alpha) * math.log1p(-chance)
        return total

    found = minimize(cost, np.zeros(players - 1), method="BFGS", options={"gtol": 1e-6})
    return np.concatenate([[0.0], found.x * 100.0])


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**31), st.sampled_from([0.1, 0.5, 2.0]))
def test_the_fit_is_the_maximum_of_the_likelihood(players: int, seed: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    wins = played(rng.normal(0, 150, players), 40, rng)
    wins[0, 1][3:9] = np.nan  # pairs that are not scored
    found = rate(players, wins, alpha=alpha, draws=2)
    assert found.elo == pytest.approx(slow_fit(players, wins, alpha), abs=0.2)
    for (a, b), share in found.predicted.items():
        assert share == pytest.approx(expected_share(found.elo[a] - found.elo[b]), abs=1e-9)


def test_two_players_in_closed_form() -> None:
    wins = np.array([2.0, 2.0, 1.5, 1.0, np.nan])  # 6.5 of 8 games, a draw among them
    found = rate(2, {(0, 1): wins}, anchor=1, anchor_elo=1500.0, alpha=0.5)
    assert found.elo[0] == pytest.approx(1500.0 + 400.0 * math.log10(7.0 / 2.0))
    assert found.elo[1] == found.low[1] == found.high[1] == 1500.0
    assert found.low[0] < found.elo[0] < found.high[0]
    assert (found.residual, found.residual_se) == ({(0, 1): 0.0}, {(0, 1): 0.0})
    assert math.isnan(found.misfit_p)


def test_a_player_who_lost_every_game_has_a_rating_and_an_honest_interval() -> None:
    found = rate(2, {(0, 1): np.zeros(500)})
    # What is certain of 1000:0 is a floor: 95 % Jeffreys of a share, by scipy.
    from scipy.stats import beta  # type: ignore[import-untyped]

    low, high = (400 * math.log10(p / (1 - p)) for p in beta.ppf([0.025, 0.975], 1000.5, 0.5))
    assert found.elo[1] == pytest.approx(400 * math.log10(1000.5 / 0.5))
    assert found.low[1] == pytest.approx(low, abs=60)
    assert high - 400 < found.high[1] < high + 400


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    truth = np.array([0.0, 60.0, -150.0, 220.0])
    held = []
    for _ in range(250):
        found = rate(4, played(truth, 60, rng), draws=200, seed=int(rng.integers(2**31)))
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(held, 0)[1:] == pytest.approx(0.95, abs=0.045)


def test_intervals_know_that_matches_share_their_dice() -> None:
    """Luck that helps both rivals of the anchor alike is no difference between them."""
    rng = np.random.default_rng(6)
    pairs = 400
    luck = rng.integers(0, 3, pairs).astype(float)
    alike = {(0, 1): luck, (0, 2): luck, (1, 2): np.ones(pairs)}
    other = {**alike, (0, 2): rng.permutation(luck)}
    together, apart = (rate(3, wins, anchor=1, seed=1) for wins in (alike, other))
    assert together.high[2] - together.low[2] < 0.5 * (apart.high[2] - apart.low[2])


def test_counts_say_the_same_as_games() -> None:
    rng = np.random.default_rng(7)
    wins = played(np.array([0.0, 100.0, 250.0]), 300, rng)
    by_games = rate(3, wins, draws=3000)
    by_counts = rate_counts(3, {m: pair_counts(v) for m, v in wins.items()}, draws=3000)
    assert by_counts.elo == pytest.approx(by_games.elo, abs=1e-6)
    assert by_counts.low == pytest.approx(by_games.low, abs=4.0)
    assert by_counts.high == pytest.approx(by_games.high, abs=4.0)


def test_the_misfit_is_uniform_under_the_model_and_tiny_for_rock_paper_scissors() -> None:
    rng = np.random.default_rng(8)
    chances = [
        rate(4, played(rng.normal(0, 100, 4), 100, rng), draws=200).misfit_p for _ in range(120)
    ]
    assert 0.0 < np.mean(np.array(chances) < 0.1) < 0.22
    assert 0.4 < np.mean(chances) < 0.6
    beats = rng.binomial(2, 0.6, (3, 400)).astype(float)
    rock = rate(3, {(0, 1): beats[0], (1, 2): beats[1], (0, 2): 2 - beats[2]})
    assert rock.misfit_p < 1e-4
    assert rock.elo == pytest.approx(0.0, abs=30)
    assert all(abs(rock.residual[m]) > 4 * rock.residual_se[m] for m in rock.matches)


def test_a_player_whom_no_match_joins_has_no_rating() -> None:
    wins = {(0, 1): np.ones(20), (2, 3): np.ones(20)}
    found = rate(4, wins, anchor=1)
    assert np.isnan(found.elo).tolist() == [False, False, True, True]
    assert found.matches == ((0, 1),)
    nobody = rate(3, {}, anchor=2, anchor_elo=7.0)
    assert nobody.elo[2] == 7.0
    assert np.isnan(nobody.elo[:2]).all()
    assert nobody.matches == ()


def test_the_same_seed_gives_the_same_intervals() -> None:
    wins = played(np.array([0.0, 50.0]), 50, np.random.default_rng(1))

    def ends(found: Ratings) -> list[float]:
        return [*found.low, *found.high]

    assert ends(rate(2, wins, seed=3)) == ends(rate(2, wins, seed=3))
    assert ends(rate(2, wins, seed=3)) != ends(rate(2, wins, seed=4))


def test_cycles_are_found_where_every_edge_is_beyond_chance() -> None:
    results = {(0, 1): (0.3, 0.02), (1, 2): (0.2, 0.02), (0, 2): (-0.1, 0.02)}
    (cycle,) = cycles(results)
    assert cycle.players == (0, 1, 2)
    assert cycle.p == pytest.approx(3 * 2 * 2.87e-7, rel=0.01)  # five standard errors
    assert cycles({**results, (0, 2): (-0.045, 0.02)}) == ()  # 2.25 of them, for one of three
    assert cycles({**results, (0, 2): (0.1, 0.02)}) == ()
    mirrored = {match: (-value, se) for match, (value, se) in results.items()}
    assert [c.players for c in cycles(mirrored)] == [(0, 2, 1)]
    assert cycles({**results, (0, 2): (-0.1, 0.0)})[0].players == (0, 1, 2)
    assert cycles({**results, (0, 2): (math.nan, math.nan)}) == ()
    assert cycles({}) == ()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"alpha": 0.0}, "alpha: 0.0 is not allowed; allowed: numbers > 0"),
        ({"alpha": math.nan}, "alpha: nan"),
        ({"draws": 1}, "draws: 1 is not allowed"),
        ({"anchor": 2}, "anchor: 2 is not allowed; allowed: 0 to 1"),
        ({"anchor": -1}, "anchor: -1"),
    ],
)
def test_numbers_out_of_range_are_refused(how: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        rate(2, {(0, 1): np.ones(4)}, **how)
    with pytest.raises(ConfigError, match=message):
        rate_counts(2, {(0, 1): [1, 0, 2, 0, 1]}, **how)


def test_a_match_of_nobody_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"match \(1, 0\): allowed: two of 0..1, ascending"):
        rate(2, {(1, 0): np.ones(4)})


@pytest.mark.parametrize("least", [0.5, 1e-4])
def test_the_samples_are_fitted_as_the_games_are(least: float) -> None:
    rng = np.random.default_rng(11)
    ends = np.array(all_pairs(4))
    won = rng.integers(0, 300, (5, 6, 2)).astype(np.float64) + least
    won[:, 0] = [600.0, least]  # never lost
    start = _fit(4, ends, won[0])
    slow = [_fit(4, ends, sample) for sample in won]
    assert _refit(start, ends, won) == pytest.approx(np.array(slow), abs=1e-6)

"""The sequential test: its likelihood ratio, its error rates by simulation, matches it ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize  # type: ignore[import-untyped]

from nardy_rl import cli
from nardy_rl.arena import SequentialTest, Verdict, play_match, play_until
from nardy_rl.arena.sequential import log_likelihood_ratio, verdict_at
from nardy_rl.errors import ConfigError
from nardy_rl.players import PipsPlayer, RandomPlayer
from nardy_rl.rules import set_threads, variant
from tests.pip_values import PipValuer


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def test_the_ratio_is_that_of_the_best_fits() -> None:
    seen, counts = np.array([-1.0, 0.0, 1.0]), np.array([30.0, 100.0, 50.0])
    # A thousandth of a pair at each end: no score is impossible before it is seen.
    values, weights = np.array([-3.0, *seen, 3.0]), np.array([0.001, *counts, 0.001])

    def best(mean: float) -> float:
        """The greatest log likelihood with this mean, by a solver that knows no more."""
        found = optimize.minimize(
            lambda shares: -(weights @ np.log(shares)),
            np.full(5, 0.2),
            jac=lambda shares: -weights / shares,
            bounds=[(1e-12, 1.0)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda shares: shares.sum() - 1},
                {"type": "eq", "fun": lambda shares: shares @ values - mean},
            ],
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        assert found.success
        return -float(found.fun)

    for mean0, mean1 in ((0.0, 0.1), (-0.2, 0.3), (0.4, 0.41), (0.0, 0.8)):
        found = log_likelihood_ratio(seen, counts, mean0, mean1)
        assert found == pytest.approx(best(mean1) - best(mean0), abs=1e-3)
        assert log_likelihood_ratio(seen, counts, mean1, mean0) == pytest.approx(-found)
        assert log_likelihood_ratio(-seen, counts, -mean0, -mean1) == pytest.approx(found)


def test_the_mean_of_the_pairs_decides_the_sign() -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(400, np.full(13, 1 / 13), 50).astype(float)
    values = np.linspace(-3, 3, 13)
    means = counts @ values / 400
    ratios = log_likelihood_ratio(values, counts, -0.05, 0.05)
    assert ((ratios > 0) == (means > 0)).all()
    # Where the hypotheses are close the ratio is that of normal distributions.
    spread = counts @ values**2 / 400 - means**2
    assert ratios == pytest.approx(400 * 0.1 * means / spread, rel=0.05, abs=0.01)
    apart = [log_likelihood_ratio(values, one, -0.05, 0.05) for one in counts]
    assert ratios == pytest.approx(np.array(apart))


@pytest.mark.parametrize(("scores", "verdict"), [(0.0, "H0"), (0.5, "H1"), (3.0, "H1"), (-3, "H0")])
def test_pairs_that_are_all_alike_decide_too(scores: float, verdict: str) -> None:
    test = SequentialTest(0.0, 0.5)
    assert test.add([scores] * 2) == Verdict.GO_ON
    assert test.add([scores] * 100) == verdict
    assert math.isfinite(test.llr)


def test_what_it_says_is_a_function_of_the_pairs() -> None:
    scores = np.random.default_rng(2).choice([-1.0, -0.5, 0.0, 0.5, 1.0], 600)
    whole, parts = SequentialTest(0.0, 0.02), SequentialTest(0.0, 0.02)
    whole.add(scores)
    for low in range(0, 600, 70):
        parts.add(scores[::-1][low : low + 70])
    assert (whole.pairs, parts.pairs) == (600, 600)
    assert whole.llr == pytest.approx(parts.llr)
    none = SequentialTest(0.0, 0.02)
    assert none.add([]) == Verdict.GO_ON
    assert none.llr == pytest.approx(0.0, abs=1e-6)


def test_the_first_verdict_stands() -> None:
    test = SequentialTest(0.0, 0.5)
    test.add([1.0, 0.5] * 30)
    assert test.verdict == Verdict.H1
    assert test.add([-1.0, -0.5] * 100) == Verdict.H1
    assert test.llr < test.bounds[0]
    assert str(test).startswith("H1 (ppg 0.5, not 0) accepted after 260 pairs")
    assert str(SequentialTest(0, 0.05)).startswith("undecided between ppg 0 and 0.05 after 0 pairs")


class Pairs(NamedTuple):
    """Scores of pairs and their shares."""

    values: np.ndarray
    shares: np.ndarray

    def with_mean(self, mean: float) -> Pairs:
        """The same, tilted to another mean."""
        low, high = -50.0, 50.0
        for _ in range(100):
            tilt = (low + high) / 2
            shares = self.shares * np.exp(tilt * self.values)
            shares /= shares.sum()
            low, high = (tilt, high) if shares @ self.values < mean else (low, tilt)
        return Pairs(self.values, shares)


def half_points(low: float, shares: list[float]) -> Pairs:
    """Shares of the scores low, low + 0.5, ..., in per mille."""
    return Pairs(low + 0.5 * np.arange(len(shares)), np.array(shares) / sum(shares))


def normal_shares(count: int) -> np.ndarray:
    """Of a grid that goes four standard deviations either way."""
    density: np.ndarray = np.exp(-(np.linspace(-4, 4, count) ** 2) / 2)
    return density / density.sum()


MEASURED = {
    # 6,000 games each of the shipped nets against pips.
    "backgammon": half_points(-2, [2, 15, 76, 45, 321, 108, 242, 159, 30, 2]),
    "long_nardy": half_points(-1, [3, 5, 16, 57, 55, 301, 571]),
    # Two nets that play alike in most games.
    "alike": half_points(-1.5, [10, 50, 20, 800, 30, 60, 20, 10]),
    # Without luck scores are no halves any more.
    "luck-adjusted": Pairs(np.linspace(-2.4, 2.4, 49), normal_shares(49)),
}


def simulated(pairs: Pairs, means: tuple[float, float], tests: int) -> tuple[float, float, float]:
    """Shares of H0 and of H1 among tests looked at every 64 pairs, and their mean length."""
    rng = np.random.default_rng(3)
    bounds = SequentialTest(*means).bounds
    counts = np.zeros((tests, len(pairs.values)))
    verdicts = np.full(tests, Verdict.GO_ON, dtype=object)
    live = np.arange(tests)
    while len(live):
        counts[live] += rng.multinomial(64, pairs.shares, len(live))
        ratios = log_likelihood_ratio(pairs.values, counts[live], *means)
        verdicts[live] = [verdict_at(ratio, bounds) for ratio in ratios]
        live = live[verdicts[live] == Verdict.GO_ON]
    h0, h1 = ((verdicts == verdict).mean() for verdict in (Verdict.H0, Verdict.H1))
    return h0, h1, counts.sum(1).mean()


@pytest.mark.parametrize("name", MEASURED)
def test_error_rates_are_as_stated(name: str) -> None:
    means = (0.0, 0.1)
    for truth in (0, 1):
        pairs = MEASURED[name].with_mean(means[truth])
        assert pairs.shares @ pairs.values == pytest.approx(means[truth])
        said = simulated(pairs, means, 3000)
        # Less than 0.05: a test that ends has gone past its bound. How far depends on the spread.
        assert 0.008 < said[1 - truth] < 0.05 + 0.008
        assert said[0] + said[1] == pytest.approx(1.0)
        # Fewer pairs than a test of fixed length with these error rates needs.
        spread = pairs.shares @ pairs.values**2 - means[truth] ** 2
        fixed = spread * (2 * 1.645 / 0.1) ** 2
        assert said[2] < max(0.75 * fixed, 3.5 * 64)


def test_other_error_rates_and_a_truth_beyond_the_hypotheses() -> None:
    loose, strict = (
        SequentialTest(0, 0.1, 0.2, 0.2).bounds,
        SequentialTest(0, 0.1, 0.01, 0.1).bounds,
    )
    assert loose == (pytest.approx(-math.log(4)), pytest.approx(math.log(4)))
    assert strict == (pytest.approx(math.log(0.1 / 0.99)), pytest.approx(math.log(90)))
    backgammon = MEASURED["backgammon"]
    assert simulated(backgammon.with_mean(-0.1), (0.0, 0.1), 1000)[1] < 0.003
    assert simulated(backgammon.with_mean(0.2), (0.0, 0.1), 1000)[0] < 0.003


def test_a_match_ends_with_the_verdict() -> None:
    rules, told = variant("hypergammon"), [0]
    players = PipsPlayer(rules), RandomPlayer()
    test = SequentialTest(0.0, 1.2)
    result = play_until(
        rules, *players, test, 5000, seed=3, first_pair=7, look_pairs=20, progress=told.append
    )
    assert test.verdict == Verdict.H1
    assert test.pairs == len(result.played.score)
    assert 20 <= test.pairs < 500
    assert test.pairs % 20 == 0
    assert told == sorted(told)
    assert told[-1] == 2 * test.pairs
    whole = play_match(rules, *players, 2 * test.pairs, seed=3, first_pair=7)
    assert whole.ppg == result.ppg
    assert (whole.played.score == result.played.score).all()
    assert (result.first_pair, result.asked, result.games) == (7, 5000, 2 * test.pairs)
    again = SequentialTest(0.0, 1.2)
    # It would have stopped at no earlier look, and did at this one.
    for low in range(0, test.pairs, 20):
        assert again.verdict == Verdict.GO_ON
        again.add(whole.pair_scores[low : low + 20])
    assert (again.verdict, again.llr) == (Verdict.H1, pytest.approx(test.llr))


def test_a_match_ends_undecided_at_its_length_or_when_told() -> None:
    rules, told = variant("hypergammon"), [0]
    players = PipsPlayer(rules), RandomPlayer()
    test = SequentialTest(1.59, 1.6)
    result = play_until(rules, *players, test, 101, look_pairs=20)
    assert (result.games, test.pairs, test.verdict) == (102, 51, Verdict.GO_ON)
    stopped = play_until(
        rules,
        *players,
        test,
        1000,
        first_pair=51,
        look_pairs=20,
        progress=told.append,
        should_stop=lambda: told[-1] > 60,
    )
    assert (stopped.games, test.pairs) == (40, 71)
    # Games without a score tell the test nothing, and do not stop it.
    capped = SequentialTest(0.0, 0.1)
    assert play_until(rules, *players, capped, 100, look_pairs=20, ply_cap=2).excluded == 100
    assert (capped.pairs, capped.verdict) == (0, Verdict.GO_ON)


def test_without_luck_it_is_decided_sooner() -> None:
    rules = variant("hypergammon")
    players = PipsPlayer(rules), RandomPlayer()
    plain, adjusted = SequentialTest(1.3, 1.45), SequentialTest(1.3, 1.45)
    play_until(rules, *players, plain, 3000, look_pairs=15)
    result = play_until(rules, *players, adjusted, 3000, look_pairs=15, luck=PipValuer(rules))
    assert adjusted.verdict == plain.verdict == Verdict.H1
    assert adjusted.pairs < plain.pairs
    assert adjusted.pairs == len(result.pair_scores)


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"ppg0": 0.1, "ppg1": 0.1}, "ppg1: 0.1 is not allowed; allowed: more than ppg0, 0.1"),
        ({"ppg0": 0.0, "ppg1": 3.0}, "ppg1: 3.0"),
        ({"ppg0": math.nan, "ppg1": 0.1}, "ppg0: nan"),
        ({"ppg0": 0.0, "ppg1": 0.1, "alpha": 0.0}, "alpha: 0.0 is not allowed; allowed: numbers"),
        ({"ppg0": 0.0, "ppg1": 0.1, "beta": 0.5}, "beta: 0.5"),
    ],
)
def test_hypotheses_out_of_range_are_refused(how: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=field):
        SequentialTest(**how)


def test_wrong_scores_and_lengths_are_refused() -> None:
    test, rules = SequentialTest(0.0, 0.1), variant("hypergammon")
    for wrong in ([[0.5, 0.5]], [math.nan], 0.5):
        with pytest.raises(ValueError, match="pair_scores"):
            test.add(wrong)
    assert test.pairs == 0
    for name, value in (("look_pairs", 0), ("max_games", 1), ("seed", -1)):
        with pytest.raises(ConfigError, match=name):
            play_until(rules, RandomPlayer(), RandomPlayer(), test, **{name: value})  # type: ignore[arg-type]


def test_the_verb_stops_early(capsys: pytest.CaptureFixture[str]) -> None:
    words = "arena a=pips b=random variant=hypergammon stop=0:1 alpha=0.01 threads=1"
    assert cli.main(words.split()) == 0
    out = capsys.readouterr().out
    assert "H1 (ppg 1, not 0) accepted after 256 pairs" in out
    assert "in -2.99..+4.55" in out
    assert "stopped after 512 of 100,000 games" in out
    words = words.replace("stop=0:1", "stop=1.5:1.6")
    assert cli.main([*words.split(), "games=60"]) == 0
    assert "undecided between ppg 1.5 and 1.6 after 30 pairs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("stop=1", "stop: '1' is not allowed; allowed: P0:P1, such as 0:0.05"),
        ("stop=0.1:0", "stop: '0.1:0'"),
        ("stop=0:x", "stop: '0:x'"),
        ("stop=0:nan", "stop: '0:nan'"),
        ("stop=0:0.1 alpha=0.5", "alpha: '0.5' is not allowed; allowed: numbers > 0 and < 0.5"),
        ("stop=0:0.1 beta=0", "beta: '0'"),
        ("beta=0.1", "beta: an error rate needs hypotheses; add stop=P0:P1"),
    ],
)
def test_the_verb_refuses_in_one_line(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["arena", "a=pips", "b=pips", *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert line in error

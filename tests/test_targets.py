"""Lambda-returns: one game by hand, many against the n-step definition, and the laws."""

import numpy as np
import pytest

from nardy_rl.targets import lambda_returns


def test_a_game_by_hand():
    """Seat 0 moves, seat 1 moves twice (a ladder), seat 0 wins a mars. Support -2, -1, 1, 2."""
    values = np.array(
        [
            [0.1, 0.2, 0.3, 0.4],
            [0.4, 0.3, 0.2, 0.1],
            [0.5, 0.5, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],  # wrong, but the game is over: never used
        ],
        np.float32,
    )
    got = lambda_returns(values, [0, 1, 1, 0], [0, 4], [3], 0.5)
    won, lost = [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]
    # Same mover: half of the next value, half of the next target.
    again = [0.5 * 0.5 + 0.5, 0.5 * 0.5, 0.0, 0.0]
    # Other mover: the same mixture, reversed.
    first = [0.05, 0.1, 0.15 + 0.125, 0.2 + 0.375]
    np.testing.assert_allclose(got, [first, again, lost, won], atol=1e-7)


def by_definition(values, mover, outcome, lam):
    """The weighted mean of all n-step returns, each turned to the view of its first mover."""

    def seen_by(seat, t, distribution):
        return distribution if mover[t] == seat else distribution[::-1]

    length, outcomes = values.shape
    ends = values[-1] if outcome < 0 else np.eye(outcomes)[outcome]
    returns = []
    for t in range(length):
        ahead = [seen_by(mover[t], t + n, values[t + n]) for n in range(1, length - t)]
        if ahead:
            ahead[-1] = seen_by(mover[t], length - 1, ends)
        mean = lam ** len(ahead[1:]) * (ahead[-1] if ahead else ends)
        for n, value in enumerate(ahead[:-1]):
            mean = mean + (1 - lam) * lam**n * value
        returns.append(mean)
    return np.array(returns)


def random_games(seed, outcomes=5, games=12):
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, games)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = random.dirichlet(np.ones(outcomes), offsets[-1]).astype(np.float32)
    mover = random.integers(0, 2, offsets[-1]).astype(np.uint8)
    return values, mover, offsets, random.integers(-1, outcomes, games)


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_n_step_definition(seed, lam):
    values, mover, offsets, outcome = random_games(seed)
    got = lambda_returns(values, mover, offsets, outcome, lam)
    for game in range(len(outcome)):
        part = slice(offsets[game], offsets[game + 1])
        expected = by_definition(values[part].astype(float), mover[part], outcome[game], lam)
        np.testing.assert_allclose(got[part], expected, atol=2e-6)


def test_rows_stay_distributions():
    values, mover, offsets, outcome = random_games(9, games=200)
    got = lambda_returns(values, mover, offsets, outcome, 0.7)
    np.testing.assert_allclose(got.sum(1), 1, atol=1e-5)
    assert got.min() >= 0
    assert got.dtype == np.float32


def test_lambda_one_is_the_outcome_and_zero_the_next_value():
    values, mover, offsets, outcome = random_games(2, games=1)
    outcome[:] = 4
    ones = lambda_returns(values, mover, offsets, outcome, 1.0)
    wins = np.where(mover == mover[-1], 4, 0)
    np.testing.assert_array_equal(ones, np.eye(5, dtype=np.float32)[wins])
    zeros = lambda_returns(values, mover, offsets, outcome, 0.0)
    turned = np.where((mover[1:] == mover[:-1])[:, None], values[1:], values[1:, ::-1])
    np.testing.assert_array_equal(zeros[:-2], turned[:-1])


def test_a_truncated_game_keeps_the_last_value():
    values, mover, offsets, outcome = random_games(4, games=1)
    outcome[:] = -1
    got = lambda_returns(values, mover, offsets, outcome, 0.5)
    np.testing.assert_array_equal(got[-1], values[-1])


def test_no_games():
    empty = lambda_returns(np.zeros((0, 4), np.float32), [], [0], [], 0.5)
    assert empty.shape == (0, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lam": 1.5}, "lam: 1.5 is not allowed"),
        ({"lam": -0.1}, "lam"),
        ({"lam": float("nan")}, "lam"),
        ({"mover": np.zeros(3, np.uint8)}, "mover"),
        ({"offsets": np.array([0, 2, 3])}, "offsets"),
        ({"offsets": np.array([1, 4])}, "offsets: must rise from 0 to 4"),
        ({"offsets": np.array([0, 3])}, "offsets: must rise from 0 to 4"),
        ({"outcome_index": np.array([2])}, "outcome_index: must be -1"),
        ({"outcome_index": np.array([-2])}, "outcome_index"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {
        "values": np.full((4, 2), 0.5, np.float32),
        "mover": np.zeros(4, np.uint8),
        "offsets": np.array([0, 4]),
        "outcome_index": np.array([0]),
        "lam": 0.5,
    }
    with pytest.raises(ValueError, match=message):
        lambda_returns(**{**arguments, **change})

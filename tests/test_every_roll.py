"""Targets over all 21 rolls: the mean of the best replies, and no noise of the dice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from nardy_rl.bearoff import with_bearoff
from nardy_rl.encoding import Encoding
from nardy_rl.episodes import Episodes
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Evaluator, FloatEvaluator, KernelEvaluator
from nardy_rl.rules import Rules, set_threads, variant
from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.search import ROLL_CHANCES, ROLLS, decisions_at, expected_shares, turned
from nardy_rl.selfplay import choose, collect
from nardy_rl.train.labels import batch_targets, every_roll_targets, in_contact
from nardy_rl.train.settings import TrainSettings
from tests.test_search import a_net, positions_of


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def evaluators(rules: Rules) -> tuple[Evaluator, Evaluator]:
    net, encoding = a_net(rules), Encoding.of(rules)
    return KernelEvaluator(net, encoding), FloatEvaluator(net, encoding)


def plain(rules: Rules, evaluator: Evaluator, points: np.ndarray, flags: np.ndarray) -> np.ndarray:
    """One position's expected distribution, roll after roll."""
    total = np.zeros(len(rules.outcomes))
    for roll, chance in zip(ROLLS, ROLL_CHANCES, strict=True):
        decisions = decisions_at(rules, points[None], np.array([flags], np.uint8), roll[None])
        shares = evaluator.distributions(decisions)
        total += chance * shares[choose(rules, decisions, shares)[0]]
    return total


@pytest.mark.parametrize("name", ["backgammon", "long_nardy", "long_nardy_draw"])
def test_expected_shares_are_the_mean_over_the_rolls(name: str) -> None:
    rules = variant(name)
    points, flags = positions_of(name)[0][::3], positions_of(name)[1][::3]
    kernel, dense = evaluators(rules)
    expected = [plain(rules, dense, *one) for one in zip(points, flags, strict=True)]
    for evaluator in (kernel, dense):
        found = expected_shares(rules, evaluator, points, flags)
        np.testing.assert_allclose(found, expected, atol=3e-6)
        np.testing.assert_allclose(found.sum(1), 1.0, atol=1e-5)


def test_exact_ends_of_games_are_seen() -> None:
    rules = variant("backgammon")
    kernel, _ = evaluators(rules)
    points = np.zeros((2, 2, 26), np.int8)
    points[0, :, 1], points[0, :, 0] = 2, 13  # whoever rolls is off
    points[1, :, 5], points[1, :, 0] = 3, 12
    points[1, 1, 5], points[1, 1, 9] = 2, 1  # not a bear-off
    flags = np.zeros(2, np.uint8)
    exact = expected_shares(rules, with_bearoff(kernel, rules), points, flags)
    assert exact[0] == pytest.approx(np.eye(6)[rules.outcomes.index(1)], abs=1e-6)
    np.testing.assert_array_equal(exact[1], expected_shares(rules, kernel, points, flags)[1])


def episodes_of(name: str, evaluator: Evaluator) -> Episodes:
    return collect(variant(name), evaluator, 4, seed=2, ply_cap=60)


@pytest.mark.parametrize("name", ["hypergammon", "long_nardy_3"])
def test_targets_are_the_others_expectation_turned_round(name: str) -> None:
    rules = variant(name)
    kernel, dense = evaluators(rules)
    episodes = episodes_of(name, kernel)
    targets = every_roll_targets(rules, kernel, episodes)
    assert targets.shape == episodes.values.shape
    last = set((episodes.offsets[1:] - 1).tolist())
    ended = dict(zip((episodes.offsets[1:] - 1).tolist(), range(len(episodes.score)), strict=True))
    assert not episodes.truncated.all()
    for row in range(len(targets)):
        if row in last and not episodes.truncated[ended[row]]:
            expected = np.eye(len(rules.outcomes))[
                rules.outcomes.index(int(episodes.score[ended[row]]))
            ]
        elif row % 5:
            continue
        else:
            part = slice(row, row + 1)
            points, flags = turned(rules, episodes.points[part], episodes.flags[part])
            expected = plain(rules, dense, points[0], flags[0])[::-1]
        np.testing.assert_allclose(targets[row], expected, atol=3e-6)


def test_a_signal_goes_through() -> None:
    rules = variant("hypergammon")
    kernel, _ = evaluators(rules)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        every_roll_targets(rules, kernel, episodes_of("hypergammon", kernel), stop)


def test_settings_take_yes_and_no_only() -> None:
    assert TrainSettings.from_dict({"targets": {"every_roll": True}}).targets.every_roll
    with pytest.raises(ConfigError, match=r"targets\.every_roll"):
        TrainSettings.from_dict({"targets": {"every_roll": "yes"}})


def slow_shares(
    rules: Rules, evaluator: Evaluator, points: np.ndarray, flags: int, plies: int
) -> np.ndarray:
    """`expected_shares` of one position, roll after roll and reply after reply."""
    total = np.zeros(len(rules.outcomes))
    for roll, chance in zip(ROLLS, ROLL_CHANCES, strict=True):
        decisions = decisions_at(rules, points[None], np.array([flags], np.uint8), roll[None])
        shares = evaluator.distributions(decisions)
        best = choose(rules, decisions, shares)[0]
        score = score_after(rules.kernel, decisions.legal.after[best], decisions.flags[0])
        found = shares[best].astype(np.float64)
        if score == NOT_OVER and plies > 1:
            after, seen = turned(rules, decisions.legal.after[best][None], decisions.flags[:1])
            found = slow_shares(rules, evaluator, after[0], seen[0], plies - 1)[::-1]
        total += chance * found
    return total


@pytest.mark.parametrize("name", ["hypergammon", "long_nardy_3"])
def test_two_plies_are_the_mean_over_the_replies_rolls(name: str) -> None:
    rules = variant(name)
    points, flags = positions_of(name)[0][4::9], positions_of(name)[1][4::9]
    kernel, dense = evaluators(rules)
    expected = [slow_shares(rules, dense, *one, 2) for one in zip(points, flags, strict=True)]
    for evaluator in (kernel, dense):
        found = expected_shares(rules, evaluator, points, flags, plies=2)
        np.testing.assert_allclose(found, expected, atol=3e-5)
        assert np.abs(found - expected_shares(rules, evaluator, points, flags)).max() > 1e-4


@pytest.mark.parametrize("name", ["backgammon", "long_nardy", "hypergammon"])
def test_contact_is_a_checker_with_one_of_the_others_before_it(name: str) -> None:
    rules = variant(name)
    points = np.concatenate([positions_of(name, 200)[0], np.zeros((2, 2, 26), np.int8)])
    points[-2:, :, 0] = rules.checkers - 1  # a last checker each: they meet, or have met
    points[-2, :, 24] = points[-1, :, 1] = 1

    def contact(board: np.ndarray) -> bool:
        turn = int(rules.direction == "opposite")
        for own, other in ((board[0], board[1]), (board[1], board[0])):
            if other[25] and own[:26].sum() > own[0]:
                return True
            for mine in range(1, 26):
                for theirs in range(1, 25):
                    if own[mine] and other[theirs] and opponent_point(turn, theirs) < mine:
                        return True
        return False

    expected = [contact(board) for board in points]
    assert 0 < sum(expected) < len(expected)
    np.testing.assert_array_equal(in_contact(rules, points), expected)


def test_a_share_of_the_positions_in_contact_is_drawn_again_alike() -> None:
    rules = variant("hypergammon")
    kernel, _ = evaluators(rules)
    episodes = collect(rules, kernel, 40, seed=2)
    wanted = TrainSettings.from_dict(
        {"targets": {"every_roll": True, "plies": 2, "share": 0.05}, "seed": 3}
    )
    rows, targets = batch_targets(rules, kernel, episodes, wanted, 80)
    again, same = batch_targets(rules, kernel, episodes, wanted, 80)
    other, _ = batch_targets(rules, kernel, episodes, wanted, 120)
    assert len(rows) == round(0.05 * len(episodes.mover)) == len(set(rows.tolist()))
    np.testing.assert_array_equal(rows, again)
    np.testing.assert_array_equal(targets, same)
    assert rows.tolist() != other.tolist()
    assert in_contact(rules, episodes.points[rows]).all()
    np.testing.assert_array_equal(
        targets, every_roll_targets(rules, kernel, episodes, rows=rows, plies=2)
    )


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"plies": 2}, r"targets\.plies: 2 .*every_roll"),
        ({"share": 0.5}, r"targets\.share: 0\.5 .*every_roll"),
        ({"every_roll": True, "plies": 0}, r"targets\.plies: 0"),
        ({"every_roll": True, "plies": 4}, r"targets\.plies: 4"),
        ({"every_roll": True, "share": 0.0}, r"targets\.share: 0\.0"),
        ({"every_roll": True, "share": float("nan")}, r"targets\.share: nan"),
    ],
)
def test_labels_that_there_are_not(targets: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainSettings.from_dict({"targets": targets})

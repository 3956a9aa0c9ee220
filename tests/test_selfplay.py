"""The collect step: legal, greedy, complete, and the same however it is run."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nardy_rl.encoding import Encoding
from nardy_rl.episodes import Episodes
from nardy_rl.inference import Decisions, FloatEvaluator, KernelEvaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules import Position, get_threads, set_threads, variant, variants
from nardy_rl.rules.dice import opening, roll_dice
from nardy_rl.selfplay import SelfPlayStopped, choose, collect, collect_lockstep


@pytest.fixture(autouse=True)
def _threads():
    before = get_threads()
    yield
    set_threads(before)


def _evaluators(rules, hidden=(24,), seed=3):
    encoding = Encoding.of(rules)
    generator = torch.Generator().manual_seed(seed)
    net = ValueNet(encoding.size, hidden, rules.outcomes, generator)
    with torch.no_grad():
        for parameter in list(net.parameters())[-2:]:
            parameter.mul_(5.0)
    dense = FloatEvaluator(net, encoding)
    return (KernelEvaluator(net, encoding) if len(hidden) == 1 else dense), dense


def _same_games(one: Episodes, other: Episodes, exactly: bool = True) -> None:
    for name in ("points", "flags", "pending", "mover", "offsets", "score", "truncated"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    if exactly:
        assert np.array_equal(one.values, other.values)
    else:
        assert np.abs(one.values - other.values).max() < 1e-5
    assert one.candidates == other.candidates


@pytest.mark.parametrize("name", variants())
def test_games_played_whole_are_those_played_in_lockstep(name):
    rules = variant(name)
    kernel, dense = _evaluators(rules)
    whole = collect(rules, kernel, 12, seed=5)
    _same_games(whole, collect_lockstep(rules, kernel, 12, seed=5), exactly=False)
    _same_games(whole, collect(rules, dense, 12, seed=5), exactly=False)


@pytest.mark.parametrize("hidden", [(24,), (16, 16)])
def test_threads_change_nothing(hidden):
    rules = variant("backgammon")
    evaluator, _ = _evaluators(rules, hidden)
    set_threads(1)
    alone = collect(rules, evaluator, 40, seed=8)
    set_threads(3)
    _same_games(alone, collect(rules, evaluator, 40, seed=8))


def test_a_batch_is_part_of_a_longer_one():
    rules = variant("long_nardy")
    evaluator, _ = _evaluators(rules)
    whole = collect(rules, evaluator, 9, seed=2)
    part = collect(rules, evaluator, 4, seed=2, first_game=5)
    low = whole.offsets[5]
    assert np.array_equal(part.points, whole.points[low:])
    assert np.array_equal(part.score, whole.score[5:])


@pytest.mark.parametrize("name", ["long_nardy", "long_nardy_draw", "backgammon", "tavla"])
def test_every_choice_is_legal_and_greedy_and_every_game_ends(name):
    """The episodes, played again from their dice through `Position`."""
    rules = variant(name)
    evaluator, dense = _evaluators(rules)
    seed, games = 13, 3
    episodes = collect(rules, evaluator, games, seed=seed)
    scores = np.array(rules.outcomes, np.float32)
    for game in range(games):
        position = Position.start(rules)
        mover, first, second = opening(seed, game)
        rows = range(episodes.offsets[game], episodes.offsets[game + 1])
        for turn, row in enumerate(rows):
            die1, die2 = roll_dice(seed, game, turn)
            roll = (int(die1), int(die2))
            if turn == 0 and rules.opening_roll == "use_opening_dice":
                roll = (int(first), int(second))
            plays = position.plays(roll)
            chosen = [p for p in plays if np.array_equal(p.after.points, episodes.points[row])]
            assert len(chosen) == 1
            assert episodes.mover[row] == mover
            assert episodes.flags[row] == chosen[0].after.flags
            equities = []
            for play in plays:
                outcome = play.after.outcome()
                if outcome is None:
                    shares = dense.rows(
                        play.after.points[None], np.array([play.after.flags], np.uint8)
                    )
                    equities.append(float(shares[0] @ scores))
                else:
                    equities.append(float(outcome.score))
            assert episodes.values[row] @ scores == pytest.approx(max(equities), abs=1e-5)
            outcome = chosen[0].after.outcome()
            assert (outcome is not None) == (row == rows[-1])
            if outcome is not None:
                assert episodes.score[game] == outcome.score
                one_hot = episodes.values[row] == 1.0
                assert one_hot.sum() == 1
                assert scores[one_hot][0] == outcome.score
            position, mover = chosen[0].after.flip(), 1 - mover


def test_truncated_games_have_no_score():
    rules = variant("long_nardy")
    evaluator, dense = _evaluators(rules)
    for one in (evaluator, dense):
        episodes = collect(rules, one, 6, seed=1, ply_cap=10)
        assert episodes.truncated.all()
        assert not episodes.score.any()
        assert np.diff(episodes.offsets).tolist() == [10] * 6


def test_stopping_loses_the_batch_and_nothing_else():
    rules = variant("long_nardy")
    evaluator, dense = _evaluators(rules)
    for one in (evaluator, dense):
        with pytest.raises(SelfPlayStopped):
            collect(rules, one, 20, seed=1, should_stop=lambda: True)
        told: list[int] = []
        collect(rules, one, 20, seed=1, should_stop=lambda: False, progress=told.append)
        assert max(told) == 20


def test_the_first_of_equals_is_chosen():
    rules = variant("backgammon")
    start = Position.start(rules)
    legal_plays = start.plays((3, 1))
    from nardy_rl.rules import legal_afterstates

    legal = legal_afterstates(rules, start.points[None], [[3, 1]])
    decisions = Decisions(start.points[None], np.zeros(1, np.uint8), np.zeros(1, np.uint8), legal)
    shares = np.full((len(legal_plays), len(rules.outcomes)), 1 / 6, np.float32)
    assert choose(rules, decisions, shares).tolist() == [0]
    shares[5] = [0, 0, 0, 0, 0, 1]
    shares[9] = shares[5]
    assert choose(rules, decisions, shares).tolist() == [5]

"""The batched environment: dice, openings, series, scores and truncation."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.env import Env
from nardy_rl.errors import ConfigError
from nardy_rl.rules import Position, get_threads, set_threads, variant
from nardy_rl.rules.dice import opening, roll_dice


@pytest.fixture(autouse=True)
def _threads():
    before = get_threads()
    yield
    set_threads(before)


def _first(env: Env) -> np.ndarray:
    """The choice of everybody's first result."""
    return np.zeros(len(env.turns), np.int64)


def test_dice_depend_only_on_seed_game_and_turn():
    rules = variant("long_nardy")
    set_threads(1)
    few = Env(rules, games=3, seed=11)
    set_threads(3)
    many = Env(rules, games=300, seed=11)
    other = Env(rules, games=300, seed=12)
    rolls = []
    for _ in range(30):
        assert np.array_equal(few.rolls, many.rolls[:3])
        rolls.append((many.rolls.copy(), other.rolls.copy()))
        for env in (few, many, other):
            env.step(_first(env))
    assert any((a != b).any() for a, b in rolls)
    for turn in range(1, 5):
        assert tuple(roll_dice(11, 2, turn)) == tuple(rolls[turn][0][2])


def test_dice_are_fair_and_independent():
    pairs = np.array([roll_dice(5, game, turn) for game in range(400) for turn in range(90)])
    counts = np.bincount((pairs[:, 0] - 1) * 6 + pairs[:, 1] - 1, minlength=36)
    expected = len(pairs) / 36
    # chi-square with 35 degrees of freedom: 66.6 is exceeded once in a thousand.
    assert ((counts - expected) ** 2 / expected).sum() < 66.6


@pytest.mark.parametrize("name", ["backgammon", "long_nardy_federation"])
def test_opening_dice_are_played_by_the_higher(name):
    env = Env(variant(name), games=500, seed=3)
    assert (env.rolls[:, 0] != env.rolls[:, 1]).all()
    for table in range(0, 500, 50):
        starter, first, second = opening(3, table)
        assert env.mover[table] == starter == (0 if first > second else 1)
        assert tuple(env.rolls[table]) == (first, second)
    assert 180 < env.mover.sum() < 320


def test_a_rerolled_opening_has_doubles():
    env = Env(variant("long_nardy"), games=600, seed=3)
    doubles = (env.rolls[:, 0] == env.rolls[:, 1]).mean()
    assert 0.1 < doubles < 0.25


@pytest.mark.parametrize("rule", ["alternate", "winner", "roll"])
def test_who_starts_the_next_game(rule):
    env = Env(variant("hypergammon", next_starter=rule), games=40, seed=9)
    begun = env.tables.starter.copy()
    kept = changed = 0
    for _ in range(150):
        finished = env.step(_first(env))
        for table, score, starter in zip(
            finished.table, finished.score, finished.starter, strict=True
        ):
            assert starter == begun[table]
            now = env.tables.starter[table]
            if rule == "alternate":
                assert now == 1 - starter
            elif rule == "winner":
                assert now == (0 if score > 0 else 1)
            else:
                kept += now == starter
                changed += now != starter
            begun[table] = now
    if rule == "roll":
        assert kept > 0
        assert changed > 0


@pytest.mark.parametrize("name", ["long_nardy", "backgammon", "tavla", "long_nardy_draw"])
def test_a_game_stepped_is_the_game_played_by_hand(name):
    """Positions, scores and plies of `Env` against `Position`, `Play` and `flip`."""
    rules = variant(name)
    env = Env(rules, games=2, seed=21)
    position = Position(rules, env.points[0], int(env.tables.flags[0]))
    mover = int(env.mover[0])
    for ply in range(1, 2000):
        plays = position.plays((int(env.rolls[0, 0]), int(env.rolls[0, 1])))
        legal = env.legal()
        assert {play.after.points.tobytes() for play in plays} == {
            row.tobytes() for row in legal.after[: legal.offsets[1]]
        }
        pick = ply * 7 % len(plays)
        play = next(p for p in plays if p.after.points.tobytes() == legal.after[pick].tobytes())
        finished = env.step(np.array([pick, 0]))
        outcome = play.after.outcome()
        if outcome is not None:
            at = finished.table.tolist().index(0)
            assert finished.score[at] == (outcome.score if mover == 0 else -outcome.score)
            assert finished.plies[at] == ply
            assert not finished.truncated[at]
            assert env.turns[0] == 0
            return
        assert 0 not in finished.table
        position, mover = play.after.flip(), 1 - mover
        assert position == Position(rules, env.points[0], int(env.tables.flags[0]))
        assert mover == env.mover[0]
    pytest.fail("the game did not end")


def test_a_long_game_is_truncated_and_never_scored():
    env = Env(variant("long_nardy"), games=4, seed=0, ply_cap=5)
    for ply in range(1, 11):
        finished = env.step(_first(env))
        assert len(finished.table) == (4 if ply % 5 == 0 else 0)
        assert finished.truncated.all()
        assert not finished.score.any()
    assert env.tables.game.tolist() == [8, 9, 10, 11]


def test_the_last_roll_can_draw():
    env = Env(variant("long_nardy_draw"), games=200, seed=4)
    scores: list[int] = []
    while len(scores) < 600:
        scores += env.step(_first(env)).score.tolist()
    assert set(scores) <= {-2, -1, 0, 1, 2}
    assert 0 in scores


def test_random_turns_are_the_same_on_any_number_of_threads():
    rules = variant("backgammon")
    tables = []
    for threads in (1, 3):
        set_threads(threads)
        env = Env(rules, games=37, seed=2)
        assert env.random_turns(150)[0] > 0
        tables.append(env.tables)
    for one, three in zip(*tables, strict=True):
        assert np.array_equal(one, three)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [({"games": 0}, "games=0"), ({"seed": -1}, "seed=-1"), ({"ply_cap": 0}, "ply_cap=0")],
)
def test_impossible_sizes_are_refused(wrong, named):
    with pytest.raises(ConfigError, match=named):
        Env(variant("long_nardy"), **{"games": 2, **wrong})


def test_a_choice_that_is_no_result_is_refused():
    env = Env(variant("backgammon"), games=2, seed=1)
    count = int(env.legal().offsets[1])
    with pytest.raises(ValueError, match=rf"choice\[0\]={count}"):
        env.step(np.array([count, 0]))
    with pytest.raises(ValueError, match="shape"):
        env.step(np.array([0]))
    assert env.turns.tolist() == [0, 0]

"""What `legal_afterstates` and `Position` are given is checked before it is narrowed."""

import numpy as np
import pytest

from nardy_rl.env import Env
from nardy_rl.errors import ConfigError, InvalidPosition
from nardy_rl.rules import Position, legal_afterstates, variant

RULES = variant("backgammon")
START = Position.start(RULES).points.astype(np.int64)


def _points(count: int) -> np.ndarray:
    points = np.stack([START])
    points[0, 0, 13] = count
    return points


@pytest.mark.parametrize("count", [258, 261, -251, 5 + 2**16])
def test_counts_that_would_wrap_round_are_refused(count):
    with pytest.raises(ValueError, match="points holds"):
        legal_afterstates(RULES, _points(count), [[3, 1]])
    with pytest.raises(InvalidPosition, match="points holds"):
        Position(RULES, _points(count)[0])


@pytest.mark.parametrize("roll", [[259, 1], [0, 1], [7, 1], [-253, 1]])
def test_dice_outside_one_to_six_are_refused(roll):
    with pytest.raises(ValueError, match="rolls holds"):
        legal_afterstates(RULES, START[None], [roll])
    with pytest.raises(ValueError, match="two dice"):
        Position.start(RULES).plays(tuple(roll))


def test_fractions_are_refused():
    with pytest.raises(ValueError, match="rolls has dtype"):
        legal_afterstates(RULES, START[None], [[3.7, 1.2]])
    with pytest.raises(ValueError, match="points has dtype"):
        legal_afterstates(RULES, START[None] + 0.5, [[3, 1]])
    with pytest.raises(ValueError, match="two dice"):
        Position.start(RULES).plays((3.7, 1.2))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["flags", "pending"])
def test_bytes_that_would_wrap_round_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} holds"):
        legal_afterstates(RULES, START[None], [[3, 1]], **{name: [257]})


def test_an_empty_batch_has_no_results():
    legal = legal_afterstates(RULES, np.zeros((0, 2, 26), np.int8), np.zeros((0, 2), np.int8))
    assert legal.after.shape == (0, 2, 26)
    assert legal.offsets.tolist() == [0]
    assert legal.dice_used.shape == (0,)


def test_checkers_must_add_up():
    with pytest.raises(ValueError, match="15 checkers a side"):
        legal_afterstates(RULES, _points(4), [[3, 1]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"me": {24: 14.5, 23: 1}},
        {"me": {24.9: 15}},
        {"me": {"a": 15}},
        {"me": {24: "15"}},
        {"me": {24: True, 23: 14}},
        {"me": {26: 15}},
        {"me": {-1: 15}},
        {"me": 5},
        {"me_off": "x"},
        {"me_off": 10**30},
        {"me_off": -1},
        {"first_turn": 3},
    ],
)
def test_from_points_takes_whole_numbers_only(wrong):
    given = {"me": {24: 15}, "opp": {24: 15}, **wrong}
    with pytest.raises(InvalidPosition, match="is not allowed"):
        Position.from_points(variant("long_nardy"), **given)


def test_impossible_boards_have_no_plays():
    crowd = np.zeros((2, 26), np.int8)
    crowd[:, 24] = 24
    with pytest.raises(InvalidPosition, match="wrong count"):
        Position(variant("long_nardy"), crowd).plays((1, 1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"games": "a"},
        {"games": 10**12},
        {"seed": 2**64},
        {"seed": 1.5},
        {"ply_cap": 1.5},
        {"rules": None},
    ],
)
def test_an_environment_takes_whole_numbers_only(wrong):
    given = {"rules": RULES, "games": 2, "seed": 1, **wrong}
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Env(**given)


def test_a_choice_is_a_whole_number():
    with pytest.raises(ValueError, match="choice has dtype"):
        Env(RULES, 2).step(np.full(2, 0.9))

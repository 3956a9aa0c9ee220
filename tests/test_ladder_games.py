"""Ladder games: the worked examples of RULES.md 3, what the state tells, and what the net sees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from nardy_rl.arena import play_match
from nardy_rl.encoding import Encoding, encode
from nardy_rl.env import Env
from nardy_rl.errors import ConfigError
from nardy_rl.inference import KernelEvaluator
from nardy_rl.net import ValueNet
from nardy_rl.notation import board_text, from_id, parse_board, parse_play, to_id
from nardy_rl.players import PipsPlayer, RandomPlayer
from nardy_rl.rollout import Rollout
from nardy_rl.rules import Position, Rules, Status, variant
from nardy_rl.rules.dice import roll_dice
from nardy_rl.rules.ladder import GIVEN, HANDED, OWN, ROLL_AGAIN, after_decision, rung_code, rung_of
from nardy_rl.search import Lookahead, NetValuer, roll_equities
from nardy_rl.selfplay import collect

MAD = variant("mad_gyulbar")


def first(position: Position, roll: tuple[int, int] | None = None) -> Position:
    """The next position to play in, after the first legal play."""
    return position.plays(roll)[0].after.for_mover()


@pytest.mark.parametrize(
    ("repeats", "head_rule", "die", "results"),
    [
        *[("4", "free", *pair) for pair in ((5, 5), (4, 3), (1, 5), (3, 4), (6, 1))],
        ("4", "any_double", 3, 2),
        ("2", "free", 5, 2),
        ("2", "free", 1, 2),
    ],
)
def test_first_rungs_from_the_start(repeats: str, head_rule: str, die: int, results: int) -> None:
    rules = variant("mad_gyulbar", ladder_repeats=repeats, head_rule=head_rule)
    plays = Position.start(rules).plays((die, die))
    assert len(plays) == results
    assert plays[0].dice_used == int(repeats)


def test_six_six_on_the_first_turn_plays_two_and_hands_over_two() -> None:
    start = Position.start(variant("mad_gyulbar", ladder_repeats="4"))
    (play,) = start.plays((6, 6))
    assert str(play) == "24/18(2)"
    his = play.after.for_mover()
    assert play.after.moved
    assert his.rung == (6, 2)
    assert rung_of(his.pending)[2] == HANDED
    assert his.first_turn == (True, False)
    # His own first turn is still to come: two may leave his head as well, then he throws.
    (rest,) = his.plays()
    assert str(rest) == "24/18(2)"
    assert not rest.after.moved
    assert (rest.after.pending, rest.after.first_turn) == (0, (True, False))
    assert not rest.after.status()
    assert rest.after.plays((2, 1))[0].after.first_turn == (False, False)


@pytest.mark.parametrize("repeats", [2, 4])
def test_a_ladder_that_cannot_begin_is_handed_over_whole(repeats: int) -> None:
    """Holes 12:1 24:14 against 1:14 5:1: the only checker short of the end meets hole 17."""
    rules = variant("mad_gyulbar", ladder_repeats=repeats)
    position = Position.from_points(rules, me={13: 1, 1: 14}, opp={24: 14, 20: 1})
    (play,) = position.plays((5, 5))
    assert play.moves == ()
    his = play.after.for_mover()
    made = []
    while his.rung:
        play = his.plays()[0]
        made.append((his.rung, play.dice_used))
        assert not play.after.moved
        his = play.after
    # All of it is played as far as he can, with the one checker that may leave his head.
    assert made[0][0] == (5, repeats)
    if made[0][1] == repeats:
        assert made[1][0] == (6, repeats)
    assert position.plays((5, 5))[0].after.flip() == first(position, (5, 5))


def test_a_whole_ladder_is_one_turn() -> None:
    rules = variant("mad_gyulbar", head_rule="free")
    position = Position.start(rules)
    rungs = []
    for roll in ((3, 3), None, None, None):
        play = position.plays(roll)[0]
        rungs.append(play.moves[0][0] - play.moves[0][1])
        position = play.after.for_mover()
        assert play.after.moved == (len(rungs) == 4)
    assert rungs == [3, 4, 5, 6]
    assert position.pending == 0


def test_the_head_quota_is_of_the_whole_own_roll() -> None:
    position = Position.start(MAD)
    left = []
    for roll in ((1, 1), None, None):
        plays = [play for play in position.plays(roll) if play.after.pending]
        position = max(plays, key=lambda play: int(play.after.points[0, 23])).after
        left.append(int(position.points[0, 24]))
    assert left == [14, 14, 14]


def test_a_turn_that_is_too_early_is_an_ordinary_one() -> None:
    rules = variant("gul_bara")
    position = Position.start(rules)
    taken = []
    for _ in range(6):
        play = position.plays((5, 5))[0]
        assert play.dice_used <= 4
        assert (play.after.moved, play.after.pending) == (True, 0)
        position = play.after.for_mover()
        taken.append(position.flags >> 3 & 3)
    assert taken == [0, 1, 1, 2, 2, 3]
    fourth = position.plays((5, 5))[0].after
    assert fourth.pending or not position.plays((5, 5))[0].dice_used


STATES = [
    # whose, die, used of 2, stall, unplayed -> (turn over, what follows)
    (OWN, 5, 2, "stop", "opponent", (False, rung_code(6, 2, OWN, 0))),
    (OWN, 6, 2, "stop", "opponent", (True, 0)),
    (OWN, 5, 1, "stop", "opponent", (True, rung_code(5, 1, GIVEN, 0))),
    (OWN, 5, 0, "stop", "opponent", (True, rung_code(5, 2, GIVEN, 0))),
    (OWN, 5, 1, "stop", "lost", (True, 0)),
    (OWN, 5, 1, "skip_rung", "opponent", (False, rung_code(6, 2, OWN, 0))),
    (OWN, 6, 0, "skip_rung", "opponent", (True, 0)),
    (HANDED, 5, 2, "stop", "opponent", (False, rung_code(6, 2, HANDED, 0))),
    (HANDED, 6, 2, "stop", "opponent", (False, ROLL_AGAIN)),
    (HANDED, 5, 1, "stop", "opponent", (False, ROLL_AGAIN)),
]


@pytest.mark.parametrize(("whose", "die", "used", "stall", "unplayed", "expected"), STATES)
def test_what_follows_a_rung(
    whose: int, die: int, used: int, stall: str, unplayed: str, expected: tuple[bool, int]
) -> None:
    kernel = variant("mad_gyulbar", stall=stall, unplayed=unplayed).kernel
    flags, pending = after_decision(kernel, 1, rung_code(die, 2, whose, 1), 1, 1, used)
    assert (not flags & 1, pending) == expected


def test_rungs_have_each_a_byte_of_their_own() -> None:
    parts = list(product(range(1, 7), range(1, 5), range(3), range(3)))
    codes = [int(rung_code(*part)) for part in parts]
    assert sorted(codes) == list(range(1, 217))
    assert [tuple(int(n) for n in rung_of(code)) for code in codes] == parts


def test_a_game_that_ends_on_a_rung_hands_nothing_over() -> None:
    position = Position.from_points(MAD, me={1: 1}, opp={24: 15}, me_off=14)
    after = position.plays((1, 1))[0].after
    outcome = after.outcome()
    assert outcome is not None
    assert outcome.score == 2
    assert (after.pending, after.moved) == (0, True)


def test_pending_is_checked_and_told() -> None:
    assert Position(MAD, Position.start(MAD).points, 0, 145).status() & Status.IMPOSSIBLE_PENDING
    nardy = Position.start(variant("long_nardy"))
    assert Position(nardy.rules, nardy.points, 0, 7).status() & Status.IMPOSSIBLE_PENDING
    position = first(Position.start(MAD), (4, 4))
    with pytest.raises(ValueError, match="rung of 5"):
        position.plays((6, 1))
    with pytest.raises(ValueError, match="a roll is needed"):
        Position.start(MAD).plays()
    assert "2 x 5 to be played" in board_text(position)
    assert parse_board(MAD, board_text(position)) == position
    assert from_id(to_id(position)) == position
    play = position.plays()[0]
    assert parse_play(position, None, str(play)).after == play.after


def test_ids_carry_the_turns_taken() -> None:
    position = Position(variant("gul_bara"), Position.start(MAD).points, 3 << 3 | 2 << 5)
    assert from_id(to_id(position)) == position
    with pytest.raises(ValueError, match=r"does not have|check|wrong"):
        from_id(to_id(position).replace("gul_bara", "mad_gyulbar"))


@pytest.mark.parametrize("name", ["mad_gyulbar", "gul_bara"])
def test_a_game_stepped_is_the_game_played_by_hand(name: str) -> None:
    """Position, mover, dice and what is pending, of `Env` against `Position` and `Play`."""
    rules = variant(name)
    env = Env(rules, games=1, seed=5)
    position, mover, again = Position.start(rules), int(env.mover[0]), 0
    for ply in range(3000):
        roll: tuple[int, int] | None = None
        if position.pending:
            assert position.rung is not None
            assert tuple(env.rolls[0]) == (position.rung[0],) * 2
        else:
            die1, die2 = roll_dice(5, 0, ply)
            roll = int(die1), int(die2)
            assert tuple(env.rolls[0]) == roll
        legal = env.legal()
        pick = ply * 7 % len(legal.after)
        plays = {play.after.points.tobytes(): play for play in position.plays(roll)}
        assert len(plays) == len(legal.after)
        play = plays[legal.after[pick].tobytes()]
        finished = env.step(np.array([pick]))
        outcome = play.after.outcome()
        if outcome is not None:
            assert finished.score[0] == (outcome.score if mover == 0 else -outcome.score)
            assert again > 0
            return
        again += not play.after.moved
        mover ^= play.after.moved
        position = play.after.for_mover()
        assert position == Position(
            rules, env.points[0], int(env.tables.flags[0]), int(env.tables.pending[0])
        )
        assert env.mover[0] == mover
    pytest.fail("the game did not end")


def _evaluator(rules: Rules) -> KernelEvaluator:
    encoding = Encoding.of(rules)
    return KernelEvaluator(ValueNet(encoding.size, (16,), rules.outcomes), encoding)


def test_episodes_tell_who_goes_on() -> None:
    episodes = collect(MAD, _evaluator(MAD), 20, seed=2)
    last = np.zeros(len(episodes.mover), bool)
    last[episodes.offsets[1:] - 1] = True
    goes_on = (episodes.mover[1:] == episodes.mover[:-1])[~last[:-1]]
    pending = episodes.pending[:-1][~last[:-1]]
    own = (pending != 0) & ((pending <= 144) | (pending == ROLL_AGAIN))
    assert (goes_on == own).all()
    assert set(pending) & {ROLL_AGAIN}
    assert (pending == 0).any()
    assert ((pending > 144) & (pending != ROLL_AGAIN)).any()


def test_the_net_sees_the_rung_the_steps_and_whose() -> None:
    encoding = Encoding.of(MAD)
    points = np.repeat(Position.start(MAD).points[None], 4, axis=0)
    pending = [rung_code(5, 2, OWN, 1), rung_code(6, 1, HANDED, 0), rung_code(6, 1, GIVEN, 0)]
    rows = encode(MAD, points, None, np.array([*pending, ROLL_AGAIN], np.uint8))
    plain = encode(MAD, points)
    names = [
        {encoding.names[unit] for unit in np.flatnonzero(row != base)}
        for row, base in zip(rows, plain, strict=True)
    ]
    assert names == [
        {"my rung is 5", "my steps left >= 1", "my steps left >= 2"},
        {"my rung is 6", "my steps left >= 1", "my rung is handed over"},
        {"opponent's rung is 6", "opponent's steps left >= 1"},
        {"I roll next"},
    ]
    assert Encoding.of(variant("gul_bara")).size == 2 * 24 * 4 + 2 + 4 + 1 + 2 * 10 + 1
    assert not any("rung" in name for name in Encoding.of(variant("long_nardy")).names)


@pytest.mark.parametrize("name", ["mad_gyulbar", "gul_bara"])
def test_matches_are_played(name: str) -> None:
    rules = variant(name)
    valuer = NetValuer(rules, _evaluator(rules))
    result = play_match(rules, PipsPlayer(rules), RandomPlayer(), 100, seed=1, luck=valuer)
    assert result.ppg.value > 2 * result.ppg.se


def test_rolls_have_equities_and_looking_ahead_is_refused() -> None:
    valuer = NetValuer(MAD, _evaluator(MAD))
    start = Position.start(MAD)
    found = roll_equities(MAD, valuer, start.points[None], np.array([start.flags], np.uint8))
    assert found.shape == (1, 21)
    assert np.isfinite(found).all()
    for make in (lambda: Lookahead(MAD, valuer, 1), lambda: Rollout(MAD, valuer)):
        with pytest.raises(ConfigError, match="mad_gyulbar: looking ahead"):
            make()


def test_options_are_only_where_there_is_a_ladder() -> None:
    names = {option.name for option in MAD.options()}
    assert {"ladder_repeats", "ladder_from_turn", "unplayed", "stall", "head_rule"} <= names
    assert "last_roll" not in names
    with pytest.raises(ConfigError, match="no option 'stall'"):
        variant("long_nardy", stall="stop")
    with pytest.raises(ConfigError, match="ladder_repeats='3'"):
        variant("gul_bara", ladder_repeats=3)
    gul_bara = {option.name: option.value for option in variant("gul_bara").options()}
    assert gul_bara | {"head_rule": "free", "ladder_repeats": "4", "ladder_from_turn": "4"} == (
        gul_bara
    )

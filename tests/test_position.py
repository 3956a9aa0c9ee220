"""Positions and plays as values: what they accept, say and refuse."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.errors import InvalidPosition
from nardy_rl.rules import Position, Rules, Status, legal_afterstates, variant
from tests.reachable import start_points

NARDY, BACKGAMMON = variant("long_nardy"), variant("backgammon")


def test_from_points_names_every_reason() -> None:
    with pytest.raises(InvalidPosition) as error:
        Position.from_points(NARDY, me={24: 14}, opp={12: 1, 24: 13}, me_bar=2)
    message = str(error.value)
    assert "wrong count" in message
    assert "opponent wrong count" in message
    assert "shared point" in message  # his 12 is my 24
    assert "bar without hitting" in message
    assert "15" in message


@pytest.mark.parametrize("point", [-1, 0, 26])
def test_from_points_refuses_places_that_are_no_points(point: int) -> None:
    with pytest.raises(InvalidPosition, match=f"me point={point}"):
        Position.from_points(BACKGAMMON, me={point: 15}, opp={6: 15})


@pytest.mark.parametrize("count", [-1, 16, 300])
def test_from_points_refuses_impossible_counts(count: int) -> None:
    with pytest.raises(InvalidPosition, match="on 6"):
        Position.from_points(BACKGAMMON, me={6: 15}, opp={6: count})
    with pytest.raises(InvalidPosition):
        Position.from_points(BACKGAMMON, me={6: 15}, opp={}, opp_off=count)


@pytest.mark.parametrize(
    ("rules", "me", "opp", "me_off", "reason"),
    [
        (NARDY, {7: 14}, {24: 15}, 1, Status.OFF_BEFORE_HOME),
        (NARDY, {6: 14}, {7: 15}, 1, Status.VALID),
        (BACKGAMMON, {7: 14}, {24: 15}, 1, Status.VALID),  # a hit may have sent it back
        (NARDY, {**dict.fromkeys(range(1, 7), 1), 7: 9}, {24: 15}, 0, Status.FORBIDDEN_PRIME),
        (NARDY, {**dict.fromkeys(range(1, 7), 1), 7: 9}, {24: 14, 12: 1}, 0, Status.VALID),
        (NARDY, {**dict.fromkeys(range(1, 6), 1), 7: 10}, {24: 15}, 0, Status.VALID),
        (BACKGAMMON, {**dict.fromkeys(range(1, 7), 1), 7: 9}, {8: 15}, 0, Status.VALID),
    ],
)
def test_status_says_what_no_game_can_reach(
    rules: Rules, me: dict[int, int], opp: dict[int, int], me_off: int, reason: Status
) -> None:
    position = Position.from_points(rules, me=me, opp=opp, me_off=me_off)
    assert position.status() == reason
    assert len(position.reasons()) == (reason != Status.VALID)
    turned = {
        Status.OFF_BEFORE_HOME: Status.OPPONENT_OFF_BEFORE_HOME,
        Status.FORBIDDEN_PRIME: Status.OPPONENT_FORBIDDEN_PRIME,
    }
    assert position.flip().status() == turned.get(reason, reason)


def test_a_first_turn_to_come_needs_the_start() -> None:
    position = Position.from_points(NARDY, {24: 14, 23: 1}, {24: 15}, first_turn=(True, True))
    assert position.status() == Status.FIRST_TURN_ALREADY_PLAYED


def test_positions_are_values() -> None:
    one = Position.from_points(BACKGAMMON, me=dict(BACKGAMMON.start), opp=dict(BACKGAMMON.start))
    assert one == Position.start(BACKGAMMON)
    assert len({one, Position.start(BACKGAMMON)}) == 1
    assert one != Position.start(variant("backgammon", hit_run="no_hide"))
    assert one != Position.start(variant("nackgammon"))
    assert one != one.flip()  # the same counts, but the other player is to move
    with pytest.raises(ValueError, match="read-only"):
        one.points[0, 24] = 3
    assert Position.start(NARDY) != Position.start(NARDY).flip()


def test_points_of_a_position_are_a_copy() -> None:
    points = start_points(BACKGAMMON)
    position = Position(BACKGAMMON, points)
    points[0, 24] = 0
    assert position.points[0, 24] == 2


def test_pips() -> None:
    position = Position.from_points(
        BACKGAMMON, me={24: 1, 6: 2}, opp={2: 3}, me_off=11, opp_off=12, me_bar=1
    )
    assert position.pips == (25 + 24 + 12, 6)
    assert Position.start(NARDY).pips == (360, 360)
    assert Position.start(BACKGAMMON).pips == (167, 167)


def test_a_pass_is_one_play_without_moves() -> None:
    position = Position.from_points(NARDY, me={13: 1, 1: 14}, opp={24: 15})
    plays = position.plays((1, 1))
    assert len(plays) == 1
    assert (plays[0].moves, plays[0].hits, plays[0].dice_used) == ((), (), 0)
    assert (plays[0].after.points == position.points).all()
    assert plays[0].after.flip().points[1, 13] == 1


def test_a_play_tells_its_moves_and_hits() -> None:
    position = Position.from_points(BACKGAMMON, me={13: 1}, opp={19: 1, 20: 1, 1: 13}, me_off=14)
    plays = position.plays((6, 2))
    # 13/7/5 or 13/11/5, which ends on his lone checker of 20.
    (play,) = plays
    assert play.moves in (((13, 7), (7, 5)), ((13, 11), (11, 5)))
    assert play.hits == (False, True)
    assert play.after.points[1].tolist() == [0, 13] + [0] * 17 + [1, 0, 0, 0, 0, 0, 1]


def test_the_player_who_moved_is_not_to_move() -> None:
    after = Position.start(BACKGAMMON).plays((3, 1))[0].after
    assert after.moved
    with pytest.raises(ValueError, match="flip"):
        after.plays((3, 1))
    assert not after.flip().moved


@pytest.mark.parametrize("shape", [(26,), (2, 25), (1, 2, 26)])
def test_points_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidPosition, match=r"\[2, 26\]"):
        Position(BACKGAMMON, np.zeros(shape, dtype=np.int8))


def test_batches_that_do_not_fit_are_refused() -> None:
    points = start_points(BACKGAMMON)[None]
    with pytest.raises(ValueError, match="shape"):
        legal_afterstates(BACKGAMMON, points[0], np.array([[1, 2]]))
    with pytest.raises(ValueError, match="shape"):
        legal_afterstates(BACKGAMMON, points, np.array([1, 2]))
    with pytest.raises(ValueError, match="shape"):
        legal_afterstates(BACKGAMMON, points, np.array([[1, 2]]), np.array([True, False]))
    with pytest.raises(ValueError, match="15 checkers"):
        legal_afterstates(
            BACKGAMMON, points - np.eye(1, 52, 24, np.int8).reshape(1, 2, 26), [[1, 2]]
        )

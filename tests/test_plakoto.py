"""Plakoto: pins, mothers and draws, by hand and as laws of random play."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings

from nardy_rl.arena import play_match
from nardy_rl.bearoff import kind_of_play
from nardy_rl.encoding import Encoding, encode
from nardy_rl.errors import ConfigError, IllegalPlay, InvalidPosition, InvalidText
from nardy_rl.export.table import encoding_table
from nardy_rl.notation import (
    board_text,
    from_id,
    move_text,
    parse_board,
    parse_play,
    parse_points,
    points_text,
    to_id,
)
from nardy_rl.players import make_player
from nardy_rl.rules import Outcome, Position, Status, legal_afterstates, variant
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.solve.solver import check_size
from nardy_rl.viz import board_svg
from tests.comparison import compare_batch
from tests.situations import situations

PLAKOTO = variant("plakoto")
plakoto = situations((PLAKOTO,))


def at(me: Mapping[int, int], opp: Mapping[int, int], mother: str = "wins") -> Position:
    """A position in which whatever is not named is borne off."""
    return Position.from_points(
        variant("plakoto", mother=mother),
        me,
        opp,
        me_off=15 - sum(map(abs, me.values())),
        opp_off=15 - sum(map(abs, opp.values())),
    )


def after(position: Position, roll: tuple[int, int], text: str) -> Position:
    return parse_play(position, roll, text).after


def results(position: Position, roll: tuple[int, int]) -> set[str]:
    return {move_text(play) for play in position.plays(roll)}


# Pins


def test_landing_on_a_lone_checker_pins_it_and_the_last_to_leave_frees_it() -> None:
    position = at({24: 12, 20: 3}, {24: 14, 8: 1})  # his 8 is my 17
    pinned = after(position, (3, 1), "20/17* 24/23")
    assert pinned.points[1, 8] == -1
    assert pinned.pips == (12 * 24 + 60 - 4, 14 * 24 + 8)
    held = pinned.flip()
    assert "8/7" not in " ".join(results(held, (1, 1)))
    with pytest.raises(IllegalPlay, match="the checker on 8 is pinned"):
        parse_play(held, (2, 1), "8/7 24/22")
    two = at({24: 12, 17: 2, 9: 1}, {24: 14, 8: -1})
    assert after(two, (2, 1), "17/15 24/23").points[1, 8] == -1
    assert after(two, (2, 1), "17/15 17/16").points[1, 8] == 1


def test_passing_over_a_lone_checker_pins_nothing() -> None:
    position = at({24: 12, 20: 3}, {24: 14, 8: 1})
    play = parse_play(position, (3, 1), "20/17/16")
    assert play.after.points[1, 8] == 1
    assert move_text(play) == "20/16"
    assert not any(play.hits)


def test_a_pinned_point_is_closed_to_its_owner_and_open_to_the_pinner() -> None:
    held = at({24: 13, 20: 1, 17: -1}, {24: 13, 8: 1, 9: 1})
    assert not any("/17" in text for text in results(held, (3, 3)))
    with pytest.raises(IllegalPlay, match="point 17 is closed"):
        parse_play(held, (3, 1), "20/17 24/23")
    pinner = held.flip().flip()
    assert pinner == held
    assert "9/8" in " ".join(results(Position(PLAKOTO, held.points[::-1]), (1, 2)))


def test_two_enemy_checkers_close_a_point() -> None:
    position = at({24: 12, 20: 3}, {24: 13, 8: 2})
    assert not any("/17" in text for text in results(position, (3, 3)))


def test_nothing_is_borne_off_while_a_home_checker_is_pinned() -> None:
    position = at({6: 2, 3: -1}, {22: 1})
    assert results(position, (6, 6)) == {"pass"}
    assert results(position, (1, 2)) == {"6/4 6/5"}
    assert all("off" not in text for text in results(position, (1, 2)))
    with pytest.raises(IllegalPlay, match="borne off while one is pinned"):
        parse_play(at({6: 2, 3: -1}, {22: 1}), (6, 1), "6/off 6/5")
    free = at({6: 2, 3: 1}, {21: 1})
    assert results(free, (6, 6)) == {"6/off(2) 3/off"}


# The mother


def test_pinning_the_mother_wins_two_points_once_the_own_start_is_left() -> None:
    position = at({3: 2, 2: 1}, {24: 1, 10: 1, 6: 3})  # his mother stands on my 1
    won = after(position, (2, 6), "3/1*")
    assert won.outcome() == Outcome(2)
    assert won.flip().outcome() == Outcome(-2)
    with pytest.raises(ValueError, match="over"):
        won.flip().plays((1, 2))


def test_the_mother_ends_the_game_whatever_dice_are_left() -> None:
    position = at({9: 1, 3: 2}, {24: 1, 10: 1, 6: 3})
    found = position.plays((2, 1))
    one_die = [play for play in found if play.dice_used == 1]
    assert {move_text(play) for play in one_die} == {"3/1*"}
    assert {play.dice_used for play in found} == {1, 2}
    # 3/2/1* uses both dice, and so does 9/8 3/1*, one first and then the other.
    ended = {move_text(play) for play in found if play.after.outcome() is not None}
    assert {"3/1*", "9/8 3/1*"} <= ended
    assert "9/8 9/7" not in ended


def test_a_double_that_pins_the_mother_may_leave_any_number_of_steps() -> None:
    position = at({9: 2, 3: 2}, {24: 1, 10: 1, 6: 3})
    ended = [play for play in position.plays((2, 2)) if play.after.outcome() is not None]
    assert {play.dice_used for play in ended} == {1, 2, 3, 4}
    assert all(play.after.points[1, 24] == -1 for play in ended)


def test_play_goes_on_while_the_pinner_has_checkers_on_his_start() -> None:
    position = at({24: 2, 3: 2}, {24: 1, 10: 12})
    pinned = after(position, (2, 1), "3/1* 24/23")
    assert pinned.outcome() is None
    assert pinned.points[1, 24] == -1
    left = after(at({24: 1, 3: 2, 1: 1}, {24: -1, 10: 12}), (2, 1), "24/22")
    assert left.outcome() == Outcome(2), "leaving the start wins at once, the 1 is not played"
    at_once = at({24: 2, 3: 2}, {24: 1, 10: 12}, "at_once")
    assert after(at_once, (2, 1), "3/1*").outcome() == Outcome(2)
    nothing = at({3: 2, 2: 1}, {24: 1, 10: 1, 6: 3}, "none")
    assert after(nothing, (2, 1), "3/1* 2/1").outcome() is None


@pytest.mark.parametrize("mother", ["wins", "none"])
def test_both_mothers_pinned_are_a_draw(mother: str) -> None:
    position = at({24: -1, 5: 2, 3: 1}, {24: 1, 1: 1, 6: 3}, mother)
    drawn = after(position, (2, 6), "3/1*")
    assert drawn.outcome() == drawn.flip().outcome() == Outcome(0, 0.0)
    assert drawn.rules.outcomes == (-2, -1, 0, 1, 2)
    assert variant("plakoto", mother="at_once").outcomes == (-2, -1, 1, 2)


def test_a_game_is_also_won_by_bearing_off() -> None:
    assert after(at({1: 1}, {6: 15}), (1, 2), "1/off").outcome() == Outcome(2)
    assert after(at({1: 1}, {6: 14}), (1, 2), "1/off").outcome() == Outcome(1)


# Laws


@settings(max_examples=150, deadline=None)
@given(plakoto)
def test_every_result_is_a_possible_position(situation: tuple[Position, tuple[int, int]]) -> None:
    position, roll = situation
    for play in position.plays(roll):
        points = play.after.points
        assert not play.after.status(), play.after.reasons()
        assert np.abs(points).sum(1).tolist() == [15, 15]
        for mine, his in ((points[0], points[1]), (points[1], points[0])):
            pinned = np.flatnonzero(mine < 0)
            assert (mine[pinned] == -1).all()
            assert (his[25 - pinned] > 0).all()
        # What of mine is pinned stays where it is.
        assert ((points[0] < 0) == (position.points[0] < 0)).all()


@settings(max_examples=100, deadline=None)
@given(plakoto)
def test_the_search_leaves_the_board_as_it_was(
    situation: tuple[Position, tuple[int, int]],
) -> None:
    position, roll = situation
    scratch, rows = new_scratch(), new_rows(MAX_AFTERSTATES)
    generate(PLAKOTO.kernel, scratch, position.points, 0, 0, *roll, rows.words, rows.paths, 0)
    assert (scratch.board == position.points).all()
    assert not scratch.table.any()


def test_the_literal_reference_agrees_on_doubles_near_the_mother() -> None:
    rng = np.random.default_rng(5)
    points = np.zeros((150, 2, 26), np.int8)
    for mine, his in points:
        for place in rng.integers(2, 12, 8):
            mine[place] += 1
        mine[24] = rng.integers(0, 3)
        his[24] = 1
        for place in rng.integers(3, 20, 9):
            if mine[25 - place] == 0:
                his[place] += 1
        for place in range(1, 24):
            if his[place] == 0 and mine[25 - place] == 1 and rng.random() < 0.3:
                mine[25 - place], his[place] = (1, -1) if rng.random() < 0.5 else (-1, 1)
        mine[2] += 15 - np.abs(mine).sum() if mine[2] >= 0 else 0
        mine[3] += 15 - np.abs(mine).sum() if mine[2] < 0 else 0
        his[19] += 15 - np.abs(his).sum()
    valid = [not Position(PLAKOTO, p).status() for p in points]
    points = points[valid]
    assert len(points) > 40
    rolls = np.repeat(rng.integers(1, 7, (len(points), 1)), 2, 1).astype(np.int8)
    for mother in ("wins", "none", "at_once"):
        rules = variant("plakoto", mother=mother)
        tally = compare_batch(rules, points, rolls, np.zeros(len(points), np.uint8))
        assert not tally.disagreements


# Texts, pictures, inputs


def test_texts_tell_who_is_pinned() -> None:
    one = at({24: 13, 17: 1, 5: -1}, {24: 13, 8: -1, 20: 1})
    other = at({24: 13, 17: -1, 5: 1}, {24: 13, 8: 1, 20: -1})
    assert len({board_text(one), board_text(other)}) == 2
    assert points_text(one) == "24:13 17:1 5:pinned | 24:13 20:1 8:pinned"
    for position in (one, other):
        assert parse_board(PLAKOTO, board_text(position)) == position
        assert parse_board(PLAKOTO, board_text(position, "hole", me="O")) == position
        assert parse_points(PLAKOTO, points_text(position)) == position
        assert from_id(to_id(position)) == position
    tall = at({24: 7, 17: 8}, {24: 14, 8: -1})
    assert parse_board(PLAKOTO, board_text(tall)) == tall
    assert to_id(one) != to_id(other)


def test_impossible_pins_are_named() -> None:
    with pytest.raises(InvalidPosition, match="pinned under nobody"):
        at({24: 14, 5: -1}, {24: 15})
    with pytest.raises(InvalidPosition, match="pinned under nobody"):
        at({24: 14, 5: -1}, {24: 14, 20: -1})
    with pytest.raises(InvalidPosition, match="shared point"):
        at({24: 14, 5: 1}, {24: 14, 20: 1})
    with pytest.raises(InvalidPosition, match="-2"):
        at({24: 13, 5: -2}, {24: 14, 20: 1})
    with pytest.raises(InvalidPosition, match="-1"):
        Position.from_points(variant("backgammon"), {24: 14, 5: -1}, {24: 14, 20: 1})
    bare = np.zeros((2, 26), np.int8)
    bare[:, 0] = 16
    bare[:, 25] = -1
    assert Position(PLAKOTO, bare).status() & Status.NEGATIVE_COUNT
    with pytest.raises(InvalidPosition, match="pinned"):
        to_id(Position(PLAKOTO, _lone()))
    with pytest.raises(InvalidText):
        parse_points(PLAKOTO, "24:14 5:held | 24:15")
    with pytest.raises(ValueError, match="-1"):
        legal_afterstates(variant("backgammon"), np.full((1, 2, 26), -1), [[1, 2]])


def _lone() -> np.ndarray:
    """A checker pinned under nobody, int8[2, 26]."""
    points = np.zeros((2, 26), np.int8)
    points[:, 24] = 14, 15
    points[0, 5] = -1
    return points


def test_the_picture_names_the_pinned() -> None:
    svg = board_svg(at({24: 13, 17: 1, 5: -1}, {24: 13, 8: -1, 20: 1}))
    assert "light checker pinned on its 5" in svg
    assert "dark checker pinned on its 8" in svg


def test_a_pin_is_an_input_of_its_own() -> None:
    encoding = Encoding.of(PLAKOTO)
    position = at({24: 13, 17: 1, 5: -1}, {24: 13, 8: -1, 20: 1})
    units = encode(encoding, position.points[None])[0]
    on = {encoding.names[i] for i in np.flatnonzero(units)}
    assert {"me 5 pinned", "me 5 >= 1", "opponent 8 pinned", "opponent 8 >= 1"} <= on
    assert sum("pinned" in name for name in on) == 2
    table = encoding_table(encoding)
    pins = [(unit["side"], unit["place"]) for unit in table if unit.get("pinned")]
    assert pins == [(side, place) for side in (0, 1) for place in range(1, 25)]
    assert not any("pinned" in name for name in Encoding.of(variant("backgammon")).names)


def test_what_cannot_serve_plakoto_says_so() -> None:
    assert kind_of_play(PLAKOTO) is None
    with pytest.raises(ConfigError, match="pins are not solved"):
        check_size(PLAKOTO)
    with pytest.raises(ConfigError, match="no option 'koks'"):
        variant("plakoto", koks="none")


def test_baselines_play_and_matches_show_draws() -> None:
    players = {name: make_player(name, PLAKOTO) for name in ("random", "pips", "heuristic")}
    result = play_match(PLAKOTO, players["heuristic"], players["random"], games=200, seed=1)
    assert result.ppg.value > 3 * result.ppg.se
    drawn = play_match(PLAKOTO, players["random"], players["random"], games=300, seed=2)
    assert 0.02 < drawn.draw.value < 0.6

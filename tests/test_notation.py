"""Texts of plays: every legal play reads back, tolerant reading, errors that say why."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl.errors import AmbiguousPlay, ConfigError, IllegalPlay, InvalidText
from nardy_rl.notation import board_text, move_text, parse_play, parse_points
from nardy_rl.rules import Play, Position, variant
from tests.situations import NUMBERINGS, situations

NARDY = variant("long_nardy")
BACKGAMMON = variant("backgammon")


@settings(max_examples=200, deadline=None)
@given(situations())
def test_every_legal_play_reads_back_from_its_text(
    situation: tuple[Position, tuple[int, int]],
) -> None:
    position, roll = situation
    plays = list(position.plays(roll))
    for numbering in NUMBERINGS:
        texts = [move_text(play, numbering) for play in plays]
        assert len(set(texts)) == len(plays)
        for play, text in list(zip(plays, texts, strict=True))[:40]:
            assert parse_play(position, roll, text, numbering) == play


@settings(max_examples=150, deadline=None)
@given(situations(), st.randoms(use_true_random=False))
def test_sloppy_text_means_the_same_play(
    situation: tuple[Position, tuple[int, int]], random: Random
) -> None:
    position, roll = situation
    plays = list(position.plays(roll))
    play = plays[random.randrange(len(plays))]
    words = move_text(play).split()
    random.shuffle(words)
    sloppy = " , ".join(words).upper().replace("/", "-").replace("BAR", "25").replace("OFF", "0")
    assert parse_play(position, roll, sloppy) == play
    steps = " ".join(f"{start}/{end}" for start, end in play.moves) or "No play"
    fits = {other.after for other in plays if _same_checkers(other, play)}
    if len(fits) == 1:
        assert parse_play(position, roll, steps).after == play.after


def _same_checkers(one: Play, other: Play) -> bool:
    return bool((one.after.points[0] == other.after.points[0]).all())


@pytest.mark.parametrize(
    ("roll", "text", "printed"),
    [
        ((6, 5), "24/18/13", "24/13"),
        ((6, 5), "24-18, 18-13", "24/13"),
        ((6, 5), "18/13 24/18", "24/13"),
        ((5, 6), "24-13", "24/13"),
        ((6, 1), "8→7; 13 > 7", "13/7 8/7"),
        ((1, 1), "6/5(2) 8/7 (2)", "8/7(2) 6/5(2)"),
        ((1, 1), "8/7 6/5 8/7 6/5", "8/7(2) 6/5(2)"),
        ((4, 4), "24/16*(2)", "24/16(2)"),
    ],
)
def test_tolerant_reading(roll: tuple[int, int], text: str, printed: str) -> None:
    assert str(parse_play(Position.start(BACKGAMMON), roll, text)) == printed


def test_holes_count_from_the_head() -> None:
    start = Position.start(NARDY)
    play = parse_play(start, (6, 5), "1-7-12", "hole")
    assert (move_text(play, "hole"), move_text(play)) == ("1/12", "24/13")
    home = parse_points(NARDY, "6:2 1:1 | 3:1")
    assert [move_text(play, "hole") for play in home.plays((6, 6))] == ["19/off(2) 24/off"]
    assert parse_play(home, (6, 6), "19-25 19-25 24-off", "hole").dice_used == 3
    on_bar = Position.from_points(BACKGAMMON, me={25: 1, 6: 14}, opp={6: 15})
    entered = parse_play(on_bar, (2, 5), "0/2 19/24", "hole")
    assert move_text(entered, "hole") == "bar/2 19/24"


def test_words_for_the_bar_off_and_a_pass() -> None:
    closed = Position.from_points(
        BACKGAMMON, me={25: 1, 6: 14}, opp={6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 5}
    )
    (passing,) = closed.plays((6, 5))
    assert move_text(passing) == "pass"
    for text in ("pass", "PASS", "no play", "No move.", "-", " -- ", "cannot move", "can't move"):
        assert parse_play(closed, (6, 5), text) == passing
    with pytest.raises(IllegalPlay, match="no legal play, the turn passes"):
        parse_play(closed, (6, 5), "6/1")
    on_bar = Position.from_points(BACKGAMMON, me={25: 2, 6: 13}, opp={6: 15})
    for text in ("bar/23 bar/20", "25/20, 25/23", "B/20 b/23", "Bar-20 Bar-23"):
        assert str(parse_play(on_bar, (5, 2), text)) == "bar/20 bar/23"
    bearing = parse_points(BACKGAMMON, "6:2 5:2 | 24:2")
    for text in ("6/off 5/off", "6/0 5-0", "5/OFF 6/o"):
        assert str(parse_play(bearing, (6, 5), text)) == "6/off 5/off"


def test_stars_choose_between_routes() -> None:
    # 24/13 over 18 hits, over 19 does not.
    position = parse_points(BACKGAMMON, "24:2 6:13 | 7:1 3:14")
    over = {move_text(play): play for play in position.plays((6, 5))}
    assert over["24/13"].hits == (False, False)
    assert parse_play(position, (6, 5), "24/13") == over["24/13"]
    assert parse_play(position, (6, 5), "24/18/13") == over["24/18*/13"]
    assert parse_play(position, (6, 5), "24/18*/13") == over["24/18*/13"]
    assert parse_play(position, (6, 5), "24/19*/13*") == over["24/13"]
    # Both routes hit, so 24/13 fits two results and says neither.
    both = parse_points(BACKGAMMON, "24:2 6:13 | 7:1 6:1 3:13")
    with pytest.raises(AmbiguousPlay, match=r"fits 2 legal plays: 24/18\*/13; 24/19\*/13"):
        parse_play(both, (6, 5), "24/13")
    with pytest.raises(AmbiguousPlay, match=r"1/6\*/12; 1/7\*/12"):
        parse_play(both, (6, 5), "1/12", "hole")


def test_a_star_goes_to_a_checker_that_stays() -> None:
    position = parse_points(BACKGAMMON, "8:3 2:12 | 20:1 1:14")
    texts = {move_text(play) for play in position.plays((3, 3))}
    assert "8/2 8/5*(2)" in texts
    assert "8/5*/2(2)" in texts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty move text"),
        ("24", r"at character 3: expected '/'.*found the end"),
        ("24/", "at character 4: expected a point"),
        ("24/18 x3", r"at character 7: expected a point 1..24, bar or off, found 'x3'"),
        ("24/18(0)", "expected a count"),
        ("26/20", "at character 1"),
        ("24/18**", "at character 7"),
        ("barn/20", "at character 1"),
    ],
)
def test_unreadable_text_says_where(text: str, message: str) -> None:
    with pytest.raises(InvalidText, match=message):
        parse_play(Position.start(BACKGAMMON), (6, 5), text)


@pytest.mark.parametrize(
    ("me_and_opp", "roll", "text", "reason"),
    [
        ("24:2 6:13 | 13:15", (6, 5), "pass", "it cannot pass: 2 dice must be played"),
        ("24:2 6:13 | 13:15", (6, 5), "18/24", "does not go forwards"),
        ("24:2 6:13 | 13:15", (6, 5), "24/24", "does not go forwards"),
        ("24:2 6:13 | 13:15", (6, 5), "24/18", "it uses 1 die, but 2 must be played"),
        ("24:2 6:13 | 13:15", (6, 5), "13/7 24/19", "no checker of the player to move is on 13"),
        ("24:2 6:13 | 13:15", (1, 1), "24/23(3) 6/5", "only 2 of the player's checkers on 24"),
        ("24:2 6:13 | 13:15", (6, 5), "24/20 6/1", "24/20 is 4 pips, which the dice do not make"),
        ("24:2 6:13 | 7:15", (6, 5), "24/18 6/1", "point 18 is closed"),
        ("24:2 6:13 | 6:15", (5, 5), "24/14 6/1", "the landing between, 19, is closed"),
        ("24:2 6:13 | 6:7 7:8", (6, 5), "24/13", "the landing between, 18 and 19, is closed"),
        ("24:2 6:13 | 13:15", (6, 5), "24/13 6/1", "it moves 16 pips, the roll has 11"),
        ("24:2 6:13 | 13:15", (6, 5), "24/18 6/1 6/1", "it moves 16 pips, the roll has 11"),
        ("24:2 6:13 | 13:15", (6, 5), "24/18 6/off", "all checkers must be home"),
        ("6:13 3:2 | 13:15", (5, 4), "3/off 6/2", "a die larger than 3 bears off"),
        ("bar:1 6:14 | 13:15", (6, 5), "6/1", "checkers on the bar enter first"),
        ("bar:2 6:13 | 13:15", (6, 5), "bar/19 6/1", "checkers on the bar enter first"),
        ("24:15 | 13:15", (1, 1), "24/23(5)", "5 moves; a turn has 4 steps at most"),
    ],
)
def test_illegal_plays_say_why(
    me_and_opp: str, roll: tuple[int, int], text: str, reason: str
) -> None:
    with pytest.raises(IllegalPlay, match=reason):
        parse_play(parse_points(BACKGAMMON, me_and_opp), roll, text)


def test_the_larger_die_must_be_played() -> None:
    # Either die can be played, never both.
    position = parse_points(BACKGAMMON, "18:1 | 18:2 1:13")
    assert [str(play) for play in position.plays((6, 5))] == ["18/12"]
    with pytest.raises(IllegalPlay, match="the larger die, 6, can be played and must be"):
        parse_play(position, (6, 5), "18/13")


def test_illegal_by_a_disputed_rule_names_the_rule() -> None:
    with pytest.raises(IllegalPlay, match=r"head rule \(head_rule=classic\): 2 checkers"):
        parse_play(Position.start(NARDY), (6, 5), "24/18 24/19")
    # Six points 20..15 with every enemy checker behind them.
    wall = parse_points(NARDY, "24:8 20:1 19:1 18:1 17:1 16:2 13:1 | 22:15")
    with pytest.raises(IllegalPlay, match=r"prime rule \(prime_rule=ahead\)"):
        parse_play(wall, (1, 2), "16/15 24/22")
    hide = variant("backgammon", hit_run="no_hide")
    position = parse_points(hide, "8:1 3:1 2:13 | 20:1 1:14")
    with pytest.raises(IllegalPlay, match=r"hit rule \(hit_run=no_hide\)"):
        parse_play(position, (3, 2), "8/5*/3")


def test_unknown_numbering_is_refused() -> None:
    start = Position.start(NARDY)
    with pytest.raises(ConfigError, match="choose from distance, hole"):
        board_text(start, "holes")
    with pytest.raises(ConfigError, match="choose from distance, hole"):
        parse_play(start, (6, 5), "24/13", "Distance")

"""Texts of positions: boards, point lists and ids read back exactly; bad ones are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl.errors import ConfigError, InvalidPosition, InvalidText
from nardy_rl.notation import (
    board_text,
    from_gnubg_id,
    from_id,
    from_xgid,
    parse_board,
    parse_points,
    parse_xgid,
    points_text,
    to_gnubg_id,
    to_id,
    to_xgid,
)
from nardy_rl.notation.boards import Side
from nardy_rl.notation.numbering import across
from nardy_rl.rules import Position, Rules, variant
from tests.situations import HITTING, NUMBERINGS, SIDES, situations, views

NARDY = variant("long_nardy")
BACKGAMMON = variant("backgammon")

# Boards and lists of points


@settings(max_examples=300, deadline=None)
@given(views(), st.sampled_from(NUMBERINGS), st.sampled_from(SIDES))
def test_boards_read_back(position: Position, numbering: str, me: Side) -> None:
    text = board_text(position, numbering, me)
    assert parse_board(position.rules, text) == position
    indented = "\n".join("    " + line + "  " for line in text.splitlines())
    assert parse_board(position.rules, f"\n{indented}\n\n") == position


def test_pending_and_missing_parts_of_a_board() -> None:
    ladder = replace(Position.start(NARDY), pending=37)
    assert parse_board(NARDY, board_text(ladder)) == ladder
    position = parse_points(BACKGAMMON, "13:5 6:3 | bar:1 6:5")
    body = "\n".join(board_text(position).splitlines()[1:-1])
    assert parse_board(BACKGAMMON, body) == position
    no_counts = body.replace("O off 9", "").replace("X off 7", "")
    assert no_counts != body
    assert parse_board(BACKGAMMON, no_counts) == position


def test_the_board_does_not_turn_with_the_player() -> None:
    start = Position.start(NARDY)
    after = start.plays((6, 5))[0].after
    seen_by_x, seen_by_o = board_text(after, me="X"), board_text(after.flip(), me="O")
    assert seen_by_x.splitlines()[1:] == seen_by_o.splitlines()[1:]
    assert seen_by_x.startswith("long_nardy: O to play, seen by X; first turn to come: O")
    assert seen_by_o.startswith("long_nardy: O to play; first turn to come: O")


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("+13-14", "+14-13", InvalidText, "edge lines"),
        ("\n+12-11", "\n12-11", InvalidText, "found 1 edge lines"),
        ("| O           X", "| O  ?        X", InvalidText, r"cannot read the stack on 11: \?"),
        ("| O           X", "| O  X        X", InvalidPosition, "16|wrong count"),
        ("long_nardy: X", "backgammon: X", InvalidText, "the board is of 'backgammon'"),
        ("long_nardy: X to play", "white to play", InvalidText, "cannot read the header"),
        ("15 ", "5  ", InvalidText, "cannot read the stack"),
        ("|   |                ", "|       ", InvalidText, "line 1 of the board"),
    ],
)
def test_bad_boards_are_refused(old: str, new: str, error: type[ValueError], message: str) -> None:
    text = board_text(parse_points(NARDY, "24:14 8:1 | 24:15"))
    assert old in text
    with pytest.raises(error, match=message):
        parse_board(NARDY, text.replace(old, new, 1))


@settings(max_examples=150, deadline=None)
@given(situations(), st.sampled_from(NUMBERINGS))
def test_point_lists_read_back(situation: tuple[Position, tuple[int, int]], numbering: str) -> None:
    position, _ = situation
    listed = points_text(position, numbering)
    again = parse_points(
        position.rules,
        listed,
        numbering,
        first_turn=position.first_turn,
        started=position.started,
    )
    # The rest of the state is not in a list.
    flags = again.flags | position.flags & ~7
    assert replace(again, flags=flags, pending=position.pending) == position


def test_point_lists_in_both_numberings() -> None:
    position = parse_points(BACKGAMMON, "6:5, 13:3 BAR:1 | 24:2 Off:13")
    assert points_text(position) == "bar:1 13:3 6:5 off:6 | 24:2 off:13"
    assert points_text(position, "hole") == "bar:1 12:3 19:5 off:6 | 1:2 off:13"
    assert parse_points(BACKGAMMON, "0:1 12:3 19:5 | 1:2 25:13", "hole") == position
    for text, error in (
        ("24:15", InvalidText),
        ("24:15 | 24;15", InvalidText),
        ("24:16 | 24:15", InvalidPosition),
        ("24:15 | 26:15", InvalidPosition),
        ("24:7 24:8 | 23:15", InvalidPosition),
        ("24:15 | 1:15", InvalidPosition),
        ("24:15 | 24:15 | ", InvalidText),
    ):
        with pytest.raises(error):
            parse_points(BACKGAMMON, text)


@pytest.mark.parametrize("rules", [NARDY, BACKGAMMON], ids=lambda rules: rules.name)
def test_across_is_its_own_inverse(rules: Rules) -> None:
    assert [across(rules, across(rules, point)) for point in range(1, 25)] == list(range(1, 25))


# Ids


@settings(max_examples=300, deadline=None)
@given(views(), st.integers(0, 255))
def test_ids_read_back(position: Position, pending: int) -> None:
    position = replace(position, pending=pending)
    text = to_id(position)
    assert from_id(text) == position
    assert from_id(text, position.rules) == position
    pins = int((position.points < 0).sum())  # a bit each
    assert len(text.rpartition(".")[2]) <= 18 + (pins + 5) // 6
    assert all(c.isascii() and (c.isalnum() or c in "-_.~") for c in text)


@settings(max_examples=60, deadline=None)
@given(views(), st.integers(0, 30), st.sampled_from("ABCXYZabcxyz0123456789-_"))
def test_a_wrong_character_is_noticed(position: Position, place: int, letter: str) -> None:
    text = to_id(position)
    place %= len(text)
    wrong = text[:place] + letter + text[place + 1 :]
    if wrong != text:
        with pytest.raises(InvalidText):
            from_id(wrong)
    dot = text.index(".")
    for at in range(dot + 2, len(text) - 3):
        swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if swapped != text:
            with pytest.raises(InvalidText, match="mistyped"):
                from_id(swapped)


def test_ids_carry_rules_and_stay_the_same() -> None:
    # Written down once: a change would make every stored id unreadable.
    assert to_id(Position.start(NARDY)) == "long_nardy.1BByYLotaNGV_vOP"
    assert to_id(Position.start(BACKGAMMON)) == "backgammon.1BAVvln8HOi5m3s"
    strict = variant("long_nardy", head_rule="strict", koks="none_home")
    text = to_id(Position.start(strict))
    assert text.startswith("long_nardy~head_rule-strict~koks-none_home.")
    assert from_id(text).rules == strict
    assert from_id(text, NARDY).rules == NARDY
    with pytest.raises(InvalidText, match="position of 'long_nardy', the rules are 'backgammon'"):
        from_id(text, BACKGAMMON)
    for wrong in ("", "4HPwATDgc/ABMA", "long_nardy.", "long_nardy.2BByYLotaNGV_vOP", "x.1AAAA"):
        with pytest.raises(InvalidText):
            from_id(wrong)
    with pytest.raises(InvalidPosition, match="me has 14 checkers, 15 are needed"):
        to_id(Position(NARDY, np.zeros((2, 26), np.int8) + np.eye(1, 26, 24, dtype=np.int8) * 14))


GNUBG_BOARDS = {
    # Boards printed by GNU Backgammon, X to roll; the last from a resigned game.
    "4HPwATDgc/ABMA": "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5",
    "sOfgEwDg8+AIBg": "21:2 16:1 13:3 8:4 6:5 | 15:1 13:5 8:3 6:4 5:2",
    "/z4AADBsuxsEAA": "13:1 8:2 7:3 6:3 5:2 4:2 3:2 | 24:2 2:5 1:8",
    "AgAAPBcAAAAAAA": "4:1 3:3 1:4 off:7 | 2:1 off:14",
}


@pytest.mark.parametrize(("text", "points"), GNUBG_BOARDS.items())
def test_known_gnubg_ids(text: str, points: str) -> None:
    position = parse_points(BACKGAMMON, points)
    assert to_gnubg_id(position) == text
    assert from_gnubg_id(text) == position
    assert from_gnubg_id(f" GNU Backgammon  Position ID: {text}\n") == position
    assert from_gnubg_id(f"{text}:cAkAAAAAAAAA") == position
    assert to_gnubg_id(replace(position.flip(), moved=True)) == text


@settings(max_examples=200, deadline=None)
@given(views(HITTING), st.sampled_from((1, -1)))
def test_exchanged_ids_read_back(position: Position, turn: int) -> None:
    to_move = position.flip() if position.moved else position
    assert from_gnubg_id(to_gnubg_id(position), position.rules) == to_move
    assert from_xgid(to_xgid(position, turn), position.rules) == to_move


@settings(max_examples=100, deadline=None)
@given(situations((BACKGAMMON, variant("nackgammon"))))
def test_gnubg_writes_the_same_ids(situation: tuple[Position, tuple[int, int]]) -> None:
    gnubg = pytest.importorskip("gnubg_nn")
    position, _ = situation
    mine, his = (row[1:].tolist() for row in position.points)
    assert gnubg.position_id([his, mine]) == to_gnubg_id(position)


def test_known_xgids() -> None:
    start = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
    assert to_xgid(Position.start(BACKGAMMON)) == start
    assert from_xgid(start) == Position.start(BACKGAMMON)
    # Fields as published by users of eXtreme Gammon; 7-point match, X to play 3-1 at 6-4.
    known = parse_xgid("XGID=--A-bBBBB--BbB-----dbbc-B-:0:0:1:31:6:4:1:7:10")
    assert (known.roll, known.score_x, known.score_o, known.match_length) == ((3, 1), 6, 4, 7)
    mine = "2:1 5:2 6:2 7:2 8:2 11:2 13:2 24:2"
    assert known.position == parse_points(BACKGAMMON, f"{mine} | 21:2 13:2 6:4 5:2 4:2 3:3")
    assert str(known) == "XGID=--A-bBBBB--BbB-----dbbc-B-:0:0:1:31:6:4:1:7:10"
    # O to play: the letters stay X's and O's, the position is O's.
    turned = parse_xgid(str(replace(known, position=known.position.flip().flip(), turn=1)))
    assert turned == known
    for_o = from_xgid("-b----E-C---eE---c-e----B-:0:0:-1:00")
    assert for_o == Position.start(BACKGAMMON)
    lopsided = parse_points(BACKGAMMON, "bar:1 6:14 | bar:2 8:13")
    assert to_xgid(lopsided, -1, (6, 5)).startswith(
        "XGID=b----------------M-n-----A:0:0:-1:65:"[:5]
    )
    assert from_xgid(to_xgid(lopsided, -1)) == lopsided
    assert from_xgid(to_xgid(lopsided)) == lopsided
    assert parse_xgid("-b----E-C---eE---c-e----B-:1:1:1:D:0:0:0:0:10").roll is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4HPwATDgc/ABM",
        "4HPwATDgc/ABMB",
        "4HPwATDgc/ABMA4HPw",
        "////////////AA",
        "4HPwATDgc!ABMA",
    ],
)
def test_bad_gnubg_ids_are_refused(text: str) -> None:
    with pytest.raises((InvalidText, InvalidPosition)):
        from_gnubg_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "XGID=",
        "XGID=-b----E-C---eE---c-e----B",
        "XGID=-b----E-C---eE---c-e----B-:0:0:2:00",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:71",
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10:1",
        "XGID=Ab----E-C---eE---c-e----A-",
        "XGID=-b----P-C---eE---c-e----B-",
    ],
)
def test_bad_xgids_are_refused(text: str) -> None:
    with pytest.raises((InvalidText, InvalidPosition)):
        from_xgid(text)


def test_games_without_exchanged_ids_say_so() -> None:
    start = Position.start(NARDY)
    for write in (to_gnubg_id, to_xgid):
        with pytest.raises(ConfigError, match="long_nardy has no GNUBG id or XGID"):
            write(start)
    for text, read in (("4HPwATDgc/ABMA", from_gnubg_id), ("-" * 26, from_xgid)):
        with pytest.raises(ConfigError, match="use to_id and from_id"):
            read(text, NARDY)
    with pytest.raises(ValueError, match="turn=0"):
        to_xgid(Position.start(BACKGAMMON), 0)

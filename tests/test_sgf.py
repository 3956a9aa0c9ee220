"""GNU Backgammon's files (.sgf): ours read by it, its own read by us, and what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.records import CubeEvent, Decision, Result, Terms, mat, read_games, sgf
from nardy_rl.records.files import write_games
from nardy_rl.rules import variant
from tests.test_mat import DATA, GNUBG, gnubg, match_to_three, played


@pytest.mark.parametrize("name", ["backgammon", "nackgammon", "hypergammon"])
def test_games_come_back(name: str) -> None:
    games = played(name, 2)
    assert sgf.read(sgf.write(games)) == tuple(replace(game, seed=None) for game in games)


def test_a_match_with_a_cube_comes_back() -> None:
    games = match_to_three()
    text = sgf.write(games)
    assert sgf.read(text) == games
    assert "MI[length:3][game:1][ws:2][bs:0]" in text
    assert "RU[Crawford:CrawfordGame]RE[B+1R]" in text


def test_letters_are_white_s_points() -> None:
    # As GNU Backgammon writes the same moves: White's 24/18 18/14, Black's 8/5 6/5.
    game = match_to_three()[0]
    nodes = sgf.write([game]).splitlines()
    assert nodes[1:] == [";B[31qtst]", ";W[double]", ";B[take]", ";W[64xrrn])"]


def test_a_beaver_is_a_double_that_answers() -> None:
    game = replace(
        match_to_three()[0],
        terms=Terms(cube="standard", beavers=True, jacoby=True),
        result=Result(0, "unfinished"),
        events=(
            Decision(1, (3, 1), "8/5 6/5"),
            CubeEvent(0, "double"),
            CubeEvent(1, "beaver"),
            Decision(0, (6, 4), "24/14"),
        ),
    )
    assert sgf.read(sgf.write([game])) == (game,)
    theirs = read_games(DATA / "gnubg_beaver.sgf")[0]
    assert theirs.events == game.events
    assert theirs.terms == game.terms


def test_a_match_of_gnu_backgammon_is_the_one_of_its_text() -> None:
    games, texts = read_games(DATA / "gnubg_match.sgf"), read_games(DATA / "gnubg_match.mat")
    assert games == texts


@pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed")
def test_gnu_backgammon_reads_ours_and_writes_the_same(tmp_path: Path) -> None:
    for place, games in enumerate((played(games=2), match_to_three(), played("nackgammon", 1))):
        ours, theirs = tmp_path / f"ours{place}.sgf", tmp_path / f"theirs{place}.sgf"
        write_games(ours, games)
        gnubg(f"load match {ours}", f"save match {theirs}")
        back = read_games(theirs)
        assert [game.events for game in back] == [game.events for game in games]
        for name in ("rules", "score", "players", "result", "crawford_game"):
            assert [getattr(g, name) for g in back] == [getattr(g, name) for g in games], name


def test_names_are_escaped() -> None:
    games = [replace(game, players=("A]\\:b", "(;W[x])")) for game in match_to_three()]
    assert sgf.read(sgf.write(games)) == tuple(games)


TEXT = sgf.write(match_to_three())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (TEXT, "", "no games in it"),
        (TEXT, "hello", "line 1: expected '(;' and a game, found 'hello'"),
        ("GM[6]", "GM[1]", "game 1: GM['1'] is not backgammon"),
        ("RU[Crawford]", "RU[Hypergammon1]", "hypergammon of one or two"),
        (";B[31qtst]", ";B[31qtss]", "game 1, move 1 (seat 1, 3-1): '6/6' does not go"),
        (";B[31qtst]", ";B[37qtst]", "game 1: move 1: B[37qtst] cannot be read"),
        (";B[31qtst]", ";B[31qtst]W[31qtst]", "two moves in one node"),
        (";B[31qtst]", ";B[31qtst]B[31qtst]", "B is there already"),
        (";B[31qtst]", ";AB[a];B[31qtst]", "AB: a position set by hand"),
        (";B[31qtst]", "(;B[31qtst])", "a game without variations"),
        (";B[31qtst]", ";B31", "'[' and a value of B"),
        (";W[double]", ";W[redouble]", "cannot be read"),
        (";B[take]", ";B[drop]", "game 1, move 2 (seat 0, 6-4): the game is over"),
        ("RE[W+2R]", "RE[W+9R]", "score 9 (points of seat 0) does not fit"),
        ("RE[W+2R]", "RE[white]", "RE[white] cannot be read"),
        ("MI[length:3]", "MI[length:x]", "MI[length:x] cannot be read"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidText) as caught:
        sgf.read(TEXT.replace(old, new, 1))
    assert said in str(caught.value)


def test_a_file_that_ends_early_is_refused() -> None:
    for stop in range(0, len(TEXT), 37):
        try:
            games = sgf.read(TEXT[:stop])
        except InvalidText:
            continue
        assert len(games) < 3


def test_what_the_format_cannot_say_is_refused() -> None:
    game = match_to_three()[0]
    with pytest.raises(ConfigError, match="it holds backgammon, nackgammon, hypergammon"):
        sgf.write([replace(game, rules=variant("long_nardy"))])
    with pytest.raises(ConfigError, match="whole numbers"):
        sgf.write([replace(game, score=(0.5, 0))])
    assert mat.read(mat.write([game])) == sgf.read(sgf.write([game]))

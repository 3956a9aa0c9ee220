"""Match texts (.mat): ours read by others, others' read by us, and what is wrong with them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gvformat.game_reconstructor import reconstruct_decisions  # type: ignore[import-untyped]
from gvformat.mat_parser import parse_mat_file  # type: ignore[import-untyped]

from nardy_rl.arena.recording import play_and_record
from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.players import make_player
from nardy_rl.records import CubeEvent, Decision, GameRecord, Result, Terms, mat, read_games, replay
from nardy_rl.records.files import write_games
from nardy_rl.rules import variant

DATA = Path(__file__).parent / "data"
GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")


def gnubg(*commands: str) -> None:
    """Have the real GNU Backgammon do something."""
    assert GNUBG is not None
    script = "\n".join(["set confirm new off", "set display off", *commands, "quit", "y", ""])
    subprocess.run([GNUBG, "-t", "-q"], input=script, text=True, capture_output=True, timeout=60)


def played(name: str = "backgammon", games: int = 3) -> tuple[GameRecord, ...]:
    rules = variant(name)
    a, b = make_player("pips", rules), make_player("random", rules)
    return play_and_record(rules, a, b, games, seed=5, names=("Anna B.", "Bert"))


def match_to_three() -> tuple[GameRecord, ...]:
    """A match to 3: a take and a resignation, the Crawford game dropped by nobody, then a pass."""
    first = GameRecord(
        rules=variant("backgammon"),
        players=("Anna", "Bert"),
        starter=1,
        events=(
            Decision(1, (3, 1), "8/5 6/5"),
            CubeEvent(0, "double"),
            CubeEvent(1, "take"),
            Decision(0, (6, 4), "24/14"),
        ),
        result=Result(2, "resigned"),
        terms=Terms(length=3, cube="standard", crawford=True),
    )
    second = replace(
        first,
        starter=0,
        events=(Decision(0, (2, 1), "13/11 6/5"), Decision(1, (4, 1), "24/20* 20/19")),
        result=Result(-1, "resigned"),
        number=2,
        score=(2, 0),
        crawford_game=True,
    )
    second = replace(
        second, events=(Decision(0, (2, 1), "13/11 6/5"), Decision(1, (4, 2), "8/4 6/4"))
    )
    third = replace(
        first,
        events=(Decision(1, (3, 1), "8/5 6/5"), CubeEvent(0, "double"), CubeEvent(1, "pass")),
        result=Result(1, "passed cube"),
        number=3,
        score=(2, 1),
    )
    return first, second, third


@pytest.mark.parametrize("name", ["backgammon", "nackgammon", "hypergammon"])
def test_games_come_back(name: str) -> None:
    games = played(name, 2)
    found = mat.read(mat.write(games))
    assert found == tuple(replace(game, seed=None) for game in games)


def test_a_match_with_a_cube_comes_back() -> None:
    games = match_to_three()
    text = mat.write(games)
    assert mat.read(text) == games
    assert " 3 point match\n" in text
    assert "Doubles => 2" in text
    assert "Wins 1 point and the match" in text


def test_an_independent_reader_sees_our_positions() -> None:
    # gvformat moves checkers by itself: its boards are compared with those of our replay.
    games = played(games=2)
    parsed = parse_mat_file(mat.write(games))
    assert (parsed["player1"], parsed["player2"]) == games[0].players
    assert (parsed["match_length"], parsed["jacoby_rule"]) == (0, False)
    for game, theirs in zip(games, parsed["games"], strict=True):
        assert (theirs["score1_start"], theirs["score2_start"]) == game.score
        seen = reconstruct_decisions(theirs, 0, *game.players)
        decisions = [one for one in seen["decisions"] if one["kind"] == "checker"]
        ours = [one for one in replay(game) if one.play.moves]
        moved = [one for one in decisions if one["board"] != one["board_played"]]
        assert len(ours) == len(moved) > 20
        for mine, their in zip(ours, moved, strict=True):
            assert (their["is_p1"], sorted(their["dice"])) == (
                mine.seat == 0,
                sorted(mine.play.roll),
            )
            for position, board in (
                (mine.position, their["board"]),
                (mine.play.after, their["board_played"]),
            ):
                me, opp = position.points.astype(int)
                np.testing.assert_array_equal(board[1:25], me[1:25] - opp[24:0:-1])
                assert (board[25], board[0]) == (me[25], opp[25])
        assert seen["game_result"]["points"] == abs(game.result.score)


def test_an_independent_reader_sees_our_cube() -> None:
    games = match_to_three()
    parsed = parse_mat_file(mat.write(games))
    assert parsed["match_length"] == 3
    cubes = []
    for place, theirs in enumerate(parsed["games"]):
        seen = reconstruct_decisions(theirs, 3, "Anna", "Bert", is_crawford=place == 1)
        asked = [one for one in seen["decisions"] if one["kind"] == "cube" and one["doubled"]]
        cubes.append([(one["doubler"], one["response"]) for one in asked])
    assert cubes == [[("Anna", "take")], [], [("Anna", "pass")]]


@pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed")
def test_gnu_backgammon_reads_ours_and_writes_the_same(tmp_path: Path) -> None:
    for place, games in enumerate((played(games=2), match_to_three())):
        ours, theirs = tmp_path / f"ours{place}.mat", tmp_path / f"theirs{place}.mat"
        write_games(ours, games)
        gnubg(f"import mat {ours}", f"export match mat {theirs}")
        back = read_games(theirs)
        assert [game.events for game in back] == [game.events for game in games]
        assert [game.score for game in back] == [game.score for game in games]
        assert [game.players for game in back] == [game.players for game in games]


@pytest.mark.parametrize(
    ("name", "length", "results"),
    [
        ("gnubg_match", 7, [(1, "passed cube"), (-2, "resigned"), (24, "played out")]),
        ("gnubg_money", None, [(-2, "passed cube")]),
        ("gnubg_nackgammon", 3, [(2, "resigned"), (3, "resigned")]),
        ("gnubg_beaver", None, [(0, "unfinished")]),
    ],
)
def test_matches_of_gnu_backgammon_replay_legally(
    name: str, length: int | None, results: list[tuple[int, str]]
) -> None:
    games = read_games(DATA / f"{name}.mat")
    assert [(game.result.score, game.result.reason) for game in games] == results
    assert {game.terms.length for game in games} == {length}
    assert {game.players for game in games} == {("gnubg", "root")}
    assert mat.read(mat.write(games)) == games


def test_facts_of_a_match_of_gnu_backgammon() -> None:
    games = read_games(DATA / "gnubg_match.mat")
    third = games[2]
    assert third.score == (1, 2)
    assert [e.cube for e in third.events if isinstance(e, CubeEvent)] == ["double", "take"] * 3
    assert games[0].decisions[0] == Decision(1, (3, 1), "8/5 6/5")
    assert read_games(DATA / "gnubg_nackgammon.mat")[0].rules == variant("nackgammon")
    assert read_games(DATA / "gnubg_nackgammon.mat")[1].crawford_game
    beaver = read_games(DATA / "gnubg_beaver.mat")[0]
    assert [e.cube for e in beaver.events if isinstance(e, CubeEvent)] == ["double", "beaver"]


def test_what_other_programs_write_is_read() -> None:
    text = """
 1 point match

 Game 1
 Anna : 0                       Bert : 0
  1) 31: 8/5, 6/5               65: Cannot Move
"""
    with pytest.raises(InvalidText, match="it cannot pass: 2 dice must be played"):
        mat.read(text)
    text = text.replace("Cannot Move", "24/18/13")
    (game,) = mat.read(text)
    assert [one.play for one in game.decisions] == ["8/5 6/5", "24/13"]
    text = text.replace("1 point", "3 point") + "  2) bar\n"
    with pytest.raises(InvalidText, match="line 7: '2\\) bar' cannot be read"):
        mat.read(text)


TEXT = mat.write(match_to_three())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (TEXT, "", "no 'N point match' in it"),
        (" 3 point match", "", "the length of the match is missing above"),
        (" Game 1\n", "", "'Game 1' comes first"),
        (" 3 point match", f" 3 point match{' ' * 1000}", "a line has up to 1000"),
        (" Anna : 0", " Anna - 0", "is no score"),
        ("31: 8/5 6/5", "31: 8/5 6/4", "game 1, move 1 (seat 1, 3-1): '8/5 6/4' with 3-1: "),
        ("31: 8/5 6/5", "33: 8/5 6/3", "a double cannot begin here"),
        ("31: 8/5 6/5", "37: 8/5 6/5", "cannot be read"),
        ("Doubles => 2", "Doubles => 4", "the cube would be at 2 then"),
        ("Takes", "Tooks", "cannot be read"),
        ("Takes", "Drops", "game 1, move 2 (seat 0, 6-4): the game is over"),
        ("Wins 2 points", "Wins 3 points", "score 3 (points of seat 0) does not fit"),
        ("Wins 1 point and the match", "Wins 4 points", "wins 4 points by the file"),
        ("Drops", "Drops 31: 8/5", "cannot be read"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, said: str) -> None:
    assert old in TEXT
    with pytest.raises(InvalidText) as caught:
        mat.read(TEXT.replace(old, new, 1))
    assert said in str(caught.value)


def test_an_empty_turn_says_nothing() -> None:
    assert mat.read(TEXT.replace("  1) ", "  0) \n  1) ", 1)) == match_to_three()


def test_what_the_format_cannot_say_is_refused(tmp_path: Path) -> None:
    game = match_to_three()[0]
    tavla = play_and_record(
        variant("tavla"), *(make_player("random", variant("tavla")),) * 2, 1, seed=1
    )
    with pytest.raises(ConfigError, match="tavla cannot be written in this format; it holds backg"):
        mat.write(tavla)
    with pytest.raises(ConfigError, match="backgammon with hit_run=no_hide cannot be written"):
        mat.write([replace(game, rules=variant("backgammon", hit_run="no_hide"))])
    with pytest.raises(ConfigError, match="cube=dave cannot be written"):
        mat.write([replace(game, terms=Terms(cube="dave"))])
    with pytest.raises(ConfigError, match="without ':'"):
        mat.write([replace(game, players=("C:", "D"))])
    with pytest.raises(ConfigError, match="game 1 has other terms than game 1"):
        mat.write([game, replace(game, terms=Terms(length=5, cube="standard"))])
    with pytest.raises(ConfigError):
        write_games(tmp_path / "tavla.mat", tavla)
    assert list(tmp_path.iterdir()) == []

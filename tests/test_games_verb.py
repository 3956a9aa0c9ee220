"""`nardy-rl games`, and the records that play and analyse write and read."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.analysis import analyse_decisions, error_rates, read_decisions
from nardy_rl.arena import play_match
from nardy_rl.arena.recording import play_and_record
from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.players import make_player
from nardy_rl.records import read_games, write_games
from nardy_rl.rules import set_threads, variant
from tests.test_mat import match_to_three

SHIPPED = Path(__file__).parents[1] / "checkpoints"
NET = f"player={SHIPPED / 'backgammon'}"


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    yield
    set_threads(0)


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    """What the command printed; what it had to say against it where it failed."""
    assert cli.main([*words]) == status
    out, err = capsys.readouterr()
    if status:
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        return str(err)
    return str(out)


@pytest.fixture
def match(tmp_path: Path) -> Path:
    file = tmp_path / "match.mat"
    write_games(file, match_to_three())
    return file


def test_a_file_is_listed(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "games", str(match)).splitlines()
    assert len(lines) == 4
    first = " ".join(lines[1].split())
    assert first == "1 backgammon Anna Bert to 3 0:0 Bert 2 Anna wins 2 points (resigned)"
    assert "to 3, Crawford game" in lines[2]
    assert lines[3].rstrip().endswith("Anna wins 1 point (passed cube)")


def test_conversions_keep_everything(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = read_games(match)
    for source, target in ((".mat", ".sgf"), (".sgf", ".jsonl"), (".jsonl", ".mat")):
        new = match.with_suffix(target)
        words = ["overwrite=true"] if target == ".mat" else []
        assert f"written: {new}, 3 games" in said(
            capsys, "games", str(match.with_suffix(source)), f"to={new}", *words
        )
        assert read_games(new) == games


def test_played_games_are_those_of_the_arena(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "played.jsonl"
    words = ["games", "a=pips", "b=random", "variant=gul_bara", "seed=4", "threads=1"]
    said(capsys, *words, "games=3", f"to={file}")
    games = read_games(file)
    assert [game.number for game in games] == [1, 2, 3]
    assert games[0].players == ("pips", "random")
    assert {game.seed for game in games} == {4}
    # The arena plays the dice of game i in pair i, first with a on seat 0.
    rules = variant("gul_bara")
    a, b = make_player("pips", rules), make_player("random", rules)
    arena = play_match(rules, a, b, 6, seed=4)
    assert [g.result.score for g in games] == arena.played.score[:, 0].tolist()
    assert [len(g.decisions) for g in games] == arena.played.plies[:, 0].tolist()
    assert read_games(file) == play_and_record(rules, a, b, 3, seed=4)


def test_a_player_against_itself_is_two_players() -> None:
    rules = variant("long_nardy_2")
    pips = make_player("pips", rules)
    assert play_and_record(rules, pips, pips, 1)[0].players == ("pips", "pips (2)")


def test_a_game_that_is_broken_off_is_unfinished() -> None:
    rules = variant("backgammon")
    random = make_player("random", rules)
    games = play_and_record(rules, random, random, 2, ply_cap=5)
    assert [game.result.reason for game in games] == ["unfinished"] * 2
    assert [len(game.decisions) for game in games] == [5, 5]
    with pytest.raises(ConfigError, match="games=0 is not allowed"):
        play_and_record(rules, random, random, 0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "a file of games is missing, or a=PLAYER"),
        (["a=pips"], "b is missing"),
        (["b=pips"], "a is missing"),
        (["a=pips", "b=pips"], "to is missing"),
        (["x.mat", "y.mat"], "one file is read at a time"),
        (["x.mat", "games=3"], "games goes with playing"),
        (["nowhere.mat"], "nowhere.mat: No such file"),
        (["nowhere.txt"], "ends in .jsonl, .mat, .sgf"),
        (["x.mat", "to=x.gif"], "ends in .jsonl, .mat, .sgf"),
        (["x.mat", "overwrite=true"], "overwrite goes with to=OUT"),
        (["a=pips", "b=pips", "to=x.mat", "variant=tavla"], "tavla cannot be written"),
        (["a=pips", "b=pisp", "to=x.jsonl"], "b: "),
        (["a=pips", "b=pips", "to=x.jsonl", "game=3"], "did you mean games?"),
        (["a=pips", "b=pips", "to=x.jsonl", "games=0"], "whole numbers >= 1"),
    ],
)
def test_wrong_words_are_one_line(
    words: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in said(capsys, "games", *words, status=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b" 3 point match\n Game 1\n A : 0", b"(;"])
def test_broken_files_are_one_line(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".mat", ".sgf", ".jsonl"):
        file = tmp_path / f"broken{suffix}"
        file.write_bytes(content)
        out = tmp_path / f"out{suffix}"
        assert file.name in said(capsys, "games", str(file), f"to={out}", status=2)
        if content != b"(;" or suffix != ".jsonl":
            assert file.name in said(capsys, "analyse", f"game={file}", NET, status=2)
        assert not out.exists()


def test_a_file_that_is_there_stays(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = match.read_bytes()
    assert "overwrite=true" in said(capsys, "games", str(match), f"to={match}", status=2)
    assert "overwrite=true" in said(
        capsys, "play", "player=pips", "variant=backgammon", f"record={match}", status=2
    )
    assert match.read_bytes() == before


def test_help_names_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert "games       " in said(capsys, "--help")
    text = said(capsys, "games", "--help")
    for word in (".jsonl", ".mat", ".sgf", "overwrite=", "a=PLAYER b=PLAYER"):
        assert word in text


@pytest.mark.parametrize("name", ["backgammon", "gul_bara"])
def test_a_game_left_at_the_terminal_is_recorded(
    name: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "mine.jsonl"
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 4 + "quit\n"))
    words = ["play", "player=pips", f"variant={name}", "seed=11", "threads=1"]
    assert f"written: {file}" in said(capsys, *words, f"record={file}")
    (game,) = read_games(file)
    assert game.result.reason == "unfinished"
    assert game.players == ("you", "pips")
    assert game.seed == 11
    mine = [one for one in game.decisions if one.seat == 0 and one.play != "pass"]
    assert len(mine) == 4


def test_whole_games_at_the_terminal_are_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Choosing:
        """1 to every move; another game once."""

        games, said = 2, ""

        def isatty(self) -> bool:
            return False

        def fileno(self) -> int:
            raise OSError("no file")

        def readline(self) -> str:
            self.said += capsys.readouterr().out
            if self.said.endswith("another game? (y/n) "):
                self.games -= 1
                return "y\n" if self.games else "n\n"
            return "1\n"

    answers = Choosing()
    monkeypatch.setattr("sys.stdin", answers)
    file = tmp_path / "mine.jsonl"
    words = ["play", "player=pips", "variant=hypergammon", "seed=2", "threads=1"]
    assert cli.main([*words, f"record={file}"]) == 0
    games = read_games(file)
    assert len(games) == 2
    points = sum(game.result.score for game in games)
    assert f"points: {points:+g} for you" in answers.said + capsys.readouterr().out


def test_a_match_is_analysed_by_game_and_player(
    match: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["analyse", f"game={match}", NET, "worst=1", "threads=1"]
    text = said(capsys, *words, f"out={out}")
    decisions = read_decisions(match)
    assert [(one.game, one.move, one.player) for one in decisions] == [
        (1, 1, "Bert"),
        (1, 2, "Anna"),
        (2, 1, "Anna"),
        (2, 2, "Bert"),
        (3, 1, "Bert"),
    ]
    frame = analyse_decisions(decisions, SHIPPED / "backgammon")
    worst = frame.loc[frame["loss"].idxmax()]
    assert f"1. game {worst['game']}, move {worst['move']}: {worst['player']}" in text
    assert "by game:" in text
    assert len(list(out.glob("worst_01_*.svg"))) == 2
    rates = error_rates(frame, ("game", "player"))
    assert rates["decisions"].tolist() == [1, 1, 1, 1, 1]
    losses = frame[frame["player"] == "Anna"]["loss"]
    rate = error_rates(frame).loc["Anna", "error_rate"]
    np.testing.assert_allclose(rate, 1000 * losses.mean())


def test_rungs_are_analysed_without_luck(tmp_path: Path) -> None:
    rules = variant("gul_bara", ladder_from_turn="1")
    random = make_player("random", rules)
    games = play_and_record(rules, random, random, 1, seed=6)
    file = tmp_path / "ladder.jsonl"
    write_games(file, games)

    class Pips:
        """Values that are pips, for a variant without a net."""

        name = "pips"

        def equities(self, decisions):  # type: ignore[no-untyped-def]
            boards = decisions.legal.after.astype(np.float32)
            return (boards[:, 1] - boards[:, 0]) @ np.arange(26, dtype=np.float32)

    played = read_decisions(file)
    frame = analyse_decisions(played, Pips())
    rungs = [at for at, one in enumerate(played) if one.position.pending]
    assert rungs
    assert (frame["luck"].iloc[rungs] == 0).all()
    assert (frame["loss"] >= 0).all()


def test_a_file_of_two_variants_is_not_analysed(tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    game = match_to_three()[0]
    write_games(file, [game, replace(game, rules=variant("backgammon", hit_run="no_hide"))])
    with pytest.raises(ConfigError, match="of another variant"):
        read_decisions(file)
    line = json.loads(file.read_text().splitlines()[0])
    line["moves"][0]["play"] = "8/1"
    file.write_text(json.dumps(line))
    with pytest.raises(InvalidText, match="line 1: move 1"):
        read_decisions(file)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["games", "a=pips", "b=pips", "to=x.txt"], "to: x.txt"),
        (["games", "a=pips", "b=pips", "to=nowhere/x.jsonl"], "to: nowhere/x.jsonl"),
        (["games", "a=pips", "b=pips", "to=there.jsonl"], "to: there.jsonl is there already"),
        (["games", "a=pips", "b=pips", "variant=plakoto", "to=x.mat"], "to: "),
        (["play", "player=pips", "record=x.txt"], "record: x.txt"),
        (["play", "player=pips", "record=there.jsonl"], "record: there.jsonl is there already"),
        (["play", "player=pips", "record=nowhere/x.jsonl"], "record: nowhere/x.jsonl"),
        (["analyse", "position=abc", "roll=31", NET], "position: "),
        (["arena", "a=pips", "b=pips", "cube=dave", "mars_with_cube=x"], "mars_with_cube='x'"),
    ],
)
def test_what_is_refused_names_its_setting(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    field: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.jsonl").write_text("mine")
    assert said(capsys, *words, status=2).startswith(f"error: {field}")
    assert Path("there.jsonl").read_text() == "mine"


@pytest.mark.parametrize("ending", [".jsonl", ".mat", ".sgf"])
@pytest.mark.parametrize("verb", ["games", "analyse"])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, verb: str
) -> None:
    pipe = tmp_path / f"pipe{ending}"
    os.mkfifo(pipe)
    words = [str(pipe)] if verb == "games" else [f"game={pipe}", NET]
    assert "not a regular file" in said(capsys, verb, *words, status=2)


def test_files_that_were_cut_off_say_so(match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = match.with_name("cut.jsonl")
    said(capsys, "games", str(match), f"to={cut}")
    whole = cut.read_text()
    for length in (len(whole) // 2, len(whole) - 3):
        cut.write_text(whole[:length])
        error = said(capsys, "games", str(cut), status=2)
        assert "it ends too early; a whole game stands on each line" in error
        assert "line " in error
    cut.write_text(whole.replace('"game": ', '"game": ' + "9" * 5000, 1))
    assert "a number of too many digits" in said(capsys, "games", str(cut), status=2)


def test_two_matches_have_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["arena", "a=pips", "b=random", "variant=hypergammon", "match_length=1", "games=2"]
    out = said(capsys, *words)
    assert "nan" not in out
    assert out.count("(no interval from fewer than two pairs)") == 2

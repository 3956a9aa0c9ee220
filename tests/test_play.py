"""A game in the terminal: driven by texts, replayed from what was said."""

from __future__ import annotations

import builtins
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.analysis import analyse
from nardy_rl.cli.game import Game
from nardy_rl.notation import parse_play, parse_points
from nardy_rl.players import PipsPlayer
from nardy_rl.rules import Position, set_threads, variant
from nardy_rl.search import decisions_at

SHIPPED = Path(__file__).parents[1] / "checkpoints"


class Talk:
    """Runs the command with answers, one a line, and gives back what it said."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def __call__(self, answers: list[str], *words: str) -> str:
        self.monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{a}\n" for a in answers)))
        assert cli.main(["play", "threads=1", *words]) == 0
        return self.capsys.readouterr().out


@pytest.fixture
def talk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Talk:
    return Talk(capsys, monkeypatch)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    yield
    set_threads(0)


class Choosing:
    """Answers 1 to every move, n when asked for another game: what was asked is in the output."""

    def __init__(self, capsys: pytest.CaptureFixture[str], games: int = 1) -> None:
        self.capsys = capsys
        self.games = games
        self.said = ""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError("no file")

    def readline(self) -> str:
        self.said += self.capsys.readouterr().out
        if self.said.endswith("another game? (y/n) "):
            self.games -= 1
            return "y\n" if self.games else "n\n"
        return "1\n"


def whole_games(
    name: str,
    games: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *words: str,
    player: str = "pips",
) -> str:
    answers = Choosing(capsys, games)
    monkeypatch.setattr("sys.stdin", answers)
    assert cli.main(["play", f"player={player}", f"variant={name}", "threads=1", *words]) == 0
    return answers.said + capsys.readouterr().out


def replay(name: str, said: str) -> int:
    """The score for the person of a game told by `said`; checks each move by the rules."""
    rules = variant(name)
    position = Position.start(rules)
    pips = PipsPlayer(rules)
    mine = None
    turns = re.findall(
        r"^(?P<who>you|O) rolls? (?P<die1>\d)-(?P<die2>\d)(?P<rest>.*)\n(?: +1  (?P<first>.*))?",
        said,
        re.M,
    )
    assert len(turns) > 30
    for who, die1, die2, rest, first in turns:
        assert mine is None or mine != (who == "you"), "the turns alternate"
        mine = who == "you"
        roll = (int(die1), int(die2))
        plays = position.plays(roll)
        text = first if mine else rest.removeprefix(" and plays ")
        if "the turn passes" in rest:
            assert not plays[0].moves
            text = "pass"
        play = parse_play(position, roll, text)
        if not mine:
            dice, flags = np.array([roll], np.int8), np.array([position.flags], np.uint8)
            decisions = decisions_at(rules, position.points[None].copy(), flags, dice)
            row = int(pips.choose(decisions, dice, np.zeros(1, np.uint64))[0])
            assert play.after == plays[row].after
        position = play.after.flip()
    outcome = position.outcome()
    assert outcome is not None
    # The position is seen by the other side of who moved last.
    return -outcome.score if mine else outcome.score


@pytest.mark.parametrize("name", ["long_nardy", "backgammon"])
def test_a_whole_game_is_what_the_rules_say(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = whole_games(name, 1, capsys, monkeypatch, "seed=5")
    score = replay(name, said)
    won = score > 0
    points = "1 point" if abs(score) == 1 else f"{abs(score)} points"
    assert f"\n{'you win' if won else 'O wins'} {points}" in said
    expected = f"games: you won {int(won)}, lost {int(not won)}; points: {score:+d} for you"
    assert said.endswith(f"{expected}\n")
    assert f"{name}: over" in said


def test_games_add_up(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    said = whole_games("hypergammon", 6, capsys, monkeypatch, "seed=2", player="random")
    ends = re.findall(r"^(you win|O wins) (\d) point", said, re.M)
    assert len(ends) == 6
    assert {who for who, _ in ends} == {"you win", "O wins"}
    assert [int(n) for n in re.findall(r"^game (\d):", said, re.M)] == list(range(1, 7))
    scores = re.findall(r"^games: you won (\d), lost (\d); points: ([+-]\d+) for you", said, re.M)
    points = 0
    for number, (who, size) in enumerate(ends):
        points += int(size) if who == "you win" else -int(size)
        wins = sum(w == "you win" for w, _ in ends[: number + 1])
        assert scores[number] == (str(wins), str(number + 1 - wins), f"{points:+d}")
    again = whole_games("hypergammon", 6, capsys, monkeypatch, "seed=2", player="random")
    assert again == said


def test_refused_moves_are_explained(talk: Talk) -> None:
    # Seed 5: the person begins with 4-1.
    answers = ["24/18", "6/5", "99", "0", "x", "7/6", "24/23/19*/14", "13/ 8/", "1/2"]
    said = talk(answers, "player=pips", "variant=backgammon", "seed=5")
    assert "you roll 4-1\n" in said
    for reason in (
        "not played: '24/18' with 4-1: 24/18 is 6 pips, which the dice do not make",
        "not played: '6/5' with 4-1: it uses 1 die, but 2 must be played",
        "there is no play 99; the numbers go from 1 to 14",
        "there is no play 0; the numbers go from 1 to 14",
        "not played: cannot read 'x' at character 1",
        "not played: '7/6' with 4-1: no checker of the player to move is on 7",
        "not played: cannot read '13/ 8/' at character 7",
        "not played: '1/2' does not go forwards",
    ):
        assert reason in said
    # The text ended: that is leaving, and no game was finished.
    assert said.endswith("\nno game was finished\n")
    assert "O rolls" not in said


def test_the_head_rule_is_explained(talk: Talk) -> None:
    said = talk(["24/23 24/20"], "player=pips", "seed=5")
    assert "head rule (head_rule=classic): 2 checkers would leave the head" in said


def test_moves_can_be_typed_and_begun(talk: Talk) -> None:
    said = talk(["13/", "24/20,24/23", "quit"], "player=pips", "variant=backgammon", "seed=5")
    begun = said.split("plays that begin so:\n")[1].split("your move")[0].splitlines()
    assert begun == ["   5  13/8", "   6  13/9 8/7", "   7  13/9 6/5"]
    by_number = talk(["1", "quit"], "player=pips", "variant=backgammon", "seed=5")
    after = "O rolls"
    assert after in by_number
    assert said.split(after)[1] == by_number.split(after)[1]


def test_holes_and_the_other_seat(talk: Talk) -> None:
    words = ("player=pips", "variant=backgammon", "seed=5", "numbering=hole", "side=O")
    said = talk(["1/2 12/16", "quit"], *words)
    assert "you (O) begin" in said
    # X's 24, hole 1, is O's 1, hole 24.
    assert "+13-14-15-16-17-18------19-20-21-22-23-24-+" in said
    assert "X rolls" in said
    said = talk(["quit"], "player=pips", "seed=5", "side=O")
    board = said.split("first turn to come")[1].splitlines()
    # In nardy both go the same way, half a board apart.
    assert board[1] == "+-1--2--3--4--5--6-------7--8--9-10-11-12-+"
    assert board[13] == "+24-23-22-21-20-19------18-17-16-15-14-13-+"


def test_long_lists_come_in_pages(talk: Talk) -> None:
    # Seed 46: the person begins with a double.
    words = ("player=pips", "variant=tavla", "seed=46")
    said = talk(["more", "more", "more", "all", "quit"], *words)
    pages = [re.findall(r"^ +(\d+)  ", part, re.M) for part in said.split("your move: ")]
    every = [str(number) for number in range(1, 43)]
    # After the last page comes the first one.
    assert pages[:5] == [every[:16], every[16:32], every[32:], every[:16], every]
    assert "and 26 more" in said
    assert "and 10 more" in said


def test_hints_are_the_best_plays_with_their_numbers(talk: Talk) -> None:
    net = SHIPPED / "backgammon"
    words = ("player=pips", f"advisor={net}", "variant=backgammon", "seed=5")
    said = talk(["hint", "quit"], *words)
    frame = analyse(Position.start(variant("backgammon")), (4, 1), net)
    lines = said.split(f"best by {net}:\n")[1].splitlines()[:5]
    for text, (choice, row) in zip(lines, frame.head(5).iterrows(), strict=True):
        number, rest = text.split(None, 1)
        assert int(number) == int(str(choice)) + 1
        assert rest.startswith(row["play"])
        assert f"{row['equity']:+.3f}" in rest
    own = talk(["quit"], f"player={net}", "hints=true", "seed=5")
    assert own.split(f"best by {net}:\n")[1].splitlines()[:5] == lines
    assert "no hints: this player has no equities" in talk(["hint"], "player=pips", "seed=5")


def test_help_and_the_board_can_be_asked_for(talk: Talk) -> None:
    said = talk(["", "help", "board", "quit"], "player=random", "seed=5")
    assert said.count("type the number of a play") == 2
    assert said.count("long_nardy: X to play") == 2


def test_a_pass_is_explained(talk: Talk) -> None:
    game = Game(variant("backgammon"), PipsPlayer(variant("backgammon")), seed=5)
    game.position = parse_points(game.rules, "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:2 24:3")
    assert not game.position.plays((3, 1))[0].moves
    assert game.why_pass() == "no checker can enter from the bar"
    game.position = parse_points(game.rules, "24:2 6:13 | 5:15")
    assert game.why_pass() == "no checker can move"


def test_ctrl_c_leaves_with_the_score(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(prompt: str = "") -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(builtins, "input", interrupted)
    assert cli.main(["play", "player=pips", "seed=5", "threads=1"]) == 130
    out, err = capsys.readouterr()
    assert out.endswith("\nno game was finished\n")
    assert err == ""


def test_a_line_that_is_no_text_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\nquit\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", raw)
    assert cli.main(["play", "player=pips", "seed=5", "threads=1"]) == 0
    assert "not played: cannot read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "player is missing"),
        (["player=pisp"], "player: unknown player 'pisp' (did you mean pips?)"),
        (["player=pips", "side=Y"], "side: 'Y' is not allowed; allowed: X, O"),
        (["player=pips", "seed=-1"], "seed: '-1'"),
        (["player=pips", "hints=yes"], "true, false"),
        (["player=pips", "hints=true"], "advisor=PATH"),
        (["player=pips", "advisor=random"], "advisor: random has no equities"),
        (["player=pips", "numbering=points"], "did you mean point?"),
        (["player=pips", "variant=chess"], "unknown variant 'chess'"),
        (["player=pips", f"advisor={SHIPPED / 'backgammon'}"], "advisor: "),
        (["player=pips", "variant.options.head_rul=free"], "head_rule"),
        (["player"], "expected name=value"),
        (["palyer=pips"], "did you mean player"),
    ],
)
def test_wrong_words_are_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["play", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert expected in err

"""The external player of GNU Backgammon: FIBS boards, answers, a game against the real one."""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from nardy_rl.cli import main
from nardy_rl.cli.serve import answer, converse, parse_fibs
from nardy_rl.errors import InvalidPosition, InvalidText
from nardy_rl.notation import parse_play
from nardy_rl.players import make_valuer
from nardy_rl.rules import Position, variant

RULES = variant("backgammon")
NET = str(Path(__file__).parents[1] / "checkpoints" / "backgammon")
START = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")


def fibs(
    board: str = START,
    dice: str = "3:1",
    doubled: int = 0,
    match: str = "1:0:0",
    cube: str = "1:1:1",
) -> str:
    tail = f"1:{dice}:0:0:{cube}:{doubled}:1:-1:0:25:0:0:0:0:2:0:0:0"
    return f"board:You:Other:{match}:{board}:{tail}\n"


def test_the_start_is_read() -> None:
    read = parse_fibs(fibs(), RULES)
    assert (read.position.points == Position.start(RULES).points).all()
    assert read.roll == (3, 1)
    assert not read.doubled


def test_bars_and_checkers_off_are_read() -> None:
    board = "-1:0:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-4:0:0:0:0:0:1"
    points = parse_fibs(fibs(board), RULES).position.points
    assert points[:, 25].tolist() == [1, 1]
    assert points[:, 0].tolist() == [1, 2]
    assert points[1, 25 - 12] == 5
    assert points[0, 13] == 5


@pytest.mark.parametrize(
    "text", ["", "board:a:b:1", fibs(dice="3:0"), fibs(dice="7:1"), fibs(START.replace("5", "x"))]
)
def test_what_is_no_board_is_refused(text: str) -> None:
    with pytest.raises(InvalidText):
        parse_fibs(text, RULES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"match": "-1:0:0"}, "match length -1"),
        ({"match": "5:5:0"}, "a score of 5 in a match to 5"),
        ({"match": "5:0:7"}, "a score of 7 in a match to 5"),
        ({"match": "0:-1:0"}, "a score of -1"),
        ({"cube": "3:1:1"}, "the cube at 3; allowed: 1, 2, 4"),
        ({"cube": "0:1:1"}, "the cube at 0"),
        ({"cube": "-2:1:1"}, "the cube at -2"),
        ({"cube": "1:2:1"}, "2 for may double; allowed: 0, 1"),
        ({"cube": "1:1:-1"}, "-1 for may be doubled"),
        ({"doubled": 2}, "2 for was doubled"),
    ],
)
def test_senseless_matches_and_cubes_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidText, match=message):
        parse_fibs(fibs(**changes), RULES)


@pytest.mark.parametrize("match", ["0:0:0", "0:12:3", "9999:100:0", "7:6:5"])
@pytest.mark.parametrize("cube", ["1:1:1", "64:0:1"])
def test_matches_and_cubes_that_there_are(match: str, cube: str) -> None:
    assert parse_fibs(fibs(match=match, cube=cube), RULES).roll == (3, 1)


def test_too_many_checkers_are_refused() -> None:
    with pytest.raises(InvalidPosition):
        parse_fibs(fibs(START.replace("5", "9")), RULES)


def test_answers() -> None:
    valuer = make_valuer(NET, RULES)
    start = Position.start(RULES)
    parse_play(start, (3, 1), answer(fibs(), RULES, valuer))  # raises where it is not legal
    assert answer(fibs(dice="0:0"), RULES, valuer) == "roll"
    assert answer(fibs(dice="0:0", doubled=1), RULES, valuer) == "take"
    won = "0:0:1:0:0:0:0:0:0:0:0:0:-15:0:0:0:0:0:0:0:0:0:0:0:0:0"
    assert answer(fibs(won, "0:0", 1), RULES, valuer) == "take"
    lost = "0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:15:0"
    assert answer(fibs(lost, "0:0", 1), RULES, valuer) == "drop"


def test_bad_settings_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["player=heuristic"], [f"player={NET}", "port=x"]):
        assert main(["serve", *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed (apt-get install gnubg)")
def test_a_whole_game_against_gnubg(tmp_path: Path) -> None:
    valuer = make_valuer(NET, RULES)
    lines: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)

        def serve() -> None:
            connection, _ = server.accept()
            connection.settimeout(60)
            lines.append(converse(connection, RULES, valuer))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        record = tmp_path / "game.mat"
        script = "\n".join(
            [
                "set automatic game off",
                "set automatic roll on",
                "set seed 5",
                "set player 1 gnubg",
                "set player 1 chequerplay evaluation plies 0",
                "set player 1 cubedecision evaluation plies 0",
                f"set player 0 external 127.0.0.1:{server.getsockname()[1]}",
                "new match 1",
                f"export match mat {record}",
                "quit",
                "y",
            ]
        )
        done = subprocess.run(
            [str(GNUBG), "-t", "-q", "-r"],
            input=script + "\n",
            capture_output=True,
            text=True,
            timeout=90,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/usr/games", "LC_ALL": "C"},
        )
        thread.join(60)
    assert record.exists(), done.stdout[-2000:] + done.stderr[-500:]
    assert "Wins" in record.read_text(), done.stdout[-2000:]
    assert "Error" not in done.stdout
    assert lines
    assert lines[0] >= 5


def test_a_bad_line_is_told_so_and_the_talk_goes_on() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(("rubbish\n" + fibs(START.replace("5", "9")) + fibs(dice="0:0")).encode())
        theirs.shutdown(socket.SHUT_WR)
        assert converse(ours, RULES, make_valuer(NET, RULES)) == 3
        replies = theirs.makefile().read().splitlines()
    assert [reply.split(":")[0] for reply in replies] == ["Error", "Error", "roll"]


def test_a_client_that_breaks_off_is_only_its_own_loss(capsys: pytest.CaptureFixture[str]) -> None:
    """One resets the connection in the middle of a line, the next one still gets its answer."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    assert main(["serve", f"player={NET}", "host=999.1.1.1"]) == 2
    assert "host=999.1.1.1, port=1234: cannot listen" in capsys.readouterr().err
    words = ["serve", f"player={NET}", f"port={port}", "connections=2"]
    server = threading.Thread(target=main, args=(words,), daemon=True)
    server.start()
    for attempt in range(600):
        try:
            rude = socket.create_connection(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
            assert attempt < 599
    rude.sendall(b"board:par")
    rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    rude.close()
    with socket.create_connection(("127.0.0.1", port)) as polite:
        polite.sendall(b"\n")
        assert polite.recv(100).startswith(b"Error:")
    server.join(20)
    assert not server.is_alive()

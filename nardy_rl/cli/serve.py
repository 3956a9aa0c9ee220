"""`nardy-rl serve`: a player that GNU Backgammon asks over a socket.

gnubg sends a line with a FIBS board for each decision of its external player and reads one line
back: a move, `roll`, `take` or `drop`. The fields of the line are those of the FIBS client
protocol (https://www.fibs.com/fibs_interface.html, "board").
"""

from __future__ import annotations

import socket
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from nardy_rl.cli import words
from nardy_rl.cli.playing import PLAIN, naming
from nardy_rl.errors import ConfigError, InvalidText

if typing.TYPE_CHECKING:
    from nardy_rl.rules import Position, Rules
    from nardy_rl.search import Valuer

HELP = """\
nardy-rl serve: let GNU Backgammon play against a player of ours

usage: nardy-rl serve player=PLAYER [name=value ...]

PLAYER needs equities: a checkpoint, a run or an exported net, gnubg; see `nardy-rl arena --help`.
In gnubg then: set player 0 external localhost:1234

settings and what they are by default:
  port=1234       to listen on
  host=127.0.0.1  address to listen on; gnubg's protocol has no passwords
  variant=backgammon  the game that gnubg plays: backgammon or nackgammon
  connections=0   end after so many connections, 0 for never

It never doubles, and takes where the doubler's cubeless equity is at most half a point.
"""

_FIELDS = 49
_LENGTH, _SCORES, _CUBE, _MAY_DOUBLE = 3, (4, 5), 37, (38, 39)
_BOARD, _DICE, _DOUBLED, _COLOUR, _DIRECTION = 6, 33, 40, 41, 42
_MOST = 2**30
TAKE_POINT = 0.5
"""The doubler's cubeless equity where a take, at a doubled stake, loses as much as a drop."""


class FibsBoard(NamedTuple):
    """One line: the position as I see it, my dice (None before the roll), whether I was doubled."""

    position: Position
    roll: tuple[int, int] | None
    doubled: bool


def parse_fibs(text: str, rules: Rules) -> FibsBoard:
    """Read a FIBS board; raises InvalidText, or InvalidPosition where the checkers are too many.

    A line from gnubg: a player to decide who moves from 24 to 1 with positive numbers.
    """
    from nardy_rl.rules import Position

    # gnubg ends a line with a newline and a NUL, which then begins the next one.
    fields = text.strip("\0 \r\n").split(":")
    if fields[0] != "board" or len(fields) < _FIELDS:
        raise InvalidText(f"not a FIBS board: {text.strip()[:60]!r}")
    try:
        numbers = [0, 0, 0, *map(int, fields[3:_FIELDS])]
    except ValueError:
        raise InvalidText("a FIBS board has a field that is no whole number") from None
    board = [n * numbers[_COLOUR] for n in numbers[_BOARD : _BOARD + 26]]
    if numbers[_DIRECTION] * numbers[_COLOUR] > 0 or abs(numbers[_COLOUR]) != 1:
        raise InvalidText("a FIBS board whose colour and direction do not fit")
    if numbers[_COLOUR] < 0:
        board.reverse()
    _check_match(numbers)
    mine = {point: board[point] for point in range(1, 25) if board[point] > 0}
    his = {25 - point: -board[point] for point in range(1, 25) if board[point] < 0}
    bars = abs(board[25]), abs(board[0])
    off = [rules.checkers - sum(s.values()) - b for s, b in zip((mine, his), bars, strict=True)]
    dice = numbers[_DICE], numbers[_DICE + 1]
    if any(die not in range(7) for die in dice) or (dice[0] == 0) != (dice[1] == 0):
        raise InvalidText(f"a FIBS board with the dice {dice}")
    position = Position.from_points(rules, mine, his, off[0], off[1], bars[0], bars[1])
    return FibsBoard(position, dice if dice[0] else None, bool(numbers[_DOUBLED]))


def _check_match(numbers: Sequence[int]) -> None:
    """Refuse a match or a cube that there is not; raises InvalidText naming the field."""
    length, cube = numbers[_LENGTH], numbers[_CUBE]
    if not 0 <= length <= _MOST:
        raise InvalidText(f"a FIBS board with match length {length}; allowed: 0 for none, or more")
    for place in _SCORES:
        # FIBS plays "unlimited" as a match to 9999.
        if not 0 <= numbers[place] < (length or _MOST):
            raise InvalidText(
                f"a FIBS board with a score of {numbers[place]} in a match to {length}; "
                "allowed: 0 up to less than the length"
            )
    if not 1 <= cube <= _MOST or cube & (cube - 1):
        raise InvalidText(f"a FIBS board with the cube at {cube}; allowed: 1, 2, 4, 8 and so on")
    for what, place in (("may double", _MAY_DOUBLE[0]), ("may be doubled", _MAY_DOUBLE[1])):
        if numbers[place] not in (0, 1):
            raise InvalidText(f"a FIBS board with {numbers[place]} for {what}; allowed: 0, 1")
    if numbers[_DOUBLED] not in (0, 1):
        raise InvalidText(f"a FIBS board with {numbers[_DOUBLED]} for was doubled; allowed: 0, 1")


def answer(text: str, rules: Rules, valuer: Valuer) -> str:
    """What to say to one line of gnubg; raises as `parse_fibs`."""
    from nardy_rl.analysis import analyse, preroll
    from nardy_rl.rules import Position

    board = parse_fibs(text, rules)
    if board.doubled:
        # The doubler is about to roll.
        doubler = Position(rules, board.position.points[::-1].copy(), 0)
        return "take" if preroll(doubler, valuer).equity <= TAKE_POINT else "drop"
    if board.roll is None:
        return "roll"
    return str(analyse(board.position, board.roll, valuer)["play"].iloc[0])


def converse(connection: socket.socket, rules: Rules, valuer: Valuer) -> int:
    """Answer every line until gnubg hangs up; returns how many. Bad lines are told so."""
    count = 0
    with connection, connection.makefile("r", encoding="latin-1", newline="\n") as stream:
        for line in _lines(stream):
            if not line.strip("\0\r"):
                continue  # the NUL after the last line
            try:
                reply = answer(line, rules, valuer)
            except ValueError as error:
                reply = f"Error: {' '.join(str(error).split())}"
            connection.sendall(f"{reply}\n".encode("latin-1", "replace"))
            count += 1
    return count


def _lines(stream: Iterable[str]) -> Iterator[str]:
    """The lines of a client, until it hangs up, in whatever way it does."""
    try:
        yield from stream
    except OSError:
        return


def run(arguments: list[str]) -> int:
    """Listen and play; see `HELP`."""
    if any(word in ("-h", "--help") for word in arguments):
        print(HELP)
        return 0
    from rich.console import Console

    from nardy_rl.players import make_valuer
    from nardy_rl.rules import variant

    settings: dict[str, Any] = words.read(
        arguments,
        {
            "player": str,
            "port": words.whole(0, 65535),
            "host": str,
            "variant": words.one_of("backgammon", "nackgammon"),
            "connections": words.whole(0),
        },
    )
    if "player" not in settings:
        raise ConfigError("player=... is missing; see `nardy-rl serve --help`")
    rules = variant(settings.get("variant", "backgammon"))
    with naming("player"):
        valuer = make_valuer(settings["player"], rules)
    console, left = Console(), settings.get("connections", 0)
    address = settings.get("host", "127.0.0.1"), settings.get("port", 1234)
    try:
        server = socket.create_server(address)
    except OSError as error:
        raise ConfigError(
            f"host={address[0]}, port={address[1]}: cannot listen there "
            f"({error.strerror or error}); name an address of this machine and a free port"
        ) from error
    with server:
        host, port = server.getsockname()[:2]
        console.print(f"{valuer.name} listens; in gnubg: set player 0 external {host}:{port}")
        while True:
            connection, _ = server.accept()
            try:
                answered = f"{converse(connection, rules, valuer)} decisions answered"
            except OSError as error:
                answered = f"the client went away ({error.strerror or error})"
            console.print(answered, **PLAIN)
            left -= 1
            if left == 0:
                return 0

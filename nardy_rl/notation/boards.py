"""Text boards and point lists: a strict printer and a reader that undoes it exactly.

A text board is drawn as X sits: X travels from the top right round the left side to the bottom
right, in every game; O goes the same way half a board apart, or the opposite way. Up to five
checkers of a point are drawn, more are counted in the fifth row. A pinned checker is a small
letter at the edge, under those that hold it, and counted with them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, InvalidPosition, InvalidText
from nardy_rl.notation.numbering import Numbering, across, checked, point_name
from nardy_rl.rules import Position, Rules
from nardy_rl.rules.board import OPPONENT_TURNS, STARTED, TURNS
from nardy_rl.rules.pins import PINNED
from nardy_rl.rules.position import BAR, OFF

Side = Literal["X", "O"]

ROWS = 5
"""Checkers of a point that are drawn one by one."""

TOP = tuple(range(13, 25))
"""X's points along the top edge of every board and picture, left to right."""
BOTTOM = tuple(range(12, 0, -1))
"""X's points along the bottom edge, left to right."""

_LEFT_HALF, _BAR_COLUMN, _RIGHT_HALF = 1, 20, 24
_WIDTH = 43
_HEADER = re.compile(
    r"(?P<variant>[\w-]+):\s*(?P<turn>[XO]) to play(?:, seen by (?P<seen>[XO]))?(?P<rest>.*)"
)
_FIRST = re.compile(r";\s*first turn to come:\s*([XO])(?:[ ,]+([XO]))?")
_STARTED = re.compile(r";\s*([XO]) started")
_PENDING = re.compile(r";\s*pending (\d+)")
_TURNS = re.compile(r";\s*turns taken ([XO]) (\d) ([XO]) (\d)")
_OFF = re.compile(r"\b([XO]) off (\d+)")


def board_text(position: Position, numbering: str = "distance", me: Side = "X") -> str:
    """The position as a board of 15 lines of text, which `parse_board` reads back exactly.

    `me` is the letter of row 0 of the position. The board is always drawn from X's seat, so
    that a game printed with `me` alternating shows one board that does not turn.

    Raises `ConfigError` for an unknown numbering or letter.

    >>> from nardy_rl.rules import variant
    >>> print(board_text(Position.start(variant("backgammon"))))
    backgammon: X to play
    +13-14-15-16-17-18------19-20-21-22-23-24-+
    | X           O    |   | O              X |  O off 0
    | X           O    |   | O              X |
    | X           O    |   | O                |
    | X                |   | O                |
    | X                |   | O                |
    |                  |BAR|                  |
    | O                |   | X                |
    | O                |   | X                |
    | O           X    |   | X                |
    | O           X    |   | X              O |
    | O           X    |   | X              O |  X off 0
    +12-11-10--9--8--7-------6--5--4--3--2--1-+
    pips: X 167, O 167
    """
    names = checked(numbering)
    rules = position.rules
    x_row, o_row = rows_by_seat(position, me)
    lines = [_label_line(TOP, names), *_body(rules, x_row, o_row), _label_line(BOTTOM, names)]
    lines[1] += f"  O off {o_row[OFF]}"
    lines[-2] += f"  X off {x_row[OFF]}"
    mine, his = position.pips
    pips = (mine, his) if me == "X" else (his, mine)
    return "\n".join([_header(position, me), *lines, f"pips: X {pips[0]}, O {pips[1]}"])


def parse_board(rules: Rules, text: str) -> Position:
    """The position that a text board shows, seen by the player its header says.

    Reads `board_text` in either numbering. The header may be missing (X to play, no first turn
    to come), and so may the off counts (whatever is not on the board is off); pips are ignored.

    Raises:
        InvalidText: no such board; the message says which line.
        InvalidPosition: checkers that do not add up, both sides on a point, and the like.

    >>> from nardy_rl.rules import variant
    >>> nardy = Position.start(variant("long_nardy"))
    >>> parse_board(nardy.rules, board_text(nardy, "hole", me="O")) == nardy
    True
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    edges = [i for i, line in enumerate(lines) if line.startswith("+")]
    if len(edges) != 2 or edges[1] - edges[0] != 2 * ROWS + 2:
        raise InvalidText(
            f"no text board: two edge lines +13-14- ... with {2 * ROWS + 1} lines between are "
            f"needed, found {len(edges)} edge lines in {len(lines)} lines"
        )
    _check_labels(lines[edges[0]], lines[edges[1]])
    body = lines[edges[0] + 1 : edges[1]]
    points = {"X": np.zeros(26, np.int64), "O": np.zeros(26, np.int64)}
    for number, line in enumerate(body, start=1):
        if len(line) < _WIDTH or any(line[i] != "|" for i in (0, 19, 23, 42)):
            raise InvalidText(
                f"line {number} of the board is not | points | bar | points |: {line}"
            )
    for half, labels in ((body[:ROWS], TOP), (body[: -ROWS - 1 : -1], BOTTOM)):
        for column, point in enumerate(labels):
            at = 1 + 3 * column + (5 if column >= 6 else 0)
            stack = _read_stack([line[at : at + 3].strip() for line in half], str(point))
            for side, count in stack.items():
                points[side][point if side == "X" else across(rules, point)] += count
        for side, count in _read_stack([line[20:23].strip() for line in half], "bar").items():
            points[side][BAR] += count
    for row in points.values():
        row[OFF] = rules.checkers - np.abs(row).sum()
    for side, off in _OFF.findall("\n".join(lines)):
        points[side][OFF] = int(off)
    header = "\n".join(lines[: edges[0]])
    return _placed(rules, header, points)


def points_text(position: Position, numbering: str = "distance") -> str:
    """The checkers as `point:count` lists, mine and the opponent's, each in its own numbering.

    The count of a pinned checker is `pinned`. The first turns, the starter and `pending` are not
    in it; `to_id` carries everything.

    >>> from nardy_rl.rules import variant
    >>> points_text(Position.start(variant("hypergammon")), "hole")
    '1:1 2:1 3:1 | 1:1 2:1 3:1'
    """
    names = checked(numbering)
    return " | ".join(
        " ".join(
            f"{point_name(p, names)}:{row[p] if row[p] > 0 else 'pinned'}"
            for p in range(BAR, -1, -1)
            if row[p]
        )
        for row in position.points
    )


def parse_points(
    rules: Rules,
    text: str,
    numbering: str = "distance",
    *,
    first_turn: tuple[bool, bool] = (False, False),
    started: bool = True,
) -> Position:
    """The position that `points_text` describes; whatever is not listed is borne off.

    Any order, spaces or commas; `bar` (in distance numbering also 25) and `off` (also 0).

    Raises `InvalidText` where it cannot be read, `InvalidPosition` for impossible counts.

    >>> from nardy_rl.rules import variant
    >>> nardy = variant("long_nardy")
    >>> parse_points(nardy, "18:1 24:14 | 24:15").pips
    (354, 360)
    """
    names = checked(numbering)
    sides = text.split("|")
    if len(sides) != 2:
        raise InvalidText(f"{text!r} has {len(sides)} sides; write mine | the opponent's")
    rows = [_read_side(side, names) for side in sides]
    for row in rows:
        row.setdefault(OFF, max(rules.checkers - sum(map(abs, row.values())), 0))
    return _position(rules, rows[0], rows[1], first_turn, started)


def rows_by_seat(position: Position, me: Side) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The rows of X and of O, each in its own numbering, where `me` is the letter of row 0."""
    if me not in ("X", "O"):
        raise ConfigError(f"me={me!r} is not allowed; choose from X, O")
    mine, his = position.points
    return (mine, his) if me == "X" else (his, mine)


def _header(position: Position, me: Side) -> str:
    other: Side = "O" if me == "X" else "X"
    text = f"{position.rules.name}: {other if position.moved else me} to play"
    if position.moved:
        text += f", seen by {me}"
    to_come = [side for side, first in zip((me, other), position.first_turn, strict=True) if first]
    if to_come:
        text += f"; first turn to come: {', '.join(sorted(to_come, reverse=True))}"
    if position.rules.flag_mask & STARTED:
        text += f"; {me if position.started else other} started"
    if position.rules.flag_mask >> TURNS:
        mine, his = (position.flags >> first & 3 for first in (TURNS, OPPONENT_TURNS))
        text += f"; turns taken {me} {mine} {other} {his}"
    if position.pending:
        text += f"; pending {position.pending}"
        if position.rung is not None and position.rules.ladder:
            die, steps = position.rung
            text += f" ({steps} x {die} to be played)"
    return text


def _placed(rules: Rules, header: str, points: Mapping[str, NDArray[np.int64]]) -> Position:
    """The position of X's and O's checkers, with the rest of the state from the header."""
    match = _HEADER.search(header)
    if header and not match:
        raise InvalidText(f"cannot read the header {header!r}; write {rules.name}: X to play")
    turn, rest, me = "X", "", "X"
    if match:
        turn, rest = match["turn"], match["rest"]
        me = match["seen"] or turn
        if match["variant"] != rules.name:
            raise InvalidText(f"the board is of {match['variant']!r}, the rules are {rules.name!r}")
    other = "O" if me == "X" else "X"
    first = _FIRST.search(rest)
    started = _STARTED.search(rest)
    pending = _PENDING.search(rest)
    position = _position(
        rules,
        dict(enumerate(points[me].tolist())),
        dict(enumerate(points[other].tolist())),
        (me in first.groups(), other in first.groups()) if first else (False, False),
        started is None or started[1] == me,
    )
    flags = position.flags
    if turns := _TURNS.search(rest):
        for who, count in (turns.group(1, 2), turns.group(3, 4)):
            flags |= int(count) % 4 << (TURNS if who == me else OPPONENT_TURNS)
    return replace(
        position, flags=flags, pending=int(pending[1]) if pending else 0, moved=turn != me
    )


def _position(
    rules: Rules,
    me: Mapping[int, int],
    opp: Mapping[int, int],
    first_turn: tuple[bool, bool],
    started: bool,
) -> Position:
    """`Position.from_points` with the checkers off at index 0."""
    return Position.from_points(
        rules,
        me={point: count for point, count in me.items() if point != OFF and count},
        opp={point: count for point, count in opp.items() if point != OFF and count},
        me_off=me[OFF],
        opp_off=opp[OFF],
        first_turn=first_turn,
        started=started,
    )


def _label_line(points: tuple[int, ...], numbering: Numbering) -> str:
    cells = [point_name(point, numbering).rjust(2, "-") + "-" for point in points]
    return f"+{''.join(cells[:6])}-----{''.join(cells[6:])}+"


def _body(rules: Rules, x_row: NDArray[np.int8], o_row: NDArray[np.int8]) -> list[str]:
    """The eleven lines between the edges."""

    def stack(point: int) -> list[str]:
        mine, his = int(x_row[point]), int(o_row[across(rules, point)])
        if mine > 0:
            return _stack("X", mine, "o" * (his < 0))
        return _stack("O", his, "x" * (mine < 0))

    def half(points: tuple[int, ...], bar: list[str]) -> list[str]:
        columns = [stack(point) for point in points]
        return [
            f"|{''.join(c[row] for c in columns[:6])}|{bar[row]}|"
            f"{''.join(c[row] for c in columns[6:])}|"
            for row in range(ROWS)
        ]

    top = half(TOP, _stack("X", int(x_row[BAR])))
    bottom = half(BOTTOM, _stack("O", int(o_row[BAR])))
    name = "BAR" if rules.contact == "hit" else "   "
    return [*top, f"|{' ' * 18}|{name}|{' ' * 18}|", *reversed(bottom)]


def _stack(side: Side, count: int, pinned: str = "") -> list[str]:
    """The five cells of one point, from the edge towards the middle."""
    letters = pinned + side * count
    cells = [f" {letters[row : row + 1]:1} " for row in range(ROWS)]
    if len(letters) > ROWS:
        cells[-1] = f"{len(letters):>2} "
    return cells


def _check_labels(top: str, bottom: str) -> None:
    allowed = [(_label_line(TOP, n), _label_line(BOTTOM, n)) for n in ("distance", "hole")]
    if not any(top.startswith(t) and bottom.startswith(b) for t, b in allowed):
        raise InvalidText(
            "the edge lines do not number the points; in distance numbering they are "
            f"{allowed[0][0]} and {allowed[0][1]}"
        )


def _read_stack(cells: list[str], where: str) -> dict[str, int]:
    """{side: number} of the checkers in the cells of a point, `PINNED` for a pinned one."""
    drawn = [cell for cell in cells if cell]
    if not drawn:
        return {}
    held = {drawn[0].upper(): PINNED} if drawn[0] in ("x", "o") and len(drawn) > 1 else {}
    side = drawn[len(held)]
    counted = int(drawn[-1]) if drawn[-1].isdecimal() else 0
    letters = drawn[len(held) : -1] if counted else drawn[len(held) :]
    if (
        side not in ("X", "O")
        or side in held
        or any(letter != side for letter in letters)
        or cells[: len(drawn)] != drawn
        or (counted and (len(drawn) != ROWS or counted <= ROWS))
    ):
        raise InvalidText(f"cannot read the stack on {where}: {' '.join(drawn)}")
    return held | {side: counted - len(held) if counted else len(letters)}


def _read_side(text: str, numbering: Numbering) -> dict[int, int]:
    """{point: checkers} of one side's list."""
    row: dict[int, int] = {}
    for word in text.replace(",", " ").split():
        match = re.fullmatch(r"(bar|off|\d{1,2}):(\d{1,2}|pinned)", word, re.I)
        if match is None:
            raise InvalidText(f"cannot read {word!r} in {text.strip()!r}; write point:checkers")
        name = match[1].lower()
        if name.isdecimal():
            point = int(name) if numbering == "distance" else 25 - int(name)
        else:
            point = BAR if name == "bar" else OFF
        if not OFF <= point <= BAR or point in row:
            raise InvalidPosition(f"{word!r} in {text.strip()!r}: no such point, or named twice")
        row[point] = int(match[2]) if match[2].isdecimal() else PINNED
    return row

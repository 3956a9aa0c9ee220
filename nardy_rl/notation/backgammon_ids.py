"""The position ids that backgammon programs exchange: GNU Backgammon's and XGID.

Both are of games with opposite directions and hitting (backgammon, nackgammon, hypergammon,
tavla, portes). Both leave out the checkers borne off: whoever is not on the board is off.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.rules import Position, Rules, variant
from nardy_rl.rules.position import BAR

_PLACES = range(1, BAR + 1)
_KEY_BYTES = 10
_GNUBG_LENGTH = 14
_GNUBG = re.compile(r"(?:^|[\s:=])([A-Za-z0-9+/]{14})(?:==)?(?=$|[\s:])")
_XGID = re.compile(r"(?:XGID\s*=\s*)?(?P<points>[-A-Pa-p]{26})(?P<fields>(?::[^:\s]*)*)")


def to_gnubg_id(position: Position) -> str:
    """The 14-character position id of GNU Backgammon, for the player to move.

    The id is a string of bits: for each point from 1 to 24 and then the bar, a 1 for each
    checker and a 0, first for the player who is *not* to move and then for the other (the
    manual names them the wrong way round, as boards printed by the program show); packed into
    10 bytes, lowest bit first, and written in base 64.

    Raises `ConfigError` for games that have no such id.
    Source: GNU Backgammon manual, "A technical description of the Position ID".

    >>> to_gnubg_id(Position.start(variant("backgammon")))
    '4HPwATDgc/ABMA'
    """
    _check_rules(position.rules)
    to_move = position.flip() if position.moved else position
    bits, length = 0, 0
    for row in (to_move.points[1], to_move.points[0]):
        for place in _PLACES:
            count = int(row[place])
            bits |= ((1 << count) - 1) << length
            length += count + 1
    return base64.b64encode(bits.to_bytes(_KEY_BYTES, "little")).decode()[:_GNUBG_LENGTH]


def from_gnubg_id(text: str, rules: Rules | None = None) -> Position:
    """The position of a GNU Backgammon id, seen by the player to move.

    `text` may have a label before the id and a match id behind it (`Position ID: ...`,
    `4HPwATDgc/ABMA:cAkAAAAAAAAA`); the match id is not read. `rules` default to backgammon.

    Raises:
        InvalidText: no such id.
        InvalidPosition: too many checkers, or both sides on one point.
        ConfigError: `rules` of a game that has no such id.

    >>> from_gnubg_id("Position ID: 4HPwATDgc/ABMA").pips
    (167, 167)
    """
    rules = rules or variant("backgammon")
    _check_rules(rules)
    match = _GNUBG.search(text)
    if match is None:
        raise InvalidText(f"{text.strip()!r} holds no GNU Backgammon id of {_GNUBG_LENGTH} letters")
    try:
        key = base64.b64decode(match[1] + "==", validate=True)
    except binascii.Error as error:  # pragma: no cover - the pattern lets only base 64 through
        raise InvalidText(f"{match[1]!r} is not base 64") from error
    bits = int.from_bytes(key, "little")
    rows = []
    for _ in range(2):
        row = {}
        for place in _PLACES:
            ones = (~bits & (bits + 1)).bit_length() - 1
            row[place] = ones
            bits >>= ones + 1
        rows.append(row)
    padding = base64.b64encode(key).decode()[:_GNUBG_LENGTH] != match[1]
    if bits or padding:
        raise InvalidText(f"{match[1]!r} is no position: bits are left after both bars")
    return _position(rules, me=rows[1], opp=rows[0])


@dataclass(frozen=True)
class Xgid:
    """What an XGID says beyond the position; the defaults are a money game before the roll.

    Attributes:
        position: seen by the player to move.
        cube: base-2 logarithm of the cube.
        cube_owner: 1 X, -1 O, 0 in the middle.
        turn: 1, X is to move; -1, O. X is the player at the bottom, with the capital letters.
        dice: `00` before the roll, two digits after it, `D` a double, `B` a beaver, `R` a raccoon.
        score_x, score_o: points in the match.
        rule_flags: in a match 1 in the Crawford game; in money play 1 Jacoby plus 2 beavers.
        match_length: 0 for money play.
        max_cube: base-2 logarithm of the highest cube.
    """

    position: Position
    cube: int = 0
    cube_owner: int = 0
    turn: int = 1
    dice: str = "00"
    score_x: int = 0
    score_o: int = 0
    rule_flags: int = 0
    match_length: int = 0
    max_cube: int = 10

    @property
    def roll(self) -> tuple[int, int] | None:
        """The dice, or None before the roll or where a cube decision is asked."""
        if len(self.dice) != 2 or self.dice == "00":
            return None
        return int(self.dice[0]), int(self.dice[1])

    def __str__(self) -> str:
        fields = (getattr(self, field.name) for field in dataclass_fields(self)[1:])
        return f"XGID={_xg_points(self)}:{':'.join(map(str, fields))}"


def to_xgid(position: Position, turn: int = 1, roll: tuple[int, int] | None = None) -> str:
    """The XGID of a position in a money game with a centred cube.

    `turn` says which letters the player to move gets: 1 the capitals of X, -1 those of O. The
    points are always X's, whoever is to move. `Xgid` writes scores and cubes as well.

    Raises `ConfigError` for games that have no such id, ValueError for another turn.

    >>> to_xgid(Position.start(variant("backgammon")))
    'XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10'
    """
    if turn not in (1, -1):
        raise ValueError(f"turn={turn!r}: 1 is X, -1 is O")
    to_move = position.flip() if position.moved else position
    dice = f"{roll[0]}{roll[1]}" if roll else "00"
    return str(Xgid(to_move, turn=turn, dice=dice))


def from_xgid(text: str, rules: Rules | None = None) -> Position:
    """The position of an XGID, seen by the player to move; `parse_xgid` gives the rest.

    >>> from_xgid("-b----E-C---eE---c-e----B-:0:0:-1:31").pips
    (167, 167)
    """
    return parse_xgid(text, rules).position


def parse_xgid(text: str, rules: Rules | None = None) -> Xgid:
    """Everything in an XGID. `rules` default to backgammon.

    The `XGID=` and any fields at the end may be missing: they take their defaults.

    Raises:
        InvalidText: no such id, or a field that cannot be read.
        InvalidPosition: too many checkers.
        ConfigError: `rules` of a game that has no such id.

    >>> parse_xgid("XGID=-b----E-C---eE---c-e----B-:1:-1:-1:52:0:0:0:0:10").roll
    (5, 2)
    """
    rules = rules or variant("backgammon")
    _check_rules(rules)
    match = _XGID.search(text)
    if match is None:
        raise InvalidText(f"{text.strip()!r} holds no XGID of 26 letters and dashes")
    names = [field.name for field in dataclass_fields(Xgid)[1:]]
    given = match["fields"].split(":")[1:]
    if len(given) > len(names):
        raise InvalidText(f"{match[0]!r} has {len(given) + 1} fields, at most {len(names) + 1}")
    values: dict[str, int | str] = {}
    for name, value in zip(names, given, strict=False):
        pattern = {
            "dice": "00|[1-6]{2}|[DBR]",
            "turn": "-?1",
            "cube_owner": "-?1|0",
        }.get(name, r"\d{1,4}")
        if not re.fullmatch(pattern, value):
            raise InvalidText(f"{match[0]!r}: cannot read {name}={value!r}")
        values[name] = value if name == "dice" else int(value)
    x_row: dict[int, int] = {}
    o_row: dict[int, int] = {}
    for place, letter in enumerate(match["points"]):
        if letter.isupper():
            x_row[place] = ord(letter) - ord("A") + 1
        elif letter.islower():
            o_row[25 - place] = ord(letter) - ord("a") + 1
    if 0 in x_row or 0 in o_row:
        raise InvalidText(f"{match[0]!r}: X's bar is the last place, O's the first")
    mine, his = (x_row, o_row) if values.get("turn", 1) == 1 else (o_row, x_row)
    return Xgid(_position(rules, me=mine, opp=his), **values)  # type: ignore[arg-type]


def _xg_points(xgid: Xgid) -> str:
    """The 26 letters: O's bar, X's points 1 to 24, X's bar."""
    _check_rules(xgid.position.rules)
    mine, his = xgid.position.points
    x_row, o_row = (mine, his) if xgid.turn == 1 else (his, mine)
    letters = ["-"] * 26
    for place in _PLACES:
        if x_row[place]:
            letters[place] = chr(ord("A") + int(x_row[place]) - 1)
        if o_row[place]:
            letters[25 - place] = chr(ord("a") + int(o_row[place]) - 1)
    return "".join(letters)


def _position(rules: Rules, me: dict[int, int], opp: dict[int, int]) -> Position:
    """The position with everything off that is not on the board."""
    return Position.from_points(
        rules,
        me=me,
        opp=opp,
        me_off=max(rules.checkers - sum(me.values()), 0),
        opp_off=max(rules.checkers - sum(opp.values()), 0),
    )


def _check_rules(rules: Rules) -> None:
    if rules.direction != "opposite" or rules.contact != "hit":
        raise ConfigError(
            f"{rules.name} has no GNUBG id or XGID, only games with opposite directions and "
            "hitting have; use to_id and from_id"
        )

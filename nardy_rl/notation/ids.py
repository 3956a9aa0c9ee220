"""Our own compact position id, for every variant.

`long_nardy.1BByYLotaNGV_vOP`: the variant (with `~option-value` for each option that differs
from the preset), a dot, and a code in the 64 characters that need no escaping in a URL:

* a version character;
* one number in base 64, most significant digit first, which holds (mixed radix, innermost
  first) the place of each side's checkers among all ways to put them on 26 places, the four
  state bits (first turns, starter, moved), `pending` and the turns counted, or, where checkers
  are pinned, a bit for each of my points that both stand on: whether mine is the pinned one;
* two check characters, a 12-bit cyclic redundancy check of everything before them: a wrong
  character, or two neighbours of the number exchanged, is always noticed.
"""

from __future__ import annotations

import string
from math import comb

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, InvalidPosition, InvalidText
from nardy_rl.rules import Position, Rules, variant
from nardy_rl.rules.pins import PINNED
from nardy_rl.rules.position import BAR, OFF

_ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_VERSION = "1"
_MOVED = 8
_STATES = 16
_PENDINGS = 256
_PLACES = 26
_POLYNOMIAL = 0x180F  # x^12 + x^11 + x^3 + x^2 + x + 1


def to_id(position: Position) -> str:
    """The id of a position: variant, points, first turns, starter, view and pending.

    Raises `InvalidPosition` when a side does not have exactly the variant's checkers.

    >>> to_id(Position.start(variant("long_nardy")))
    'long_nardy.1BByYLotaNGV_vOP'
    """
    rules = position.rules
    for name, row in zip(("me", "opp"), position.points.tolist(), strict=True):
        total = sum(map(abs, row))
        if total != rules.checkers or (min(row) < 0 and rules.contact != "pin"):
            raise InvalidPosition(f"{name} has {total} checkers, {rules.checkers} are needed")
    turns, flags = divmod(position.flags, _MOVED)
    if rules.contact == "pin":
        turns = _pins(position)
    code = turns * _PENDINGS + position.pending
    code = code * _STATES + flags + _MOVED * position.moved
    for row in position.points.tolist():
        code = code * _arrangements(rules.checkers) + _rank([abs(count) for count in row])
    digits = ""
    while code:
        code, digit = divmod(code, 64)
        digits = _ALPHABET[digit] + digits
    body = f"{_named(rules)}.{_VERSION}{digits}"
    return body + _check_characters(body)


def from_id(text: str, rules: Rules | None = None) -> Position:
    """The position that `to_id` wrote.

    With `rules` the position gets these, and the id must be of the same variant (its options
    may differ); without, the rules are those that the id names.

    Raises:
        InvalidText: no id, a typo, an unknown version or variant, or another variant than
            that of `rules`.

    >>> start = Position.start(variant("backgammon", koks="none"))
    >>> to_id(start)
    'backgammon~koks-none.1BAVvln8HOi5mIM'
    >>> from_id(to_id(start)) == start
    True
    >>> from_id("backgammon.1AAAAAAAAAA")
    Traceback (most recent call last):
    nardy_rl.errors.InvalidText: 'backgammon.1AAAAAAAAAA' is mistyped: ...
    """
    text = text.strip()
    named, dot, code = text.rpartition(".")
    if not dot or len(code) < 3 or any(c not in _ALPHABET for c in code):
        raise InvalidText(f"{text!r} is no position id; one looks like {_example()}")
    if code[0] != _VERSION:
        raise InvalidText(f"{text!r} has version {code[0]!r}; this program reads {_VERSION!r}")
    if _check_characters(text[:-2]) != text[-2:]:
        raise InvalidText(f"{text!r} is mistyped: its check characters do not fit")
    name, *options = named.split("~")
    if rules is None:
        rules = _rules(text, name, options)
    elif name != rules.name:
        raise InvalidText(f"{text!r} is a position of {name!r}, the rules are {rules.name!r}")
    number = 0
    for character in code[1:-2]:
        number = number * 64 + _ALPHABET.index(character)
    rows = []
    for _ in range(2):
        number, rank = divmod(number, _arrangements(rules.checkers))
        rows.append(_unrank(rank, rules.checkers))
    number, state = divmod(number, _STATES)
    turns, pending = divmod(number, _PENDINGS)
    points = np.array(rows[::-1], np.int8)
    if rules.contact == "pin":
        turns = _pin(points, turns)
    if turns * _MOVED & ~rules.flag_mask:
        raise InvalidText(f"{text!r} holds state that {rules.name} does not have")
    flags = state & ~_MOVED | turns * _MOVED
    return Position(rules, points, flags, pending, moved=bool(state & _MOVED))


def _pins(position: Position) -> int:
    """Which of my points that both sides stand on have my checker pinned, a bit each."""
    points = position.points.copy()
    points[:] = np.abs(points)
    shared = _shared(points)
    bits = sum(1 << i for i, point in enumerate(shared) if position.points[0, point] == PINNED)
    _pin(points, bits)
    if not np.array_equal(points, position.points):
        raise InvalidPosition("a checker is pinned under nobody, or two stand unpinned together")
    return bits


def _pin(points: NDArray[np.int8], bits: int) -> int:
    """Mark the pinned checkers of counts; returns the bits that there is no point for."""
    for point in _shared(points):
        points[(0, point) if bits & 1 else (1, 25 - point)] *= PINNED
        bits >>= 1
    return bits


def _shared(points: NDArray[np.int8]) -> list[int]:
    """My points on which both sides stand; the players travel in opposite directions."""
    return [point for point in range(1, 25) if points[0, point] and points[1, 25 - point]]


def _named(rules: Rules) -> str:
    """The variant, and what it takes to make these rules from it."""
    preset = {option.name: option.value for option in variant(rules.name).options()}
    changed = [
        f"~{option.name}-{option.value}"
        for option in rules.options()
        if preset[option.name] != option.value
    ]
    return rules.name + "".join(changed)


def _rules(text: str, name: str, options: list[str]) -> Rules:
    try:
        return variant(name, **dict(option.split("-", 1) for option in options))
    except (ConfigError, ValueError) as error:
        raise InvalidText(f"{text!r} is of no known variant: {error}") from error


def _example() -> str:
    return to_id(Position.start(variant("long_nardy")))


def _arrangements(checkers: int) -> int:
    """Ways to put equal checkers on 26 places."""
    return comb(checkers + _PLACES - 1, _PLACES - 1)


def _rank(row: list[int]) -> int:
    """The number of an arrangement, 0 for all on the bar; the inverse of `_unrank`.

    The checkers in order of place, the i-th shifted up by i, are a set of distinct numbers,
    and those have the well-known rank sum of C(number, i + 1).
    """
    places = [place for place in range(BAR, OFF - 1, -1) for _ in range(row[place])]
    return sum(comb(BAR - place + i, i + 1) for i, place in enumerate(places))


def _unrank(rank: int, checkers: int) -> list[int]:
    row = [0] * _PLACES
    place = OFF
    for i in range(checkers - 1, -1, -1):
        while comb(BAR - place + i, i + 1) > rank:
            place += 1
        rank -= comb(BAR - place + i, i + 1)
        row[place] += 1
    return row


def _check_characters(text: str) -> str:
    """Two characters that depend on every bit of `text`, by polynomial division."""
    remainder = 0
    for byte in text.encode():
        remainder ^= byte << 4
        for _ in range(8):
            remainder <<= 1
            if remainder & 0x1000:
                remainder ^= _POLYNOMIAL
    return _ALPHABET[remainder >> 6] + _ALPHABET[remainder & 63]

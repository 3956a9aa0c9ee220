"""Move text: a strict printer and a tolerant reader.

The printed form names what moves, farthest checker first: `24/18 13/8*`. A checker that uses
several dice is written once (`24/13`), with a landing between only where it hits (`24/18*/13`);
equal movements are counted (`13/11(2)`); `bar` and `off` are words; a turn without a legal play
is `pass`. The text depends on the result alone, not on the order of the steps: two plays with
equal results print the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nardy_rl.errors import AmbiguousPlay, IllegalPlay, InvalidText
from nardy_rl.notation.numbering import Numbering, checked, point_name
from nardy_rl.notation.readings import Path, Reading, readings, why_illegal
from nardy_rl.rules import Play, Position
from nardy_rl.rules.kernels import MAX_STEPS
from nardy_rl.rules.position import BAR, OFF

PASS = "pass"

_PASS_WORDS = re.compile(r"(pass|no[\s_-]*(play|move)|can(not|'?t)[\s_-]*move|-+|–|—)[\s.]*", re.I)
_SEPARATORS = re.compile(r"[\s,;]*")
_POINT = re.compile(r"(?P<bar>bar|b)(?![a-z])|(?P<off>off|o)(?![a-z])|(?P<number>\d+)", re.I)
_ARROW = re.compile(r"\s*(->|[/\-–—→>])\s*")
_STAR = re.compile(r"\s*\*")
_COUNT = re.compile(r"\s*\(\s*(\d+)\s*\)")
_MOST_LISTED = 8


def move_text(play: Play, numbering: str = "distance") -> str:
    """The strict text of a play, in the mover's own numbering.

    Raises `ConfigError` for an unknown numbering.

    >>> from nardy_rl.rules import variant
    >>> play = next(iter(Position.start(variant("long_nardy")).plays((6, 5))))
    >>> move_text(play), move_text(play, "hole")
    ('24/13', '1/12')
    """
    names = checked(numbering)
    if not play.moves:
        return PASS
    hits = hit_points(play)
    starred: set[int] = set()
    words = []
    for path, count in movements(play).items():
        word = point_name(path[0], names)
        for point in path[1:]:
            word += "/" + point_name(point, names)
            # A point can be hit once a turn, so one star a point is enough.
            if point in hits - starred:
                starred.add(point)
                word += "*"
        words.append(word if count == 1 else f"{word}({count})")
    return " ".join(words)


def parse_play(
    position: Position, roll: tuple[int, int] | None, text: str, numbering: str = "distance"
) -> Play:
    """The legal play that `text` means, compared by the resulting position.

    Reads `move_text` and what people write: `13-8`, `13/8`, `24/18/13`, `24/13` for both dice,
    `13/11(2)`, `bar` or 25, `off` or 0 (in holes 0 is the bar and 25 off), any order, commas or
    spaces, any case, `pass` or `no play` or `-`. Stars may be missing or wrong where only one
    legal result fits; where several fit, the text means the one that hits just where it says.

    Raises:
        InvalidText: it cannot be read; the message says where.
        IllegalPlay: readable, but not allowed here; the message says why.
        AmbiguousPlay: several legal results fit; the message lists them.
        ConfigError: unknown numbering.

    >>> from nardy_rl.rules import variant
    >>> start = Position.start(variant("backgammon"))
    >>> str(parse_play(start, (3, 1), "6-5, 8-5"))
    '8/5 6/5'
    >>> parse_play(start, (6, 5), "24/13*").dice_used
    2
    >>> parse_play(start, (6, 5), "24/13 6/5")
    Traceback (most recent call last):
    nardy_rl.errors.IllegalPlay: '24/13 6/5' with 6-5: 6/5 is 1 pip, ...
    """
    names = checked(numbering)
    paths = _read(text, names)
    plays = position.plays(roll)
    roll = plays.roll
    legal = {play.after.points.tobytes(): play for play in plays}
    if paths is None or not next(iter(plays)).moves:
        play = next(iter(plays))
        if paths is None and not play.moves:
            return play
        reason = why_illegal(position, roll, paths, (), tuple(plays), names)
        raise IllegalPlay(f"{text.strip()!r} with {roll[0]}-{roll[1]}: {reason}")
    found = readings(position, roll, paths)
    fitting = [reading for reading in found if reading.points in legal]
    if not fitting:
        reason = why_illegal(position, roll, paths, found, tuple(plays), names)
        raise IllegalPlay(f"{text.strip()!r} with {roll[0]}-{roll[1]}: {reason}")
    results = {reading.points for reading in fitting}
    if len(results) > 1:
        results = _exact(paths, fitting) or results
    if len(results) > 1:
        listed = sorted(move_text(legal[points], names) for points in results)
        raise AmbiguousPlay(
            f"{text.strip()!r} with {roll[0]}-{roll[1]} fits {len(listed)} legal plays: "
            f"{'; '.join(listed[:_MOST_LISTED])}{' ...' if len(listed) > _MOST_LISTED else ''}"
        )
    return legal[results.pop()]


def hit_points(play: Play) -> set[int]:
    """The points, in the mover's numbering, on which the play hits."""
    return {end for (_, end), hit in zip(play.moves, play.hits, strict=True) if hit}


def movements(play: Play) -> dict[tuple[int, ...], int]:
    """What moves where: {(start, landings that must be told, end): checkers}, farthest first.

    Steps are joined where one ends and another starts. A landing must be told where it hits
    and no checker stays to show it.
    """
    chains: list[list[int]] = []
    for start, end in sorted(play.moves, key=lambda move: (-move[0], move[1])):
        for chain in chains:
            if chain[-1] == start:
                chain.append(end)
                break
        else:
            chains.append([start, end])
    told = hit_points(play) - {chain[-1] for chain in chains}
    paths = Counter((c[0], *(p for p in c[1:-1] if p in told), c[-1]) for c in chains)
    return dict(sorted(paths.items(), key=lambda item: (-item[0][0], item[0][1:])))


def _exact(paths: Sequence[Path], fitting: Sequence[Reading]) -> set[bytes]:
    """The results that hit exactly where the text has its stars."""
    stars = {point for path in paths for point in path.stars}
    return {reading.points for reading in fitting if reading.hits == stars}


class _Place(NamedTuple):
    """A point read from a text, and where reading goes on."""

    point: int
    end: int


def _read(text: str, numbering: Numbering) -> list[Path] | None:
    """The movements that a text names, or None for a pass."""
    stripped = text.strip()
    if _PASS_WORDS.fullmatch(stripped):
        return None
    if not stripped:
        raise InvalidText(f"empty move text; write moves such as 24/18, or {PASS!r}")
    paths: list[Path] = []
    at = _skip(_SEPARATORS, text, 0)
    while at < len(text):
        path, at = _read_path(text, at, numbering)
        paths.extend(path)
        at = _skip(_SEPARATORS, text, at)
    if len(paths) > MAX_STEPS:
        raise IllegalPlay(
            f"{stripped!r} makes {len(paths)} moves; a turn has {MAX_STEPS} steps at most"
        )
    return paths


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _read_path(text: str, at: int, numbering: Numbering) -> tuple[list[Path], int]:
    """One movement, as many times as it counts, and where reading goes on."""
    begin = at
    place = _read_point(text, at, numbering)
    points, stars, at = [place.point], set(), place.end
    while arrow := _ARROW.match(text, at):
        place = _read_point(text, arrow.end(), numbering)
        points.append(place.point)
        at = place.end
        if star := _STAR.match(text, at):
            stars.add(place.point)
            at = star.end()
    if len(points) == 1:
        raise _unreadable(text, at, "'/' and where the checker goes")
    count = 1
    if match := _COUNT.match(text, at):
        count, at = int(match.group(1)), match.end()
        if not count:
            raise _unreadable(text, match.start(), "a count of 1 or more")
    for start, end in pairwise(points):
        if end >= start:
            far, near = ("24", "1") if numbering == "distance" else ("1", "24")
            raise IllegalPlay(
                f"{text[begin:at].strip()!r} does not go forwards: in {numbering} numbering "
                f"checkers move from {far} towards {near}"
            )
    return [Path(tuple(points), frozenset(stars))] * count, at


def _read_point(text: str, at: int, numbering: Numbering) -> _Place:
    match = _POINT.match(text, at)
    if match is None:
        raise _unreadable(text, at, "a point 1..24, bar or off")
    if match["bar"]:
        return _Place(BAR, match.end())
    if match["off"]:
        return _Place(OFF, match.end())
    number = int(match["number"])
    if number > 25:
        raise _unreadable(text, at, "a point 1..24, bar or off")
    return _Place(number if numbering == "distance" else 25 - number, match.end())


def _unreadable(text: str, at: int, expected: str) -> InvalidText:
    rest = text[at : at + 12].strip()
    found = f"{rest!r}" if rest else "the end"
    return InvalidText(
        f"cannot read {text.strip()!r} at character {at + 1}: expected {expected}, found {found}"
    )

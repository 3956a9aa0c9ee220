"""The match text of Jellyfish and GNU Backgammon, `.mat`.

    7 point match

    Game 1
    Anna : 0                       Bert : 0
     1)                             31: 8/5 6/5
     2) 65: 24/18 18/13              Doubles => 2
     3)  Takes                      ...

The format was never written down. This is what GNU Backgammon 1.07 writes and reads: the left
column is seat 0, points are in the mover's numbers, 25 the bar and 0 off, an empty move is a
pass, and who resigned is told only by a game that ends before its time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.records.game import CubeEvent, Decision, Event, GameRecord
from nardy_rl.records.replay import replay
from nardy_rl.records.short_games import Told, as_match, named, records, stakes
from nardy_rl.rules import Play

_LEFT = 31
"""Where the right column begins."""

_LONGEST = 1000
"""Characters of a line; no program writes half as many."""

_NAMES = {
    "backgammon": "",
    "nackgammon": "NackGammon",
    "hypergammon": "HyperGammon (3)",
}
_FLAGS = {"crawford": "Crawford", "jacoby": "Jacoby", "beavers": "Beaver"}

_COMMENT = re.compile(r'\s*;\s*\[\s*(\w[\w ]*?)\s+"?([^"\]]*)"?\s*\]\s*')
_LENGTH = re.compile(r"\s*(\d{1,5})\s+points?\s+match\s*", re.I)
_GAME = re.compile(r"\s*Game\s+(\d{1,9})\s*", re.I)
_SCORE = re.compile(r"\s*(\S.*?)\s*:\s*(\d{1,6})\s{2,}(\S.*?)\s*:\s*(\d{1,6})\s*")
_NUMBERED = re.compile(r"\s*\d{1,6}\)")
_ACTION = re.compile(
    r"(?<!\S)(?:[1-6][1-6]:|(?:Redoubles|Doubles|Beavers)\s*=>\s*\d{1,9}"
    r"|Takes|Drops|Passes|Wins\s+\d{1,7}\s+points?(?:\s+and\s+the\s+match)?)(?!\S)",
    re.I,
)


class _Action(NamedTuple):
    seat: int
    what: str
    rest: str


def write(games: Sequence[GameRecord]) -> str:
    """The text of one match.

    Raises:
        ConfigError: games that the format cannot hold.
    """
    match = as_match(games)
    first = match.games[0]
    for name in first.players:
        if ":" in name or "  " in name:
            raise ConfigError(
                f"players: {name!r} cannot be written as .mat; a name without ':' and without "
                "two spaces side by side"
            )
    lines = []
    if _NAMES[named(first.rules)]:
        lines.append(f'; [Variation "{_NAMES[named(first.rules)]}"]')
    for flag in ("crawford",) if first.terms.length else ("jacoby", "beavers"):
        lines.append(f'; [{_FLAGS[flag]} "{"On" if getattr(first.terms, flag) else "Off"}"]')
    lines += ["", f" {first.terms.length or 0} point match"]
    for game in match.games:
        lines += ["", *_game_lines(game)]
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[GameRecord, ...]:
    """The games of a text.

    Raises:
        InvalidText: what cannot be read, or is not legal; the message says where.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            reader.line(line.expandtabs())
        except InvalidText as error:
            raise InvalidText(f"line {number}: {error}") from error
    return records(reader.told())


def _game_lines(game: GameRecord) -> list[str]:
    """One game: its heading, and its events in two columns."""
    left, right = (f"{n} : {int(p)}" for n, p in zip(game.players, game.score, strict=True))
    rows: list[list[str]] = []
    for seat, cell in _cells(game):
        if seat == 0 or not rows or rows[-1][1]:
            rows.append(["", ""])
        rows[-1][seat] = cell
    lines = [f" Game {game.number}", f" {left:<{_LEFT - 1}} {right}"]
    for number, (one, two) in enumerate(rows, start=1):
        lines.append(f"{number:>3}) {one:<{_LEFT - 5}} {two}".rstrip())
    if game.result.score:
        points = abs(game.result.score)
        won = f"Wins {points} point{'s' if points > 1 else ''}"
        if _ends_match(game):
            won += " and the match"
        column = 6 if game.result.score > 0 else _LEFT + 3
        lines.append(f"{'':{column}}{won}")
    return lines


def _ends_match(game: GameRecord) -> bool:
    length = game.terms.length
    ended = (a + b for a, b in zip(game.score, game.result.points, strict=True))
    return length is not None and any(points >= length for points in ended)


def _cells(game: GameRecord) -> list[tuple[int, str]]:
    """(seat, text) of each event."""
    plays = iter(replay(game))
    cells = []
    for event, stake in zip(game.events, stakes(game), strict=True):
        if isinstance(event, Decision):
            text = f"{event.roll[0]}{event.roll[1]}: {_moves(next(plays).play)}".rstrip()
        else:
            text = {
                "double": f" Doubles => {stake}",
                "beaver": f" Beavers => {stake}",
                "take": " Takes",
                "pass": " Drops",
            }[event.cube]
        cells.append((event.seat, text))
    return cells


def _moves(play: Play) -> str:
    """Every step of a play, as GNU Backgammon writes it."""
    return " ".join(
        f"{start}/{end}{'*' if hit else ''}"
        for (start, end), hit in zip(play.moves, play.hits, strict=True)
    )


@dataclass
class _Game:
    """What has been read of one game."""

    number: int
    players: tuple[str, str] | None = None
    score: tuple[int, int] = (0, 0)
    events: list[Event] = field(default_factory=list)
    value: int = 1
    offer: int = 0
    beaver_by: int | None = None
    won: tuple[int, int] | None = None


class _Reader:
    """Takes a file line by line."""

    def __init__(self) -> None:
        self.length: int | None = None
        self.variant = "backgammon"
        self.flags: dict[str, bool] = {}
        self.games: list[_Game] = []

    def line(self, line: str) -> None:
        """Read a line."""
        if not line.strip():
            return
        if len(line) > _LONGEST:
            raise InvalidText(f"{len(line):,} characters; a line has up to {_LONGEST}")
        if line.lstrip().startswith(";"):
            self._comment(line)
        elif match := _LENGTH.fullmatch(line):
            if self.length is not None:
                raise InvalidText("the length of the match is there twice; a file holds one match")
            self.length = int(match[1])
        elif match := _GAME.fullmatch(line):
            if self.length is None:
                raise InvalidText("the length of the match is missing above: '5 point match'")
            self.games.append(_Game(int(match[1])))
        elif not self.games:
            raise InvalidText(f"{line.strip()!r:.60} is not expected; 'Game 1' comes first")
        elif self.games[-1].players is None:
            self._score(line)
        else:
            self._turns(line)

    def told(self) -> list[Told]:
        """What the file tells."""
        if self.length is None:
            raise InvalidText("no 'N point match' in it; a .mat file begins with it")
        length = self.length
        flags = {"crawford": True, **self.flags} if length else self.flags
        found, was_crawford = [], False
        for game in self.games:
            if game.players is None:
                raise InvalidText(f"game {game.number}: players and score are missing")
            away = [length - points for points in game.score]
            crawford = bool(length) and flags.get("crawford", False) and 1 in away
            found.append(
                Told(
                    place=f"game {game.number}",
                    variant=self.variant,
                    players=game.players,
                    score=game.score,
                    number=game.number,
                    crawford_game=crawford and not was_crawford and away != [1, 1],
                    events=tuple(game.events),
                    length=length,
                    flags=flags,
                    won=game.won,
                )
            )
            was_crawford |= crawford
        return found

    def _comment(self, line: str) -> None:
        match = _COMMENT.fullmatch(line)
        if match is None:
            return
        name, value = match[1].lower(), match[2].strip().lower()
        if name == "variation":
            known = {text.lower(): short for short, text in _NAMES.items() if text}
            known["backgammon"] = "backgammon"
            if value not in known:
                raise InvalidText(f"variation {match[2]!r:.60} is not known; {', '.join(known)}")
            self.variant = known[value]
        for flag, word in _FLAGS.items():
            if name == word.lower() and value in ("on", "off"):
                self.flags[flag] = value == "on"

    def _score(self, line: str) -> None:
        match = _SCORE.fullmatch(line)
        if match is None:
            raise InvalidText(f"{line.strip()!r:.60} is no score; 'Anna : 0      Bert : 0'")
        self.games[-1].players = (match[1], match[3])
        self.games[-1].score = (int(match[2]), int(match[4]))

    def _turns(self, line: str) -> None:
        """A line of events, left and right."""
        game = self.games[-1]
        head = _NUMBERED.match(line)
        begin = head.end() if head else 0
        found = list(_ACTION.finditer(line, begin))
        before = line[begin : found[0].start()] if found else line[begin:]
        if before.strip() or len(found) > 2:
            raise InvalidText(
                f"{line.strip()!r:.60} cannot be read; two columns of '31: 8/5 6/5', "
                "'Doubles => 2', 'Takes', 'Drops', 'Beavers => 4', 'Wins 1 point'"
            )
        stops = [*(match.start() for match in found), len(line)][1:]  # none of an empty line
        for place, (match, stop) in enumerate(zip(found, stops, strict=True)):
            seat = place if len(found) == 2 else int(match.start() > _LEFT // 2)
            self._act(game, _Action(seat, match[0], line[match.end() : stop].strip()))

    def _act(self, game: _Game, action: _Action) -> None:
        """One event."""
        word = action.what.split()[0].lower()
        if game.won is not None:
            raise InvalidText(f"{action.what!r}: the game is over; 'Game N' begins the next")
        if word[0].isdigit():
            roll = (int(word[0]), int(word[1]))
            text = action.rest or "pass"
            game.events.append(Decision(action.seat, roll, text))
            return
        if action.rest:
            raise InvalidText(f"{action.rest!r:.60} after {action.what!r} cannot be read")
        if word == "wins":
            game.won = (action.seat, int(re.findall(r"\d+", action.what)[0]))
            return
        if word in ("doubles", "redoubles", "beavers"):
            said = int(action.what.split("=>")[1])
            game.offer = 2 * (game.offer if word == "beavers" else game.value)
            if said != game.offer:
                raise InvalidText(f"{action.what!r}: the cube would be at {game.offer} then")
        if word == "takes" and game.beaver_by == 1 - action.seat:
            game.beaver_by = None  # Some programs let the doubler take what he cannot refuse.
            return
        if word != "drops" and word != "passes" and not word.endswith("doubles"):
            game.value = game.offer
        game.beaver_by = action.seat if word == "beavers" else None
        short = {"takes": "take", "drops": "pass", "passes": "pass", "beavers": "beaver"}
        game.events.append(CubeEvent(action.seat, short.get(word, "double")))

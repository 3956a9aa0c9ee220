"""A recorded game as a value: who played what, in which order, and how it ended.

Seats are 0 and 1; either may begin. Plays are texts in the numbers of who made them (points by
distance to go, see `notation.move_text`), so that a record is readable as it stands; `replay`
plays it by the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import nardy_rl.cube
from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.rules.record import Rules

CUBE_WORDS = ("double", "take", "pass", "beaver")
"""A beaver takes the cube, doubles it again and keeps it; the game goes on at once."""

CUBES = ("none", "standard", "dave", "dave arithmetic")
"""Kinds of cube (RULES.md 2)."""

REASONS = ("played out", "passed cube", "resigned", "unfinished")

LONGEST_NAME = 200
LONGEST_MATCH = 10_000
MOST_POINTS = 10**6


@dataclass(frozen=True)
class Decision:
    """One play.

    Attributes:
        seat: who played, 0 or 1.
        roll: the dice; of a rung its die twice.
        play: its text, or "pass" where there was no legal move.
        rung: steps of a rung that was left to be played (no dice were thrown), 0 for a roll.
    """

    seat: int
    roll: tuple[int, int]
    play: str
    rung: int = 0


@dataclass(frozen=True)
class CubeEvent:
    """What a player did with the cube: one of `CUBE_WORDS`."""

    seat: int
    cube: str


Event = Decision | CubeEvent


@dataclass(frozen=True)
class Terms:
    """What is played for.

    Attributes:
        length: points of the match; None for single games ("money").
        cube: one of `CUBES`.
        crawford: whether the match has a game without the cube (RULES.md 2).
        jacoby: whether a win counts once only while the cube has not been turned.
        beavers: whether they are allowed.
        mars_with_cube: whether mars and koks multiply the stake of a game with a cube.
    """

    length: int | None = None
    cube: str = "none"
    crawford: bool = False
    jacoby: bool = False
    beavers: bool = False
    mars_with_cube: bool = True

    def __post_init__(self) -> None:
        if self.length is not None:
            whole_number("terms: length", self.length, 1, LONGEST_MATCH)
        _one_of("terms: cube", self.cube, CUBES)
        for name in ("crawford", "jacoby", "beavers", "mars_with_cube"):
            _truth(f"terms: {name}", getattr(self, name))

    def of_a_game(self) -> nardy_rl.cube.Terms:
        """What one game is played for, as `nardy_rl.cube` has it."""
        kind, _, progression = self.cube.partition(" ")
        turns = kind != "none"
        return nardy_rl.cube.Terms(
            cube=kind,
            cube_progression=progression or "geometric",
            mars_with_cube=self.mars_with_cube or not turns,
            jacoby=self.jacoby and turns,
            beavers=self.beavers and turns,
        )


@dataclass(frozen=True)
class Result:
    """How a game ended.

    Attributes:
        score: points of seat 0, the cube counted in; negative where seat 1 won, 0 for a draw.
        reason: one of `REASONS`.
        each: points that a draw gives to each side.
    """

    score: int
    reason: str
    each: float = 0.0

    def __post_init__(self) -> None:
        whole_number("result: score", self.score, -MOST_POINTS, MOST_POINTS)
        _one_of("result: reason", self.reason, REASONS)
        _points("result: each", self.each)

    @property
    def points(self) -> tuple[float, float]:
        """What the game adds to the score of each seat."""
        return max(self.score, 0) + self.each, max(-self.score, 0) + self.each


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        rules: the variant with its options.
        players: names of seats 0 and 1.
        starter: the seat that began.
        events: plays and what was done with the cube, in order.
        result: how it ended.
        terms: of the match that it is a game of.
        number: of the game in its match, from 1.
        score: of the match before it, by seat.
        crawford_game: whether this is the game without the cube.
        seed: of the dice, where a program threw them.

    Raises:
        ConfigError: a field that is not allowed. Whether the plays are legal `replay` says.
    """

    rules: Rules
    players: tuple[str, str]
    starter: int
    events: tuple[Event, ...] = field(repr=False)
    result: Result
    terms: Terms = field(default_factory=Terms)
    number: int = 1
    score: tuple[float, float] = (0, 0)
    crawford_game: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        if len(self.players) != 2:
            raise ConfigError(f"players={self.players!r} is not allowed; two names")
        for name in self.players:
            if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or _unprintable(name):
                raise ConfigError(
                    f"players: {name!r:.60} is not allowed; a name of 1 to {LONGEST_NAME} "
                    "characters, all on one line"
                )
        whole_number("starter", self.starter, 0, 1)
        whole_number("game", self.number, 1, 10**9)
        if len(self.score) != 2:
            raise ConfigError(f"score={self.score!r} is not allowed; the points of both seats")
        for points in self.score:
            _points("score", points)
        _truth("crawford_game", self.crawford_game)
        if self.seed is not None:
            whole_number("seed", self.seed, 0, 2**63 - 1)
        for event in self.events:
            whole_number("seat", event.seat, 0, 1)
            if isinstance(event, CubeEvent):
                _one_of("cube", event.cube, CUBE_WORDS)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The plays alone."""
        return tuple(event for event in self.events if isinstance(event, Decision))


@dataclass(frozen=True)
class MatchRecord:
    """Games of one match, or of one evening without a match, in order.

    Raises:
        ConfigError: no games; other players, rules or terms; a score that does not run on.
    """

    games: tuple[GameRecord, ...]

    def __post_init__(self) -> None:
        if not self.games:
            raise ConfigError("games: none; a match has one or more")
        first = self.games[0]
        for before, game in zip(self.games, self.games[1:], strict=False):
            for name in ("rules", "players", "terms"):
                if getattr(game, name) != getattr(first, name):
                    raise ConfigError(
                        f"games: game {game.number} has other {name} than game {first.number}; "
                        "one match has one and the same"
                    )
            due = _added(before.score, before.result.points)
            if before.result.reason != "unfinished" and game.score != due:
                raise ConfigError(
                    f"games: game {game.number} begins at {_scored(game.score)}, but the one "
                    f"before it ended at {_scored(due)}"
                )


def numbered(games: Sequence[GameRecord]) -> tuple[GameRecord, ...]:
    """Games as an evening: numbers from 1, and the score running on."""
    from dataclasses import replace

    found: list[GameRecord] = []
    score: tuple[float, float] = (0, 0)
    for number, game in enumerate(games, start=1):
        found.append(replace(game, number=number, score=score))
        score = _added(score, game.result.points)
    return tuple(found)


def describe(result: Result, players: Sequence[str]) -> str:
    """How a game ended, in words.

    >>> describe(Result(-2, "resigned"), ("Anna", "Bert"))
    'Bert wins 2 points (resigned)'
    """
    if result.reason == "unfinished":
        return "unfinished"
    if result.score == 0:
        return f"drawn, {result.each:g} each"
    points = abs(result.score)
    said = "" if result.reason == "played out" else f" ({result.reason})"
    won = f"{points:,} point{'s' if points > 1 else ''}"
    return f"{players[0 if result.score > 0 else 1]} wins {won}{said}"


def _added(score: tuple[float, float], points: tuple[float, float]) -> tuple[float, float]:
    return score[0] + points[0], score[1] + points[1]


def _scored(score: tuple[float, float]) -> str:
    return f"{score[0]:g}:{score[1]:g}"


def _one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name}={value!r:.60} is not allowed; allowed: {', '.join(allowed)}")


def _truth(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{name}={value!r:.60} is not allowed; true or false")


def _points(name: str, value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= MOST_POINTS:  # type: ignore[operator]
        raise ConfigError(f"{name}={value!r:.60} is not allowed; numbers 0..{MOST_POINTS}")


def _unprintable(name: str) -> bool:
    """Whether a name breaks lines, or cannot be written at all."""
    return not name.isprintable() or name != name.strip()

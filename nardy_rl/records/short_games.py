"""What `.mat` and `.sgf` can say: short games by the usual rules, one match a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.records.game import CubeEvent, Event, GameRecord, MatchRecord, Result, Terms
from nardy_rl.records.replay import canonical, end_of, result_of
from nardy_rl.rules.record import Rules, variant

VARIANTS = ("backgammon", "nackgammon", "hypergammon")

_DECIDES = ("checkers", "start", "direction", "contact", "hit_run", "koks", "opening_roll")
"""What the formats take for granted."""


def named(rules: Rules) -> str:
    """The variant of the formats that plays as `rules` do.

    Raises:
        ConfigError: there is none.
    """
    for name in VARIANTS:
        usual = variant(name)
        if all(getattr(usual, field) == getattr(rules, field) for field in _DECIDES):
            return name
    changed = ""
    if rules.name in VARIANTS:
        usual = variant(rules.name)
        changed = " with " + ", ".join(
            f"{field}={getattr(rules, field)}"
            for field in _DECIDES
            if getattr(rules, field) != getattr(usual, field)
        )
    raise ConfigError(
        f"{rules.name}{changed} cannot be written in this format; it holds "
        f"{', '.join(VARIANTS)} by their usual rules, .jsonl holds every game"
    )


def as_match(games: Sequence[GameRecord]) -> MatchRecord:
    """Games as the one match that a file of these formats holds.

    Raises:
        ConfigError: other rules, several matches, a cube or a score that they cannot say.
    """
    for game in games:
        named(game.rules)
    match = MatchRecord(tuple(games))
    terms = match.games[0].terms
    if terms.cube not in ("none", "standard"):
        raise ConfigError(
            f"terms: cube={terms.cube} cannot be written in this format; none, standard"
        )
    for game in match.games:
        if any(points != int(points) for points in game.score):
            raise ConfigError(f"score: {game.score} cannot be written here; whole numbers")
    return match


def stakes(game: GameRecord) -> list[int]:
    """The number on the cube after each event, were it accepted; 0 for plays."""
    value, found = 1, []
    for event in game.events:
        if not isinstance(event, CubeEvent):
            found.append(0)
            continue
        if event.cube == "double":
            found.append(2 * value)
            continue
        if event.cube != "pass":
            value *= 4 if event.cube == "beaver" else 2
        found.append(value)
    return found


@dataclass(frozen=True)
class Told:
    """A game as a file tells it.

    Attributes:
        place: for messages, such as `game 2`.
        variant: one of `VARIANTS`.
        players, score, number, crawford_game, events: as of `GameRecord`.
        length: of the match, 0 for none.
        flags: crawford, jacoby, beavers, as far as the file says.
        won: (seat, points) of the winner; None where the file names none.
    """

    place: str
    variant: str
    players: tuple[str, str]
    score: tuple[int, int]
    number: int
    crawford_game: bool
    events: tuple[Event, ...]
    length: int
    flags: Mapping[str, bool]
    won: tuple[int, int] | None


def records(told: Sequence[Told]) -> tuple[GameRecord, ...]:
    """The records of one file, replayed; the terms are what its games need and say.

    Raises:
        InvalidText: an illegal play, or a result that is not the game's; names game and move.
    """
    if not told:
        raise InvalidText("no games in it")
    words = {event.cube for one in told for event in one.events if isinstance(event, CubeEvent)}
    flags = dict(told[0].flags)
    if "beaver" in words:
        flags["beavers"] = True
    length = told[0].length or None
    # These formats are of games with a cube; whether it lay there nobody says.
    cube = "standard" if length or words or any(flags.values()) else "none"
    try:
        return tuple(_record(one, length, cube, flags) for one in told)
    except InvalidText as error:
        if length or "jacoby" in flags:
            raise
        # A gammon that counts once: by Jacoby's rule, which such files seldom mention.
        try:
            return tuple(
                _record(one, length, "standard", {**flags, "jacoby": True}) for one in told
            )
        except InvalidText:
            raise error from None


def _record(told: Told, length: int | None, cube: str, flags: Mapping[str, bool]) -> GameRecord:
    try:
        record = GameRecord(
            rules=variant(told.variant),
            players=told.players,
            starter=next((e.seat for e in told.events), 0),
            events=told.events,
            result=Result(0, "unfinished"),
            terms=Terms(length=length, cube=cube, **flags),
            number=told.number,
            score=told.score,
            crawford_game=told.crawford_game,
        )
        end = end_of(record)
        points = 0 if told.won is None else told.won[1] * (1 if told.won[0] == 0 else -1)
        result = result_of(record, end, resigned=points)
        if points and result.score != points:
            raise InvalidText(
                f"seat {told.won[0] if told.won else 0} wins {abs(points)} points by the file, "
                f"but by the moves the score of seat 0 is {result.score}"
            )
        return canonical(replace(record, result=result))
    except (InvalidText, ConfigError) as error:
        raise InvalidText(f"{told.place}, {error}") from error

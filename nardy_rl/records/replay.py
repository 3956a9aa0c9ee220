"""Records played by the rules: the positions they went through, and what is wrong with them.

A record that replays is legal throughout: every play is one of `Position.plays`, made by whose
turn it was, every word about the cube is one that `nardy_rl.cube` allows there, and the result is
what the last position and the stake say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nardy_rl.cube import CubeGame
from nardy_rl.errors import AmbiguousPlay, ConfigError, IllegalPlay, InvalidPosition, InvalidText
from nardy_rl.notation import move_text, parse_play
from nardy_rl.records.game import CubeEvent, Decision, GameRecord, Result
from nardy_rl.rules import Outcome, Play, Position, Rules

_WRONG_PLAY = (AmbiguousPlay, ConfigError, IllegalPlay, InvalidPosition, InvalidText, ValueError)


@dataclass(frozen=True)
class Replayed:
    """One decision of a game.

    Attributes:
        number: of the decision in its game, from 1.
        seat: who made it.
        position: before it, seen by him.
        play: what he played.
    """

    number: int
    seat: int
    position: Position
    play: Play


@dataclass(frozen=True)
class End:
    """Where the events of a game lead.

    Attributes:
        decisions: all of them.
        outcome: of seat 0, where play came to the end of the game.
        cube: what was done with it.
    """

    decisions: tuple[Replayed, ...]
    outcome: Outcome | None
    cube: CubeGame


def replay(record: GameRecord) -> tuple[Replayed, ...]:
    """The decisions of a record, each with its position.

    Raises:
        InvalidText: an event that is not possible, or a result that is not the one of the game;
            the message names the move and says what is allowed.
    """
    end = end_of(record)
    _check_result(record, end)
    return end.decisions


def canonical(record: GameRecord) -> GameRecord:
    """The same game with every play written as `move_text` does; errors as of `replay`."""
    texts = iter(move_text(one.play) for one in replay(record))
    events = tuple(
        replace(event, play=next(texts)) if isinstance(event, Decision) else event
        for event in record.events
    )
    return replace(record, events=events)


def end_of(record: GameRecord) -> End:
    """Play the events from the start; errors as of `replay`, but for the result."""
    table = _Table(record)
    for event in record.events:
        if isinstance(event, CubeEvent):
            table.turn_cube(event)
        else:
            table.play(event)
    return table.end()


def decision_of(seat: int, play: Play) -> Decision:
    """A play as a record has it."""
    rung = play.before.rung
    return Decision(seat, play.roll, move_text(play), 0 if rung is None else rung[1])


def result_after(seat: int, play: Play) -> Result:
    """The result of a game without a cube whose last play this is."""
    outcome = play.after.outcome()
    if outcome is None:
        return Result(0, "unfinished")
    score = outcome.score if seat == 0 else -outcome.score
    return Result(score, "played out", outcome.points_each)


class _Table:
    """A game as far as it has been replayed."""

    def __init__(self, record: GameRecord) -> None:
        self.position = Position.start(record.rules)
        self.seat = record.starter
        self.decisions: list[Replayed] = []
        self.outcome: Outcome | None = None
        self.cube = CubeGame(record.terms.of_a_game(), crawford=record.crawford_game)

    def play(self, event: Decision) -> None:
        """Make a play."""
        where = self._where(f"seat {event.seat}, {event.roll[0]}-{event.roll[1]}")
        self._goes_on(where, event.seat)
        if self.cube.offered is not None:
            raise InvalidText(
                f"{where}: seat {self.cube.offered} has doubled; take, pass or beaver comes first"
            )
        rung = self.position.rung
        if rung is None and event.rung:
            raise InvalidText(f"{where}: no rung is left to be played; a roll is thrown")
        if rung is not None and (event.roll, event.rung) != ((rung[0], rung[0]), rung[1]):
            raise InvalidText(f"{where}: the rung [{rung[0]}, {rung[1]}] is played before a roll")
        if not self.decisions and not self._opens(event.roll):
            raise InvalidText(
                f"{where}: a double cannot begin here; with opening_roll=use_opening_dice the "
                "first two dice, one of each player, differ"
            )
        try:
            play = parse_play(self.position, event.roll, event.play)
        except _WRONG_PLAY as error:
            raise InvalidText(f"{where}: {error}") from error
        self.decisions.append(Replayed(len(self.decisions) + 1, event.seat, self.position, play))
        found = play.after.outcome()
        if found is not None:
            sign = 1 if event.seat == 0 else -1
            self.outcome = Outcome(sign * found.score, found.points_each)
        elif play.after.moved:
            self.seat = 1 - self.seat
        self.position = play.after.for_mover() if found is None else play.after

    def turn_cube(self, event: CubeEvent) -> None:
        """Offer the cube, or answer."""
        where = self._where(f"seat {event.seat}, {event.cube}", before=True)
        if event.cube == "double":
            self._goes_on(where, event.seat)
            if self.position.rung is not None:
                raise InvalidText(f"{where}: a rung is to be played; a double comes before a roll")
            if not self.decisions:
                raise InvalidText(f"{where}: nobody doubles before the first roll of a game")
        try:
            self.cube = self.cube.after(event.seat, event.cube)
        except IllegalPlay as error:
            raise InvalidText(f"{where}: {error}") from error

    def end(self) -> End:
        """What the game came to."""
        return End(tuple(self.decisions), self.outcome, self.cube)

    def _where(self, what: str, before: bool = False) -> str:
        return f"{'before ' if before else ''}move {len(self.decisions) + 1} ({what})"

    def _opens(self, roll: tuple[int, int]) -> bool:
        return roll[0] != roll[1] or self.position.rules.opening_roll != "use_opening_dice"

    def _goes_on(self, where: str, seat: int) -> None:
        if self.outcome is not None or self.cube.passed is not None:
            raise InvalidText(f"{where}: the game is over; nothing follows")
        if seat != self.seat:
            raise InvalidText(f"{where}: it is the turn of seat {self.seat}")


def _check_result(record: GameRecord, end: End) -> None:
    """Compare the stated result with where the game led."""
    result = record.result
    reason, allowed = _possible(record.rules, end)
    if result.reason not in reason:
        raise InvalidText(
            f"result: reason {result.reason!r} does not fit the moves; {' or '.join(reason)}"
        )
    if result.reason == "unfinished":
        allowed = (0,)
    if result.score not in allowed:
        raise InvalidText(
            f"result: score {result.score} (points of seat 0) does not fit the moves; "
            f"{' or '.join(map(str, allowed))}"
        )
    drawn = end.outcome.points_each if end.outcome is not None else 0.0
    if result.each != drawn:
        raise InvalidText(f"result: each {result.each:g} does not fit the moves; {drawn:g}")


def _possible(rules: Rules, end: End) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """(reasons, scores) that fit."""
    cube = end.cube
    if cube.passed is not None:
        return ("passed cube",), (cube.points(),)
    if end.outcome is None:
        wins = {cube.points(n): None for n in rules.outcomes if n}
        return ("resigned", "unfinished"), tuple(wins)
    return ("played out",), (cube.points(end.outcome.score),)


def result_of(record: GameRecord, end: End, resigned: int = 0) -> Result:
    """The result that the moves have, with `resigned` points of seat 0 where they have none."""
    reasons, allowed = _possible(record.rules, end)
    if reasons[0] == "resigned":
        return Result(resigned, "resigned" if resigned else "unfinished")
    each = end.outcome.points_each if end.outcome is not None else 0.0
    return Result(allowed[0], reasons[0], each)

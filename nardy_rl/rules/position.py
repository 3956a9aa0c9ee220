"""Positions and plays as values: the face of the rules for people and notebooks.

A `Position` is seen by one player: row 0 of `points` is his. Normally he is the player to move;
`Play.after` is still seen by the player who played (`moved` is True), `flip()` turns the table.
In ladder games he may go on himself (`moved` is False); `for_mover()` gives the next position to
play in whoever that is.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import InvalidPosition, whole_number
from nardy_rl.rules.batch import checked
from nardy_rl.rules.board import (
    FIRST_TURN,
    OPPONENT_FIRST_TURN,
    STARTED,
    opponent_point,
    turn_flags,
)
from nardy_rl.rules.ladder import asked_rung, pending_possible, rung_of
from nardy_rl.rules.limits import forbidden_prime, forbidden_start_prime
from nardy_rl.rules.pins import PINNED, counts_of, impossible_counts, pinned_under_nobody
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

if TYPE_CHECKING:
    from nardy_rl.rules.plays import Plays

OFF, BAR = 0, 25


class Status(enum.Flag):
    """Why a position is impossible; `VALID` (no bit) when nothing speaks against it."""

    VALID = 0
    NEGATIVE_COUNT = enum.auto()
    WRONG_COUNT = enum.auto()
    OPPONENT_WRONG_COUNT = enum.auto()
    SHARED_POINT = enum.auto()
    BAR_WITHOUT_HITTING = enum.auto()
    OFF_BEFORE_HOME = enum.auto()
    OPPONENT_OFF_BEFORE_HOME = enum.auto()
    FIRST_TURN_ALREADY_PLAYED = enum.auto()
    FORBIDDEN_PRIME = enum.auto()
    OPPONENT_FORBIDDEN_PRIME = enum.auto()
    BOTH_FINISHED = enum.auto()
    IMPOSSIBLE_PENDING = enum.auto()
    LEFT_BEFORE_RUNNER = enum.auto()
    OPPONENT_LEFT_BEFORE_RUNNER = enum.auto()
    PINNED_UNDER_NOBODY = enum.auto()


_STRUCTURAL = (
    Status.NEGATIVE_COUNT
    | Status.WRONG_COUNT
    | Status.OPPONENT_WRONG_COUNT
    | Status.SHARED_POINT
    | Status.BAR_WITHOUT_HITTING
    | Status.IMPOSSIBLE_PENDING
    | Status.PINNED_UNDER_NOBODY
)


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    `score` counts for the player in row 0 of the position asked (0 is a draw); `points_each`
    is what each side gets of a draw.
    """

    score: int
    points_each: float = 0.0


@dataclass(frozen=True, eq=False)
class Position:
    """One position of one variant, seen by one player.

    Attributes:
        rules: the variant.
        points: int8[2, 26], read-only; row 0 is the player whose view this is, row 1 the other
            in *his* numbering. Index 0 holds checkers borne off, 1..24 the points by distance
            to go, 25 the bar. A pinned checker is -1 (`rules.pins`).
        flags: bit 0 my first turn is still to come, bit 1 the opponent's is, bit 2 I started
            the game, bits 3 and 4 turns I have taken, 5 and 6 turns the opponent has. Only bits
            that the variant reads are ever set.
        pending: the rung that the player to move has to play before any dice are thrown, see
            `rules.ladder`; 0 for none, and always 0 without a ladder.
        moved: False, the player in row 0 is to move; True, he has just moved and the other is.
    """

    rules: Rules
    points: NDArray[np.int8] = field(repr=False)
    flags: int = 0
    pending: int = 0
    moved: bool = False

    def __post_init__(self) -> None:
        try:
            points = checked("points", self.points, -128, 127).astype(np.int8)
        except ValueError as error:
            raise InvalidPosition(str(error)) from error
        if points.shape != (2, 26):
            raise InvalidPosition(f"points has shape {points.shape}; int8[2, 26] is needed")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "flags", int(self.flags) & self.rules.flag_mask)

    @classmethod
    def start(cls, rules: Rules) -> Position:
        """The start position, seen by the player who begins.

        >>> from nardy_rl.rules.record import variant
        >>> Position.start(variant("long_nardy")).pips
        (360, 360)
        """
        return cls(rules, rules.start_points(), FIRST_TURN | OPPONENT_FIRST_TURN | STARTED)

    @classmethod
    def from_points(
        cls,
        rules: Rules,
        me: Mapping[int, int],
        opp: Mapping[int, int],
        me_off: int = 0,
        opp_off: int = 0,
        me_bar: int = 0,
        opp_bar: int = 0,
        first_turn: tuple[bool, bool] = (False, False),
        started: bool = True,
    ) -> Position:
        """A position from {point: checkers} of each side, each in its own numbering, 25 the bar.

        Where lone checkers are pinned, -1 is a pinned one.

        `first_turn` says whether my and the opponent's first turn is still to come, `started`
        whether I began the game; both are dropped where the variant does not read them.

        Raises InvalidPosition naming every structural reason (checkers that do not add up, both
        sides on one point ...). What merely no legal game reaches is accepted: see `status`.
        """
        reasons: list[str] = []
        points = [
            _counted("me", me, me_off, me_bar, rules, reasons),
            _counted("opp", opp, opp_off, opp_bar, rules, reasons),
        ]
        if reasons:
            raise InvalidPosition("; ".join(reasons))
        if not isinstance(first_turn, Sequence) or len(first_turn) != 2:
            raise InvalidPosition(f"first_turn={first_turn!r} is not allowed; (mine, opponent's)")
        flags = (
            FIRST_TURN * bool(first_turn[0])
            | OPPONENT_FIRST_TURN * bool(first_turn[1])
            | STARTED * bool(started)
        )
        position = cls(rules, np.array(points), flags)
        if position.status() & _STRUCTURAL:
            raise InvalidPosition("; ".join(position.reasons()))
        return position

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Rules, bytes, int, int, bool]:
        return (self.rules, self.points.tobytes(), self.flags, self.pending, self.moved)

    @property
    def first_turn(self) -> tuple[bool, bool]:
        """Whether my and the opponent's first turn is still to come (where the rules ask)."""
        return bool(self.flags & FIRST_TURN), bool(self.flags & OPPONENT_FIRST_TURN)

    @property
    def started(self) -> bool:
        """Whether the player in row 0 began the game (where the rules ask, else False)."""
        return bool(self.flags & STARTED)

    @property
    def pips(self) -> tuple[int, int]:
        """Pips still to go, mine and the opponent's; a checker on the bar has 25."""
        distance = np.arange(26)
        counts = counts_of(self.points).astype(np.int64)
        mine, his = (int(counts[side] @ distance) for side in (0, 1))
        return mine, his

    def flip(self) -> Position:
        """The same position seen by the other player.

        >>> from nardy_rl.rules.record import variant
        >>> start = Position.start(variant("long_nardy"))
        >>> start.flip().flip() == start
        True
        """
        return Position(
            self.rules,
            self.points[::-1],
            int(turn_flags(self.rules.kernel, self.flags)),
            self.pending,
            not self.moved,
        )

    def for_mover(self) -> Position:
        """This position seen by the player to move: itself, or `flip()` where he has moved."""
        return self.flip() if self.moved else self

    @property
    def rung(self) -> tuple[int, int] | None:
        """(die, steps left) of the rung that the player to move has to play; None for none."""
        if not self.pending:
            return None
        die, steps, _whose, _head = rung_of(self.pending)
        return int(die), int(steps)

    def plays(self, roll: tuple[int, int] | None = None) -> Plays:
        """Every legal play of `roll`, one for each distinct resulting position.

        Where a rung of a ladder is to be played first, no dice are thrown: leave out `roll`, or
        give the rung's die twice. Of a double that starts a ladder, the plays are of its first
        rung.

        A forced pass is one `Play` without moves. Raises ValueError for dice outside 1..6 or
        not to be thrown now, a finished game, a position seen by the player who has just moved
        (`flip()` it), and `InvalidPosition` where checkers do not add up or share a point.

        >>> from nardy_rl.rules.record import variant
        >>> [str(play) for play in Position.start(variant("long_nardy")).plays((6, 5))]
        ['24/13']
        """
        if self.rung is not None:
            pair = (self.rung[0], self.rung[0])
            if roll is not None and tuple(roll) != pair:
                raise ValueError(f"roll {roll!r}: no dice now, a rung of {pair[0]} is to be played")
            roll = pair
        if roll is None:
            raise ValueError("a roll is needed: two dice of 1..6")
        if len(roll) != 2 or any(die not in range(1, 7) for die in roll):
            raise ValueError(f"roll {roll!r} is not two dice of 1..6")
        if self.moved:
            raise ValueError("this position is seen by the player who just moved; flip() it first")
        if self.status() & _STRUCTURAL:
            raise InvalidPosition("; ".join(self.reasons()))
        if self.outcome() is not None:
            raise ValueError("the game is over: there is nothing to play")
        from nardy_rl.rules.plays import Plays  # which makes positions

        return Plays(self, (int(roll[0]), int(roll[1])))

    def dice(self, roll: tuple[int, int]) -> tuple[int, ...]:
        """The steps that `roll` grants now, one die each: two, four of a double, or one rung.

        >>> from nardy_rl.rules.record import variant
        >>> Position.start(variant("mad_gyulbar")).dice((5, 5))
        (5, 5)
        """
        die, steps = asked_rung(self.rules.kernel, self.flags, self.pending, *roll)
        if steps:
            return (int(die),) * int(steps)
        return roll * 2 if roll[0] == roll[1] else roll

    def status(self) -> Status:
        """All reasons why no game of this variant can reach this position."""
        rules, points = self.rules, self.points
        found = Status.VALID
        if points.min() < 0 and (rules.contact != "pin" or impossible_counts(points)):
            found |= Status.NEGATIVE_COUNT
        totals = counts_of(points).sum(1, dtype=np.int64)
        if totals[0] != rules.checkers:
            found |= Status.WRONG_COUNT
        if totals[1] != rules.checkers:
            found |= Status.OPPONENT_WRONG_COUNT
        opposite = rules.kernel.opposite
        if any(
            points[0, p] > 0 and points[1, opponent_point(opposite, p)] > 0 for p in range(1, 25)
        ):
            found |= Status.SHARED_POINT
        if rules.contact != "hit" and points[:, BAR].any():
            found |= Status.BAR_WITHOUT_HITTING
        if rules.contact != "hit":
            # Without hitting nobody comes back, so checkers are off only from a full home.
            if points[0, OFF] > 0 and points[0, 7:].any():
                found |= Status.OFF_BEFORE_HOME
            if points[1, OFF] > 0 and points[1, 7:].any():
                found |= Status.OPPONENT_OFF_BEFORE_HOME
            start = rules.start_points()
            # In a ladder game the player to move may be in the middle of his first turn.
            sides = (0, 1) if not rules.ladder else (0,) if self.moved else (1,)
            if any(self.first_turn[side] and (points[side] != start[0]).any() for side in sides):
                found |= Status.FIRST_TURN_ALREADY_PLAYED
        if rules.contact == "pin" and pinned_under_nobody(points):
            found |= Status.PINNED_UNDER_NOBODY
        if rules.prime_rule != "allow":
            if self._has_forbidden_prime(0):
                found |= Status.FORBIDDEN_PRIME
            if self._has_forbidden_prime(1):
                found |= Status.OPPONENT_FORBIDDEN_PRIME
        # A trapping prime is possible: the enemy may gather behind it, and who cannot open passes.
        if forbidden_start_prime(rules.kernel, self._holes(0)):
            found |= Status.FORBIDDEN_PRIME
        if forbidden_start_prime(rules.kernel, self._holes(1)):
            found |= Status.OPPONENT_FORBIDDEN_PRIME
        if rules.runner != "none":
            # Until a checker stands beyond 12, at most one has left the head.
            early = (points[:, :12].sum(1) == 0) & (points[:, 12:24].sum(1) > 1)
            if early[0]:
                found |= Status.LEFT_BEFORE_RUNNER
            if early[1]:
                found |= Status.OPPONENT_LEFT_BEFORE_RUNNER
        if (points[:, OFF] == rules.checkers).all() and rules.last_roll == "none":
            found |= Status.BOTH_FINISHED
        if not pending_possible(rules, self.pending):
            found |= Status.IMPOSSIBLE_PENDING
        return found

    def reasons(self) -> tuple[str, ...]:
        """`status()` as words, one reason each; empty when the position is possible."""
        return tuple(
            flag.name.lower().replace("_", " ")  # type: ignore[union-attr]
            + (f" ({self.rules.checkers} needed)" if "WRONG_COUNT" in str(flag.name) else "")
            for flag in self.status()
        )

    def _has_forbidden_prime(self, side: int) -> bool:
        his = self.points[1 - side]
        front = next((25 - p for p in range(1, 25) if his[p] > 0), 0)
        return bool(forbidden_prime(self.rules.kernel, self._holes(side), front))

    def _holes(self, side: int) -> np.int64:
        """The holes that one side holds, as a set of bits."""
        return np.int64(sum(1 << (25 - p) for p in range(1, 25) if self.points[side, p] > 0))

    def outcome(self) -> Outcome | None:
        """How the game ended, for the player in row 0; None while it goes on."""
        if not self.moved:
            turned = self.flip().outcome()
            return turned and Outcome(-turned.score, turned.points_each)
        score = int(score_after(self.rules.kernel, self.points, self.flags))
        if score == NOT_OVER:
            return None
        return Outcome(score, self.rules.draw_points if score == 0 else 0.0)

    def __str__(self) -> str:
        from nardy_rl.notation import board_text

        return board_text(self)

    def _repr_svg_(self) -> str:
        from nardy_rl.viz import board_svg

        return board_svg(self)


def _counted(
    name: str, side: Mapping[int, int], off: int, bar: int, rules: Rules, reasons: list[str]
) -> list[int]:
    """One side as 26 counts; what is wrong with it is added to `reasons`."""
    counts = [0] * 26
    if not isinstance(side, Mapping):
        reasons.append(f"{name}={side!r} is not allowed; {{point: checkers}}")
        return counts
    for lowest, places in ((1, side), (OFF, {OFF: off, BAR: bar})):
        for place, count in places.items():
            try:
                at = whole_number(f"{name} point", place, lowest, BAR, InvalidPosition)
                what = f"{name} checkers on {at}"
                least = PINNED if rules.contact == "pin" and OFF < at < BAR else 0
                counts[at] += whole_number(what, count, least, rules.checkers, InvalidPosition)
            except InvalidPosition as error:
                reasons.append(str(error))
    return counts

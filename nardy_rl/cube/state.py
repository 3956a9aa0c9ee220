"""The cube and the match as state machines: who may do what, and what a result scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nardy_rl.cube.terms import Terms
from nardy_rl.errors import IllegalPlay

CENTRE = -1
"""The owner of a cube that nobody has been given yet."""

HIGHEST_STAKE = 1 << 20
"""No cube is turned beyond this."""

Numbers = Any
"""A whole number, or an array of them."""


def next_stake(terms: Terms, stake: Numbers, offers: int = 1) -> Numbers:
    """The stake after `offers` more accepted offers; ints or arrays of them.

    >>> next_stake(Terms(cube="standard"), 2)
    4
    """
    if terms.cube_progression == "arithmetic":
        return stake + offers
    return stake * 2**offers


def points_won(terms: Terms, score: Numbers, stake: Numbers, turned: Numbers) -> Numbers:
    """Points of a game that was played out, in the view of `score`.

    Args:
        terms: what was played for.
        score: what the rules say: 1, 2 or 3, negative where lost, 0 a draw; int or int[B].
        stake: at the end.
        turned: whether an offer was accepted in this game (Jacoby).
    """
    if terms.cube != "none" and not terms.mars_with_cube:
        return np.sign(score) * stake
    if terms.jacoby:
        return np.where(turned, score, np.sign(score)) * stake
    return score * stake


@dataclass(frozen=True)
class MatchScore:
    """How a match stands before a game.

    Attributes:
        terms: with a match length, or None for money.
        score: points of seats 0 and 1.
        crawford_played: whether the game without the cube lies behind.
    """

    terms: Terms
    score: tuple[int, int] = (0, 0)
    crawford_played: bool = False

    @property
    def away(self) -> tuple[int, int]:
        """Points that each seat still needs; (0, 0) for money."""
        length = self.terms.match_length
        if length is None:
            return 0, 0
        return max(length - self.score[0], 0), max(length - self.score[1], 0)

    @property
    def is_crawford(self) -> bool:
        """Whether the next game is the one without the cube."""
        return self.terms.crawford and 1 in self.away and not self.crawford_played

    @property
    def winner(self) -> int | None:
        """The seat that has won the match."""
        length = self.terms.match_length
        if length is None or max(self.score) < length:
            return None
        return 0 if self.score[0] >= length else 1

    def after(self, points: int) -> MatchScore:
        """After a game of `points` for seat 0, negative for seat 1, 0 for a draw.

        A drawn game without the cube was the game without the cube.
        """
        score = (self.score[0] + max(points, 0), self.score[1] + max(-points, 0))
        return MatchScore(self.terms, score, self.crawford_played or self.is_crawford)


@dataclass(frozen=True)
class CubeGame:
    """The cube in one game.

    Attributes:
        terms: what is played for.
        stake: what a single win is worth now.
        owner: the seat that alone may double; `CENTRE`: both may.
        offered: the seat whose offer waits for an answer; None: none does.
        turned: whether an offer was accepted.
        passed: the seat that refused: it has lost the stake.
        crawford: this game has no cube.
    """

    terms: Terms
    stake: int = 1
    owner: int = CENTRE
    offered: int | None = None
    turned: bool = False
    passed: int | None = None
    crawford: bool = False

    def may_double(self, seat: int) -> bool:
        """Whether this seat may offer before its roll."""
        free = self.terms.cube != "none" and not self.crawford and self.passed is None
        low = self.stake < HIGHEST_STAKE
        return free and low and self.offered is None and self.owner in (CENTRE, seat)

    def may_beaver(self, seat: int) -> bool:
        """Whether this seat may answer by doubling at once."""
        return self.terms.beavers and self.offered == 1 - seat

    def after(self, seat: int, event: str) -> CubeGame:
        """After "double", "take", "pass" or "beaver" of this seat.

        Raises:
            IllegalPlay: it may not, saying why.
        """
        if event == "double":
            if not self.may_double(seat):
                raise IllegalPlay(f"seat {seat} may not double: {self._why_not(seat)}")
            return replace(self, offered=seat)
        if event not in ("take", "pass", "beaver"):
            raise IllegalPlay(f"{event!r} is no event; there are: double, take, pass, beaver")
        if self.offered != 1 - seat:
            raise IllegalPlay(f"seat {seat} has no offer of the other seat to {event}")
        if event == "pass":
            return replace(self, offered=None, passed=seat)
        if event == "beaver" and not self.may_beaver(seat):
            raise IllegalPlay("beavers are not allowed (beavers=off)")
        stake = next_stake(self.terms, self.stake, 2 if event == "beaver" else 1)
        return replace(self, stake=stake, owner=seat, offered=None, turned=True)

    def points(self, score: int = 0) -> int:
        """Points for seat 0: of its `score` by the rules, or of a refusal."""
        if self.passed is not None:
            return self.stake if self.passed == 1 else -self.stake
        return int(points_won(self.terms, score, self.stake, self.turned))

    def _why_not(self, seat: int) -> str:
        if self.terms.cube == "none":
            return "the game has no cube (cube=none)"
        if self.crawford:
            return "the Crawford game has no cube"
        if self.passed is not None:
            return "the game is over"
        if self.offered is not None:
            return "an offer waits for its answer"
        return "the other seat owns the cube" if self.owner == 1 - seat else "the stake is too high"

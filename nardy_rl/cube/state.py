"""The cube of one game, and the score of a match, as values that events lead from one to the next.

Seats are 0 and 1. Where a rule has to hold for thousands of games at once, it is a function of
numbers or arrays alike (`may_double`, `points_of`), which the values here use too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nardy_rl.cube.terms import Terms
from nardy_rl.errors import IllegalPlay

WORDS = ("double", "take", "pass", "beaver")
"""What can be done with the cube. A beaver takes it, doubles again and keeps it."""

CENTRED = -1
"""The owner of a cube that nobody has: both may offer."""


def may_double(stake: Any, owner: Any, seat: Any, away: Any, has_cube: Any) -> Any:
    """Whether a player may offer the cube before his roll, a truth value or an array of them.

    Args:
        stake: of the game.
        owner: seat of who took last; `CENTRED` at first.
        seat: who is to roll.
        away: points that he still needs for the match; 0 where there is none. A player whom the
            stake as it is suffices may not raise it: his cube is dead.
        has_cube: whether the game has a cube at all.
    """
    return has_cube & ((owner == CENTRED) | (owner == seat)) & ((away == 0) | (stake < away))


def points_of(terms: Terms, score: Any, stake: Any) -> Any:
    """What a game played out scores, a number or an array: `score` of the rules at `stake`.

    With Jacoby's rule the stake of 1 says that the cube was never turned.
    """
    single = (not terms.counts_mars) | (terms.jacoby & (stake == 1))
    return np.where(single, np.sign(score), score) * stake


@dataclass(frozen=True)
class Cube:
    """The cube of one game.

    Attributes:
        terms: what is played for.
        away: points that each seat still needs; (0, 0) without a match.
        crawford_game: whether this is the game of the match without a cube.
        stake: what the game is about, 1 at first.
        owner: seat of who took last; `CENTRED` at first.
        offered: seat that waits for an answer to its double; None where nobody does.
        passed: seat that passed, which ended the game; None while it goes on.

    >>> from nardy_rl.cube.terms import terms
    >>> cube = Cube(terms("backgammon_dave", cube_progression="arithmetic"))
    >>> cube.after(0, "double").after(1, "take").after(1, "double").after(0, "take").stake
    3
    """

    terms: Terms
    away: tuple[int, int] = (0, 0)
    crawford_game: bool = False
    stake: int = 1
    owner: int = CENTRED
    offered: int | None = None
    passed: int | None = None

    @property
    def has_cube(self) -> bool:
        """Whether it is played with a cube at all."""
        return self.terms.cube != "none" and not self.crawford_game

    def words(self, seat: int) -> tuple[str, ...]:
        """What `seat` may do with the cube now, being about to roll or asked for an answer."""
        if self.passed is not None:
            return ()
        if self.offered is not None:
            if seat == self.offered:
                return ()
            return WORDS[1:] if self.terms.beavers else WORDS[1:3]
        away = self.away[seat]
        return WORDS[:1] if may_double(self.stake, self.owner, seat, away, self.has_cube) else ()

    def after(self, seat: int, word: str) -> Cube:
        """The cube after one of `WORDS` by `seat`; whether it is his turn the caller knows.

        Raises IllegalPlay for what the rules do not allow him now, saying why.
        """
        if word not in self.words(seat):
            raise IllegalPlay(f"seat {seat}, {word}: {self._why_not(seat, word)}")
        if word == "double":
            return replace(self, offered=seat)
        if word == "pass":
            return replace(self, offered=None, passed=seat)
        stake = self.terms.next_stake(self.stake)
        if word == "beaver":
            stake = self.terms.next_stake(stake)
        return replace(self, offered=None, stake=stake, owner=seat)

    def points(self, score: int) -> int:
        """Points of seat 0 where the game ends as the rules score it for him.

        Args:
            score: of the rules; ignored where a double was passed, which loses the stake as it
                was.
        """
        if self.passed is not None:
            return self.stake if self.passed == 1 else -self.stake
        return int(points_of(self.terms, score, self.stake))

    def _why_not(self, seat: int, word: str) -> str:
        if word not in WORDS:
            return f"no such word; {', '.join(WORDS)}"
        if self.passed is not None:
            return "the game is over"
        if self.terms.cube == "none":
            return "the game has no cube (cube=none)"
        if self.crawford_game:
            return "the Crawford game has no cube"
        if self.offered is not None:
            if seat == self.offered:
                return "the double waits for the other seat's answer"
            if word == "beaver":
                return "beavers are not allowed (beavers=false)"
            return "a double is answered with take, pass or beaver"
        if word != "double":
            return "there is no double to answer"
        if self.owner not in (CENTRED, seat):
            return f"seat {self.owner} took last and alone may double"
        return f"the stake of {self.stake} already wins him the match"


@dataclass(frozen=True)
class MatchScore:
    """The score of a match between two of its games, or of games on their own.

    Attributes:
        terms: what is played for.
        points: won by each seat so far.
        crawford_played: whether the game without a cube has been.

    >>> from nardy_rl.cube.terms import terms
    >>> four_two = MatchScore(terms("backgammon", cube="standard", match_length=5), (4, 2))
    >>> four_two.crawford_game, four_two.after(-1).crawford_game
    (True, False)
    """

    terms: Terms
    points: tuple[int, int] = (0, 0)
    crawford_played: bool = False

    @property
    def away(self) -> tuple[int, int]:
        """Points that each seat still needs; (0, 0) without a match, and 0 for its winner."""
        length = self.terms.match_length or 0
        return max(length - self.points[0], 0), max(length - self.points[1], 0)

    @property
    def over(self) -> bool:
        """Whether the match is won; games on their own go on for ever."""
        return self.terms.match_length is not None and 0 in self.away

    @property
    def winner(self) -> int | None:
        """Seat that won the match; None while it goes on."""
        return self.away.index(0) if self.over else None

    @property
    def crawford_game(self) -> bool:
        """Whether the next game is the one without a cube: the first at one point from the end."""
        return self.terms.crawford and not self.crawford_played and 1 in self.away and not self.over

    def cube(self) -> Cube:
        """The cube of the next game."""
        return Cube(self.terms, self.away, self.crawford_game)

    def after(self, points: int) -> MatchScore:
        """The score after a game that was worth `points` to seat 0; 0, a draw, scores nobody.

        Raises IllegalPlay where the match is over.
        """
        if self.over:
            raise IllegalPlay(f"the match is over: {self.points[0]} to {self.points[1]}")
        won = (self.points[0] + max(points, 0), self.points[1] + max(-points, 0))
        return MatchScore(self.terms, won, self.crawford_played or self.crawford_game)

"""The batched environment: many games stepped together, dice from a counter.

A `Tables` holds one game a row; `deal`, `advance` and the kernels built on them are what
self-play, the arena and `Env` share. Seats 0 and 1 name the two players of a game; the position
is always seen by the player to move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.rules.batch import LegalAfterstates, generate_batch
from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN, STARTED
from nardy_rl.rules.dice import (
    PURPOSE_CHOICE,
    opening,
    random_word,
    roll_dice,
    uniform_index,
)
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.ladder import follow, rung_of
from nardy_rl.rules.parallel import map_chunks, run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

__all__ = ["ENV_VERSION", "Env", "Finished", "Tables", "advance", "deal", "new_tables"]

ENV_VERSION = 1
"""Changes when the same seed deals other games."""

TRUNCATED = 126
"""Result of `advance_all` for a game that reached the ply cap: it has no score."""

_NEXT_ALTERNATE, _NEXT_WINNER, _NEXT_ROLL = range(3)
_USE_OPENING_DICE = 1


class Tables(NamedTuple):
    """Games in progress, one a row; the position is seen by the player to move.

    Attributes:
        points: int8[G, 2, 26].
        flags, pending: uint8[G], see `Position`.
        rolls: int8[G, 2], the dice to play now; where a rung is pending, its die twice.
        mover: uint8[G], the seat to move.
        starter: uint8[G], the seat that began.
        game: int64[G], the counter that the dice are drawn from.
        turn: int64[G], decisions taken so far.
    """

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    rolls: NDArray[np.int8]
    mover: NDArray[np.uint8]
    starter: NDArray[np.uint8]
    game: NDArray[np.int64]
    turn: NDArray[np.int64]


def new_tables(count: int) -> Tables:
    """Empty tables; `deal` starts a game on each."""
    return Tables(
        np.zeros((count, 2, 26), np.int8),
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint8),
        np.ones((count, 2), np.int8),
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint8),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
    )


@njit(nogil=True, cache=True)
def deal(rules, start, seed, tables, t, game, starter):
    """Set up game number `game` on table t.

    `starter` is the seat that begins, or -1: the opening dice decide, and are played where
    `opening_roll=use_opening_dice`. A starter who is known beforehand throws two dice
    (RULES.md 0, Starting).
    """
    for i in range(26):
        tables.points[t, 0, i] = start[0, i]
        tables.points[t, 1, i] = start[1, i]
    die1, die2 = roll_dice(seed, game, 0)
    if starter < 0:
        starter, first, second = opening(seed, game)
        if rules.opening_roll == _USE_OPENING_DICE:
            die1, die2 = first, second
    tables.flags[t] = (FIRST_TURN | OPPONENT_FIRST_TURN | STARTED) & rules.flag_mask
    tables.pending[t] = 0
    tables.rolls[t, 0] = die1
    tables.rolls[t, 1] = die2
    tables.mover[t] = starter
    tables.starter[t] = starter
    tables.game[t] = game
    tables.turn[t] = 0


@njit(nogil=True, cache=True)
def advance(rules, seed, tables, t, after, used, ply_cap):
    """Play to `after` (int8[2, 26], seen by the mover) on table t, and throw dice that are due.

    `used` are the steps that the play made: they decide what is left of a ladder. Returns the
    score for the seat that moved, `NOT_OVER`, or `TRUNCATED` at the ply cap; a
    finished table keeps its last position, seen by the seat that moved.
    """
    tables.turn[t] += 1
    score = score_after(rules, after, tables.flags[t])
    if score == NOT_OVER and tables.turn[t] >= ply_cap:
        score = TRUNCATED
    if score != NOT_OVER:
        for i in range(26):
            tables.points[t, 0, i] = after[0, i]
            tables.points[t, 1, i] = after[1, i]
        tables.flags[t] &= ~FIRST_TURN
        tables.pending[t] = 0
        return score
    goes_on, flags, pending = follow(
        rules,
        tables.flags[t],
        tables.pending[t],
        tables.rolls[t, 0],
        tables.rolls[t, 1],
        used,
        tables.points[t],
        after,
    )
    mine = 0 if goes_on else 1
    for i in range(26):
        tables.points[t, mine, i] = after[0, i]
        tables.points[t, 1 - mine, i] = after[1, i]
    tables.flags[t] = flags
    tables.pending[t] = pending
    if not goes_on:
        tables.mover[t] = 1 - tables.mover[t]
    if pending > 0:
        rung, _steps, _whose, _head = rung_of(pending)
        tables.rolls[t, 0] = rung
        tables.rolls[t, 1] = rung
        return score
    die1, die2 = roll_dice(seed, tables.game[t], tables.turn[t])
    tables.rolls[t, 0] = die1
    tables.rolls[t, 1] = die2
    return score


@njit(nogil=True, cache=True)
def deal_range(low, high, rules, start, seed, tables, first_game):
    """`deal` games first_game + t on tables low..high-1; their dice decide who starts."""
    for t in range(low, high):
        deal(rules, start, seed, tables, t, first_game + t, -1)


@njit(nogil=True, cache=True)
def advance_range(low, high, rules, seed, tables, rows, after, used, ply_cap, scores):
    """`advance` tables low..high-1 to rows `rows[t]` of `after`, used[t] steps; scores int8[G]."""
    for t in range(low, high):
        scores[t] = advance(rules, seed, tables, t, after[rows[t]], used[t], ply_cap)


@njit(nogil=True, cache=True)
def _next_starter(rules, tables, t, score):
    """Who begins the next game of the series on table t; -1: the dice decide."""
    if rules.next_starter == _NEXT_ROLL:
        return -1
    if rules.next_starter == _NEXT_WINNER and score != 0 and score != TRUNCATED:
        return tables.mover[t] if score > 0 else 1 - tables.mover[t]
    return 1 - tables.starter[t]


@njit(nogil=True, cache=True)
def _random_range(low, high, rules, scratch, start, seed, tables, room, turns, ply_cap, tally):
    """Random play of `turns` decisions on each table; finished games are followed by new ones."""
    games = len(tables.game)
    for t in range(low, high):
        for _ in range(turns):
            count, used = generate(
                rules,
                scratch,
                tables.points[t],
                tables.flags[t],
                tables.pending[t],
                tables.rolls[t, 0],
                tables.rolls[t, 1],
                room.words,
                room.paths,
                0,
            )
            word = random_word(seed, tables.game[t], tables.turn[t], PURPOSE_CHOICE)
            row = uniform_index(word, count)
            score = advance(rules, seed, tables, t, room.boards[row], used, ply_cap)
            if score != NOT_OVER:
                tally[t, 0] += 1
                tally[t, 1] += score == TRUNCATED
                starter = _next_starter(rules, tables, t, score)
                deal(rules, start, seed, tables, t, tables.game[t] + games, starter)


class Finished(NamedTuple):
    """Games that ended in one step.

    Attributes:
        table: int64[N], where.
        game: int64[N], the game's number.
        score: int8[N], for seat 0; 0 where truncated.
        starter: uint8[N], the seat that began.
        plies: int64[N], decisions taken.
        truncated: bool[N], stopped at the ply cap without a score.
    """

    table: NDArray[np.int64]
    game: NDArray[np.int64]
    score: NDArray[np.int8]
    starter: NDArray[np.uint8]
    plies: NDArray[np.int64]
    truncated: NDArray[np.bool_]


class Env:
    """`games` games of one variant, stepped together; finished games restart by themselves.

    Table t plays games t, t + games, t + 2 * games, ... as a series: who begins each follows
    `next_starter`. The dice of game g at turn n are a pure function of (seed, g, n).

    Args:
        rules: the variant.
        games: tables played at once, 1 or more.
        seed: of the dice, 0 or more.
        ply_cap: decisions after which a game is truncated and never scored.

    Raises:
        ConfigError: a count or seed out of range.

    >>> from nardy_rl.rules.record import variant
    >>> env = Env(variant("long_nardy"), games=2, seed=7)
    >>> legal = env.legal()
    >>> finished = env.step(legal.offsets[:-1] - legal.offsets[:-1])  # the first play of each
    >>> len(finished.score), env.turns.tolist()
    (0, [1, 1])
    """

    def __init__(self, rules: Rules, games: int, seed: int = 0, ply_cap: int = 1000) -> None:
        if not isinstance(rules, Rules):
            raise ConfigError(f"rules={rules!r} is not allowed; the result of variant(name)")
        games = whole_number("games", games, 1, 10_000_000)
        self.rules = rules
        self.seed = whole_number("seed", seed, 0, 2**63 - 1)
        self.ply_cap = whole_number("ply_cap", ply_cap, 1, 2**31 - 1)
        self.tables = new_tables(games)
        self._start = rules.start_points()
        self._legal: LegalAfterstates | None = None
        run_chunks(deal_range, games, rules.kernel, self._start, self.seed, self.tables, 0)

    @property
    def points(self) -> NDArray[np.int8]:
        """int8[G, 2, 26], each seen by the player to move."""
        return self.tables.points

    @property
    def rolls(self) -> NDArray[np.int8]:
        """int8[G, 2], the dice to be played."""
        return self.tables.rolls

    @property
    def mover(self) -> NDArray[np.uint8]:
        """uint8[G], the seat to move."""
        return self.tables.mover

    @property
    def turns(self) -> NDArray[np.int64]:
        """int64[G], decisions taken in each game."""
        return self.tables.turn

    def legal(self) -> LegalAfterstates:
        """The results among which each player must choose now."""
        if self._legal is None:
            t = self.tables
            kernel = self.rules.kernel
            self._legal, _ = generate_batch(kernel, t.points, t.flags, t.pending, t.rolls)
        return self._legal

    def step(self, choice: NDArray[np.int64]) -> Finished:
        """Play `choice[t]`, an index into table t's own results, on every table.

        Returns the games that ended; their tables already show the next game.
        Raises ValueError for a wrong shape or an index that no result has.
        """
        legal = self.legal()
        tables = self.tables
        if np.asarray(choice).dtype.kind not in "iu":
            raise ValueError(f"choice has dtype {np.asarray(choice).dtype}; int64 is needed")
        chosen = np.asarray(choice, np.int64)
        counts = np.diff(legal.offsets)
        if chosen.shape != counts.shape:
            raise ValueError(f"choice has shape {chosen.shape}; int64{counts.shape} is needed")
        if ((chosen < 0) | (chosen >= counts)).any():
            bad = int(np.argmax((chosen < 0) | (chosen >= counts)))
            raise ValueError(f"choice[{bad}]={chosen[bad]}: table {bad} has {counts[bad]} results")
        scores = np.zeros(len(counts), np.int8)
        rows = legal.offsets[:-1] + chosen
        run_chunks(
            advance_range,
            len(counts),
            self.rules.kernel,
            self.seed,
            tables,
            rows,
            legal.after,
            legal.dice_used,
            self.ply_cap,
            scores,
        )
        self._legal = None
        return self._restart(np.flatnonzero(scores != NOT_OVER), scores)

    def _restart(self, ended: NDArray[np.int64], scores: NDArray[np.int8]) -> Finished:
        tables = self.tables
        truncated = scores[ended] == TRUNCATED
        sign = np.where(tables.mover[ended] == 0, 1, -1)
        finished = Finished(
            ended,
            tables.game[ended],
            np.where(truncated, 0, scores[ended] * sign).astype(np.int8),
            tables.starter[ended],
            tables.turn[ended],
            truncated,
        )
        kernel = self.rules.kernel
        for t in ended:
            starter = _next_starter(kernel, tables, t, scores[t])
            game = tables.game[t] + len(tables.game)
            deal(kernel, self._start, self.seed, tables, t, game, starter)
        return finished

    def random_turns(self, turns: int) -> tuple[int, int]:
        """Take `turns` uniformly random decisions on every table; returns (games ended, truncated).

        The choices, like the dice, are a pure function of (seed, game, turn).
        """
        tally = np.zeros((len(self.tables.game), 2), np.int64)
        self._legal = None

        def work(low: int, high: int) -> None:
            _random_range(
                low,
                high,
                self.rules.kernel,
                new_scratch(),
                self._start,
                self.seed,
                self.tables,
                new_rows(MAX_AFTERSTATES),
                turns,
                self.ply_cap,
                tally,
            )

        map_chunks(work, len(tally), min_chunk=1)
        ended, truncated = tally.sum(0).tolist()
        return ended, truncated

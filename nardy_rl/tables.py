"""Games in progress, one a row: dealing, the turn that is due, and playing it.

`deal`, `advance` and what is built on them are shared by self-play, the arena and `Env`. Dice come
from a counter. Seats 0 and 1 name the two players of a game; the position is always seen by the
player to move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.batch import LegalAfterstates, generate_batch
from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN, STARTED
from nardy_rl.rules.dice import opening, roll_dice
from nardy_rl.rules.ladder import follow, rung_of, states_after
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

TRUNCATED = 126
"""Result of `advance` for a game that reached the ply cap: it has no score."""

_USE_OPENING_DICE = 1
_NEXT_ALTERNATE, _NEXT_WINNER, _NEXT_ROLL = range(3)


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
def next_starter(rules, tables, t, score):
    """Who begins the next game of the series on table t; -1: the dice decide."""
    if rules.next_starter == _NEXT_ROLL:
        return -1
    if rules.next_starter == _NEXT_WINNER and score != 0 and score != TRUNCATED:
        return tables.mover[t] if score > 0 else 1 - tables.mover[t]
    return 1 - tables.starter[t]


class Turn(NamedTuple):
    """The decisions that are due on some tables.

    Attributes:
        at: int64[B], the tables.
        now: copies of them.
        legal: the results of each decision.
        flags, pending: uint8[B], the state after it, in the view of who takes it; all results of
            a decision share them.
    """

    at: NDArray[np.int64]
    now: Tables
    legal: LegalAfterstates
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]


def turn_of(rules: Rules, tables: Tables, at: NDArray[np.int64]) -> Turn:
    """What the players to move on the tables `at` int64[B] can do."""
    now = Tables._make(np.ascontiguousarray(array[at]) for array in tables)
    legal, _ = generate_batch(rules.kernel, now.points, now.flags, now.pending, now.rolls)
    flags, pending = states_after(rules, now.flags, now.pending, now.rolls, legal.dice_used)
    return Turn(at, now, legal, flags, pending)


def play_turn(
    rules: Rules, seed: int, tables: Tables, turn: Turn, rows: NDArray[np.int64], ply_cap: int
) -> NDArray[np.int8]:
    """Play row `rows[b]` of the results on each of the turn's tables.

    Returns what `advance` says of each, int8[B]. `turn` is used up: its copies move on too.
    """
    scores = np.empty(len(turn.at), np.int8)
    run_chunks(
        advance_range,
        len(turn.at),
        rules.kernel,
        seed,
        turn.now,
        rows,
        turn.legal.after,
        turn.legal.dice_used,
        ply_cap,
        scores,
    )
    for name in Tables._fields:
        getattr(tables, name)[turn.at] = getattr(turn.now, name)
    return scores

"""The batched environment: many games stepped together, finished ones followed by the next.

`nardy_rl.tables` is what it shares with self-play and the arena.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.rules.batch import LegalAfterstates, generate_batch
from nardy_rl.rules.dice import PURPOSE_CHOICE, random_word, uniform_index
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.parallel import map_chunks, run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.tables import (
    TRUNCATED,
    advance,
    advance_range,
    deal,
    deal_range,
    new_tables,
    next_starter,
)

__all__ = ["ENV_VERSION", "Env", "Finished"]

ENV_VERSION = 1
"""Changes when the same seed deals other games."""


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
                starter = next_starter(rules, tables, t, score)
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
            starter = next_starter(kernel, tables, t, scores[t])
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

"""Matches to N points and games with the cube, on duplicate dice.

Tables 2i and 2i + 1 play the same games by the same dice with the seats exchanged, each a whole
match, or one game for points ("money"). All go on in lockstep; before each own roll but a game's
first, whoever may is asked whether he doubles.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.arena.cube_result import CubeResult
from nardy_rl.arena.match import BLOCK_PAIRS, PLY_CAP, at_least, move_on
from nardy_rl.cube import CUBE_LIFE, EquityTable, Terms, Worth, equity_table
from nardy_rl.cube.state import HIGHEST_STAKE, next_stake, points_won
from nardy_rl.errors import ConfigError
from nardy_rl.players.cubing import (
    BEAVER,
    PASS,
    CubePlayer,
    Situation,
    cube_player,
    start_shares,
)
from nardy_rl.players.network import ValuerPlayer
from nardy_rl.players.protocol import Player
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.tables import TRUNCATED, Tables, deal, new_tables, next_starter

_GAMES_OF_A_MATCH = 1 << 20
"""Numbers of dice that a pair has for its games."""

_NO_NET = 0.5
"""Share of single wins taken for a table of equities that no player has a net for."""


class _Stand(NamedTuple):
    """Where the matches of a block stand, one a row; seats as of the tables.

    Attributes:
        score: int64[T, 2] points by seat.
        stake, owner: int64[T]; the owning seat, or -1.
        crawford, played: bool[T], this is the game without the cube; it lies behind.
        counts: int64[T, 2, 4] doubles, takes, passes, beavers by seat.
        games: int64[T] ended.
        won: int64[T] points of seat 0, all games together.
        over, broken: bool[T]; broken: reached the ply cap.
    """

    score: NDArray[np.int64]
    stake: NDArray[np.int64]
    owner: NDArray[np.int64]
    crawford: NDArray[np.bool_]
    played: NDArray[np.bool_]
    counts: NDArray[np.int64]
    games: NDArray[np.int64]
    won: NDArray[np.int64]
    over: NDArray[np.bool_]
    broken: NDArray[np.bool_]


def play_matches(
    rules: Rules,
    terms: Terms,
    a: Player,
    b: Player,
    matches: int = 1000,
    *,
    seed: int = 0,
    ply_cap: int = PLY_CAP,
    cube_life: float = CUBE_LIFE,
    cube_players: tuple[CubePlayer, CubePlayer] | None = None,
    block_pairs: int = BLOCK_PAIRS,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> CubeResult:
    """Play `matches` matches (or games, where `terms` has no match length) of a against b.

    Checkers are played for points a game; the cube is played for what `terms` say. The result is
    a pure function of players, `rules`, `terms`, `matches`, `seed`, `ply_cap` and `cube_life`; a
    player against itself wins exactly half.

    Args:
        rules, terms: what is played, and for what.
        a, b: who plays; figures are in the view of a.
        matches: how many; an odd number is rounded up to whole pairs.
        seed: of the dice.
        ply_cap: decisions after which a game is broken off; its pair is then left out.
        cube_life: of the players' cube decisions, see `cube.values`.
        cube_players: who decides for a and b; `cube_player` of each where left out.
        block_pairs: pairs in lockstep.
        progress: told how many matches have ended.
        should_stop: asked before each step; True ends with what whole blocks there are.

    Raises:
        ConfigError: a number out of range.
    """
    for name, value, least in (("games", matches, 2), ("seed", seed, 0), ("ply_cap", ply_cap, 1)):
        at_least(name, value, least)
    if not 0.0 <= cube_life <= 1.0:
        raise ConfigError(f"cube_life={cube_life!r} is not allowed; numbers 0..1")
    started = time.perf_counter()
    cubes = cube_players or (
        cube_player(rules, terms, a, cube_life),
        cube_player(rules, terms, b, cube_life),
    )
    equities = None
    if terms.match_length is not None and terms.cube != "none":
        own = [_equities(rules, terms, player, cube_life) for player in (a, b)]
        known = next((table for table in own if table is not None), None)
        equities = tuple(table or known or _plain(rules, terms, cube_life) for table in own)
    pairs = (matches + 1) // 2
    done: list[tuple[NDArray[np.int64], ...]] = []
    for low in range(0, pairs, block_pairs):
        count = min(block_pairs, pairs - low)
        ended = None if progress is None else _shifted(progress, 2 * low)
        block = _Block(rules, terms, (a, b), cubes, equities, seed, ply_cap, low, count)
        stand = block.play(ended, should_stop)
        if stand is None:
            break
        done.append(_by_player(stand))
    columns = [np.concatenate(parts) for parts in zip(*done, strict=True)] if done else None
    return CubeResult.of(
        columns, a.name, b.name, rules, terms, seed, matches, time.perf_counter() - started
    )


def _shifted(progress: Callable[[int], None], before: int) -> Callable[[int], None]:
    return lambda ended: progress(before + ended)


def _equities(rules: Rules, terms: Terms, player: Player, cube_life: float) -> EquityTable | None:
    """By the player's own net; None where he has none."""
    if not isinstance(player, ValuerPlayer) or player.evaluator is None:
        return None
    return equity_table(terms, rules.outcomes, start_shares(rules, player.evaluator), cube_life)


def _plain(rules: Rules, terms: Terms, cube_life: float) -> EquityTable:
    """Where nobody has a net: every game a single win."""
    shares = np.array([_NO_NET * (abs(score) == 1) for score in rules.outcomes])
    return equity_table(terms, rules.outcomes, shares, cube_life)


def _by_player(stand: _Stand) -> tuple[NDArray[np.int64], ...]:
    """Columns of a block's matches in the view of a, who has seat t & 1 on table t."""
    t = np.arange(len(stand.over))
    seat = t & 1
    sign = 1 - 2 * seat
    ahead = np.sign(stand.score[t, seat] - stand.score[t, 1 - seat])
    counts = np.stack([stand.counts[t, seat], stand.counts[t, 1 - seat]], 1)
    return ahead, stand.won * sign, stand.games, counts, stand.broken.astype(np.int64)


class _Block:
    """Matches in lockstep."""

    def __init__(
        self,
        rules: Rules,
        terms: Terms,
        players: tuple[Player, Player],
        cubes: tuple[CubePlayer, CubePlayer],
        equities: tuple[EquityTable, ...] | None,
        seed: int,
        ply_cap: int,
        first_pair: int,
        pairs: int,
    ) -> None:
        self.rules, self.terms, self.players, self.cubes = rules, terms, players, cubes
        self.equities, self.seed, self.ply_cap = equities, seed, ply_cap
        total = 2 * pairs
        self.tables = new_tables(total)
        self.first = (first_pair + np.arange(total) // 2) * _GAMES_OF_A_MATCH
        integers, flags = (lambda: np.zeros(total, np.int64)), (lambda: np.zeros(total, bool))
        self.stand = _Stand(
            np.zeros((total, 2), np.int64),
            np.ones(total, np.int64),
            np.full(total, -1),
            flags(),
            flags(),
            np.zeros((total, 2, 4), np.int64),
            integers(),
            integers(),
            flags(),
            flags(),
        )
        self._begin(np.arange(total), np.full(total, -1))

    def play(
        self, progress: Callable[[int], None] | None, should_stop: Callable[[], bool] | None
    ) -> _Stand | None:
        """Play all to the end; None where `should_stop` said so."""
        stand = self.stand
        while not stand.over.all():
            if should_stop is not None and should_stop():
                return None
            live = np.flatnonzero(~stand.over)
            for who in (0, 1):
                at = live[(self.tables.mover[live] != (live & 1)) == bool(who)]
                at = at[~self._turn_cube(who, at)]
                if len(at):
                    player = self.players[who]
                    results = move_on(self.rules, player, self.tables, at, self.seed, self.ply_cap)
                    over = results != NOT_OVER
                    self._played_out(at[over], results[over])
            if progress is not None:
                progress(int(stand.over.sum()))
        return stand

    def _turn_cube(self, who: int, at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Let player `who`, about to roll at `at`, double; whether a refusal ended the game."""
        ended = np.zeros(len(at), bool)
        if self.terms.cube == "none" or len(at) == 0:
            return ended
        tables, stand = self.tables, self.stand
        seats = tables.mover[at].astype(np.int64)
        may = (tables.pending[at] == 0) & (tables.turn[at] > 0) & ~stand.crawford[at]
        may &= ((stand.owner[at] == -1) | (stand.owner[at] == seats)) & (
            stand.stake[at] < HIGHEST_STAKE
        )
        if not may.any():
            return ended
        chosen = np.flatnonzero(may)
        chosen = chosen[self.cubes[who].doubles(self._situation(who, at[chosen]))]
        if len(chosen) == 0:
            return ended
        offered, seat = at[chosen], seats[chosen]
        answer = self.cubes[1 - who].answers(self._situation(1 - who, offered))
        if not self.terms.beavers:
            answer = np.minimum(answer, BEAVER - 1)
        stand.counts[offered, seat, 0] += 1
        for value, column in ((PASS, 2), (PASS + 1, 1), (BEAVER, 3)):
            stand.counts[offered, 1 - seat, column] += answer == value
        taken = answer != PASS
        for value, offers in ((PASS + 1, 1), (BEAVER, 2)):
            rows = offered[answer == value]
            stand.stake[rows] = next_stake(self.terms, stand.stake[rows], offers)
        stand.owner[offered[taken]] = 1 - seat[taken]
        refused = offered[~taken]
        sign = 1 - 2 * seat[~taken]
        self._score(refused, sign * stand.stake[refused], np.ones(len(refused), np.int8))
        ended[chosen[~taken]] = True
        return ended

    def _situation(self, judge: int, at: NDArray[np.int64]) -> Situation:
        """The positions `at` for whoever is about to roll, with the equities of player `judge`."""
        tables, stand = self.tables, self.stand
        seats = tables.mover[at].astype(np.int64)
        owner = np.where(stand.owner[at] == -1, 0, np.where(stand.owner[at] == seats, 1, 2))
        away = np.zeros((len(at), 2), np.int64)
        table = None
        if self.equities is not None and self.terms.match_length is not None:
            away = self.terms.match_length - np.stack(
                [stand.score[at, seats], stand.score[at, 1 - seats]], 1
            )
            # A game with a cube at one point to go lies behind the Crawford game; before, its
            # results lead to scores that the Crawford game still follows.
            equities = self.equities[judge]
            table = equities.before
            behind = (away == 1).any(1)
            if behind.any():
                return Situation(
                    tables.points[at],
                    tables.flags[at],
                    stand.stake[at],
                    owner,
                    Worth(away, np.stack([equities.before, equities.after]), behind.astype(int)),
                )
        return Situation(
            tables.points[at], tables.flags[at], stand.stake[at], owner, Worth(away, table)
        )

    def _played_out(self, at: NDArray[np.int64], results: NDArray[np.int8]) -> None:
        """Score the games that ended on the board, or at the ply cap."""
        stand = self.stand
        broken = results == TRUNCATED
        stand.broken[at[broken]] = stand.over[at[broken]] = True
        at, results = at[~broken], results[~broken]
        sign = 1 - 2 * self.tables.mover[at].astype(np.int64)
        turned = stand.owner[at] != -1
        points = points_won(self.terms, results.astype(np.int64), stand.stake[at], turned)
        self._score(at, sign * points, results)

    def _score(
        self, at: NDArray[np.int64], points: NDArray[np.int64], results: NDArray[np.int8]
    ) -> None:
        """Games at `at` ended with these points for seat 0; go on where the match does.

        `results` is in the view of who moved (or doubled), for `next_starter`.
        """
        if len(at) == 0:
            return
        stand = self.stand
        stand.games[at] += 1
        stand.won[at] += points
        stand.score[at, 0] += np.maximum(points, 0)
        stand.score[at, 1] += np.maximum(-points, 0)
        length = self.terms.match_length
        over = np.full(len(at), True) if length is None else stand.score[at].max(1) >= length
        stand.over[at[over]] = True
        on = at[~over]
        starters = np.empty(len(on), np.int64)
        _starters(self.rules.kernel, self.tables, on, results[~over], starters)
        self._begin(on, starters)

    def _begin(self, at: NDArray[np.int64], starters: NDArray[np.int64]) -> None:
        stand, length = self.stand, self.terms.match_length
        stand.stake[at], stand.owner[at] = 1, -1
        stand.played[at] |= stand.crawford[at]
        stand.crawford[at] = False
        if self.terms.crawford and length is not None:
            one_away = (stand.score[at] == length - 1).any(1)
            stand.crawford[at] = one_away & ~stand.played[at]
        games = self.first[at] + stand.games[at]
        start = self.rules.start_points()
        _deal(self.rules.kernel, start, self.seed, self.tables, at, games, starters)


@njit(nogil=True, cache=True)
def _deal(rules, start, seed, tables: Tables, at, games, starters):  # type: ignore[no-untyped-def]
    for i in range(len(at)):
        deal(rules, start, seed, tables, at[i], games[i], starters[i])


@njit(nogil=True, cache=True)
def _starters(rules, tables, at, results, starters):  # type: ignore[no-untyped-def]
    for i in range(len(at)):
        starters[i] = next_starter(rules, tables, at[i], results[i])

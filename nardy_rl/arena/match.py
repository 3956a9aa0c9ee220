"""Matches on duplicate dice: each pair of games has one set of dice, the seats exchanged.

All games of a block move in lockstep: those where it is a's turn go to a as one batch, those
where it is b's turn to b. (Two nets that need no batches play each game whole, see `duel`.)
Games 2i and 2i + 1 of a match are dealt from the dice of game number i, so whoever begins in one
is second in the other, and throws what the other threw there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.arena.duel import duel, kernels_of
from nardy_rl.arena.luck import opening_luck, roll_luck
from nardy_rl.arena.result import Games, MatchResult, match_result
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.players.protocol import Player
from nardy_rl.rules.dice import PURPOSE_CHOICE, random_word
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import Valuer
from nardy_rl.tables import TRUNCATED, Tables, deal, new_tables, play_turn, turn_of

PLY_CAP = 2000
"""Decisions after which a game is truncated: far beyond what any baseline needs to finish."""

BLOCK_PAIRS = 1024
"""Pairs played at once. Results do not depend on it; memory and the steps of progress do."""

_MOST = 2**63 - 1


def play_match(
    rules: Rules,
    a: Player,
    b: Player,
    games: int = 10_000,
    *,
    seed: int = 0,
    ply_cap: int = PLY_CAP,
    first_pair: int = 0,
    block_pairs: int = BLOCK_PAIRS,
    luck: Valuer | None = None,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> MatchResult:
    """Play `games` games of a against b, in pairs on the same dice with the seats exchanged.

    The result is a pure function of the players, `rules`, `games`, `seed`, `ply_cap` and
    `first_pair`; a player against itself, or against another of the same choices, scores
    exactly 0.

    Args:
        rules: the variant.
        a, b: who plays; figures are in the view of a.
        games: how many; an odd number is rounded up to whole pairs.
        seed: of dice and keys.
        ply_cap: decisions after which a game is truncated. It is then not scored, nor is the
            other game of its pair.
        first_pair: number of the first pair's dice: a match in several parts goes on there.
        block_pairs: pairs in lockstep; decides nothing but memory and speed.
        luck: whose values measure the luck of the dice, to be taken out of the score; every
            decision then costs the valuer 21 more. None: luck is not measured.
        progress: told after each step how many games have ended.
        should_stop: asked before each step. True ends the match with what whole blocks there
            are: single games that ended early would be the short ones.

    Raises:
        ConfigError: a number out of range.
        ValueError: a player chose a row that is not one of the decision's own.
    """
    at_least("games", games, 2)
    at_least("seed", seed, 0)
    at_least("ply_cap", ply_cap, 1)
    at_least("first_pair", first_pair, 0)
    at_least("block_pairs", block_pairs, 1)
    started = time.perf_counter()
    pairs = (games + 1) // 2
    blocks: list[Games] = []
    lucks: list[NDArray[np.float64]] = []

    def ended(games_of_block: int) -> None:
        if progress is not None:
            progress(2 * sum(len(block.score) for block in blocks) + games_of_block)

    for low in range(0, pairs, block_pairs):
        block = _play_block(
            rules,
            (a, b),
            min(block_pairs, pairs - low),
            seed,
            first_pair + low,
            ply_cap,
            luck,
            ended,
            should_stop,
        )
        if block is None:
            break
        blocks.append(block[0])
        lucks.append(block[1])
    empty = Games(np.empty((0, 2), np.int8), np.empty((0, 2), bool), np.empty((0, 2), np.int32))
    return match_result(
        Games(*(np.concatenate(arrays) for arrays in zip(empty, *blocks, strict=True))),
        a=a.name,
        b=b.name,
        rules=rules,
        seed=seed,
        first_pair=first_pair,
        ply_cap=ply_cap,
        asked=games,
        seconds=time.perf_counter() - started,
        luck_by="" if luck is None else luck.name,
        luck=None if luck is None else np.concatenate([np.empty((0, 2)), *lucks]),
    )


def at_least(name: str, value: int, least: int) -> None:
    """Raise ConfigError unless `value` is from `least` to what 63 bits hold."""
    if not least <= value <= _MOST:
        raise ConfigError(f"{name}: {value} is not allowed; allowed: whole numbers >= {least}")


def _play_block(
    rules: Rules,
    players: tuple[Player, Player],
    pairs: int,
    seed: int,
    first_pair: int,
    ply_cap: int,
    luck: Valuer | None,
    progress: Callable[[int], None],
    should_stop: Callable[[], bool] | None,
) -> tuple[Games, NDArray[np.float64]] | None:
    """The games of pairs first_pair.., and the luck of players[0] in each [P, 2].

    Table t plays game t & 1 of pair t >> 1, with players[0] on seat t & 1. None where
    `should_stop` said so.
    """
    tables = new_tables(2 * pairs)
    run_chunks(_deal_pairs, 2 * pairs, rules.kernel, rules.start_points(), seed, tables, first_pair)
    lucks = np.zeros(2 * pairs)
    kernels = None if luck is not None else kernels_of(rules, players)
    if kernels is not None:
        results = duel(rules, kernels, tables, seed, ply_cap, progress, should_stop)
    else:
        results = _in_lockstep(
            rules, players, tables, seed, ply_cap, luck, lucks, progress, should_stop
        )
    if results is None:
        return None
    truncated = results == TRUNCATED
    # A score is the last mover's; the seats tell whether that was players[0].
    sign = np.where(tables.mover == (np.arange(2 * pairs) & 1), 1, -1)
    score = np.where(truncated, 0, results * sign).astype(np.int8)
    shape = (pairs, 2)
    games = Games(
        score.reshape(shape), truncated.reshape(shape), tables.turn.astype(np.int32).reshape(shape)
    )
    return games, lucks.reshape(shape)


def _in_lockstep(
    rules: Rules,
    players: tuple[Player, Player],
    tables: Tables,
    seed: int,
    ply_cap: int,
    luck: Valuer | None,
    lucks: NDArray[np.float64],
    progress: Callable[[int], None],
    should_stop: Callable[[], bool] | None,
) -> NDArray[np.int8] | None:
    """Play the dealt tables decision by decision; what `advance` said of each game's last, int8.

    The luck of players[0] is added to `lucks` float64[T]. None where `should_stop` said so.
    """
    total = len(tables.game)
    results = np.full(total, NOT_OVER, np.int8)
    live = np.arange(total)
    while len(live):
        if should_stop is not None and should_stop():
            return None
        first_to_move = tables.mover[live] == (live & 1)
        if luck is not None:
            of_mover = _luck(rules, luck, tables, live)
            lucks[live] += np.where(first_to_move, of_mover, -of_mover)
        for player, at in ((players[0], live[first_to_move]), (players[1], live[~first_to_move])):
            if len(at):
                results[at] = move_on(rules, player, tables, at, seed, ply_cap)
        live = live[results[live] == NOT_OVER]
        progress(total - len(live))
    return results


def _luck(
    rules: Rules, valuer: Valuer, tables: Tables, at: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Luck of who is to move on the tables `at` (all at the same turn), in his view, float64."""
    luck = np.zeros(len(at))
    due = tables.pending[at] == 0  # the other rungs of a ladder are no new dice
    at = at[due]
    rolls, flags = tables.rolls[at], tables.flags[at]
    if len(at) == 0:
        return luck
    if tables.turn[at[0]] == 0:
        luck[due] = opening_luck(rules, valuer, int(flags[0]), rolls)
    else:
        luck[due] = roll_luck(rules, valuer, tables.points[at], flags, rolls)
    return luck


def move_on(
    rules: Rules,
    player: Player,
    tables: Tables,
    at: NDArray[np.int64],
    seed: int,
    ply_cap: int,
) -> NDArray[np.int8]:
    """Let `player` move on the tables `at`; returns what `advance` says of each, int8."""
    turn = turn_of(rules, tables, at)
    now, legal = turn.now, turn.legal
    keys = np.empty(len(at), np.uint64)
    run_chunks(_choice_keys, len(at), seed, now.game, now.turn, keys, min_chunk=1024)
    rows = player.choose(Decisions(now.points, turn.flags, turn.pending, legal), now.rolls, keys)
    foreign = (rows < legal.offsets[:-1]) | (rows >= legal.offsets[1:])
    if foreign.any():
        b = int(np.argmax(foreign))
        raise ValueError(
            f"player {player.name}: chose row {rows[b]} for decision {b}, "
            f"whose rows are {legal.offsets[b]}..{legal.offsets[b + 1] - 1}"
        )
    return play_turn(rules, seed, tables, turn, rows, ply_cap)


@njit(nogil=True, cache=True)
def _deal_pairs(low, high, rules, start, seed, tables, first_pair):
    for t in range(low, high):
        deal(rules, start, seed, tables, t, first_pair + (t >> 1), -1)


@njit(nogil=True, cache=True)
def _choice_keys(low, high, seed, game, turn, keys):
    for i in range(low, high):
        keys[i] = random_word(seed, game[i], turn[i], PURPOSE_CHOICE)

"""Self-play: a batch of games by one net against itself, as episodes of afterstates.

`collect` plays all games of a batch in lockstep: all candidates of all games go into one ragged
buffer, an evaluator turns rows into outcome distributions, and a kernel takes each game's
arg-max, records it and throws the next dice. With the incremental kernel nothing is gained by
waiting for the other games, so `play_games` runs the same steps game by game, in the caches.
Every batch is a pure function of (rules, net, seed, first_game): threads do not change it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.env import TRUNCATED, Tables, advance, deal, deal_range, new_tables
from nardy_rl.incremental import evaluate_candidates
from nardy_rl.inference import Decisions, Evaluator, KernelEvaluator
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.ladder import after_decision, states_after
from nardy_rl.rules.parallel import map_chunks, run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after


class Episodes(NamedTuple):
    """Games back to back; game g owns positions offsets[g]:offsets[g + 1].

    Attributes:
        points: int8[N, 2, 26], the afterstates chosen, each seen by the player who moved.
        flags, pending: uint8[N], in the same view; the player who moved may be to move again.
        values: float32[N, K], the outcome distribution that the net gave the choice (exact,
            one-hot, where it ended the game), the mover's view.
        mover: uint8[N], the seat (0 or 1) that moved.
        offsets: int64[G + 1].
        score: int8[G], final score in the view of the last mover; 0 where truncated.
        truncated: bool[G], stopped at the ply cap without a score.
        candidates: rows that were evaluated to make these choices, in all.
    """

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    values: NDArray[np.float32]
    mover: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    score: NDArray[np.int8]
    truncated: NDArray[np.bool_]
    candidates: int


class Record(NamedTuple):
    """Where a chunk of games is written; see `Episodes`."""

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    pending: NDArray[np.uint8]
    values: NDArray[np.float32]
    mover: NDArray[np.uint8]


def _new_record(rows: int, outcomes: int) -> Record:
    return Record(
        np.empty((rows, 2, 26), np.int8),
        np.empty(rows, np.uint8),
        np.empty(rows, np.uint8),
        np.empty((rows, outcomes), np.float32),
        np.empty(rows, np.uint8),
    )


@njit(nogil=True, cache=True)
def best_candidate(rules, boards, flags, low, high, scores, shares):
    """Row of the highest equity among low..high-1, the first of equals.

    A candidate that ends the game has its score for an equity, and its row of `shares`
    (float32[M, K]) becomes one-hot. `scores` is float32[K], the outcome support.
    """
    best = low
    best_equity = np.float32(-1e30)
    for row in range(low, high):
        score = score_after(rules, boards[row], flags)
        equity = np.float32(0.0)
        if score != NOT_OVER:
            equity = np.float32(score)
            for k in range(len(scores)):
                shares[row, k] = np.float32(1.0) if scores[k] == equity else np.float32(0.0)
        else:
            for k in range(len(scores)):
                equity += scores[k] * shares[row, k]
        if equity > best_equity:
            best = row
            best_equity = equity
    return best


@njit(nogil=True, cache=True)
def _choose_range(low, high, rules, boards, offsets, flags, scores, shares, chosen):
    for b in range(low, high):
        chosen[b] = best_candidate(
            rules, boards, flags[b], offsets[b], offsets[b + 1], scores, shares
        )


def choose(rules: Rules, decisions: Decisions, shares: NDArray[np.float32]) -> NDArray[np.int64]:
    """The row of the best candidate of each decision, int64[B], the first of equals.

    `shares` float32[M, K] are the candidates' outcome distributions; rows that end the game
    are made exact in place.
    """
    chosen = np.empty(len(decisions.points), np.int64)
    run_chunks(
        _choose_range,
        len(chosen),
        rules.kernel,
        decisions.legal.after,
        decisions.legal.offsets,
        decisions.flags,
        np.array(rules.outcomes, np.float32),
        shares,
        chosen,
    )
    return chosen


@njit(nogil=True, cache=True)
def _play_games(
    low,
    high,
    rules,
    scratch,
    start,
    seed,
    first_game,
    ply_cap,
    tables,
    room,
    enc,
    weights,
    scores,
    hidden,
    shares,
    record,
    lengths,
    results,
    stop,
):
    """Play games low..high-1 one after the other on table 0 and record them back to back.

    Stops before a game for which `record` may be too small, or when stop[0] is set. Returns
    (games done, rows written, candidates evaluated).
    """
    rows = 0
    candidates = 0
    for g in range(low, high):
        if len(record.mover) - rows < ply_cap or stop[0] != 0:
            return g - low, rows, candidates
        first_row = rows
        deal(rules, start, seed, tables, 0, first_game + g, -1)
        score = NOT_OVER
        while score == NOT_OVER:
            count, used = generate(
                rules,
                scratch,
                tables.points[0],
                tables.flags[0],
                tables.pending[0],
                tables.rolls[0, 0],
                tables.rolls[0, 1],
                room.words,
                room.paths,
                0,
            )
            flags, pending = after_decision(
                rules,
                tables.flags[0],
                tables.pending[0],
                tables.rolls[0, 0],
                tables.rolls[0, 1],
                used,
            )
            candidates += count
            evaluate_candidates(
                enc,
                weights,
                tables.points[0],
                flags,
                pending,
                room.words,
                room.boards,
                0,
                count,
                hidden,
                shares,
            )
            best = best_candidate(rules, room.boards, flags, 0, count, scores, shares)
            for i in range(26):
                record.points[rows, 0, i] = room.boards[best, 0, i]
                record.points[rows, 1, i] = room.boards[best, 1, i]
            record.flags[rows] = flags
            record.pending[rows] = pending
            record.mover[rows] = tables.mover[0]
            for k in range(len(scores)):
                record.values[rows, k] = shares[best, k]
            rows += 1
            score = advance(rules, seed, tables, 0, room.boards[best], used, ply_cap)
        lengths[g] = rows - first_row
        results[g] = score
    return high - low, rows, candidates


class SelfPlayStopped(Exception):
    """`collect` was asked to stop; the batch can be played again from the same arguments."""


def collect(
    rules: Rules,
    evaluator: Evaluator,
    games: int = 1000,
    *,
    seed: int = 0,
    first_game: int = 0,
    ply_cap: int = 1000,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Episodes:
    """Play `games` games from the start, both seats by the same evaluator, greedily.

    Args:
        rules: the variant.
        evaluator: see `nardy_rl.inference`.
        games: how many; they get the numbers first_game, first_game + 1, ...
        seed: of the dice.
        first_game: number of the first game.
        ply_cap: decisions after which a game is truncated.
        should_stop: asked now and then; True ends the batch with `SelfPlayStopped`.
        progress: told now and then how many games have ended.
    """
    if isinstance(evaluator, KernelEvaluator):
        return _collect_kernel(
            rules, evaluator, games, seed, first_game, ply_cap, should_stop, progress
        )
    return collect_lockstep(
        rules,
        evaluator,
        games,
        seed=seed,
        first_game=first_game,
        ply_cap=ply_cap,
        should_stop=should_stop,
        progress=progress,
    )


_CHUNK_GAMES = 32  # games a thread plays between two looks at `should_stop`


def _collect_kernel(
    rules: Rules,
    evaluator: KernelEvaluator,
    games: int,
    seed: int,
    first_game: int,
    ply_cap: int,
    should_stop: Callable[[], bool] | None,
    progress: Callable[[int], None] | None,
) -> Episodes:
    outcomes = np.array(rules.outcomes, np.float32)
    lengths = np.zeros(games, np.int64)
    results = np.zeros(games, np.int8)
    stop = np.zeros(1, np.int64)
    start_points = rules.start_points()
    done_games = [0]

    def work(low: int, high: int) -> tuple[list[Record], int]:
        scratch = new_scratch()
        room = new_rows(MAX_AFTERSTATES)
        tables = new_tables(1)
        hidden = evaluator.new_scratch()
        shares = np.empty((MAX_AFTERSTATES, len(outcomes)), np.float32)
        parts: list[Record] = []
        candidates = 0
        while low < high:
            if should_stop is not None and should_stop():
                stop[0] = 1
            if stop[0]:
                break
            limit = min(high, low + _CHUNK_GAMES)
            record = _new_record(ply_cap + 100 * (limit - low), len(outcomes))
            done, rows, evaluated = _play_games(
                low,
                limit,
                rules.kernel,
                scratch,
                start_points,
                seed,
                first_game,
                ply_cap,
                tables,
                room,
                evaluator.encoding,
                evaluator.weights,
                outcomes,
                hidden,
                shares,
                record,
                lengths,
                results,
                stop,
            )
            parts.append(Record._make(array[:rows] for array in record))
            candidates += evaluated
            low += done
            done_games[0] += done
            if progress is not None:
                progress(done_games[0])
        return parts, candidates

    chunk = max(1, min(_CHUNK_GAMES, games // 16))
    found = map_chunks(work, games, min_chunk=chunk, per_thread=8)
    if stop[0]:
        raise SelfPlayStopped
    parts = [part for chunk_parts, _ in found for part in chunk_parts]
    joined = Record._make(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return _episodes(joined, lengths, results, sum(evaluated for _, evaluated in found))


def _episodes(
    record: Record, lengths: NDArray[np.int64], results: NDArray[np.int8], candidates: int
) -> Episodes:
    truncated = results == TRUNCATED
    return Episodes(
        record.points,
        record.flags,
        record.pending,
        record.values,
        record.mover,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.where(truncated, 0, results).astype(np.int8),
        truncated,
        candidates,
    )


@njit(nogil=True, cache=True)
def _advance_live(low, high, rules, seed, tables, live, rows, boards, used, ply_cap, results):
    for i in range(low, high):
        results[live[i]] = advance(rules, seed, tables, live[i], boards[rows[i]], used[i], ply_cap)


def collect_lockstep(
    rules: Rules,
    evaluator: Evaluator,
    games: int = 1000,
    *,
    seed: int = 0,
    first_game: int = 0,
    ply_cap: int = 1000,
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Episodes:
    """`collect`, one decision of every game at a time, for any evaluator."""
    kernel = rules.kernel
    tables = new_tables(games)
    run_chunks(deal_range, games, kernel, rules.start_points(), seed, tables, first_game)
    results = np.full(games, NOT_OVER, np.int8)
    live = np.arange(games)
    steps: list[tuple[NDArray[np.int64], Record]] = []
    candidates = 0
    while len(live):
        if should_stop is not None and should_stop():
            raise SelfPlayStopped
        now = Tables._make(np.ascontiguousarray(array[live]) for array in tables)
        legal, _ = generate_batch(kernel, now.points, now.flags, now.pending, now.rolls)
        flags, pending = states_after(rules, now.flags, now.pending, now.rolls, legal.dice_used)
        decisions = Decisions(now.points, flags, pending, legal)
        shares = evaluator.distributions(decisions)
        candidates += len(shares)
        rows = choose(rules, decisions, shares)
        steps.append((live, Record(legal.after[rows], flags, pending, shares[rows], now.mover)))
        run_chunks(
            _advance_live,
            len(live),
            kernel,
            seed,
            tables,
            live,
            rows,
            legal.after,
            legal.dice_used,
            ply_cap,
            results,
        )
        live = live[results[live] == NOT_OVER]
        if progress is not None:
            progress(games - len(live))
    order = np.argsort(np.concatenate([at for at, _ in steps]), kind="stable")
    parts = zip(*(record for _, record in steps), strict=True)
    joined = Record._make(np.concatenate(arrays)[order] for arrays in parts)
    return _episodes(joined, tables.turn.copy(), results, candidates)

"""Self-play: a batch of games by one net against itself, as episodes of afterstates.

`collect` plays all games of a batch in lockstep: all candidates of all games go into one ragged
buffer, an evaluator turns rows into outcome distributions, and a kernel takes each game's
arg-max, records it and throws the next dice. With the incremental kernel nothing is gained by
waiting for the other games, so `play_games` runs the same steps game by game, in the caches.
Every batch is a pure function of (rules, net, seed, first_game): threads do not change it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.episodes import Episodes, Record, episodes_of, new_record
from nardy_rl.incremental import evaluate_candidates
from nardy_rl.inference import Decisions, Evaluator, KernelEvaluator
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.ladder import after_decision
from nardy_rl.rules.parallel import map_chunks, run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.tables import advance, deal, deal_range, new_tables, play_turn, turn_of

AIMS = ("points", "wins")
"""What is played for: the score, or winning alone, whatever it scores."""


@njit(nogil=True, cache=True)
def best_candidate(rules, boards, flags, low, high, scores, worth, shares):
    """Row of the highest expectation of `worth` among low..high-1, the first of equals.

    `scores` is float32[K], the outcome support, and `worth` float32[K] what each outcome is worth
    to the player: `scores` itself where points are played for. The row of `shares` (float32[M, K])
    of a candidate that ends the game becomes one-hot.
    """
    best = low
    best_equity = np.float32(-1e30)
    for row in range(low, high):
        score = score_after(rules, boards[row], flags)
        equity = np.float32(0.0)
        if score != NOT_OVER:
            for k in range(len(scores)):
                shares[row, k] = np.float32(1.0) if scores[k] == score else np.float32(0.0)
        for k in range(len(scores)):
            equity += worth[k] * shares[row, k]
        if equity > best_equity:
            best = row
            best_equity = equity
    return best


@njit(nogil=True, cache=True)
def _choose_range(low, high, rules, boards, offsets, flags, scores, worth, shares, chosen):
    for b in range(low, high):
        chosen[b] = best_candidate(
            rules, boards, flags[b], offsets[b], offsets[b + 1], scores, worth, shares
        )


def worth_of(rules: Rules, aim: str) -> NDArray[np.float32]:
    """What each outcome is worth to who plays for `aim`, float32[K]: its points, or its sign.

    >>> from nardy_rl.rules import variant
    >>> worth_of(variant("backgammon"), "wins").tolist()
    [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]
    """
    scores = np.array(rules.outcomes, np.float32)
    return np.sign(scores) if aim == "wins" else scores


def choose(
    rules: Rules, decisions: Decisions, shares: NDArray[np.float32], aim: str = "points"
) -> NDArray[np.int64]:
    """The row of the best candidate of each decision, int64[B], the first of equals.

    `shares` float32[M, K] are the candidates' outcome distributions; rows that end the game
    are made exact in place. `aim` is one of `AIMS`.
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
        worth_of(rules, aim),
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
    worth,
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
            best = best_candidate(rules, room.boards, flags, 0, count, scores, worth, shares)
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
    aim: str = "points",
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
        aim: what both play for, one of `AIMS`.
        should_stop: asked now and then; True ends the batch with `SelfPlayStopped`.
        progress: told now and then how many games have ended.
    """
    if isinstance(evaluator, KernelEvaluator):
        return _collect_kernel(
            rules, evaluator, games, seed, first_game, ply_cap, aim, should_stop, progress
        )
    return collect_lockstep(
        rules,
        evaluator,
        games,
        seed=seed,
        first_game=first_game,
        ply_cap=ply_cap,
        aim=aim,
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
    aim: str,
    should_stop: Callable[[], bool] | None,
    progress: Callable[[int], None] | None,
) -> Episodes:
    outcomes, worth = np.array(rules.outcomes, np.float32), worth_of(rules, aim)
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
            record = new_record(ply_cap + 100 * (limit - low), len(outcomes))
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
                worth,
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
    return episodes_of(joined, lengths, results, sum(evaluated for _, evaluated in found))


def collect_lockstep(
    rules: Rules,
    evaluator: Evaluator,
    games: int = 1000,
    *,
    seed: int = 0,
    first_game: int = 0,
    ply_cap: int = 1000,
    aim: str = "points",
    should_stop: Callable[[], bool] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Episodes:
    """`collect`, one decision of every game at a time, for any evaluator."""
    tables = new_tables(games)
    run_chunks(deal_range, games, rules.kernel, rules.start_points(), seed, tables, first_game)
    results = np.full(games, NOT_OVER, np.int8)
    live = np.arange(games)
    steps: list[tuple[NDArray[np.int64], Record]] = []
    candidates = 0
    while len(live):
        if should_stop is not None and should_stop():
            raise SelfPlayStopped
        turn = turn_of(rules, tables, live)
        decisions = Decisions(turn.now.points, turn.flags, turn.pending, turn.legal)
        shares = evaluator.distributions(decisions)
        candidates += len(shares)
        rows = choose(rules, decisions, shares, aim)
        mover = turn.now.mover.copy()
        record = Record(turn.legal.after[rows], turn.flags, turn.pending, shares[rows], mover)
        steps.append((live, record))
        results[live] = play_turn(rules, seed, tables, turn, rows, ply_cap)
        live = live[results[live] == NOT_OVER]
        if progress is not None:
            progress(games - len(live))
    order = np.argsort(np.concatenate([at for at, _ in steps]), kind="stable")
    parts = zip(*(record for _, record in steps), strict=True)
    joined = Record._make(np.concatenate(arrays)[order] for arrays in parts)
    return episodes_of(joined, tables.turn.copy(), results, candidates)

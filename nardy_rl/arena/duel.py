"""Games between two nets of one hidden layer, played whole: the fast way of a match.

In lockstep every step of a block waits for its slowest part, and every candidate goes through
memory. Two incremental kernels need no company: each table is played to its end in the caches,
by the same functions of rules and evaluation, to the same choices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.bearoff import BearoffEvaluator
from nardy_rl.bearoff.evaluator import exact_shares, is_home
from nardy_rl.incremental import evaluate_candidates
from nardy_rl.inference import Evaluator, KernelEvaluator
from nardy_rl.players import Player, ValuerPlayer
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.ladder import after_decision
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.selfplay import best_candidate
from nardy_rl.tables import Tables, advance

_TABLES = 512
"""Tables between two looks at `should_stop`."""


def kernels_of(rules: Rules, players: tuple[Player, Player]) -> tuple[Evaluator, Evaluator] | None:
    """The evaluators of two players who can duel; None where one is anything else."""
    found: list[Evaluator] = []
    for player in players:
        # A class of its own may choose in a way of its own.
        if not isinstance(player, ValuerPlayer) or type(player).choose is not ValuerPlayer.choose:
            return None
        evaluator = player.evaluator
        inner = evaluator.inner if isinstance(evaluator, BearoffEvaluator) else evaluator
        if evaluator is None or not isinstance(inner, KernelEvaluator):
            return None
        if player.plies or player.rules != rules:
            return None
        found.append(evaluator)
    return found[0], found[1]


def duel(
    rules: Rules,
    evaluators: tuple[Evaluator, Evaluator],
    tables: Tables,
    seed: int,
    ply_cap: int,
    progress: Callable[[int], None],
    should_stop: Callable[[], bool] | None,
) -> NDArray[np.int8] | None:
    """Play every table to its end; on table t the first evaluator has seat t & 1.

    Args:
        rules, seed, ply_cap: as of `play_match`.
        evaluators: from `kernels_of`.
        tables: dealt; they are played on in place.
        progress: told how many games have ended.
        should_stop: asked now and then.

    Returns:
        int8[T], what `advance` said of each game's last decision; None where `should_stop`
        said so.
    """
    total = len(tables.game)
    results = np.full(total, NOT_OVER, np.int8)
    chances, columns, exact = _table_of(rules, evaluators)
    first, second = (_inner(evaluator) for evaluator in evaluators)
    scores = np.array(rules.outcomes, np.float32)
    for low in range(0, total, _TABLES):
        if should_stop is not None and should_stop():
            return None
        high = min(low + _TABLES, total)

        def work(start: int, stop: int, low: int = low) -> None:
            _duel_range(
                low + start,
                low + stop,
                rules.kernel,
                seed,
                ply_cap,
                tables,
                new_scratch(),
                new_rows(MAX_AFTERSTATES),
                first.encoding,
                (first.weights, second.weights),
                (first.new_scratch(), second.new_scratch()),
                scores,
                np.empty((MAX_AFTERSTATES, len(scores)), np.float32),
                exact,
                chances,
                columns,
                results,
            )

        # Games differ in length: more chunks than threads even that out.
        map_chunks(work, high - low, min_chunk=16, per_thread=4)
        progress(high)
    return results


def _inner(evaluator: Evaluator) -> KernelEvaluator:
    inner = evaluator.inner if isinstance(evaluator, BearoffEvaluator) else evaluator
    assert isinstance(inner, KernelEvaluator)
    return inner


def _table_of(
    rules: Rules, evaluators: tuple[Evaluator, Evaluator]
) -> tuple[NDArray[np.float32], NDArray[np.int64], tuple[bool, bool]]:
    """The bear-off table of whoever has one, its columns, and which of the two that is."""
    exact = tuple(isinstance(evaluator, BearoffEvaluator) for evaluator in evaluators)
    for evaluator in evaluators:
        if isinstance(evaluator, BearoffEvaluator):
            return evaluator.table.chances, evaluator.columns, (exact[0], exact[1])
    nothing = np.empty((0, 0, 0), np.float32)
    nothing.setflags(write=False)  # as a mapped table is: one type, one compiled kernel
    return nothing, np.empty(0, np.int64), (False, False)


@njit(nogil=True, cache=True)
def _duel_range(
    low,
    high,
    rules,
    seed,
    ply_cap,
    tables,
    scratch,
    room,
    enc,
    weights,
    hidden,
    scores,
    shares,
    exact,
    chances,
    columns,
    results,
):
    for t in range(low, high):
        while results[t] == NOT_OVER:
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
            flags, pending = after_decision(
                rules,
                tables.flags[t],
                tables.pending[t],
                tables.rolls[t, 0],
                tables.rolls[t, 1],
                used,
            )
            who = int(tables.mover[t] != (t & 1))
            evaluate_candidates(
                enc,
                weights[who],
                tables.points[t],
                flags,
                pending,
                room.words,
                room.boards,
                0,
                count,
                hidden[who],
                shares,
            )
            if exact[who] and is_home(tables.points[t, 1]):
                for row in range(count):
                    if is_home(room.boards[row, 0]) and is_home(room.boards[row, 1]):
                        exact_shares(rules, room.boards[row], flags, chances, columns, shares[row])
            best = best_candidate(rules, room.boards, flags, 0, count, scores, scores, shares)
            results[t] = advance(rules, seed, tables, t, room.boards[best], used, ply_cap)

"""The best result of each of the 21 rolls: one ply of looking ahead, for many positions.

With the incremental kernel one pass does it all: the units of a position are summed once for
its 21 rolls, and no candidate leaves the caches. Any other valuer gets the results in blocks.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.incremental import evaluate_sums, sum_before
from nardy_rl.inference import Decisions, Evaluator, KernelEvaluator
from nardy_rl.rules.board import FIRST_TURN
from nardy_rl.rules.kernels import MAX_AFTERSTATES, generate, new_rows, new_scratch
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search.distinct import once_each
from nardy_rl.search.valuers import (
    NetValuer,
    Valuer,
    best_rows,
    decisions_at,
    final_scores,
    turned,
)
from nardy_rl.selfplay import best_candidate, choose

ROLLS = np.array(list(combinations_with_replacement(range(1, 7), 2)), np.int8)
"""The 21 rolls, int8[21, 2], the smaller die first."""

ROLL_CHANCES = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36
"""Of each roll, float64[21]."""

_BLOCK = 256
"""Positions whose results are made at once where the valuer needs them as a batch."""


class Replies(NamedTuple):
    """The best result of each roll, for a batch of positions.

    Attributes:
        boards: int8[B, 21, 2, 26], seen by the player who rolled; the first of equals.
        flags: uint8[B], after the play, in the same view.
        equities: float32[B, 21], what they are worth to him.
    """

    boards: NDArray[np.int8]
    flags: NDArray[np.uint8]
    equities: NDArray[np.float32]


def best_replies(
    rules: Rules, valuer: Valuer, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> Replies:
    """What the player to roll makes of each of the 21 rolls, in a ladder game with the first rung.

    Args:
        rules: the variant.
        valuer: of the results.
        points: int8[B, 2, 26], seen by the player to roll; games that are not over.
        flags: uint8[B], in the same view.
    """
    out = _new_replies(flags)
    points = np.ascontiguousarray(points)
    kernel = None if rules.ladder else _incremental(valuer)
    if kernel is None:
        _in_blocks(rules, valuer, points, flags, np.arange(len(points)), out)
        return out
    _in_one_pass(rules, kernel, points, flags, out, np.empty((0, len(rules.outcomes)), np.float32))
    if kernel is not valuer.evaluator:  # type: ignore[attr-defined]
        # Its bear-off table knows the results where the other side is home already, and it
        # cannot be asked inside the kernel.
        near = points[:, 1, :7].sum(1, dtype=np.int64) == rules.checkers
        _in_blocks(rules, valuer, points, flags, np.flatnonzero(near), out)
    return out


def roll_equities(
    rules: Rules, valuer: Valuer, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> NDArray[np.float32]:
    """What the player to roll can expect after each of the 21 rolls, float32[B, 21].

    Arguments as of `best_replies`; each roll is worth the best of its results.
    """
    return best_replies(rules, valuer, points, flags).equities


def preroll_equities(
    rules: Rules, valuer: Valuer, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """What the player about to roll can expect, float64[B]: `roll_equities` by their chances."""
    return mean_over_rolls(roll_equities(rules, valuer, points, flags))


def mean_over_rolls(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """The mean of float32[B, 21] by the chances of the rolls, float64[B].

    Summed roll by roll: the last bits of a matrix product can depend on the other rows.
    """
    mean = np.zeros(len(values))
    for roll, chance in enumerate(ROLL_CHANCES):
        mean += chance * values[:, roll]
    return mean


def expected_shares(
    rules: Rules,
    evaluator: Evaluator,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    plies: int = 1,
) -> NDArray[np.float32]:
    """Outcome distributions of positions before a roll: the mean over all 21 of the best reply's.

    The best reply is the one of the highest equity at 0 plies, as everywhere.

    Args:
        rules: the variant.
        evaluator: of the replies.
        points: int8[B, 2, 26], seen by the player to roll; games that are not over.
        flags: uint8[B], in the same view.
        plies: rolls looked ahead: 1 takes the net's word for the best reply, 2 what the net
            expects of it over the 21 rolls that follow, and so on, each 21 times the work.

    Returns:
        float32[B, K], in the same view.
    """
    points = np.ascontiguousarray(points)
    if plies > 1:
        return _expected_deeper(rules, evaluator, points, flags, plies)
    means = np.zeros((len(points), len(rules.outcomes)), np.float32)
    inner = getattr(evaluator, "inner", evaluator)
    at = np.arange(len(points))
    if isinstance(inner, KernelEvaluator):
        _in_one_pass(rules, inner, points, flags, _new_replies(flags), means)
        near = points[:, 1, :7].sum(1, dtype=np.int64) == rules.checkers
        at = np.flatnonzero(near) if inner is not evaluator else at[:0]
    for low in range(0, len(at), _BLOCK):
        block = at[low : low + _BLOCK]
        decisions = _all_rolls(rules, points[block], flags[block])
        distinct, place = once_each(rules, decisions)
        shares = evaluator.distributions(distinct)[place]
        rows = choose(rules, decisions, shares)  # makes final results exact
        best = shares[rows].reshape(len(block), 21, -1)
        means[block] = 0
        for roll, chance in enumerate(ROLL_CHANCES):
            means[block] += np.float32(chance) * best[:, roll]
    return means


def _expected_deeper(
    rules: Rules,
    evaluator: Evaluator,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    plies: int,
) -> NDArray[np.float32]:
    """`expected_shares` of 2 plies or more, in blocks that fit the memory."""
    scores = np.array(rules.outcomes)
    means = np.zeros((len(points), len(scores)), np.float32)
    for low in range(0, len(points), _BLOCK):
        part = slice(low, low + _BLOCK)
        replies = best_replies(rules, NetValuer(rules, evaluator), points[part], flags[part])
        boards, after = replies.boards.reshape(-1, 2, 26), np.repeat(replies.flags, 21)
        ended = final_scores(rules, boards, after)
        shares = (ended[:, None] == scores).astype(np.float32)
        on = np.flatnonzero(ended == NOT_OVER)
        turned_points, turned_flags = turned(rules, boards[on], after[on])
        deeper = expected_shares(rules, evaluator, turned_points, turned_flags, plies - 1)
        shares[on] = deeper[:, ::-1]
        for roll, chance in enumerate(ROLL_CHANCES):
            means[part] += np.float32(chance) * shares.reshape(-1, 21, len(scores))[:, roll]
    return means


def _new_replies(flags: NDArray[np.uint8]) -> Replies:
    return Replies(
        np.empty((len(flags), 21, 2, 26), np.int8),
        flags & np.uint8(~FIRST_TURN & 255),
        np.empty((len(flags), 21), np.float32),
    )


def _all_rolls(rules: Rules, points: NDArray[np.int8], flags: NDArray[np.uint8]) -> Decisions:
    """The decisions of all 21 rolls of some positions, position by position."""
    count = len(points)
    return decisions_at(
        rules, np.repeat(points, 21, axis=0), np.repeat(flags, 21), np.tile(ROLLS, (count, 1))
    )


def _incremental(valuer: Valuer) -> KernelEvaluator | None:
    """The incremental kernel at the bottom of a valuer, if there is one."""
    if not isinstance(valuer, NetValuer):
        return None
    evaluator = getattr(valuer.evaluator, "inner", valuer.evaluator)
    return evaluator if isinstance(evaluator, KernelEvaluator) else None


def _in_blocks(
    rules: Rules,
    valuer: Valuer,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    at: NDArray[np.int64],
    out: Replies,
) -> None:
    """Fill the rows `at` of `out` by the valuer's own batches."""
    for low in range(0, len(at), _BLOCK):
        block = at[low : low + _BLOCK]
        count = len(block)
        decisions = _all_rolls(rules, points[block], flags[block])
        if isinstance(valuer, NetValuer):
            distinct, place = once_each(rules, decisions)
            values = valuer.equities(distinct)[place]
        else:  # a filter chooses by decision which results are looked at
            values = valuer.equities(decisions)
        rows = best_rows(values, decisions.legal.offsets)
        out.boards[block] = decisions.legal.after[rows].reshape(count, 21, 2, 26)
        out.equities[block] = values[rows].reshape(count, 21)


def _in_one_pass(
    rules: Rules,
    evaluator: KernelEvaluator,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    out: Replies,
    means: NDArray[np.float32],
) -> None:
    """Fill `out`, and `means` float32[B, K] unless it has no rows."""
    scores = np.array(rules.outcomes, np.float32)

    def work(low: int, high: int) -> None:
        _replies_range(
            low,
            high,
            rules.kernel,
            new_scratch(),
            new_rows(MAX_AFTERSTATES),
            evaluator.encoding,
            evaluator.weights,
            evaluator.new_scratch(),
            scores,
            np.empty((MAX_AFTERSTATES, len(scores)), np.float32),
            points,
            flags,
            out.boards,
            out.equities,
            means,
        )

    map_chunks(work, len(points), min_chunk=4)


@njit(nogil=True, cache=True)
def _replies_range(
    low,
    high,
    rules,
    scratch,
    room,
    enc,
    weights,
    hidden,
    scores,
    shares,
    points,
    flags,
    boards,
    equities,
    means,
):
    for b in range(low, high):
        after = flags[b] & ~FIRST_TURN
        sum_before(enc, weights, points[b], after, 0, hidden)
        roll = 0
        for die1 in range(1, 7):
            for die2 in range(die1, 7):
                count, _used = generate(
                    rules,
                    scratch,
                    points[b],
                    flags[b],
                    0,
                    die1,
                    die2,
                    room.words,
                    room.paths,
                    0,
                )
                evaluate_sums(enc, weights, room.words, room.boards, 0, count, hidden, shares)
                best = best_candidate(rules, room.boards, after, 0, count, scores, scores, shares)
                equity = np.float32(0.0)
                for k in range(len(scores)):
                    equity += scores[k] * shares[best, k]
                equities[b, roll] = equity
                if len(means) > 0:
                    chance = np.float32(1 / 36 if die1 == die2 else 2 / 36)
                    for k in range(len(scores)):
                        means[b, k] += chance * shares[best, k]
                for side in range(2):
                    for place in range(26):
                        boards[b, roll, side, place] = room.boards[best, side, place]
                roll += 1

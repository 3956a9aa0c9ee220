"""Valuers: what every result of a batch of decisions is worth to the player who made it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.inference import Decisions, Evaluator
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.board import turn_flags
from nardy_rl.rules.ladder import states_after
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after


class Valuer(Protocol):
    """Anything that values the candidates of a batch of decisions.

    A value must depend on nothing but its own decision: not on the others of the batch, their
    order, or the number of threads.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """Points that the mover can expect of each candidate, float32[M]; final results exact."""
        ...


class NetValuer:
    """The equities of an evaluator's distributions: a net at 0 plies.

    Args:
        rules: the variant.
        evaluator: of a net made for it.
        name: for tables.
    """

    def __init__(self, rules: Rules, evaluator: Evaluator, name: str = "net") -> None:
        self.name = name
        self.rules = rules
        self.evaluator = evaluator
        self._scores = np.array(rules.outcomes, np.float32)

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Valuer`."""
        shares = self.evaluator.distributions(decisions)
        return equities_of(self.rules, decisions, shares)


def equities_of(
    rules: Rules, decisions: Decisions, shares: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Equities float32[M] of outcome distributions float32[M, K], final results exact."""
    values = np.empty(len(shares), np.float32)
    run_chunks(
        _equities_range,
        len(decisions.points),
        rules.kernel,
        decisions.legal.after,
        decisions.legal.offsets,
        decisions.flags,
        np.array(rules.outcomes, np.float32),
        shares,
        values,
    )
    return values


@njit(nogil=True, cache=True)
def _equities_range(low, high, rules, boards, offsets, flags, scores, shares, values):
    for b in range(low, high):
        for row in range(offsets[b], offsets[b + 1]):
            score = score_after(rules, boards[row], flags[b])
            equity = np.float32(0.0)
            if score != NOT_OVER:
                equity = np.float32(score)
            else:
                for k in range(len(scores)):
                    equity += scores[k] * shares[row, k]
            values[row] = equity


def best_rows(equities: NDArray[np.float32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of the highest equity of each decision, int64[B], the first of equals."""
    chosen = np.empty(len(offsets) - 1, np.int64)
    run_chunks(_best_range, len(chosen), equities, offsets, chosen)
    return chosen


@njit(nogil=True, cache=True)
def _best_range(low, high, equities, offsets, chosen):
    for b in range(low, high):
        best = offsets[b]
        for row in range(best + 1, offsets[b + 1]):
            if equities[row] > equities[best]:
                best = row
        chosen[b] = best


def decisions_at(
    rules: Rules,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    rolls: NDArray[np.int8],
) -> Decisions:
    """The decisions of positions int8[B, 2, 26] (seen by who is to move) with their rolls."""
    pending = np.zeros(len(points), np.uint8)
    legal, _ = generate_batch(rules.kernel, points, flags, pending, rolls)
    return Decisions(points, *states_after(rules, flags, pending, rolls, legal.dice_used), legal)


def turned(
    rules: Rules, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """Positions int8[B, 2, 26] and flags uint8[B] as the other player sees them."""
    seen = np.empty_like(flags)
    run_chunks(_turn_range, len(flags), rules.kernel, flags, seen, min_chunk=4096)
    return np.ascontiguousarray(points[:, ::-1]), seen


@njit(nogil=True, cache=True)
def _turn_range(low, high, rules, flags, seen):
    for b in range(low, high):
        seen[b] = turn_flags(rules, flags[b])


def final_scores(
    rules: Rules, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> NDArray[np.int8]:
    """`score_after` of many afterstates, int8[N]; `NOT_OVER` where the game goes on."""
    scores = np.empty(len(points), np.int8)
    run_chunks(_score_range, len(points), rules.kernel, points, flags, scores, min_chunk=2048)
    return scores


@njit(nogil=True, cache=True)
def _score_range(low, high, rules, points, flags, scores):
    for b in range(low, high):
        scores[b] = score_after(rules, points[b], flags[b])

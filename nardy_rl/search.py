"""Looking ahead: what candidates are worth, by any valuer, at 0, 1 or more plies.

A valuer says what every result of a batch of decisions is worth to the player who made it.
Everything that plays by values, judges, or measures luck stands on that one protocol.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.inference import Decisions, Evaluator
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.board import FIRST_TURN
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

ROLLS = np.array(list(combinations_with_replacement(range(1, 7), 2)), np.int8)
"""The 21 rolls, int8[21, 2], the smaller die first."""

ROLL_CHANCES = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36
"""Of each roll, float64[21]."""


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
    return Decisions(points, flags & np.uint8(~FIRST_TURN & 255), pending, legal)


def roll_equities(
    rules: Rules,
    valuer: Valuer,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
) -> NDArray[np.float32]:
    """What the player to move can expect after each of the 21 rolls, float32[B, 21].

    Args:
        rules: the variant.
        valuer: of the results; each roll is worth the best of them.
        points: int8[B, 2, 26], seen by the player to move; games that are not over.
        flags: uint8[B], in the same view.
    """
    total = len(points)
    decisions = decisions_at(
        rules, np.repeat(points, 21, axis=0), np.repeat(flags, 21), np.tile(ROLLS, (total, 1))
    )
    values = valuer.equities(decisions)
    return values[best_rows(values, decisions.legal.offsets)].reshape(total, 21)


def preroll_equities(
    rules: Rules, valuer: Valuer, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """What the player about to roll can expect, float64[B]: `roll_equities` by their chances."""
    return roll_equities(rules, valuer, points, flags) @ ROLL_CHANCES

"""pubeval: Gerald Tesauro's public linear evaluator, the yardstick of backgammon programs.

Author of the evaluator and of its weights: Gerald Tesauro (1993), who put them out for everyone
to use. Written here from its public definition; the weights lie beside this file.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules

CHECKERS = 15
UNITS = 122
FINISHED = 99_999_999.0
"""Score of the position with all fifteen off; no other comes near it."""

_OFF, _BAR = 0, 25


class PubevalWeights(NamedTuple):
    """The two weight sets, float64[122] each."""

    contact: NDArray[np.float64]
    race: NDArray[np.float64]


@lru_cache(maxsize=1)
def pubeval_weights() -> PubevalWeights:
    """The weights as published."""
    sets = []
    for name in PubevalWeights._fields:
        text = resources.files("nardy_rl.players").joinpath(f"pubeval_{name}.txt").read_text()
        weights = np.array([float(n) for n in text.splitlines() if not n.startswith("#")])
        if weights.shape != (UNITS,):
            raise ValueError(f"pubeval_{name}.txt: {len(weights)} numbers, {UNITS} are needed")
        weights.setflags(write=False)
        sets.append(weights)
    return PubevalWeights(*sets)


class PubevalPlayer:
    """The highest score, the first of equals.

    The position *before* the move decides which weights score all its candidates: those for
    races where the two sides can no longer meet, else those for contact. A score is no
    probability and no equity: it only ranks the candidates of one decision. Enemy checkers on
    made points, the own bar and the enemy's off are invisible to it.

    Args:
        rules: a game with the checkers and the travel of backgammon; its options may differ.

    Raises:
        ConfigError: another kind of game.
    """

    name = "pubeval"

    def __init__(self, rules: Rules) -> None:
        if (rules.contact, rules.direction, rules.checkers) != ("hit", "opposite", CHECKERS):
            raise ConfigError(
                f"pubeval does not play {rules.name}; it plays the games of {CHECKERS} checkers "
                "that hit and travel in opposite directions, such as backgammon"
            )
        self.rules = rules

    def scores(self, decisions: Decisions) -> NDArray[np.float64]:
        """The score of each candidate, float64[M]; comparable within a decision only."""
        return self._score(decisions)[0]

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        return self._score(decisions)[1]

    def _score(self, decisions: Decisions) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The score of each candidate, and the row of the highest one of each decision."""
        boards, offsets = decisions.legal.after, decisions.legal.offsets
        scores = np.empty(len(boards), np.float64)
        chosen = np.empty(len(decisions.points), np.int64)
        run_chunks(
            _score_range,
            len(chosen),
            pubeval_weights(),
            decisions.points,
            boards,
            offsets,
            scores,
            chosen,
        )
        return scores, chosen


@njit(nogil=True, cache=True)
def _score_range(low, high, weights, points, boards, offsets, scores, chosen):
    for b in range(low, high):
        race = _farthest(points[b, 0]) + _farthest(points[b, 1]) < 25
        in_force = weights.race if race else weights.contact
        best = offsets[b]
        for row in range(offsets[b], offsets[b + 1]):
            scores[row] = pubeval_score(in_force, boards[row])
            if scores[row] > scores[best]:
                best = row
        chosen[b] = best


@njit(nogil=True, cache=True)
def _farthest(side):
    """The last place of int8[26] with a checker, the bar included; 0 where all are off."""
    place = _BAR
    while place > 0 and side[place] == 0:
        place -= 1
    return place


@njit(nogil=True, cache=True)
def pubeval_score(weights, board):
    """The score of one position after a move, int8[2, 26], seen by who made it."""
    if board[0, _OFF] == CHECKERS:
        return FINISHED
    # Five units a point, from the mover's 24 (the enemy's 1) down to his 1.
    total = 0.0
    for i in range(24):
        count = board[0, 24 - i]
        unit = 5 * i
        if count == 0:
            if board[1, i + 1] == 1:
                total += weights[unit]
            continue
        if count == 1:
            total += weights[unit + 1]
        else:
            total += weights[unit + 2]
        if count == 3:
            total += weights[unit + 3]
        elif count > 3:
            total += weights[unit + 4] * (count - 3) / 2.0
    total += weights[120] * board[1, _BAR] / 2.0
    return total + weights[121] * board[0, _OFF] / 15.0

"""Players who decide about the cube: double before a roll, answer an offer."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube import CUBE_LIFE, CubeValues, Terms, Worth, cube_values
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions, Evaluator
from nardy_rl.players.network import ValuerPlayer
from nardy_rl.players.protocol import Player
from nardy_rl.rules.batch import LegalAfterstates, generate_batch
from nardy_rl.rules.ladder import states_after
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import best_rows
from nardy_rl.search.lookahead import final_scores
from nardy_rl.search.valuers import equities_of, turned

PASS, TAKE, BEAVER = range(3)
"""Answers to an offer."""

_ROLLS = np.array([(a, b) for a in range(1, 7) for b in range(a, 7)], np.int8)
_WEIGHTS = np.array([1 if a == b else 2 for a, b in _ROLLS]) / 36


class Situation(NamedTuple):
    """Positions before a roll, seen by the player about to roll; he may double or has doubled.

    Attributes:
        points: int8[B, 2, 26].
        flags: uint8[B].
        stake: int64[B], before the offer.
        owner: int64[B]: 0 both may double, 1 the player about to roll alone may.
        worth: of points, for the player about to roll.
    """

    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    stake: NDArray[np.int64]
    owner: NDArray[np.int64]
    worth: Worth


class CubePlayer(Protocol):
    """Anything that decides about the cube; each decision depends on nothing but its own."""

    def doubles(self, situation: Situation) -> NDArray[np.bool_]:
        """Whether he, about to roll, offers; bool[B]."""
        ...

    def answers(self, situation: Situation) -> NDArray[np.int64]:
        """What he, whose opponent is about to roll, answers: `PASS`, `TAKE` or `BEAVER`."""
        ...


class NeverDoubles:
    """Of players who know no chances: they never offer and always take."""

    def doubles(self, situation: Situation) -> NDArray[np.bool_]:
        """See `CubePlayer`."""
        return np.zeros(len(situation.stake), bool)

    def answers(self, situation: Situation) -> NDArray[np.int64]:
        """See `CubePlayer`."""
        return np.full(len(situation.stake), TAKE)


class JanowskiCube:
    """Decides by an evaluator's chances and `cube.values`.

    Args:
        rules, terms: what is played.
        evaluator: of the chances.
        looks_ahead: takes the chances after the best play of each of the 21 rolls; otherwise
            those of the position as it stands.
        cube_life: see `cube.values`.
    """

    def __init__(
        self,
        rules: Rules,
        terms: Terms,
        evaluator: Evaluator,
        *,
        looks_ahead: bool = False,
        cube_life: float = CUBE_LIFE,
    ) -> None:
        if not 0.0 <= cube_life <= 1.0:
            raise ConfigError(f"cube_life={cube_life!r} is not allowed; numbers 0..1")
        self.rules, self.terms, self.evaluator = rules, terms, evaluator
        self.looks_ahead, self.cube_life = looks_ahead, cube_life

    def doubles(self, situation: Situation) -> NDArray[np.bool_]:
        """See `CubePlayer`."""
        values = self._values(situation)
        if not self.terms.beavers:
            return values.doubles
        # An offer that would be beavered is worth the beaver.
        taken = np.where(values.beavers, values.beaver, values.take)
        return values._replace(take=taken).doubles

    def answers(self, situation: Situation) -> NDArray[np.int64]:
        """See `CubePlayer`."""
        values = self._values(situation)
        answer = np.where(values.takes, TAKE, PASS)
        return np.where(values.beavers & self.terms.beavers, BEAVER, answer)

    def _values(self, situation: Situation) -> CubeValues:
        find = after_roll_shares if self.looks_ahead else before_roll_shares
        shares = find(self.rules, self.evaluator, situation.points, situation.flags)
        return cube_values(
            self.terms,
            self.rules.outcomes,
            shares,
            situation.stake,
            situation.owner,
            situation.worth,
            self.cube_life,
        )


def cube_player(
    rules: Rules, terms: Terms, player: Player, cube_life: float = CUBE_LIFE
) -> CubePlayer:
    """Who decides about the cube for `player`: his net, or one who never doubles.

    A net at 1 ply or more looks at the 21 rolls, no further. Whoever has no chances of outcomes
    (random, pips, heuristic, pubeval, gnubg, tables) never offers and always takes.
    """
    if isinstance(player, ValuerPlayer) and player.evaluator is not None:
        ahead = player.plies > 0
        return JanowskiCube(rules, terms, player.evaluator, looks_ahead=ahead, cube_life=cube_life)
    return NeverDoubles()


def before_roll_shares(
    rules: Rules, evaluator: Evaluator, points: NDArray[np.int8], flags: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Chances of each outcome, float64[B, K], of the player about to roll.

    The net values what a player leaves behind, so it is asked as the opponent who just moved.
    """
    behind, seen = turned(rules, points, flags)
    total = len(behind)
    legal = LegalAfterstates(
        after=behind, offsets=np.arange(total + 1), dice_used=np.zeros(total, np.int8)
    )
    pending = np.zeros(total, np.uint8)
    found = evaluator.distributions(Decisions(behind, seen, pending, legal))
    return found[:, ::-1].astype(np.float64)


def after_roll_shares(
    rules: Rules,
    evaluator: Evaluator,
    points: NDArray[np.int8],
    flags: NDArray[np.uint8],
    weights: NDArray[np.float64] = _WEIGHTS,
) -> NDArray[np.float64]:
    """Likewise, the mean over the 21 rolls of what the best play of each leaves.

    Each roll is played for the most points a game, as `choose` does.
    """
    boards, states = np.repeat(points, 21, axis=0), np.repeat(flags, 21)
    rolls = np.tile(_ROLLS, (len(points), 1))
    none = np.zeros(len(boards), np.uint8)
    legal, _ = generate_batch(rules.kernel, boards, states, none, rolls)
    seen, pending = states_after(rules, states, none, rolls, legal.dice_used)
    decisions = Decisions(boards, seen, pending, legal)
    shares = evaluator.distributions(decisions)
    rows = best_rows(equities_of(rules, decisions, shares), legal.offsets)
    chosen = shares[rows].astype(np.float64)
    scores = final_scores(rules, legal.after[rows], seen)
    for k, score in enumerate(rules.outcomes):
        ended = scores == score
        chosen[ended] = np.arange(len(rules.outcomes)) == k
    assert set(np.unique(scores)) <= {*rules.outcomes, NOT_OVER}
    return np.asarray((chosen.reshape(-1, 21, chosen.shape[1]) * weights[:, None]).sum(1))


def start_shares(rules: Rules, evaluator: Evaluator) -> NDArray[np.float64]:
    """How games of a net end, float64[K], whoever begins: from the best play of each first roll."""
    flags = np.array([7 & rules.flag_mask], np.uint8)  # the starter's, see `tables.deal`
    points = rules.start_points()[None]
    weights = _WEIGHTS
    if rules.opening_roll == "use_opening_dice":  # never a double
        weights = np.where(_ROLLS[:, 0] == _ROLLS[:, 1], 0.0, 1 / 15)
    starter = after_roll_shares(rules, evaluator, points, flags, weights)[0]
    return np.asarray((starter + starter[::-1]) / 2)

"""Rollouts: what a candidate is worth, by playing on from it many times.

Each game goes on for some plies with every play chosen at 0 plies, then the valuer's word is
taken for what is left (truncation). The luck of each roll, what it brought above the mean of all
21, is subtracted as it falls: in expectation it is nothing, and most of the noise is luck
(variance reduction, as in Tesauro and Galperin, "On-line policy improvement", 1996, and in gnubg).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import whole_number
from nardy_rl.inference import Decisions
from nardy_rl.rules.dice import roll_dice
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import (
    ROLLS,
    Filter,
    Valuer,
    best_replies,
    check_filter,
    check_looks_ahead,
    filtered,
    final_scores,
    mean_over_rolls,
    put_below,
    turned,
)

FIRST_ROLLS = 36
"""Games number 36 k .. 36 k + 35 of a rollout begin with each ordered roll once."""

_TOGETHER = 8192
"""Games in play at once: their 21 best replies each are what takes memory."""

_ROLL_INDEX = np.zeros((7, 7), np.int64)
for _i, (_die1, _die2) in enumerate(ROLLS.tolist()):
    _ROLL_INDEX[_die1, _die2] = _ROLL_INDEX[_die2, _die1] = _i


ROLLED = Filter(5, 0.16)
"""Which candidates are rolled out where nothing else is said."""

_LONGEST = 2000
"""Plies after which a game that was to be played to its end is truncated after all."""


class RolloutResult(NamedTuple):
    """What a rollout found, a number a candidate.

    Attributes:
        equities: float32[M], points that the mover can expect; candidates that were not rolled
            out have the valuer's equity, put below those that were.
        se: float32[M], standard errors; 0 for final results, NaN where not rolled out.
        rolled: bool[M], which were rolled out.
    """

    equities: NDArray[np.float32]
    se: NDArray[np.float32]
    rolled: NDArray[np.bool_]


class Rollout:
    """A valuer that plays on. Its values are a pure function of its arguments and a decision.

    All candidates are played on with the same dice, so that their differences are surer than
    their values.

    Args:
        rules: the variant.
        valuer: plays both sides at 0 plies, tells the luck, and values what is left.
        games: for each candidate; best a multiple of 36.
        plies: decisions after the candidate until a game is truncated; 0 plays to the end.
        keep: which candidates are rolled out, by the valuer's own equities.
        seed: of the dice.
        forced: whether a candidate without a rival is rolled out as well.
        progress: told how many candidates of a call are done, and of how many.

    Raises:
        ConfigError: a number out of range, or a ladder game.
    """

    def __init__(
        self,
        rules: Rules,
        valuer: Valuer,
        games: int = 360,
        plies: int = 7,
        *,
        keep: Filter = ROLLED,
        seed: int = 0,
        forced: bool = True,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        check_looks_ahead(rules)
        self.rules = rules
        self.valuer = valuer
        self.games = whole_number("games", games, 2, 10**7)
        self.plies = whole_number("plies", plies, 0, 10_000)
        self.seed = whole_number("seed", seed, 0, 2**63 - 1)
        self.keep = check_filter(keep)
        self.forced = forced
        self.progress = progress
        self.name = f"{valuer.name} rollout"

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Valuer`."""
        return self.rollout(decisions).equities

    def rollout(self, decisions: Decisions, also: NDArray[np.int64] | None = None) -> RolloutResult:
        """Roll out the candidates worth it, and the rows `also` int64[N] of `decisions`."""
        values = self.valuer.equities(decisions)
        kept, look = filtered(self.rules, decisions, values, self.keep, self.forced)
        legal = decisions.legal
        flags = np.repeat(decisions.flags, np.diff(legal.offsets))
        if also is not None:
            more = also[~kept[also]]
            kept[more] = True
            look[more] = final_scores(self.rules, legal.after[more], flags[more]) == NOT_OVER
        rows = np.flatnonzero(look)
        se = np.where(kept, np.float32(0), np.float32(np.nan)).astype(np.float32)
        values[rows], se[rows] = self.afterstates(legal.after[rows], flags[rows])
        put_below(legal, kept, values)
        return RolloutResult(values, se, kept)

    def afterstates(
        self, points: NDArray[np.int8], flags: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Equities and standard errors float32[N] of afterstates that do not end the game.

        Args:
            points: int8[N, 2, 26], seen by the player who just moved.
            flags: uint8[N], in the same view.
        """
        total = len(points)
        mean, se = np.empty(total, np.float32), np.empty(total, np.float32)
        together = max(1, _TOGETHER // self.games)
        for low in range(0, total, together):
            part = slice(low, low + together)
            scores = self._play(points[part], flags[part])
            mean[part] = scores.mean(1)
            se[part] = scores.std(1, ddof=1) / np.sqrt(self.games)
            if self.progress is not None:
                self.progress(min(low + together, total), total)
        return mean, se

    def _play(self, points: NDArray[np.int8], flags: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Scores less luck, float64[N, games], of the players who made the afterstates."""
        total = len(points) * self.games
        boards, flags = np.repeat(points, self.games, axis=0), np.repeat(flags, self.games)
        game = np.tile(np.arange(self.games), len(points))
        found = np.zeros(total)
        live = np.arange(total)
        sign, ply = (
            1.0,
            0,
        )  # the view is of who just moved, `sign` says whether he made the candidate
        while len(live):
            boards, flags = turned(self.rules, boards, flags)
            sign = -sign
            replies = best_replies(self.rules, self.valuer, boards, flags)
            rolls = self._rolls(game[live], ply)
            at = np.arange(len(live))
            value = replies.equities[at, rolls].astype(np.float64)
            found[live] -= sign * (value - mean_over_rolls(replies.equities))
            boards, flags = replies.boards[at, rolls], replies.flags
            ply += 1
            ended = final_scores(self.rules, boards, flags) != NOT_OVER
            if ply in (self.plies, _LONGEST):
                ended[:] = True
            # Where the game is over, the value is the final score.
            found[live[ended]] += sign * value[ended]
            live, boards, flags = live[~ended], boards[~ended], flags[~ended]
        return found.reshape(len(points), self.games)

    def _rolls(self, game: NDArray[np.int64], ply: int) -> NDArray[np.int64]:
        """The index of each game's roll at one ply, int64[N]."""
        if ply == 0:
            dice = np.divmod(game % FIRST_ROLLS, 6)
            return _ROLL_INDEX[dice[0] + 1, dice[1] + 1]
        rolls = np.empty(len(game), np.int64)
        run_chunks(_throw, len(game), self.seed, game, ply, _ROLL_INDEX, rolls, min_chunk=4096)
        return rolls


@njit(nogil=True, cache=True)
def _throw(low, high, seed, game, ply, index, rolls):
    for i in range(low, high):
        die1, die2 = roll_dice(seed, game[i], ply)
        rolls[i] = index[die1, die2]

"""Expectimax over the 21 rolls, a few plies deep, behind a filter of the moves worth it.

At n plies a result is worth what is left after the other side's best reply to every roll, the
reply chosen at 0 plies and valued at n - 1. So one ply averages over 21 rolls, two over 441.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.search.replies import best_replies, mean_over_rolls, preroll_equities
from nardy_rl.search.valuers import Valuer, final_scores, turned

MOST_PLIES = 3

_BLOCK = 512
"""Positions looked at together: their 21 best replies each are what takes memory."""


class Filter(NamedTuple):
    """Which candidates are looked at one ply deeper.

    Attributes:
        keep: at most so many of a decision,
        margin: and none that is farther below the best, in points.
    """

    keep: int
    margin: float


def check_filter(one: Filter) -> Filter:
    """The filter; ConfigError where it keeps nothing or has no margin."""
    if one.keep < 1 or not one.margin >= 0:
        raise ConfigError(
            f"filter: keep={one.keep}, margin={one.margin} is not allowed; "
            "allowed: keep >= 1, margin >= 0"
        )
    return one


DEFAULT_FILTER = Filter(5, 0.1)
"""Loses 0.4 (long nardy) and 1.5 (backgammon) thousandths of a point a decision at 1 ply against
looking at every candidate, by the shipped nets; see docs/LOG.md."""


class Lookahead:
    """A valuer that looks `plies` plies further than the one it stands on.

    Candidates that a filter stopped keep the value of the last ply that saw them, put below
    everything that went on.

    Args:
        rules: the variant.
        valuer: at 0 plies.
        plies: 0 to `MOST_PLIES`.
        filters: one for each ply; `DEFAULT_FILTER` where left out.
        forced: whether a candidate without a rival is looked at as well. Choosing needs no
            value for it; judging and luck do.

    Raises:
        ConfigError: plies or a filter out of range, or a ladder game.
    """

    def __init__(
        self,
        rules: Rules,
        valuer: Valuer,
        plies: int,
        filters: Sequence[Filter] | None = None,
        *,
        forced: bool = True,
    ) -> None:
        if not 0 <= plies <= MOST_PLIES:
            raise ConfigError(f"plies: {plies} is not allowed; allowed: 0 to {MOST_PLIES}")
        check_looks_ahead(rules)
        self.filters = tuple([DEFAULT_FILTER] * plies if filters is None else filters)
        if len(self.filters) != plies:
            raise ConfigError(f"filters: {len(self.filters)} given for {plies} plies; one for each")
        for one in self.filters:
            check_filter(one)
        self.rules = rules
        self.valuer = valuer
        self.plies = plies
        self.forced = forced
        self.name = f"{valuer.name} {plies}-ply"

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Valuer`."""
        values = self.valuer.equities(decisions)
        legal = decisions.legal
        flags = np.repeat(decisions.flags, np.diff(legal.offsets))
        kept = None
        for ply, one in enumerate(self.filters, 1):
            kept, look = filtered(self.rules, decisions, values, one, self.forced, kept)
            rows = np.flatnonzero(look)
            values[rows] = self._afterstates(legal.after[rows], flags[rows], ply)
            put_below(legal, kept, values)
        return values

    def _afterstates(
        self, points: NDArray[np.int8], flags: NDArray[np.uint8], plies: int
    ) -> NDArray[np.float32]:
        """Values float32[N] of afterstates int8[N, 2, 26] that do not end the game."""
        values = np.empty(len(points), np.float32)
        for low in range(0, len(points), _BLOCK):
            part = slice(low, low + _BLOCK)
            values[part] = -self._before_rolling(
                *turned(self.rules, points[part], flags[part]), plies
            )
        return values

    def _before_rolling(
        self, points: NDArray[np.int8], flags: NDArray[np.uint8], plies: int
    ) -> NDArray[np.float64]:
        if plies == 1:
            return preroll_equities(self.rules, self.valuer, points, flags)
        replies = best_replies(self.rules, self.valuer, points, flags)
        boards = replies.boards.reshape(-1, 2, 26)
        after = np.repeat(replies.flags, 21)
        values = final_scores(self.rules, boards, after).astype(np.float32)
        rows = np.flatnonzero(values == NOT_OVER)
        values[rows] = self._afterstates(boards[rows], after[rows], plies - 1)
        return mean_over_rolls(values.reshape(-1, 21))


def check_looks_ahead(rules: Rules) -> None:
    """Raise ConfigError for a game in which a result need not be followed by a roll."""
    if rules.ladder:
        raise ConfigError(
            f"{rules.name}: looking ahead is not written for ladder games, where rungs follow "
            "without a roll; play at 0 plies"
        )


def filtered(
    rules: Rules,
    decisions: Decisions,
    values: NDArray[np.float32],
    keep: Filter,
    forced: bool,
    among: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The candidates worth a deeper look, and those of them that need one.

    Args:
        rules, decisions: as everywhere.
        values: float32[M], by which the best are kept.
        keep: how many.
        forced: whether a candidate kept alone is looked at.
        among: bool[M], the rows that an earlier filter left.

    Returns:
        (kept, look), bool[M]: kept rows that end the game are not to be looked at.
    """
    kept = np.ones(len(values), bool) if among is None else among.copy()
    look = np.empty(len(values), bool)
    run_chunks(
        _filter_range,
        len(decisions.points),
        rules.kernel,
        decisions.legal.after,
        decisions.legal.offsets,
        decisions.flags,
        values,
        keep.keep,
        np.float32(keep.margin),
        forced,
        kept,
        look,
    )
    return kept, look


def put_below(
    legal: LegalAfterstates, kept: NDArray[np.bool_], values: NDArray[np.float32]
) -> None:
    """Lower the values float32[M] of rows not in `kept` bool[M] below those that are."""
    run_chunks(_lower_range, len(legal.offsets) - 1, legal.offsets, kept, values)


@njit(nogil=True, cache=True)
def _filter_range(
    low, high, rules, boards, offsets, flags, values, keep, margin, forced, kept, look
):
    """Of the rows in `kept`, keep the best few within the margin; look at those not over."""
    for b in range(low, high):
        first, stop = offsets[b], offsets[b + 1]
        best = np.float32(-1e30)
        for row in range(first, stop):
            if kept[row] and values[row] > best:
                best = values[row]
        left = 0
        for row in range(first, stop):
            look[row] = False
            if not kept[row]:
                continue
            better = 0
            for other in range(first, stop):
                if kept[other] and (
                    values[other] > values[row] or (values[other] == values[row] and other < row)
                ):
                    better += 1
            # Marked in `look` first: `kept` is still being read.
            look[row] = better < keep and values[row] >= best - margin
            left += look[row]
        for row in range(first, stop):
            kept[row] = look[row]
            if look[row]:
                alone = left == 1 and not forced
                look[row] = not alone and score_after(rules, boards[row], flags[b]) == NOT_OVER


@njit(nogil=True, cache=True)
def _lower_range(low, high, offsets, kept, values):
    """Put the rows that were not kept below those that were."""
    for b in range(low, high):
        worst = np.float32(1e30)
        for row in range(offsets[b], offsets[b + 1]):
            if kept[row]:
                worst = min(worst, values[row])
        ceiling = np.nextafter(worst, np.float32(-1e30))
        for row in range(offsets[b], offsets[b + 1]):
            if not kept[row]:
                values[row] = min(values[row], ceiling)

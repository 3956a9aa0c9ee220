"""What a player's choices lose, as a judge values them.

The loss of a decision is what the judge holds its best result to be worth, less what he holds
the chosen one to be worth. A judge may err; then a player who knows better seems to lose, and
the best of several noisy values is too high. An exact table does neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena import Estimate
from nardy_rl.inference import Decisions
from nardy_rl.judge.estimates import NOT_KNOWN, clustered, root_mean_square
from nardy_rl.judge.positions import Sample
from nardy_rl.players import Player
from nardy_rl.rollout import Rollout
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.search import Valuer

BEST_WITHIN = 1e-6
"""A choice counts as a best play when it loses less than this, in points."""

STEPS = (0.02, 0.08)
"""Losses from which a choice is counted as a mistake, and as a blunder, in points."""

NOBODY = np.iinfo(np.int64).min


class Judge(Protocol):
    """Whoever says what results are worth: any `Valuer`, perhaps with errors of his own."""

    @property
    def name(self) -> str:
        """For tables."""
        ...

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Valuer`."""
        ...


@dataclass(frozen=True)
class Sieve:
    """Which results are put before a judge who is too slow for all of them.

    Attributes:
        valuer: whose values tell.
        keep: the best so many of a decision, and the chosen one.
        margin: none that is farther below the best, in points, except the chosen one.
    """

    valuer: Valuer
    keep: int = 8
    margin: float = 0.3


@dataclass(frozen=True)
class Losses:
    """What was judged: the contested decisions of a sample, in its order.

    Attributes:
        sample: all decisions that were looked at, the forced ones among them.
        at: int64[C], places in `sample` of the contested decisions, those with a choice.
        results: int64[C], how many results each has.
        chosen, best: int64[C], the chosen result and the judge's best, among the decision's own.
        loss: float64[C], in points, 0 or more.
        chosen_equity: float64[C], what the chosen one is worth, as the judge has it.
        own_equity: float64[C], as the player himself has it; NaN for one without values.
        error: float64[C], standard error of `loss` as if both values were independent, which a
            rollout's are not: too large, if anything. NaN for a judge who states none.
    """

    sample: Sample
    at: NDArray[np.int64]
    results: NDArray[np.int64]
    chosen: NDArray[np.int64]
    best: NDArray[np.int64]
    loss: NDArray[np.float64]
    chosen_equity: NDArray[np.float64]
    own_equity: NDArray[np.float64]
    error: NDArray[np.float64]
    figures: LossFigures = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", _figures(self))

    def worst(self, count: int) -> NDArray[np.int64]:
        """Places in these arrays of the largest losses, largest first; best plays are no loss."""
        order = np.argsort(-self.loss, kind="stable")[:count]
        return order[self.loss[order] >= BEST_WITHIN]


@dataclass(frozen=True)
class LossFigures:
    """What is said of losses; equities in points, every error by games.

    Attributes:
        decisions, contested, games: counts.
        loss: mean over all decisions, forced ones (which lose nothing) among them.
        contested_loss: mean over those with a choice.
        best_share: of contested decisions, those that lose less than `BEST_WITHIN`.
        mistakes, blunders: of contested decisions, those that lose at least `STEPS`.
        largest: loss.
        sure_share: of contested decisions, those whose loss is above two standard errors; NaN
            for a judge who states none.
        bias: mean of the player's own equity of his choice, less the judge's.
        rms: root mean square of the same.
    """

    decisions: int
    contested: int
    games: int
    loss: Estimate
    contested_loss: Estimate
    best_share: Estimate
    mistakes: Estimate
    blunders: Estimate
    largest: float
    sure_share: Estimate
    bias: Estimate
    rms: Estimate


def judge_losses(
    sample: Sample,
    player: Player,
    judge: Judge,
    *,
    valuer: Valuer | None = None,
    sieve: Sieve | None = None,
    block: int = 1024,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Losses:
    """Let a player choose, and a judge say what each choice loses.

    Args:
        sample: the decisions.
        player: who chooses.
        judge: whose values count.
        valuer: the player's own values, for the value error; None for a player without.
        sieve: what the judge is asked about; None: every result.
        block: decisions at once: what a wish to stop waits for.
        progress: told how many decisions are done.
        should_stop: asked before each block; True ends with what there is.
    """
    parts: list[_Block] = []
    done = 0
    while done < len(sample) and not (should_stop is not None and should_stop()):
        part = sample.part(slice(done, done + block))
        parts.append(_judged(part, done, player, judge, valuer, sieve))
        done += len(part)
        if progress is not None:
            progress(done)
    whole = [np.int64] * 4 + [np.float64] * 4
    empty: _Block = tuple(np.empty(0, kind) for kind in whole)
    columns = zip(empty, *parts, strict=True)
    return Losses(sample.part(slice(done)), *(np.concatenate(column) for column in columns))


_Block = tuple[NDArray[Any], ...]


def _judged(
    sample: Sample,
    first: int,
    player: Player,
    judge: Judge,
    valuer: Valuer | None,
    sieve: Sieve | None,
) -> _Block:
    """The arrays of `Losses` from `at` on, of one block."""
    at = np.flatnonzero(np.diff(sample.decisions().legal.offsets) > 1)
    contested = sample.part(at)
    if len(contested) == 0:
        return tuple(np.empty(0, kind) for kind in [np.int64] * 4 + [np.float64] * 4)
    decisions = contested.decisions()
    starts = decisions.legal.offsets[:-1]
    chosen = player.choose(decisions, contested.rolls, contested.keys)
    own = np.full(len(at), math.nan)
    if valuer is not None:
        own = _values(valuer, narrowed(decisions, np.sort(chosen)))
    rows = _asked(decisions, chosen, sieve)
    asked = narrowed(decisions, rows)
    values, variances = _values_and_errors(judge, asked)
    place = np.searchsorted(rows, chosen)
    best = _first_best(values, asked.legal.offsets)
    # Of several best the chosen one, so that a choice without a loss is its own best.
    best = np.where(values[place] >= values[best], place, best)
    return (
        first + at,
        np.diff(decisions.legal.offsets),
        chosen - starts,
        rows[best] - starts,
        values[best] - values[place],
        values[place],
        own,
        np.sqrt(np.where(best == place, 0.0, 1.0) * (variances[best] + variances[place])),
    )


def narrowed(decisions: Decisions, rows: NDArray[np.int64]) -> Decisions:
    """The same decisions with some of their results only: ascending rows, one or more of each."""
    legal = decisions.legal
    offsets = np.searchsorted(rows, legal.offsets).astype(np.int64)
    some = LegalAfterstates(np.ascontiguousarray(legal.after[rows]), offsets, legal.dice_used)
    return decisions._replace(legal=some)


def _asked(
    decisions: Decisions, chosen: NDArray[np.int64], sieve: Sieve | None
) -> NDArray[np.int64]:
    """Rows that the judge is asked about, ascending."""
    offsets = decisions.legal.offsets
    total = int(offsets[-1])
    if sieve is None:
        return np.arange(total)
    values = sieve.valuer.equities(decisions)
    counts = np.diff(offsets)
    of = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((np.arange(total), -values, of))
    rank = np.empty(total, np.int64)
    rank[order] = np.arange(total) - np.repeat(offsets[:-1], counts)
    best = np.maximum.reduceat(values, offsets[:-1])
    kept = (rank < sieve.keep) & (values >= best[of] - sieve.margin)
    kept[chosen] = True
    return np.flatnonzero(kept)


def _first_best(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """As `best_rows`, in double precision."""
    highest = np.repeat(np.maximum.reduceat(values, offsets[:-1]), np.diff(offsets))
    rows = np.flatnonzero(values == highest)
    return rows[np.searchsorted(rows, offsets[:-1])]


def _values(valuer: Any, decisions: Decisions) -> NDArray[np.float64]:
    """Of each result; in double precision from an exact table."""
    exact = getattr(valuer, "result_values", valuer.equities)
    return np.asarray(exact(decisions), np.float64)


def _values_and_errors(
    judge: Any, decisions: Decisions
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each result, with the variance of each; NaN from a judge who states none."""
    if isinstance(judge, Rollout):
        found = judge.rollout(decisions)
        return found.equities.astype(np.float64), np.square(found.se.astype(np.float64))
    values = _values(judge, decisions)
    return values, np.full(len(values), math.nan)


def _figures(losses: Losses) -> LossFigures:
    games = losses.sample.game
    own = games[losses.at]
    everywhere = np.zeros(len(games))
    everywhere[losses.at] = losses.loss
    known = ~np.isnan(losses.error)
    off = losses.own_equity - losses.chosen_equity
    valued = not np.isnan(off).any()
    return LossFigures(
        decisions=len(games),
        contested=len(own),
        games=len(np.unique(games)),
        loss=clustered(everywhere, games),
        contested_loss=clustered(losses.loss, own),
        best_share=clustered(losses.loss < BEST_WITHIN, own),
        mistakes=clustered(losses.loss >= STEPS[0], own),
        blunders=clustered(losses.loss >= STEPS[1], own),
        largest=float(losses.loss.max()) if len(own) else math.nan,
        sure_share=(
            clustered((losses.loss > 2 * losses.error) & (losses.loss > 0), own)
            if known.any()
            else NOT_KNOWN
        ),
        bias=clustered(off, own) if valued else NOT_KNOWN,
        rms=root_mean_square(off, own) if valued else NOT_KNOWN,
    )

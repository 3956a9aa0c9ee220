"""How well values agree with each other: each against what follows from it.

The Bellman residual of a play is its value less the mean over the 21 rolls of what is left
after the other side's best reply to each, by the same values. It is 0 everywhere for exact
values, and for no others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena import Estimate
from nardy_rl.judge.estimates import clustered, root_mean_square
from nardy_rl.judge.positions import Sample
from nardy_rl.players import Player
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import Valuer, preroll_equities, turned
from nardy_rl.search.lookahead import final_scores


@dataclass(frozen=True)
class Bellman:
    """Residuals of the plays of a sample that did not end their game.

    Attributes:
        residuals: float64[N], points, in the view of who played.
        rms: their root mean square.
        mean: theirs; below 0, plays are worth more one ply later than the values said.
        largest: by size.
    """

    residuals: NDArray[np.float64]
    rms: Estimate
    mean: Estimate
    largest: float


def bellman(
    sample: Sample,
    player: Player,
    valuer: Valuer,
    *,
    block: int = 512,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Bellman:
    """The residuals of a player's choices.

    Args:
        sample: the decisions.
        player: who chooses.
        valuer: whose values are held against each other.
        block: decisions at once: what a wish to stop waits for.
        progress: told how many decisions are done.
        should_stop: asked before each block; True ends with what there is.
    """
    residuals, games = [np.empty(0)], [np.empty(0, np.int64)]
    for first in range(0, len(sample), block):
        if should_stop is not None and should_stop():
            break
        part = sample.part(slice(first, first + block))
        found, at = _residuals(part, player, valuer)
        residuals.append(found)
        games.append(part.game[at])
        if progress is not None:
            progress(first + len(part))
    values, game = np.concatenate(residuals), np.concatenate(games)
    return Bellman(
        residuals=values,
        rms=root_mean_square(values, game),
        mean=clustered(values, game),
        largest=float(np.abs(values).max()) if len(values) else float("nan"),
    )


def _residuals(
    sample: Sample, player: Player, valuer: Valuer
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Of the plays that did not end a game, with their places in the sample."""
    rules, decisions = sample.rules, sample.decisions()
    rows = player.choose(decisions, sample.rolls, sample.keys)
    after = decisions.legal.after[rows]
    at = np.flatnonzero(final_scores(rules, after, decisions.flags) == NOT_OVER)
    values = valuer.equities(decisions)[rows[at]].astype(np.float64)
    if len(at) == 0:
        return values, at
    seen = turned(rules, after[at], decisions.flags[at])
    return values + preroll_equities(rules, valuer, *seen), at

"""Whether things happen as often as a net says: its outcome shares against how games ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nardy_rl.arena import Estimate
from nardy_rl.episodes import Episodes
from nardy_rl.errors import whole_number
from nardy_rl.inference import Evaluator
from nardy_rl.judge.estimates import NOT_KNOWN, clustered
from nardy_rl.rules import Rules
from nardy_rl.selfplay import SelfPlayStopped, collect

BATCH_GAMES = 200
"""Games between two looks at a wish to stop; the figures do not depend on it."""

BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Predicted shares of one event against how often it came, in bins of alike predictions.

    Attributes:
        event: what was predicted.
        count: int64[D], predictions in each bin; the bins hold about as many each.
        predicted: float64[D], their mean.
        observed: float64[D], share in which the event came.
        se: float64[D], standard error of `predicted - observed`, by games.
        bias: mean of predicted less observed over all, with its standard error.
        brier: mean square of predicted less what came (0 or 1).
        error: mean over all of the distance between the two in its bin; a share, 0 to 1.
    """

    event: str
    count: NDArray[np.int64]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    se: NDArray[np.float64]
    bias: Estimate
    brier: Estimate
    error: float


def reliability(
    event: str, predicted: ArrayLike, observed: ArrayLike, games: ArrayLike, bins: int = BINS
) -> Reliability:
    """Sort predictions into bins and hold them against what came.

    Args:
        event: its name.
        predicted: float[N], shares.
        observed: bool[N], whether it came.
        games: int[N], the game of each: the predictions of one game share one outcome.
        bins: how many; fewer come out where many predictions are alike.

    >>> found = reliability("win", [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], range(4))
    >>> found.observed, found.bias.value
    (array([0.25]), 0.0)
    """
    shares = np.asarray(predicted, np.float64)
    came = np.asarray(observed, np.float64)
    game = np.asarray(games)
    if len(shares) == 0:
        nothing = np.empty(0)
        return Reliability(
            event, np.empty(0, np.int64), nothing, nothing, nothing, NOT_KNOWN, NOT_KNOWN, np.nan
        )
    edges = np.quantile(shares, np.linspace(0, 1, bins + 1)[1:-1])
    place = np.unique(np.searchsorted(edges, shares, side="right"), return_inverse=True)[1]
    count = np.bincount(place)
    off = shares - came
    gap = np.bincount(place, off) / count
    errors = [clustered(off[place == b], game[place == b]).se for b in range(len(count))]
    return Reliability(
        event=event,
        count=count.astype(np.int64),
        predicted=np.bincount(place, shares) / count,
        observed=np.bincount(place, came) / count,
        se=np.array(errors),
        bias=clustered(off, game),
        brier=clustered(off**2, game),
        error=float(np.abs(gap) @ count / len(shares)),
    )


def calibration(
    rules: Rules,
    evaluator: Evaluator,
    games: int = 2000,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Reliability, ...]:
    """Reliability of win, and of mars or more, over all positions of self-play games.

    Every play but the last of a game is a prediction, in the view of the player who made it.

    Args:
        rules: the variant.
        evaluator: of the net that plays both seats and predicts.
        games: of self-play.
        seed: of their dice.
        progress: told how many games have ended.
        should_stop: asked now and then; True ends with the whole batches there are.

    Raises:
        ConfigError: a number out of range.
    """
    whole_number("games", games, 1, 2**31 - 1)
    support = np.array(rules.outcomes)
    shares: list[NDArray[np.float32]] = []
    scores: list[NDArray[np.int64]] = []
    numbers: list[NDArray[np.int64]] = []
    for first in range(0, games, BATCH_GAMES):
        try:
            episodes = collect(
                rules,
                evaluator,
                min(BATCH_GAMES, games - first),
                seed=seed,
                first_game=first,
                should_stop=should_stop,
            )
        except SelfPlayStopped:
            break
        values, score, game = _predictions(episodes)
        shares.append(values)
        scores.append(score)
        numbers.append(game + first)
        if progress is not None:
            progress(min(first + BATCH_GAMES, games))
    if not shares:
        return tuple(reliability(event, [], [], []) for event in EVENTS)
    value = np.concatenate(shares)
    outcome, number = np.concatenate(scores), np.concatenate(numbers)
    return tuple(
        reliability(event, value[:, support >= least].sum(1), outcome >= least, number)
        for event, least in EVENTS.items()
    )


EVENTS = {"win": 1, "mars or more": 2}
"""What is predicted, and the least score that counts as that."""


def _predictions(
    episodes: Episodes,
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Shares float32[N, K], final score int64[N] in the same view, number of the game int64[N]."""
    lengths = np.diff(episodes.offsets)
    game = np.repeat(np.arange(len(lengths)), lengths)
    last = episodes.offsets[1:] - 1
    same_seat = episodes.mover == episodes.mover[last][game]
    score = np.where(same_seat, 1, -1) * episodes.score.astype(np.int64)[game]
    counts = ~episodes.truncated[game]
    counts[last] = False
    return episodes.values[counts], score[counts], game[counts]

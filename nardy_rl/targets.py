"""What the net should have said: lambda-returns over distributions of outcomes.

TD(lambda) in its forward view (Sutton and Barto, Reinforcement Learning, 2nd edition, 12.1), with
a distribution over scores in place of a single value. Each distribution is in the view of the
player who just moved; the other's view is the same distribution with its support reversed.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

__all__ = ["lambda_returns"]


def lambda_returns(
    values: ArrayLike,
    mover: ArrayLike,
    offsets: ArrayLike,
    outcome_index: ArrayLike,
    lam: float,
) -> NDArray[np.float32]:
    """The target of every position of many games played back to back.

    With `v` the values, `turn` reversing the support where the mover changes between the two,

        G[t] = turn((1 - lam) * v[t + 1] + lam * G[t + 1]).

    The last position of a finished game is worth its outcome, whatever the net said of it: both
    `v` and `G` are one-hot there. That of a truncated game keeps the net's value.

    Args:
        values: float32[N, K], the net's distribution over the K outcomes at every position, in
            the view of its mover; ascending and symmetric support.
        mover: uint8[N], which seat moved. The same seat may move twice in a row.
        offsets: int64[G + 1], game g is positions offsets[g] to offsets[g + 1].
        outcome_index: int[G], the outcome in the view of the game's last mover, as an index into
            the support; -1 for a truncated game.
        lam: 0 (bootstrap one step ahead) to 1 (the outcome itself).

    Returns:
        float32[N, K].

    Raises:
        ValueError: `lam` outside 0 to 1, arrays whose lengths do not fit, an unknown outcome.

    A game of two decisions that the second player wins, lambda 1:

    >>> values = np.full((2, 2), 0.5, np.float32)
    >>> lambda_returns(values, mover=[0, 1], offsets=[0, 2], outcome_index=[1], lam=1.0)
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    values = np.ascontiguousarray(values, np.float32)
    mover = np.ascontiguousarray(mover, np.uint8)
    offsets = np.ascontiguousarray(offsets, np.int64)
    outcome_index = np.ascontiguousarray(outcome_index, np.int64)
    if not 0.0 <= lam <= 1.0:
        raise ValueError(f"lam: {lam!r} is not allowed; allowed: numbers >= 0 and <= 1")
    if values.ndim != 2 or mover.shape != values.shape[:1]:
        raise ValueError(f"values {values.shape} and mover {mover.shape}: expected (N, K) and (N,)")
    if outcome_index.ndim != 1 or offsets.shape != (len(outcome_index) + 1,):
        raise ValueError(
            f"offsets {offsets.shape} and outcome_index {outcome_index.shape}: "
            "expected (G + 1,) and (G,)"
        )
    if offsets[0] != 0 or offsets[-1] != len(values) or np.any(np.diff(offsets) < 0):
        raise ValueError(f"offsets: must rise from 0 to {len(values)}, the number of positions")
    if np.any(outcome_index < -1) or np.any(outcome_index >= values.shape[1]):
        raise ValueError(f"outcome_index: must be -1 (truncated) to {values.shape[1] - 1}")
    targets = np.empty_like(values)
    _fill_targets(values, mover, offsets, outcome_index, np.float32(lam), targets)
    return targets


@njit(nogil=True, cache=True)
def _fill_targets(
    values: NDArray[np.float32],
    mover: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    outcome_index: NDArray[np.int64],
    lam: np.float32,
    targets: NDArray[np.float32],
) -> None:
    outcomes = values.shape[1]
    for game in range(len(outcome_index)):
        first, stop = offsets[game], offsets[game + 1]
        if first == stop:
            continue
        last = stop - 1
        finished = outcome_index[game] >= 0
        for k in range(outcomes):
            if finished:
                targets[last, k] = np.float32(k == outcome_index[game])
            else:
                targets[last, k] = values[last, k]
        for t in range(last - 1, first - 1, -1):
            # Backed up from t + 1: the outcome itself where that is the end of a finished game.
            ended = finished and t + 1 == last
            for k in range(outcomes):
                backed = targets[t + 1, k]
                if not ended:
                    backed = (np.float32(1.0) - lam) * values[t + 1, k] + lam * backed
                if mover[t + 1] != mover[t]:
                    targets[t, outcomes - 1 - k] = backed
                else:
                    targets[t, k] = backed

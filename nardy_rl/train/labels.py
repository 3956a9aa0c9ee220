"""What a batch of games is to teach: which of its positions, and towards what."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nardy_rl.episodes import Episodes
from nardy_rl.inference import Evaluator
from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.record import Rules
from nardy_rl.search import expected_shares, turned
from nardy_rl.targets import lambda_returns
from nardy_rl.train.settings import TrainSettings

_AT_ONCE = 4096
"""Positions whose 21 rolls are looked at between two looks at the signals."""

_DRAWN = 0x5EED
"""Sets the generator that draws positions apart from the learner's, which orders them."""


def batch_targets(
    rules: Rules,
    evaluator: Evaluator,
    episodes: Episodes,
    settings: TrainSettings,
    games_before: int,
    check: Callable[[], None] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The positions int64[N] of a batch to learn from, and what the net should say of each.

    `games_before` is how many games the run had played before it; `check` is called now and then,
    and what it raises goes through. Targets are float32[N, K].
    """
    wanted = settings.targets
    rows = np.arange(len(episodes.mover))
    if not wanted.every_roll:
        return rows, episode_targets(episodes, rules.outcomes, wanted.lam_after(games_before))
    if wanted.share < 1:
        generator = np.random.default_rng((settings.seed, games_before, _DRAWN))
        rows = rows[in_contact(rules, episodes.points)]
        count = max(1, round(wanted.share * len(episodes.mover)))
        rows = np.sort(generator.permutation(rows)[:count])
    return rows, every_roll_targets(rules, evaluator, episodes, check, rows, wanted.plies)


def episode_targets(
    episodes: Episodes, outcomes: tuple[int, ...], lam: float
) -> NDArray[np.float32]:
    """The lambda-returns of a batch of games, float32[N, K]."""
    index = np.searchsorted(outcomes, episodes.score)
    index[episodes.truncated] = -1
    return lambda_returns(episodes.values, episodes.mover, episodes.offsets, index, lam)


def every_roll_targets(
    rules: Rules,
    evaluator: Evaluator,
    episodes: Episodes,
    check: Callable[[], None] | None = None,
    rows: NDArray[np.int64] | None = None,
    plies: int = 1,
) -> NDArray[np.float32]:
    """What the net says `plies` steps ahead, over all 21 rolls of each, float32[N, K].

    The last position of a finished game is its outcome. `rows` int64[N] are the positions asked
    for, all by default; `check` is called now and then, and what it raises goes through.
    """
    rows = np.arange(len(episodes.mover)) if rows is None else rows
    targets = episode_targets(episodes, rules.outcomes, 0.0)[rows]
    over = np.zeros(len(episodes.mover), bool)
    over[episodes.offsets[1:][~episodes.truncated] - 1] = True
    due = np.flatnonzero(~over[rows])
    at_once = max(1, _AT_ONCE // 21 ** (plies - 1))
    for low in range(0, len(due), at_once):
        if check is not None:
            check()
        part = due[low : low + at_once]
        points, flags = turned(rules, episodes.points[rows[part]], episodes.flags[rows[part]])
        targets[part] = expected_shares(rules, evaluator, points, flags, plies)[:, ::-1]
    return targets


def in_contact(rules: Rules, points: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Whether a checker of either side has one of the other's before it, bool[N].

    Args:
        rules: the variant.
        points: int8[N, 2, 26], in either view.
    """
    theirs = np.array([opponent_point(int(rules.direction == "opposite"), q) for q in range(1, 25)])
    meet = np.zeros(len(points), bool)
    for own, other in ((0, 1), (1, 0)):
        occupied = points[:, own, 1:26] != 0
        last = np.where(occupied, np.arange(1, 26), 0).max(1)
        ahead = np.where(points[:, other, 1:25] != 0, theirs, 99).min(1)
        ahead[points[:, other, 25] > 0] = 0  # on the bar: all of mine is before it
        meet |= ahead < last
    return meet

"""Positions to test an exported net on: the start, and what random play comes to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.env import Env
from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN, STARTED, turn_flags
from nardy_rl.rules.ladder import states_after
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

_GAMES = 16
_TURNS = 7
"""Random turns between two samples of a game: an odd number, so that both players are seen."""


def sample_positions(
    rules: Rules, count: int, seed: int = 0
) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """The start position and `count - 1` others that random play reaches, none of them over,
    and in ladder games none with a rung to come.

    Each is seen by the player who just moved, as the net sees positions; at the start that is
    the one who does not begin.

    Returns:
        points int8[count, 2, 26] and flags uint8[count]; the same for the same arguments.
    """
    flags = (FIRST_TURN | OPPONENT_FIRST_TURN | STARTED) & rules.flag_mask
    kept = [(rules.start_points(), turn_flags(rules.kernel, flags))]
    env = Env(rules, _GAMES, seed)
    rng = np.random.default_rng(seed)
    while len(kept) < count:
        env.random_turns(_TURNS)
        legal = env.legal()
        now = env.tables
        states = states_after(rules, now.flags, now.pending, now.rolls, legal.dice_used)
        rows = rng.integers(legal.offsets[:-1], legal.offsets[1:])
        for table, row in enumerate(rows):
            after, pending = int(states[0][table]), states[1][table]
            if not pending and score_after(rules.kernel, legal.after[row], after) == NOT_OVER:
                kept.append((legal.after[row], after))
    points, bits = zip(*kept[:count], strict=True)
    return np.stack(points), np.array(bits, np.uint8)

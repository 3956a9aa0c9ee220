"""What a player is: many decisions in, one choice each out."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nardy_rl.inference import Decisions


class Player(Protocol):
    """Anything that chooses among the results of a batch of rolls.

    A choice must depend on nothing but its own decision, roll and key: not on the other decisions
    of the batch, their order, or the number of threads. Only then do duplicate dice cancel, and a
    player scores exactly 0 against itself.
    """

    @property
    def name(self) -> str:
        """What tables of results call it."""
        ...

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """The result that each decision is played to.

        Args:
            decisions: positions and their distinct results; see `Decisions`. Decision b owns the
                rows offsets[b]:offsets[b + 1] of `decisions.legal.after`, at least one.
            rolls: int8[B, 2], the dice, in the order thrown.
            keys: uint64[B], random bits for a player that wants any: a pure function of the
                match's seed, the number of the dice and the turn, alike in both games of a pair.

        Returns:
            int64[B], *rows of* `decisions.legal.after` (not indices within a decision's own).
        """
        ...

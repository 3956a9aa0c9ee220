"""Values by the race alone: quick, and far from what any net would say."""

from __future__ import annotations

import numpy as np

from nardy_rl.inference import Decisions
from nardy_rl.rules import Rules


class PipValuer:
    """A `Valuer`: the lead in pips, scaled to points; a side that is done has won one."""

    name = "pip count"

    def __init__(self, rules: Rules, scale: float = 0.02) -> None:
        self._rules = rules
        self._pips = np.arange(26, dtype=np.float32)
        self._scale = scale

    def equities(self, decisions: Decisions) -> np.ndarray:
        """See `Valuer`."""
        return self.of_boards(decisions.legal.after)

    def of_boards(self, boards: np.ndarray) -> np.ndarray:
        """float32[M] of int8[M, 2, 26], row 0 the side whose value it is."""
        mine, theirs = boards[:, 0], boards[:, 1]
        lead = theirs.astype(np.float32) @ self._pips - mine.astype(np.float32) @ self._pips
        value = np.tanh(self._scale * lead)
        value[mine[:, 0] == self._rules.checkers] = 1.0
        value[theirs[:, 0] == self._rules.checkers] = -1.0
        return value.astype(np.float32)

"""Perfect play of a small game, by its exact table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.inference import Decisions
from nardy_rl.search import best_rows
from nardy_rl.solve import ExactTable


class ExactPlayer:
    """The result that is worth most, in double precision; the first of equals.

    Args:
        table: of the game to be played.
        name: for tables of results; the table's own where left out.
    """

    def __init__(self, table: ExactTable, name: str | None = None) -> None:
        self.name = table.name if name is None else name
        self.rules = table.rules
        self.valuer = table

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        values = self.valuer.result_values(decisions)
        return best_rows(values, decisions.legal.offsets)  # type: ignore[arg-type]  # any floats

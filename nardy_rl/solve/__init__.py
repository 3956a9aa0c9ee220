"""Small games solved exactly, by the kernels that play them."""

from nardy_rl.solve.index import count_positions
from nardy_rl.solve.solver import MAX_POSITIONS, TOLERANCE, Progress, solve
from nardy_rl.solve.table import ExactTable, is_table

__all__ = [
    "MAX_POSITIONS",
    "TOLERANCE",
    "ExactTable",
    "Progress",
    "count_positions",
    "is_table",
    "solve",
]

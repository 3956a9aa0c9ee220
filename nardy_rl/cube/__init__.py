"""What is played for: terms, the cube, matches, and what a decision of the cube is worth."""

from nardy_rl.cube.state import CubeGame, MatchScore, next_stake, points_won
from nardy_rl.cube.table import EquityTable, equity_table
from nardy_rl.cube.terms import TERMS, Terms, terms
from nardy_rl.cube.values import CUBE_LIFE, CubeValues, Worth, cube_values

__all__ = [
    "CUBE_LIFE",
    "TERMS",
    "CubeGame",
    "CubeValues",
    "EquityTable",
    "MatchScore",
    "Terms",
    "Worth",
    "cube_values",
    "equity_table",
    "next_stake",
    "points_won",
    "terms",
]

"""What games are played for: the cube, matches, match equities and decisions of the cube."""

from nardy_rl.cube.state import CENTRED, WORDS, Cube, MatchScore, may_double, points_of
from nardy_rl.cube.terms import LONGEST_MATCH, Terms, terms

__all__ = [
    "CENTRED",
    "LONGEST_MATCH",
    "WORDS",
    "Cube",
    "MatchScore",
    "Terms",
    "may_double",
    "points_of",
    "terms",
]

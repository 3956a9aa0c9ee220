"""Analysis as data frames: the plays of a roll, the rolls of a position, the decisions of a game.

`analyse` says what every play of a roll is worth, `preroll` what a position is worth before the
roll, `analyse_decisions` what the plays of a recorded game lost and which rolls were lucky.
"""

from nardy_rl.analysis.played import (
    PlayedDecision,
    analyse_decisions,
    error_rates,
    read_decisions,
)
from nardy_rl.analysis.plays import Preroll, analyse, preroll, share_name, valuer_for

__all__ = [
    "PlayedDecision",
    "Preroll",
    "analyse",
    "analyse_decisions",
    "error_rates",
    "preroll",
    "read_decisions",
    "share_name",
    "valuer_for",
]

"""Texts for plays and positions: strict printers, tolerant readers, exact round trips.

`move_text` and `parse_play` for plays; `board_text` and `parse_board`, `points_text` and
`parse_points`, `to_id` and `from_id` for positions of every variant; `to_gnubg_id`, `to_xgid`
and their readers for backgammon.
"""

from nardy_rl.notation.backgammon_ids import (
    Xgid,
    from_gnubg_id,
    from_xgid,
    parse_xgid,
    to_gnubg_id,
    to_xgid,
)
from nardy_rl.notation.boards import board_text, parse_board, parse_points, points_text
from nardy_rl.notation.ids import from_id, to_id
from nardy_rl.notation.moves import move_text, parse_play

__all__ = [
    "Xgid",
    "board_text",
    "from_gnubg_id",
    "from_id",
    "from_xgid",
    "move_text",
    "parse_board",
    "parse_play",
    "parse_points",
    "parse_xgid",
    "points_text",
    "to_gnubg_id",
    "to_id",
    "to_xgid",
]

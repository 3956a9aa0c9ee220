"""Looking ahead: what candidates are worth, by any valuer, at 0, 1 or more plies.

A valuer says what every result of a batch of decisions is worth to the player who made it.
Whatever plays by values, judges, or measures luck stands on that one protocol.
"""

from nardy_rl.search.lookahead import (
    DEFAULT_FILTER,
    MOST_PLIES,
    Filter,
    Lookahead,
    check_filter,
    check_looks_ahead,
    filtered,
    put_below,
)
from nardy_rl.search.replies import (
    ROLL_CHANCES,
    ROLLS,
    Replies,
    best_replies,
    expected_shares,
    mean_over_rolls,
    preroll_equities,
    roll_equities,
)
from nardy_rl.search.valuers import (
    NetValuer,
    Valuer,
    best_rows,
    decisions_at,
    equities_of,
    final_scores,
    turned,
)

__all__ = [
    "DEFAULT_FILTER",
    "MOST_PLIES",
    "ROLLS",
    "ROLL_CHANCES",
    "Filter",
    "Lookahead",
    "NetValuer",
    "Replies",
    "Valuer",
    "best_replies",
    "best_rows",
    "check_filter",
    "check_looks_ahead",
    "decisions_at",
    "equities_of",
    "expected_shares",
    "filtered",
    "final_scores",
    "mean_over_rolls",
    "preroll_equities",
    "put_below",
    "roll_equities",
    "turned",
]

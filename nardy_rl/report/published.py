"""What is published as best for the opening rolls of backgammon."""

from __future__ import annotations

import typing

from nardy_rl.notation import parse_play
from nardy_rl.rules import Position, variant

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

SOURCE = "Tom Keith, Backgammon Openings (2006), https://bkgm.com/openings.html, money play"

PUBLISHED = {
    "2-1": ("13/11 6/5", "24/23 13/11"),
    "3-1": ("8/5 6/5",),
    "3-2": ("24/21 13/11", "13/11 13/10"),
    "4-1": ("24/23 13/9", "13/9 6/5"),
    "4-2": ("8/4 6/4",),
    "4-3": ("24/20 13/10", "24/21 13/9", "13/10 13/9"),
    "5-1": ("24/23 13/8", "13/8 6/5"),
    "5-2": ("24/22 13/8", "13/11 13/8"),
    "5-3": ("8/3 6/3",),
    "5-4": ("24/20 13/8", "13/9 13/8"),
    "6-1": ("13/7 8/7",),
    "6-2": ("24/18 13/11",),
    "6-3": ("24/18 13/10", "24/15"),
    "6-4": ("24/14", "24/18 13/9", "8/2 6/2"),
    "6-5": ("24/13",),
}
"""Of each roll the plays held to be best, about equal ones together; no opener throws doubles."""


def beside_published(book: DataFrame) -> DataFrame:
    """A backgammon `opening_book`'s best play of each roll beside the published ones.

    Returns:
        A frame: roll, play, equity, low, high, published (plays joined by "or"; "none: no opener
        throws doubles") and agrees (whether the play is one of them; None for doubles).
    """
    start = Position.start(variant("backgammon"))
    best = book[book["rank"] == 1][["roll", "play", "equity", "low", "high"]].copy()
    published, agrees = [], []
    for row in best.itertuples():
        known = PUBLISHED.get(row.roll, ())
        roll = tuple(int(die) for die in row.roll.split("-"))
        boards = [parse_play(start, (roll[0], roll[1]), text).after for text in known]
        published.append(" or ".join(known) or "none: no opener throws doubles")
        agrees.append(
            parse_play(start, (roll[0], roll[1]), row.play).after in boards if known else None
        )
    return best.assign(published=published, agrees=agrees).reset_index(drop=True)

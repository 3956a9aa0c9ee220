"""The two ways of naming points, and where the other player's points lie in mine.

Everything inside the package counts by *distance to go* (24 farthest, 0 off, 25 the bar). The
Russian rule texts count *holes* upwards from the head instead: hole = 25 - point, the own head
hole 1, home 19..24, the enemy head hole 13 (RULES.md 0). Only texts and pictures use holes.
"""

from __future__ import annotations

from typing import Literal, get_args

from nardy_rl.errors import ConfigError
from nardy_rl.rules import Rules
from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.position import BAR, OFF

Numbering = Literal["distance", "hole"]


def checked(numbering: str) -> Numbering:
    """`numbering` itself; `ConfigError` when it is no numbering.

    >>> checked("holes")
    Traceback (most recent call last):
    nardy_rl.errors.ConfigError: numbering='holes' is not allowed; choose from distance, hole
    """
    for known in get_args(Numbering):
        if numbering == known:
            return known  # type: ignore[no-any-return]
    raise ConfigError(
        f"numbering={numbering!r} is not allowed; choose from {', '.join(get_args(Numbering))}"
    )


def point_name(point: int, numbering: Numbering = "distance") -> str:
    """What a player calls a point of his own: its number, `bar` or `off`.

    >>> point_name(24), point_name(24, "hole"), point_name(25), point_name(0, "hole")
    ('24', '1', 'bar', 'off')
    """
    if point == BAR:
        return "bar"
    if point == OFF:
        return "off"
    return str(point if numbering == "distance" else 25 - point)


def across(rules: Rules, point: int) -> int:
    """The other player's number of my point (1..24); its own inverse (RULES.md 0).

    >>> from nardy_rl.rules import variant
    >>> across(variant("backgammon"), 24), across(variant("long_nardy"), 24)
    (1, 12)
    """
    return int(opponent_point(rules.kernel.opposite, point))

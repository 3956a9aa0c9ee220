"""Disputed rules: what each value of an option makes of one roll."""

from __future__ import annotations

import typing

from nardy_rl.errors import ConfigError
from nardy_rl.notation import from_id
from nardy_rl.rules import Position, variant

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

_SHOWN = 6


def disputed(
    name: str, option: str, roll: tuple[int, int], position: Position | str | None = None
) -> DataFrame:
    """The legal plays of a roll under every value of an option.

    Args:
        name: of the variant.
        option: one of its options.
        roll: the dice.
        position: before the roll, itself or its id; the start by default.

    Returns:
        A frame, a row a value: value (the default marked by a star), plays (how many) and
        disputed (those of them that another value forbids).

    Raises:
        ConfigError: an unknown variant or option.
        InvalidPosition: a position that the game cannot have.
    """
    from pandas import DataFrame

    usual = {one.name: one for one in variant(name).options()}
    if option not in usual:
        raise ConfigError(f"option={option!r} is not allowed; choose from {', '.join(usual)}")
    given = from_id(position) if isinstance(position, str) else position
    found: dict[str, set[str]] = {}
    for value in usual[option].allowed:
        rules = variant(name, **{option: value})
        here = Position.start(rules)
        if given is not None:
            here = Position(rules, given.points, given.flags)
        found[value] = {str(play) for play in here.plays(roll)}
    everywhere = set.intersection(*found.values())
    return DataFrame(
        [
            {
                "value": f"{value} *" if value == usual[option].value else value,
                "plays": len(texts),
                "disputed": _listed(sorted(texts - everywhere)),
            }
            for value, texts in found.items()
        ]
    )


def _listed(texts: list[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more

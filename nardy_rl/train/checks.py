"""Checks of settings; every refusal is one line: the field, the value, what is allowed."""

from __future__ import annotations

import math
from typing import NoReturn

from nardy_rl.errors import ConfigError


def refuse(where: str, value: object, allowed: str) -> NoReturn:
    """Raise the `ConfigError` of a setting: its name, the value, what is allowed."""
    raise ConfigError(f"{where}: {value!r} is not allowed; allowed: {allowed}")


def whole(where: str, value: object, at_least: int, at_most: int | None = None) -> None:
    """Refuse what is not a whole number of at_least..at_most; True and False are none."""
    allowed = f"whole numbers >= {at_least}" + ("" if at_most is None else f" and <= {at_most}")
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(where, value, allowed)
    if value < at_least or (at_most is not None and value > at_most):
        refuse(where, value, allowed)


def real(
    where: str,
    value: object,
    low: float,
    high: float = math.inf,
    above: bool = False,
    below: bool = False,
) -> None:
    """Refuse what is not a finite number of [low, high]; `above`, `below` leave out the ends."""
    allowed = f"numbers {'>' if above else '>='} {low:g}"
    if high < math.inf:
        allowed += f" and {'<' if below else '<='} {high:g}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        refuse(where, value, allowed)
    too_low = value <= low if above else value < low
    too_high = value >= high if below else value > high
    if too_low or too_high:
        refuse(where, value, allowed)


def one_of(where: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of the words allowed."""
    if value not in allowed:
        refuse(where, value, ", ".join(allowed))

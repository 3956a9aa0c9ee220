"""What can be wrong with what a caller hands in; every one of them is a `ValueError`."""

from __future__ import annotations

import errno
import operator
from pathlib import Path

__all__ = [
    "AmbiguousPlay",
    "CheckpointError",
    "ConfigError",
    "IllegalPlay",
    "InvalidPosition",
    "InvalidText",
    "whole_number",
]


class ConfigError(ValueError):
    """A setting has an unknown name or a value that is not allowed."""


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or was made for other rules, encoding or format."""


class InvalidPosition(ValueError):
    """A position that no game can reach; the message lists every reason."""


class InvalidText(ValueError):
    """A text that is no move, board or position id; the message says where reading stopped."""


class IllegalPlay(ValueError):
    """A readable play that the rules do not allow here; the message says why."""


class AmbiguousPlay(ValueError):
    """A readable play that fits several legal results; the message lists them."""


def regular(file: Path) -> Path:
    """The file itself; raises OSError for a pipe or device, which could be waited for for ever."""
    if file.exists() and not file.is_file() and not file.is_dir():
        raise OSError(errno.EINVAL, "not a regular file", str(file))
    return file


def whole_number(
    name: str,
    value: object,
    at_least: int,
    at_most: int,
    error: type[ValueError] = ConfigError,
) -> int:
    """`value` as an int of at_least..at_most; anything else raises `error`, naming the field.

    >>> whole_number("games", 2.5, 1, 10)
    Traceback (most recent call last):
    nardy_rl.errors.ConfigError: games=2.5 is not allowed; whole numbers 1..10
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = at_least - 1
    if not at_least <= number <= at_most or isinstance(value, bool):
        raise error(f"{name}={value!r} is not allowed; whole numbers {at_least}..{at_most}")
    return number

"""Words of the verbs that are not Hydra's: a few `name=value` with types, and near misses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nardy_rl.cli.near import did_you_mean
from nardy_rl.errors import ConfigError


def read(words: Iterable[str], known: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
    """The values of `words`, each read by the function that `known` has for its name.

    A known name that ends in `.` takes any name below it.
    Raises `ConfigError` for a word without `=`, an unknown name, one given twice, or a value that
    cannot be read.

    >>> read(["games=1e3"], {"games": whole(2)})
    {'games': 1000}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        reader = known.get(name) or known.get(name[: name.rfind(".") + 1])
        if reader is None:
            raise ConfigError(
                f"unknown setting {name!r}{did_you_mean(name, known)}; "
                f"there are: {', '.join(known)}"
            )
        if not equals:
            raise ConfigError(f"expected name=value, got {word!r}")
        if name in found:
            raise ConfigError(f"{name} is given twice; once is enough")
        try:
            found[name] = reader(text)
        except ValueError as error:
            raise ConfigError(f"{name}: {text!r} is not allowed; allowed: {error}") from error
    return found


def whole(at_least: int, at_most: int = 2**63 - 1) -> Callable[[str], int]:
    """A reader of whole numbers, 1e4 and 10_000 among them."""

    def reader(text: str) -> int:
        allowed = ValueError(f"whole numbers >= {at_least} and <= {at_most}")
        try:
            number = float(text)
        except ValueError:
            raise allowed from None
        if not number.is_integer():
            raise allowed
        # Through float only where the text is no plain integer: it is exact to 2**53 alone.
        value = int(text) if text.strip("0123456789_") == "" else int(number)
        if not at_least <= value <= at_most:
            raise allowed
        return value

    return reader


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise ValueError("numbers > 0")
    return number


def one_of(*allowed: str) -> Callable[[str], str]:
    """A reader of one of a few words."""

    def reader(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"{', '.join(allowed)}{did_you_mean(text, allowed)}")
        return text

    return reader

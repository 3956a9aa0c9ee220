"""Frozen records of settings from nested mappings, and back."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from nardy_rl.errors import ConfigError
from nardy_rl.train.checks import refuse

Record = TypeVar("Record")


def record_from(kind: type[Record], values: Any, path: str = "") -> Record:
    """The record that nested mappings describe; `path` is where they stand, for what is refused.

    Raises:
        ConfigError: an unknown field (with the nearest known ones), or a value not allowed.
    """
    if not isinstance(values, Mapping):
        refuse(path or "settings", values, f"fields of {kind.__name__}")
    hints = typing.get_type_hints(kind)
    known = {item.name for item in dataclasses.fields(kind)}  # type: ignore[arg-type]
    arguments = {}
    for name, value in values.items():
        where = f"{path}.{name}" if path else str(name)
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=3) or sorted(known)
            raise ConfigError(f"{where}: there is no such setting; near it: {', '.join(near)}")
        if dataclasses.is_dataclass(hints[name]):
            value = record_from(hints[name], value, where)
        elif isinstance(value, list):
            value = tuple(value)
        elif isinstance(value, int) and not isinstance(value, bool) and _takes_float(hints[name]):
            # YAML writes 1 where a number may be 1.0; the two must not make different runs.
            value = float(value)
        arguments[name] = value
    return kind(**arguments)


def _takes_float(hint: Any) -> bool:
    if isinstance(hint, types.UnionType):
        return float in typing.get_args(hint)
    return hint is float


def plain(value: Any) -> Any:
    """Nested data as plain dicts and lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value

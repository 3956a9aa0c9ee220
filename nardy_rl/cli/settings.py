"""The composed config as the one record that the trainer takes, and back again."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.train.settings import TrainSettings

SECTIONS = ("selfplay", "targets", "learner")
"""Settings that the command line knows below `train.`."""

_BARE_SECTION = re.compile(rf"(?<![\w./])({'|'.join(SECTIONS)})\.")

OF_THE_COMMAND = ("resume", "run_dir")
"""Keys of the config that say what to do with a run, and are no part of it."""


def settings_from(config: Mapping[str, Any]) -> TrainSettings:
    """The settings of a run, the options of its rules written out in full.

    Raises `ConfigError` naming the setting as the command line spells it.
    """
    from nardy_rl.rules.record import variant
    from nardy_rl.train.settings import TrainSettings

    values = {key: value for key, value in config.items() if key not in OF_THE_COMMAND}
    values |= values.pop("train", {})
    chosen = config["variant"]
    if not isinstance(chosen["options"], Mapping):
        raise ConfigError(f"variant.options: expected NAME: VALUE, got {chosen['options']!r}")
    rules = variant(str(chosen["name"]), **{k: str(v) for k, v in chosen["options"].items()})
    values["variant"] = {
        "name": rules.name,
        # All of them: the stored config then says what was played even if a default changes.
        "options": {option.name: option.value for option in rules.options()},
    }
    if "/" in str(values.get("name")):
        raise ConfigError(f"name: {values['name']!r} is not allowed; allowed: a name without /")
    try:
        return TrainSettings.from_dict(whole_numbers(TrainSettings, values))
    except ConfigError as error:
        raise spelled(error) from error


def config_from(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a checkpoint stored of its settings, laid out as the command line names them."""
    config = {key: value for key, value in stored.items() if key not in SECTIONS}
    config["train"] = {key: stored[key] for key in SECTIONS if key in stored}
    return config


def spelled(error: ConfigError) -> ConfigError:
    """The trainer's `learner.minibatch: ...` as the command line's `train.learner.minibatch`."""
    return ConfigError(_BARE_SECTION.sub(r"train.\1.", str(error)))


def whole_numbers(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with 1e6 made 1000000 wherever the record `kind` wants a whole number.

    Hydra reads 1e6 as a float; to refuse it would be pedantry.
    """
    hints = typing.get_type_hints(kind)
    result = dict(values)
    for name, value in values.items():
        hint = hints.get(name)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
            result[name] = whole_numbers(hint, value)
        elif isinstance(value, float) and value.is_integer() and _takes_int(hint):
            result[name] = int(value)
    return result


def _takes_int(hint: Any) -> bool:
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return int in parts and float not in parts

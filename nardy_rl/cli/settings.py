"""The composed config as the one record that the trainer takes, and back again."""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.train.recipe import Stage
    from nardy_rl.train.settings import TrainSettings

SECTIONS = ("selfplay", "targets", "learner")
"""Settings that the command line knows below `train.`."""

_BARE_SECTION = re.compile(rf"(?<![\w./])({'|'.join(SECTIONS)})\.")

OF_THE_COMMAND = ("resume", "run_dir", "recipe")
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


_SCALED = (
    ("budget", "games"),
    ("train", "targets", "lam_games"),
    ("train", "learner", "warmup_games"),
    ("train", "learner", "horizon_games"),
    ("eval", "every_games"),
)
"""Settings counted in games of training, which `recipe.scale` multiplies."""


def stages_from(config: Mapping[str, Any]) -> tuple[Stage, ...]:
    """The stages of the config's recipe, each the config with its own settings; () for none.

    Raises `ConfigError` naming the stage and the setting as the command line spells it.
    """
    from nardy_rl.train.checks import real
    from nardy_rl.train.recipe import Stage, staged

    recipe = config["recipe"]
    if not recipe["stages"]:
        return ()
    real("recipe.scale", recipe["scale"], 0.0, 1000.0, above=True)
    base = {key: value for key, value in config.items() if key != "recipe"}
    stages = []
    for name, changes in recipe["stages"].items():
        where = f"recipe.stages.{name}"
        if not isinstance(changes, Mapping) or not set(changes) <= set(_OF_A_STAGE):
            raise ConfigError(
                f"{where}: {changes!r} is not allowed; allowed: settings below "
                f"{', '.join(_OF_A_STAGE)}"
            )
        merged = _merged(base, changes, where)
        for path in _SCALED:
            *sections, last = path
            place = merged
            for section in sections:
                place = place[section]
            # What is no number of games is left for the settings to refuse.
            if isinstance(place[last], int | float) and 0 < place[last] < math.inf:
                place[last] = max(1, round(place[last] * float(recipe["scale"])))
        try:
            stages.append(Stage(str(name), settings_from(merged)))
        except ConfigError as error:
            raise ConfigError(f"{where}: {error}") from error
    return staged(stages)


_OF_A_STAGE = ("net", "train", "budget", "eval", "checkpoint")


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any], where: str) -> dict[str, Any]:
    """`base` with `changes` laid over it, section by section."""
    result = {k: dict(v) if isinstance(v, Mapping) else v for k, v in base.items()}
    for name, value in changes.items():
        if name not in result:
            raise ConfigError(f"{where}.{name}: there is no such setting; {', '.join(result)}")
        if isinstance(value, Mapping) and isinstance(result[name], Mapping):
            value = _merged(result[name], value, f"{where}.{name}")
        result[name] = value
    return result


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

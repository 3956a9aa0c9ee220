"""`nardy-rl train`: the config to one `TrainSettings`, then the loop, then the table."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.cli import overrides
from nardy_rl.cli.configs import TRAIN, compose, config_dir
from nardy_rl.cli.near import did_you_mean
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.train.settings import TrainSettings

RUNS = Path("runs")
"""Where runs go, in the folder that the command is given in."""

SECTIONS = ("selfplay", "targets", "learner")
"""Settings that the command line knows below `train.`."""

MAY_CHANGE = ("budget", "checkpoint", "eval")
"""Sections that a resumed run may be told anew: they do not change what is learned from."""

FLAGS = (
    "-m",
    "--multirun",
    "-h",
    "--help",
    "--info",
    "--resolve",
    "-c",
    "--cfg",
    "-p",
    "--package",
)
TAKE_A_WORD = ("-c", "--cfg", "-p", "--package")


def run(words: list[str]) -> int:
    """Train as the words say: one run, a sweep of runs, or a run continued."""
    flags, words = _split(words)
    if "-h" in flags or "--help" in flags:
        from nardy_rl.cli.guide import train_guide

        print(train_guide())
        return 0
    sweep = "-m" in flags or "--multirun" in flags
    resumed = [value for value in overrides.values(words, "resume") if value is not None]
    if resumed:
        if sweep:
            raise ConfigError("resume and -m: a sweep cannot continue a run")
        return resume(Path(str(resumed[-1])), words)
    jobs = [overrides.check(job) for job in (overrides.expand(words) if sweep else [words])]
    configs = [compose(job) for job in jobs]
    for config in configs:
        settings_from(config)
    if "--cfg" not in flags and "-c" not in flags and "--info" not in flags:
        if sweep:
            _refuse_existing(*[Path(value) for value in overrides.values(words, "hydra.sweep.dir")])
        elif not any(overrides.values(words, "hydra.run.dir")):
            words = [*words, f"hydra.run.dir={_quoted(new_run_dir(configs[0]))}"]
    _hydra([*flags, *_ready(words)])
    return 0


def settings_from(config: Mapping[str, Any]) -> TrainSettings:
    """The composed config as the record that the trainer takes, its rules written out in full.

    Raises `ConfigError` naming the setting as the command line spells it.
    """
    from nardy_rl.rules import variant
    from nardy_rl.train.settings import TrainSettings

    own = ("resume", "run_dir", "train")
    values = {key: value for key, value in config.items() if key not in own}
    values |= config.get("train", {})
    chosen = config["variant"]
    if not isinstance(chosen["options"], Mapping):
        raise ConfigError(f"variant.options: expected NAME: VALUE, got {chosen['options']!r}")
    rules = variant(str(chosen["name"]), **{k: str(v) for k, v in chosen["options"].items()})
    values["variant"] = {
        "name": rules.name,
        # All of them: the stored config then says what was played even if a default changes.
        "options": {option.name: option.value for option in rules.options()},
    }
    try:
        return TrainSettings.from_dict(whole_numbers(TrainSettings, values))
    except ConfigError as error:
        section = str(error).partition(".")[0]
        raise ConfigError(f"train.{error}" if section in SECTIONS else str(error)) from error


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


def new_run_dir(config: Mapping[str, Any]) -> Path:
    """A folder that is not there yet: `run_dir` if given, else named by variant and time."""
    if config["run_dir"] is not None:
        folder = Path(str(config["run_dir"]))
        _refuse_existing(folder)
        return folder
    stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
    first = RUNS / str(config["variant"]["name"]) / f"{stamp}-{config['name']}"
    folder, count = first, 1
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Flags (with the words they take) apart from overrides."""
    flags: list[str] = []
    rest: list[str] = []
    pending = iter(words)
    for word in pending:
        if not word.startswith("-"):
            rest.append(word)
            continue
        if word.partition("=")[0] not in FLAGS:
            raise ConfigError(
                f"unknown flag {word}{did_you_mean(word, FLAGS)}; settings are written name=value"
            )
        flags.append(word)
        if word in TAKE_A_WORD:
            flags.append(next(pending, "job"))
    return flags, rest


def _ready(words: Sequence[str]) -> list[str]:
    """The words as Hydra needs them: options of the variant may be absent from its file."""
    return [
        "++" + w.lstrip("+") if w.lstrip("+").startswith(overrides.OPTIONS) else w for w in words
    ]


def _takes_int(hint: Any) -> bool:
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return int in parts and float not in parts


def _refuse_existing(*folders: Path) -> None:
    for folder in folders:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(
                f"{folder} exists and is not overwritten; name another folder, "
                f"or continue it with resume={folder}"
            )


def _quoted(folder: Path) -> str:
    """A path as a Hydra value, whatever characters it has."""
    text = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def _hydra(words: Sequence[str]) -> None:
    """Let Hydra compose once more and call `_job`, once or once for each job of a sweep."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    # Errors come back as they are; main() turns them into one line.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    GlobalHydra.instance().clear()
    before, sys.argv = sys.argv, ["nardy-rl train", *words]
    try:
        hydra.main(version_base="1.3", config_path=str(config_dir()), config_name=TRAIN)(_job)()
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(str(error).strip().splitlines()[0]) from error
    finally:
        sys.argv = before

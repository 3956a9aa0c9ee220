"""`nardy-rl train`: one run, a sweep of runs, or a run continued."""

from __future__ import annotations

import os
import sys
import time
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.cli import overrides
from nardy_rl.cli.configs import TRAIN, compose, config_dir, flatten, groups
from nardy_rl.cli.near import did_you_mean
from nardy_rl.cli.settings import config_from, settings_from, spelled
from nardy_rl.errors import CheckpointError, ConfigError

if typing.TYPE_CHECKING:
    from omegaconf import DictConfig

    from nardy_rl.arena import Evaluation
    from nardy_rl.train.settings import TrainSettings

RUNS = Path("runs")
"""Where runs go, in the folder that the command is given in."""

TAKE_A_WORD = ("-c", "--cfg", "-p", "--package")
FLAGS = ("-m", "--multirun", "-h", "--help", "-i", "--info", "--resolve", *TAKE_A_WORD)
"""What of Hydra's flags goes through to it."""


def run(words: list[str]) -> int:
    """Train as the words say. Everything is checked before anything is created."""
    flags, words = _split(words)
    if "-h" in flags or "--help" in flags:
        from nardy_rl.cli.guide import train_guide

        print(train_guide())
        return 0
    sweep = "-m" in flags or "--multirun" in flags
    resumed = [value for value in overrides.values(words, "resume") if value is not None]
    if resumed:
        if flags:
            raise ConfigError(f"resume continues one run and takes no {' '.join(flags)}")
        return _resume(Path(str(resumed[-1])), words)
    jobs = [overrides.check(job) for job in (overrides.expand(words) if sweep else [words])]
    configs = [compose(job) for job in jobs]
    for config in configs:
        _check_inputs(settings_from(config))
    if not {"-c", "--cfg", "-i", "--info"} & set(flags):
        words = [*words, *_output(configs, words, sweep)]
    _hydra([*flags, *_ready(words)])
    return 0


def new_folder(home: Path, name: str) -> Path:
    """A folder in `home` that is not there yet, named by the time and `name`."""
    first = home / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}-{name}"
    folder, count = first, 1
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder


def _output(
    configs: Sequence[Mapping[str, Any]], words: Sequence[str], sweep: bool
) -> Sequence[str]:
    """Where Hydra shall write, as overrides; refuses folders that hold something."""
    key = "hydra.sweep.dir" if sweep else "hydra.run.dir"
    given = overrides.values(words, key)
    if given:
        _refuse_existing(Path(str(given[-1])))
        return ()
    config = configs[0]
    if config["run_dir"] is None:
        home = RUNS / "sweeps" if sweep else RUNS / str(config["variant"]["name"])
        folder = new_folder(home, str(config["name"]))
    elif sweep:
        raise ConfigError("run_dir names one folder; for a sweep name hydra.sweep.dir")
    else:
        folder = Path(str(config["run_dir"]))
        _refuse_existing(folder)
    quoted = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    return (f"{key}='{quoted}'",)


def _refuse_existing(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{folder} exists and is not overwritten; name another folder, "
            f"or continue it with resume={folder}"
        )


def _hydra(words: Sequence[str]) -> None:
    """Let Hydra compose once more and call `_job`: once, or for each job of a sweep."""
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
    except _Failed as failed:
        raise failed.error from failed
    finally:
        sys.argv = before


class _Failed(BaseException):
    """Carries an error out of a job past Hydra, which would print lines of its own."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _job(config: DictConfig) -> float | None:
    """One run, in the folder that Hydra made; returns what a sweeper may maximise."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf

    plain = OmegaConf.to_container(config, resolve=True)
    try:
        settings = settings_from(typing.cast("dict[str, Any]", plain))
        return _train(settings, Path(HydraConfig.get().runtime.output_dir), resume=False)
    except Exception as error:
        raise _Failed(error) from error


def _resume(path: Path, words: Sequence[str]) -> int:
    """Continue the run at `path` with its stored config; `words` may change what is harmless."""
    from nardy_rl.train.checkpoint import FOLDER, load_checkpoint

    checkpoint = load_checkpoint(path)
    if checkpoint.path.parent.name != FOLDER:
        raise CheckpointError(f"{path}: a single checkpoint; resume takes the folder of a run")
    run_dir = checkpoint.path.parent.parent
    newest = load_checkpoint(run_dir).path
    if newest != checkpoint.path:
        raise CheckpointError(f"{path}: not the newest of its run; resume={run_dir} goes on there")
    config = config_from(checkpoint.config)
    keys = flatten(config)
    for override in overrides.parse(words):
        key = override.key_or_group
        if key == "resume":
            continue
        if key in groups() and key != "eval":
            raise ConfigError(f"{key}: a resumed run keeps its {key}; begin a new run instead")
        if key == "eval":
            overrides.check([f"eval={override.value()}"])
            config["eval"] = compose([f"eval={override.value()}"])["eval"]
            continue
        if key not in keys:
            raise ConfigError(f"unknown setting {key!r} of {run_dir}{did_you_mean(key, keys)}")
        place = config
        *path_to, last = key.split(".")
        for part in path_to:
            place = place[part]
        place[last] = override.value()
    settings = settings_from(config)
    _check_inputs(settings)
    _train(settings, run_dir, resume=True)
    return 0


def _train(settings: TrainSettings, run_dir: Path, resume: bool) -> float | None:
    """Train, then show the table; returns points a game against the last opponent."""
    from rich.console import Console

    from nardy_rl.arena.report import print_results
    from nardy_rl.train.loop import train

    console = Console()
    folder = _short(run_dir)
    evaluate = _evaluation(settings)
    try:
        result = train(settings, folder, resume=resume, evaluate=evaluate, console=console)
    except ConfigError as error:
        raise spelled(error) from error
    console.print(f"saved in {_short(result.checkpoint)}", highlight=False, soft_wrap=True)
    if result.stopped_by is not None:
        console.print(f"to go on: nardy-rl train resume={folder}", highlight=False, soft_wrap=True)
        # Ends a sweep too, and is a success: everything is saved.
        raise SystemExit(0)
    if evaluate.results:
        title = f"{result.rules.name}, {result.games:,} games of training"
        print_results(console, evaluate.results, title)
    opponents = settings.eval.opponents
    return result.measured.get(f"{opponents[-1]}/ppg") if opponents else None


def _evaluation(settings: TrainSettings) -> Evaluation:
    """The matches that measure the run; `ConfigError` for an opponent there is not."""
    from nardy_rl.arena import evaluation
    from nardy_rl.rules.record import variant

    rules = variant(settings.variant.name, **settings.variant.options)
    return evaluation(rules, settings.eval.opponents, settings.eval.seed)


def _short(path: Path) -> Path:
    """The path as seen from here, where it lies below."""
    return Path(os.path.relpath(path)) if path.is_relative_to(Path.cwd()) else path


def _check_inputs(settings: TrainSettings) -> None:
    """Read what the run will need from disk, before it makes a folder."""
    if settings.net.warm_start is not None:
        from nardy_rl.train.checkpoint import load_checkpoint

        load_checkpoint(settings.net.warm_start)
    _evaluation(settings)


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
    bare = [word.lstrip("+") for word in words]
    return [
        f"++{name}" if name.startswith(overrides.OPTIONS) else word
        for name, word in zip(bare, words, strict=True)
    ]

"""`nardy-rl train`: one run, a sweep of runs, or a run continued."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import time
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.cli import overrides
from nardy_rl.cli.configs import TRAIN, compose, config_dir, flatten, groups
from nardy_rl.cli.near import did_you_mean
from nardy_rl.cli.settings import config_from, settings_from, spelled, stages_from
from nardy_rl.errors import CheckpointError, ConfigError

if typing.TYPE_CHECKING:
    from omegaconf import DictConfig
    from rich.console import Console

    from nardy_rl.arena.ladder import Ladder
    from nardy_rl.train.loop import TrainResult
    from nardy_rl.train.recipe import Stage
    from nardy_rl.train.settings import TrainSettings

RUNS = Path("runs")
"""Where runs go, in the folder that the command is given in."""

MAY_CHANGE_IN_A_RECIPE = ("budget.minutes", "train.selfplay.threads", "checkpoint.")
"""Settings that `resume` may change in every stage at once."""

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
        return _resume(str(resumed[-1]), words)
    jobs = [overrides.check(job) for job in (overrides.expand(words) if sweep else [words])]
    configs = [compose(job) for job in jobs]
    for config in configs:
        stages = stages_from(config)
        for settings in [stage.settings for stage in stages] or [settings_from(config)]:
            _check_inputs(settings)
    if {"-c", "--cfg", "-i", "--info"} & set(flags):
        _hydra([*flags, *_ready(words)])
        return 0
    folder, key = _output(configs, words, sweep)
    if folder is not None and not overrides.values(words, key):
        quoted = str(folder).replace("\\", "\\\\").replace("'", "\\'")
        words = [*words, f"{key}='{quoted}'"]
    try:
        _hydra([*flags, *_ready(words)])
    except BaseException:
        # A start that came to nothing must not stand in the way of the corrected one.
        if folder is not None and not any(folder.rglob("card.json")):
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return 0


def new_folder(home: Path, name: str) -> Path:
    """Make a folder in `home`, named by the time and `name`, that no other start has."""
    first = home / f"{time.strftime('%Y-%m-%d_%H-%M-%S')}-{name}"
    folder, count = first, 1
    while not _claimed(folder):
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    return folder


def _output(
    configs: Sequence[Mapping[str, Any]], words: Sequence[str], sweep: bool
) -> tuple[Path | None, str]:
    """Where Hydra shall write, and the key that says so; refuses folders that hold something.

    The folder is this start's alone. None: it is Hydra's to work out.
    """
    key = "hydra.sweep.dir" if sweep else "hydra.run.dir"
    given = overrides.values(words, key)
    config = configs[0]
    if given and "${" in str(given[-1]):
        return None, key
    if given:
        folder = Path(str(given[-1]))
    elif config["run_dir"] is None:
        home = RUNS / "sweeps" if sweep else RUNS / str(config["variant"]["name"])
        return new_folder(home, str(config["name"])), key
    elif sweep:
        raise ConfigError("run_dir names one folder; for a sweep name hydra.sweep.dir")
    else:
        folder = Path(str(config["run_dir"]))
    if not _claimed(folder):
        saved = any(folder.glob("checkpoints/games-*/card.json"))
        other = f", or continue it with resume={folder}" if saved else ""
        raise ConfigError(f"{folder} exists and is not overwritten; name another folder{other}")
    return folder, key


def _claimed(folder: Path) -> bool:
    """Make the folder, or take an empty one; of several starts at once, one succeeds."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            return False
        # The file that a run holds locked; here that it is made by this process decides.
        (folder / ".lock").touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError as error:
        raise ConfigError(
            f"run_dir: {folder} cannot be written ({error.strerror}); name another folder"
        ) from error
    return True


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

    plain = typing.cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True))
    folder = Path(HydraConfig.get().runtime.output_dir)
    try:
        stages = stages_from(plain)
        if stages:
            return _run_recipe(stages, folder)
        return _train(settings_from(plain), folder, resume=False)
    except Exception as error:
        raise _Failed(error) from error


def _resume(path: str, words: Sequence[str]) -> int:
    """Continue the run at `path` with its stored config; `words` may change what is harmless."""
    from nardy_rl.train.checkpoint import FOLDER, checkpoint_at, load_newest, newest_checkpoint
    from nardy_rl.train.loop import check_same_run
    from nardy_rl.train.recipe import read_recipe
    from nardy_rl.train.settings import TrainSettings

    if not path.strip():
        raise ConfigError("resume: is empty; name the folder of a run, as in resume=runs/...")
    stages = read_recipe(Path(path))
    if stages is not None:
        _run_recipe(_changed(stages, path, words), Path(path))
        return 0
    folder = checkpoint_at(Path(path))
    if folder.parent.name != FOLDER or newest_checkpoint(folder.parent.parent) is None:
        if not (folder / "trainer.json").exists():
            raise CheckpointError(
                f"resume: {path} holds a net, not a run (no trainer.json); "
                f"begin a new run with net.warm_start={path}"
            )
        raise CheckpointError(f"{path}: a single checkpoint; resume takes the folder of a run")
    run_dir = folder.parent.parent
    newest = newest_checkpoint(run_dir)
    if newest != folder:
        raise CheckpointError(
            f"{path}: not the newest of its run; resume={run_dir} goes on from {newest}; to go on "
            "from the older one, delete or move the newer ones and give that again"
        )
    checkpoint, trainer = load_newest(run_dir)
    # A run from before a setting was there has it at its default.
    config = config_from(TrainSettings.from_dict(checkpoint.config).to_dict())
    _change(config, words, run_dir)
    settings = settings_from(config)
    _evaluation(settings)
    stored = trainer.counters.get("settings")
    if isinstance(stored, Mapping):
        try:
            check_same_run(folder, stored, settings.to_dict())
        except ConfigError as error:
            raise spelled(error) from error
    _refuse_complete(settings, trainer.counters.get("counters"))
    _train(settings, run_dir, resume=True)
    return 0


def _change(config: dict[str, Any], words: Sequence[str], run_dir: Path) -> None:
    """Lay what the words say over the stored config of a run that is resumed."""
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


def _changed(stages: Sequence[Stage], path: str, words: Sequence[str]) -> tuple[Stage, ...]:
    """The stages of a resumed recipe, with the few settings that may change."""
    result = []
    for stage in stages:
        config = config_from(stage.settings.to_dict())
        for override in overrides.parse(words):
            key = override.key_or_group
            if key != "resume" and not key.startswith(MAY_CHANGE_IN_A_RECIPE):
                raise ConfigError(
                    f"{key}: {path} is a run in stages, which keeps its settings; only "
                    f"{', '.join(MAY_CHANGE_IN_A_RECIPE)} may change"
                )
        _change(config, words, Path(path))
        result.append(dataclasses.replace(stage, settings=settings_from(config)))
    return tuple(result)


def _run_recipe(stages: Sequence[Stage], run_dir: Path) -> float | None:
    """Run the stages that are left, then show the table of the last one."""
    from rich.console import Console

    from nardy_rl.train.recipe import run_recipe

    console, folder = Console(), _short(run_dir)
    measuring: list[Ladder] = []

    def evaluate(settings: TrainSettings) -> Ladder:
        measuring.append(_evaluation(settings))
        return measuring[-1]

    try:
        result = run_recipe(stages, folder, evaluate=evaluate, console=console)
    except ConfigError as error:
        raise spelled(error) from error
    return _report(console, result, folder, measuring[-1], stages[-1].settings)


def _refuse_complete(settings: TrainSettings, counters: object) -> None:
    """Refuse to resume a run that has neither games nor its last measurement before it."""
    if not isinstance(counters, Mapping):
        return
    try:
        games = int(counters["games"])
        ended = settings.budget.used_up(
            games, float(counters["seconds"]), int(counters.get("without_champion", 0))
        )
        unmeasured = settings.eval.final_games > 0 and counters["measured_finally_at"] < games
    except (KeyError, TypeError, ValueError):
        return  # damaged: the trainer says how
    if ended and not unmeasured:
        raise ConfigError(
            f"the run is complete: {ended} is used up; to go on give more, "
            "or null where another limit is set"
        )


def _train(settings: TrainSettings, run_dir: Path, resume: bool) -> float | None:
    """Train, then show the table; returns points a game against the last opponent."""
    from rich.console import Console

    from nardy_rl.train.loop import train

    console = Console()
    folder = _short(run_dir)
    evaluate = _evaluation(settings)
    try:
        result = train(settings, folder, resume=resume, evaluate=evaluate, console=console)
    except ConfigError as error:
        raise spelled(error) from error
    return _report(console, result, folder, evaluate, settings)


def _report(
    console: Console, result: TrainResult, folder: Path, evaluate: Ladder, settings: TrainSettings
) -> float | None:
    """Say where the run is saved and how it ended; the table, and its last figure."""
    from nardy_rl.arena.report import print_results

    console.print(f"saved in {_short(result.checkpoint)}", highlight=False, soft_wrap=True)
    if result.stopped_by is not None:
        console.print(f"to go on: nardy-rl train resume={folder}", highlight=False, soft_wrap=True)
        # Ends a sweep too, and is a success: everything is saved.
        raise SystemExit(0)
    console.print(f"complete: {result.ended_by} is used up", highlight=False, soft_wrap=True)
    if evaluate.results:
        title = f"{result.rules.name}, {result.games:,} games of training"
        print_results(console, evaluate.results, title)
    opponents = settings.eval.opponents
    return result.measured.get(f"{opponents[-1]}/ppg") if opponents else None


def _evaluation(settings: TrainSettings) -> Ladder:
    """The matches that measure the run; `ConfigError` for an opponent there is not."""
    from nardy_rl.arena.ladder import Ladder
    from nardy_rl.rules.record import variant

    rules = variant(settings.variant.name, **settings.variant.options)
    return Ladder(rules, settings.eval)


def _short(path: Path) -> Path:
    """The path as seen from here, where it lies below."""
    return Path(os.path.relpath(path)) if path.is_relative_to(Path.cwd()) else path


def _check_inputs(settings: TrainSettings) -> None:
    """Read what the run will need from disk, before it makes a folder."""
    if settings.net.warm_start is not None:
        from nardy_rl.rules.record import variant
        from nardy_rl.train.checkpoint import load_checkpoint
        from nardy_rl.train.loop import check_warm_start

        try:
            source = load_checkpoint(settings.net.warm_start)
        except CheckpointError as error:
            raise CheckpointError(f"net.warm_start: {error}") from error
        rules = variant(settings.variant.name, **settings.variant.options)
        check_warm_start(source, settings.net.hidden, rules)
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

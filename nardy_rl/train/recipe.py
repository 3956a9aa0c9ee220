"""A training in stages: runs that follow one another, each from the net of the one before.

    RUN/recipe.json                  the stages and the settings of each
    RUN/stages/02-points/            the stage's own run: checkpoints, events, champions
    RUN/stages/02-points/done.json   how it ended; absent while it has not
    RUN/checkpoints/games-N          the net after each stage, N games of all stages together

A stage ends by its own budget: games, minutes, or a ladder that stands still. So a recipe needs no
hand, and goes on after an interruption from the newest checkpoint of the stage that was under way.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from nardy_rl.errors import CheckpointError, ConfigError, regular
from nardy_rl.train.checkpoint import (
    FOLDER,
    load_checkpoint,
    load_newest,
    newest_checkpoint,
    save_checkpoint,
)
from nardy_rl.train.loop import TrainResult, locked, train
from nardy_rl.train.measuring import Measuring
from nardy_rl.train.settings import TrainSettings

RECIPE = "recipe.json"
STAGES = "stages"
_DONE = "done.json"

_SEEDS_APART = 1_000_003
"""Between the seeds of two stages, so that none plays the dice of another."""


@dataclass(frozen=True)
class Stage:
    """A part of a recipe: its name, a word, and the settings of its run."""

    name: str
    settings: TrainSettings


def staged(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages as they are run: each with dice of its own.

    Raises:
        ConfigError: no stage, or a name that is no word or stands twice.
    """
    if not stages:
        raise ConfigError("recipe.stages: there is none; name one or choose recipe=none")
    names = [stage.name for stage in stages]
    for name in names:
        if not name.replace("_", "").isalnum() or names.count(name) > 1:
            raise ConfigError(f"recipe.stages: {name!r} is not allowed; allowed: words, each once")
    return tuple(
        Stage(stage.name, dataclasses.replace(stage.settings, seed=_seed(stage.settings, place)))
        for place, stage in enumerate(stages)
    )


def read_recipe(run_dir: Path) -> tuple[Stage, ...] | None:
    """The stages of a run that is a recipe; None where it is a run of one piece.

    Raises:
        CheckpointError: the file is damaged.
    """
    file = run_dir / RECIPE
    if not file.exists():
        return None
    try:
        return tuple(
            Stage(str(stage["name"]), TrainSettings.from_dict(stage["settings"]))
            for stage in json.loads(regular(file).read_bytes())["stages"]
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{file}: cannot be read: {error}") from error


def run_recipe(
    stages: Sequence[Stage],
    run_dir: Path,
    *,
    evaluate: Callable[[TrainSettings], Measuring | None],
    console: Console | None = None,
) -> TrainResult:
    """Run the stages that are not done yet, in order; goes on where it was interrupted.

    Args:
        stages: as `staged` or `read_recipe` give them. `budget.minutes` of a stage counts from
            the beginning of the recipe.
        run_dir: of the recipe.
        evaluate: makes what measures the nets of a stage.
        console: where progress is shown.

    Returns:
        The result of the last stage that ran, games, positions and seconds those of all stages.

    Raises:
        ConfigError, CheckpointError: as `train`, or there is nothing left to run.
    """
    console = console or Console()
    with locked(run_dir, False):
        _write(run_dir / RECIPE, {"stages": [_plain(stage) for stage in stages]})
        games, positions, seconds = 0, 0, 0.0
        result: TrainResult | None = None
        before: Path | None = None
        for place, stage in enumerate(stages, start=1):
            folder = run_dir / STAGES / f"{place:02d}-{stage.name}"
            done = _read_done(folder / _DONE)
            if done is None:
                settings = _begun(stage.settings, folder, before, seconds)
                console.print(f"stage {place} of {len(stages)}: {stage.name}", highlight=False)
                result = train(
                    settings,
                    folder,
                    resume=newest_checkpoint(folder) is not None,
                    evaluate=evaluate(settings),
                    console=console,
                )
                if result.stopped_by is not None:
                    break
                done = {
                    "games": result.games,
                    "positions": result.positions,
                    "seconds": round(result.seconds, 1),
                    "ended_by": result.ended_by,
                }
                console.print(f"stage {stage.name}: {result.ended_by} is used up", highlight=False)
                _keep(run_dir, stage, result, games + result.games, seconds + result.seconds)
                _write(folder / _DONE, done)
            games += done["games"]
            positions += done["positions"]
            seconds += done["seconds"]
            before = newest_checkpoint(folder)
    if result is None:
        raise ConfigError("the run is complete: every stage of its recipe is done")
    if result.stopped_by is None:
        newest = newest_checkpoint(run_dir)
        assert newest is not None
        result = dataclasses.replace(result, checkpoint=newest)
    return dataclasses.replace(result, games=games, positions=positions, seconds=seconds)


def _begun(
    settings: TrainSettings, folder: Path, before: Path | None, seconds: float
) -> TrainSettings:
    """The settings of a stage: from the net of the stage before, within the minutes left."""
    if newest_checkpoint(folder) is not None:
        # As it began: the run may have been moved since.
        stored = load_newest(folder)[0].config["net"]["warm_start"]
        settings = _warm(settings, stored)
    elif before is not None:
        settings = _warm(settings, str(before))
    minutes = settings.budget.minutes
    if minutes is None:
        return settings
    # A stage that no time is left for still plays one batch: its net has to exist.
    left = max(minutes - seconds / 60.0, 1e-6)
    return dataclasses.replace(settings, budget=dataclasses.replace(settings.budget, minutes=left))


def _warm(settings: TrainSettings, path: str | None) -> TrainSettings:
    return dataclasses.replace(settings, net=dataclasses.replace(settings.net, warm_start=path))


def _seed(settings: TrainSettings, place: int) -> int:
    return (settings.seed + place * _SEEDS_APART) % 2**63


def _keep(run_dir: Path, stage: Stage, result: TrainResult, games: int, seconds: float) -> None:
    """The net of a finished stage as a checkpoint of the recipe, without what resuming needs."""
    newest = newest_checkpoint(run_dir)
    if newest is not None and load_checkpoint(newest).card["games"] == games:
        return  # kept already, when the end of the stage was cut off
    source = load_checkpoint(result.checkpoint)
    card = {name: source.card[name] for name in source.card if name not in ("games", "sha256")}
    save_checkpoint(
        run_dir / FOLDER,
        net=source.net,
        rules=source.rules,
        config=source.config,
        card={
            **card,
            "stage": stage.name,
            "stage_games": result.games,
            "seconds": round(seconds, 1),
            "ended_by": result.ended_by,
        },
        games=games,
    )


def _plain(stage: Stage) -> dict[str, Any]:
    return {"name": stage.name, "settings": stage.settings.to_dict()}


def _read_done(file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        done = json.loads(regular(file).read_bytes())
        return {
            "games": int(done["games"]),
            "positions": int(done["positions"]),
            "seconds": float(done["seconds"]),
            "ended_by": str(done["ended_by"]),
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{file}: cannot be read: {error}; delete it to go on") from error


def _write(file: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    unfinished = file.with_suffix(".tmp")
    try:
        with unfinished.open("wb") as out:
            out.write((json.dumps(values, indent=1) + "\n").encode())
            out.flush()
            os.fsync(out.fileno())
        unfinished.rename(file)
    except OSError as error:
        raise CheckpointError(f"{file}: cannot be written: {error.strerror}") from error

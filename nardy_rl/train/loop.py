"""The training run: play, learn, measure, save, log.

A batch is a function of (weights, moments, seed, games played before), and a checkpoint holds
exactly those between two batches. So a run that is interrupted and resumed ends in the same
weights, bit for bit, as one that was left alone.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.inference import make_evaluator
from nardy_rl.net import ValueNet, can_grow, grown
from nardy_rl.rules.parallel import set_threads
from nardy_rl.rules.record import Rules, variant
from nardy_rl.selfplay import SelfPlayStopped, collect
from nardy_rl.train.board import Board
from nardy_rl.train.checkpoint import (
    FOLDER,
    Checkpoint,
    TrainerState,
    complete_checkpoints,
    load_checkpoint,
    load_newest,
    newest_checkpoint,
    prune,
    save_checkpoint,
)
from nardy_rl.train.labels import batch_targets
from nardy_rl.train.learner import Learner
from nardy_rl.train.measuring import Evaluate, Measuring, measuring_by
from nardy_rl.train.progress import Progress
from nardy_rl.train.provenance import provenance
from nardy_rl.train.rhythm import Counters, Rhythm
from nardy_rl.train.settings import TrainSettings
from nardy_rl.train.stopping import Stopped, StopSignals

_MAY_CHANGE = ("name", "budget", "eval", "checkpoint", "selfplay.threads")
"""What a resumed run may be told anew; the rest would make it another run."""


@dataclass(frozen=True)
class TrainResult:
    """How a run ended.

    Attributes:
        net: what it learned; the averaged weights where there are any.
        rules: of its game.
        games, positions: played and learned from in all, resumed parts included.
        seconds: of playing, learning and measuring, in all.
        measured: the last figures of `evaluate`.
        checkpoint: the newest one, which holds all of this.
        ended_by: the limits of the budget that are used up, such as `budget.games=40`.
        stopped_by: the signal that ended the run before its budget did, or None.
    """

    net: ValueNet
    rules: Rules
    games: int
    positions: int
    seconds: float
    measured: dict[str, float]
    checkpoint: Path
    ended_by: str
    stopped_by: str | None


def train(
    settings: TrainSettings,
    run_dir: str | Path,
    *,
    resume: bool = False,
    evaluate: Evaluate | Measuring | None = None,
    console: Console | None = None,
) -> TrainResult:
    """Train until the budget is used up, or until Ctrl-C or SIGTERM, and save.

    Args:
        settings: the whole run.
        run_dir: a new folder for events and checkpoints; with `resume`, the folder of a run.
        resume: go on from the newest checkpoint of `run_dir`. The settings must be those of the
            run, save for `budget`, `eval`, `checkpoint`, `name` and `selfplay.threads`.
        evaluate: plays the matches of `settings.eval`; None for no measuring. A `Measuring` also
            keeps what the checkpoints of the run are to hold of it.
        console: where progress is shown; None for standard output.

    Raises:
        ConfigError: a setting is refused, or makes the loss infinite.
        CheckpointError: `run_dir` holds a run already, or none to resume; a checkpoint cannot
            be read or written.
    """
    run_dir = Path(run_dir)
    rules = variant(settings.variant.name, **settings.variant.options)
    encoding = Encoding.of(rules)
    set_threads(settings.selfplay.threads)
    with locked(run_dir, resume), StopSignals() as signals:
        opened = _resumed if resume else _begun
        learner, counters = opened(settings, run_dir, rules, encoding)
        measuring = None if evaluate is None else measuring_by(evaluate)
        if measuring is not None:
            measuring.begin(run_dir, counters.ladder)
        budget, rhythm = settings.budget, Rhythm(settings, counters)
        limit = None if budget.minutes is None else 60.0 * budget.minutes
        console = console or Console()
        with (
            Board(run_dir, settings, counters.games, rules.outcomes) as board,
            Progress(console, budget.games, limit, counters.games, counters.seconds) as progress,
        ):
            if counters.horizon_games not in (None, settings.horizon_games):
                progress.say(
                    f"the learning-rate schedule still ends at {counters.horizon_games:,} games, "
                    "as the run began; from there on the rate stays as it is"
                )
            checkpoint = newest_checkpoint(run_dir) or _save(
                settings, run_dir, rules, learner, counters
            )
            try:
                while True:
                    # Measure
                    done = bool(rhythm.ended())
                    if measuring is not None and rhythm.measurement_due(done):
                        with signals.cutting_short(), rhythm.clock() as clock:
                            measured = measuring.measure(
                                learner.playing_net(), settings, counters.games, done
                            )
                        counters.measuring_seconds += clock.seconds
                        counters.ladder = measuring.settle(learner.playing_net(), measured)
                        counters.measured, counters.measured_at = measured.figures, counters.games
                        counters.without_champion += 1
                        if measured.champion:
                            counters.without_champion = 0
                        if done:
                            counters.measured_finally_at = counters.games
                        board.measured(counters, measured)
                        progress.measured(measured.figures)
                        for line in measured.said:
                            progress.say(f"{counters.games:,} games: {line}")
                        if not done and rhythm.ended():
                            continue  # that was the last but for the final one
                    if done:
                        break

                    # Play
                    before = learner.state()
                    evaluator = make_evaluator(learner.net, encoding, counters.evaluator)
                    with rhythm.clock() as play_clock:
                        episodes = collect(
                            rules,
                            evaluator,
                            settings.selfplay.games_per_batch,
                            seed=settings.seed,
                            first_game=counters.games,
                            ply_cap=settings.selfplay.ply_cap,
                            aim=settings.selfplay.aim,
                            should_stop=signals.wanted,
                            progress=lambda games: progress.played(counters.games + games),
                        )

                    # Learn
                    with rhythm.clock():
                        try:
                            rows, targets = batch_targets(
                                rules, evaluator, episodes, settings, counters.games, signals.check
                            )
                            report = learner.learn(
                                episodes.points[rows],
                                episodes.flags[rows],
                                targets,
                                episodes.pending[rows],
                                batch=counters.batches,
                                games_before=counters.games,
                                games=settings.selfplay.games_per_batch,
                                check=signals.check,
                            )
                        except Stopped:
                            learner.restore(before)
                            raise
                    counters.games += settings.selfplay.games_per_batch
                    counters.batches += 1
                    counters.positions += len(episodes.mover)

                    # Log
                    board.batch(
                        counters.games, counters.batches, episodes, report, play_clock.seconds
                    )
                    progress.learned(counters.games, report.loss)

                    # Save
                    if rhythm.save_due():
                        checkpoint = _save(settings, run_dir, rules, learner, counters)
                        rhythm.saved()
            except (Stopped, SelfPlayStopped):
                dropped = progress.back_to(counters.games)
                lost = "; the unfinished batch is dropped and played again on resume"
                progress.say(f"{signals.received}: saving, then stopping{lost if dropped else ''}")
            if rhythm.unsaved():
                checkpoint = _save(settings, run_dir, rules, learner, counters)
    return TrainResult(
        learner.playing_net(),
        rules,
        counters.games,
        counters.positions,
        counters.seconds,
        counters.measured,
        checkpoint,
        rhythm.ended(),
        signals.received,
    )


@contextmanager
def locked(run_dir: Path, resume: bool) -> Iterator[None]:
    """Hold the folder against a second process; the lock dies with the process."""
    if resume and not run_dir.is_dir():
        raise CheckpointError(f"{run_dir}: there is no such run to resume")
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        lock = os.open(run_dir / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ConfigError(
            f"run_dir: {run_dir} cannot be written ({error.strerror}); name another folder"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise CheckpointError(
            f"{run_dir}: another process is training here; wait for it or name another folder"
        ) from error
    try:
        yield
    finally:
        os.close(lock)


def _begun(
    settings: TrainSettings, run_dir: Path, rules: Rules, encoding: Encoding
) -> tuple[Learner, Counters]:
    if complete_checkpoints(run_dir / FOLDER):
        raise CheckpointError(
            f"{run_dir}: holds a run already; resume it, or name another folder for a new one"
        )
    generator = torch.Generator().manual_seed(settings.seed)
    net = ValueNet(encoding.size, settings.net.hidden, rules.outcomes, generator)
    if settings.net.warm_start is not None:
        source = load_checkpoint(settings.net.warm_start)
        check_warm_start(source, net.hidden, rules)
        net = grown(source.net, net.hidden, generator)
    # `auto` is settled once a run: another choice after a resume would round differently.
    chosen = make_evaluator(net, encoding, settings.selfplay.evaluator)
    counters = Counters(chosen.name, _horizon(settings))
    return _learner(settings, net, encoding, counters), counters


def check_warm_start(source: Checkpoint, hidden: tuple[int, ...], rules: Rules) -> None:
    """Raise `ConfigError` if a net for `rules` cannot take the weights of `source`."""
    for what, theirs, ours in (
        ("outcomes", source.net.outcomes, rules.outcomes),
        ("input units", Encoding.of(source.rules).names, Encoding.of(rules).names),
    ):
        if theirs != ours:
            shown = "other ones" if what == "input units" else f"{list(theirs)}, not {list(ours)}"
            raise ConfigError(
                f"net.warm_start: {source.path}, a net for {source.rules.name}, has {what}: "
                f"{shown}; allowed: a net for {rules.name} or a game with its inputs and scores"
            )
    if not can_grow(source.net.hidden, hidden):
        raise ConfigError(
            f"net.hidden: {list(hidden)}, but net.warm_start={source.path} has "
            f"{list(source.net.hidden)}; allowed: the same, or as many layers or more, "
            "none of them narrower"
        )


def _resumed(
    settings: TrainSettings, run_dir: Path, rules: Rules, encoding: Encoding
) -> tuple[Learner, Counters]:
    checkpoint, trainer = load_newest(run_dir)
    folder = checkpoint.path
    stored = trainer.counters.get("settings")
    stored = stored if isinstance(stored, dict) else {}
    check_same_run(folder, stored, settings.to_dict())
    try:
        counters = Counters(**trainer.counters["counters"])
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / 'trainer.json'}: counters: {error}") from error
    if counters.horizon_games is None:  # from before checkpoints had it
        counters.horizon_games = _horizon(TrainSettings.from_dict(stored))
    learner = _learner(settings, checkpoint.net, encoding, counters)
    try:
        learner.restore(trainer.tensors)
    except CheckpointError as error:
        raise CheckpointError(f"{folder / 'trainer.safetensors'}: {error}") from error
    return learner, counters


def check_same_run(
    folder: Path, stored: Mapping[str, object], given: Mapping[str, object], prefix: str = ""
) -> None:
    """Raise `ConfigError` if the settings differ in what a resumed run must keep."""
    for name in {**given, **stored}:
        where = f"{prefix}{name}"
        theirs, ours = stored.get(name), given.get(name)
        if where in _MAY_CHANGE or theirs == ours:
            continue
        if isinstance(theirs, Mapping) and isinstance(ours, Mapping):
            check_same_run(folder, theirs, ours, f"{where}.")
            continue
        raise ConfigError(
            f"{where}: {ours!r}, but {folder} was trained with {theirs!r}; a resumed run keeps "
            f"its settings (only {', '.join(_MAY_CHANGE)} may change); for other settings begin "
            f"a new run with net.warm_start={folder}"
        )


def _horizon(settings: TrainSettings) -> int | None:
    return None if settings.learner.schedule == "constant" else settings.horizon_games


def _learner(
    settings: TrainSettings, net: ValueNet, encoding: Encoding, counters: Counters
) -> Learner:
    return Learner(net, encoding, settings.learner, settings.seed, counters.horizon_games)


def _save(
    settings: TrainSettings, run_dir: Path, rules: Rules, learner: Learner, counters: Counters
) -> Path:
    config = settings.to_dict()
    saved = save_checkpoint(
        run_dir / FOLDER,
        net=learner.playing_net(),
        rules=rules,
        config=config,
        card={
            "what": f"value net for {rules.name}: outcome distribution of a position, "
            "in the view of the player who just moved",
            "weights": "averaged" if settings.learner.ema else "as learned",
            "positions": counters.positions,
            "seconds": round(counters.seconds, 1),
            "seed": settings.seed,
            "evaluator": counters.evaluator,
            "measured": counters.measured,
            "measured_at_games": counters.measured_at,
            **provenance(),
        },
        trainer=TrainerState(
            learner.state(), {"counters": dataclasses.asdict(counters), "settings": config}
        ),
        games=counters.games,
    )
    prune(run_dir / FOLDER, settings.checkpoint.keep)
    return saved

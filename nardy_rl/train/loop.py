"""The training run: play, learn, measure, save, log.

A batch is a function of (weights, moments, seed, games played before), and a checkpoint holds
exactly those between two batches. So a run that is interrupted and resumed ends in the same
weights, bit for bit, as one that was left alone.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.inference import make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules.parallel import set_threads
from nardy_rl.rules.record import Rules, variant
from nardy_rl.selfplay import Episodes, SelfPlayStopped, collect
from nardy_rl.targets import lambda_returns
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
from nardy_rl.train.learner import Learner
from nardy_rl.train.progress import Progress
from nardy_rl.train.provenance import provenance
from nardy_rl.train.settings import TrainSettings
from nardy_rl.train.stopping import Stopped, StopSignals

Evaluate = Callable[[ValueNet, int], Mapping[str, float]]
"""Measures a net in matches of so many games; figures by name, such as `pips/ppg`."""

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
        stopped_by: the signal that ended the run before its budget did, or None.
    """

    net: ValueNet
    rules: Rules
    games: int
    positions: int
    seconds: float
    measured: dict[str, float]
    checkpoint: Path
    stopped_by: str | None


@dataclass
class _Counters:
    """What a run has done so far; stored in every checkpoint."""

    evaluator: str
    horizon_games: int | None = None
    games: int = 0
    batches: int = 0
    positions: int = 0
    seconds: float = 0.0
    measured_at: int = 0
    measured_finally_at: int = 0
    measured: dict[str, float] = dataclasses.field(default_factory=dict)


def train(
    settings: TrainSettings,
    run_dir: str | Path,
    *,
    resume: bool = False,
    evaluate: Evaluate | None = None,
    console: Console | None = None,
) -> TrainResult:
    """Train until the budget is used up, or until Ctrl-C or SIGTERM, and save.

    Args:
        settings: the whole run.
        run_dir: a new folder for events and checkpoints; with `resume`, the folder of a run.
        resume: go on from the newest checkpoint of `run_dir`. The settings must be those of the
            run, save for `budget`, `eval`, `checkpoint`, `name` and `selfplay.threads`.
        evaluate: plays the matches of `settings.eval`; None for no measuring.
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
    with _locked(run_dir, resume), StopSignals() as signals:
        opened = _resumed if resume else _begun
        learner, counters = opened(settings, run_dir, rules, encoding)
        budget, rhythm = settings.budget, _Rhythm(settings, counters)
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
                    done = rhythm.done()
                    if evaluate is not None and rhythm.measurement_due(done):
                        with signals.cutting_short(), rhythm.clock():
                            games = settings.eval.final_games if done else settings.eval.games
                            figures = dict(evaluate(learner.playing_net(), games))
                        counters.measured, counters.measured_at = figures, counters.games
                        if done:
                            counters.measured_finally_at = counters.games
                        board.measured(counters.games, figures)
                        progress.measured(figures)
                    if done:
                        break

                    # Play
                    before = learner.state()
                    with rhythm.clock() as play_clock:
                        episodes = collect(
                            rules,
                            make_evaluator(learner.net, encoding, counters.evaluator),
                            settings.selfplay.games_per_batch,
                            seed=settings.seed,
                            first_game=counters.games,
                            ply_cap=settings.selfplay.ply_cap,
                            should_stop=signals.wanted,
                            progress=lambda games: progress.played(counters.games + games),
                        )

                    # Learn
                    with rhythm.clock():
                        targets = episode_targets(
                            episodes, rules.outcomes, settings.targets.lam_after(counters.games)
                        )
                        try:
                            report = learner.learn(
                                episodes.points,
                                episodes.flags,
                                targets,
                                episodes.pending,
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
        signals.received,
    )


def episode_targets(
    episodes: Episodes, outcomes: tuple[int, ...], lam: float
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The lambda-returns of a batch of games, float32[N, K]."""
    index = np.searchsorted(outcomes, episodes.score)
    index[episodes.truncated] = -1
    return lambda_returns(episodes.values, episodes.mover, episodes.offsets, index, lam)


class _Rhythm:
    """When the run is done, measures and saves; and the clock of its budget."""

    def __init__(self, settings: TrainSettings, counters: _Counters) -> None:
        self._settings = settings
        self._counters = counters
        self.saved()

    def done(self) -> bool:
        counters = self._counters
        return bool(self._settings.budget.used_up(counters.games, counters.seconds))

    def measurement_due(self, done: bool) -> bool:
        wanted, counters = self._settings.eval, self._counters
        if done:
            return wanted.final_games > 0 and counters.measured_finally_at < counters.games
        every = wanted.every_games
        return every > 0 and counters.games // every > counters.measured_at // every

    def save_due(self) -> bool:
        wanted = self._settings.checkpoint
        games = self._counters.games - self._saved_games
        seconds = time.perf_counter() - self._saved_time
        return 0 < wanted.every_games <= games or 0 < wanted.every_seconds <= seconds

    def saved(self) -> None:
        self._saved_games, self._saved_time = self._counters.games, time.perf_counter()
        self._saved_measurement = self._counters.measured

    def unsaved(self) -> bool:
        """Whether the newest checkpoint lacks games or a measurement."""
        counters = self._counters
        return (
            counters.games != self._saved_games or counters.measured is not self._saved_measurement
        )

    @contextmanager
    def clock(self) -> Iterator[_Clock]:
        """Adds the time of a block to the run's, however the block ends."""
        clock, started = _Clock(), time.perf_counter()
        try:
            yield clock
        finally:
            clock.seconds = time.perf_counter() - started
            self._counters.seconds += clock.seconds


@dataclass
class _Clock:
    seconds: float = 0.0


@contextmanager
def _locked(run_dir: Path, resume: bool) -> Iterator[None]:
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
) -> tuple[Learner, _Counters]:
    if complete_checkpoints(run_dir / FOLDER):
        raise CheckpointError(
            f"{run_dir}: holds a run already; resume it, or name another folder for a new one"
        )
    generator = torch.Generator().manual_seed(settings.seed)
    net = ValueNet(encoding.size, settings.net.hidden, rules.outcomes, generator)
    if settings.net.warm_start is not None:
        source = load_checkpoint(settings.net.warm_start)
        check_warm_start(source, net.hidden, rules)
        net.load_state_dict(source.net.state_dict())
    # `auto` is settled once a run: another choice after a resume would round differently.
    chosen = make_evaluator(net, encoding, settings.selfplay.evaluator)
    counters = _Counters(chosen.name, _horizon(settings))
    return _learner(settings, net, encoding, counters), counters


def check_warm_start(source: Checkpoint, hidden: tuple[int, ...], rules: Rules) -> None:
    """Raise `ConfigError` if a net for `rules` cannot take the weights of `source`."""
    for what, theirs, ours in (
        ("hidden layers", source.net.hidden, hidden),
        ("outcomes", source.net.outcomes, rules.outcomes),
        ("input units", Encoding.of(source.rules).names, Encoding.of(rules).names),
    ):
        if theirs != ours:
            shown = "other ones" if what == "input units" else f"{list(theirs)}, not {list(ours)}"
            raise ConfigError(
                f"net.warm_start: {source.path} has {what}: {shown}; "
                f"name a net of {source.rules.name}'s kind and net.hidden={list(hidden)}"
            )


def _resumed(
    settings: TrainSettings, run_dir: Path, rules: Rules, encoding: Encoding
) -> tuple[Learner, _Counters]:
    checkpoint, trainer = load_newest(run_dir)
    folder = checkpoint.path
    stored = trainer.counters.get("settings")
    stored = stored if isinstance(stored, dict) else {}
    check_same_run(folder, stored, settings.to_dict())
    try:
        counters = _Counters(**trainer.counters["counters"])
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
    settings: TrainSettings, net: ValueNet, encoding: Encoding, counters: _Counters
) -> Learner:
    return Learner(net, encoding, settings.learner, settings.seed, counters.horizon_games)


def _save(
    settings: TrainSettings, run_dir: Path, rules: Rules, learner: Learner, counters: _Counters
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

"""Everything that a training run is told, as frozen records that check themselves.

The command line turns its configuration into one `TrainSettings` (`TrainSettings.from_dict`) and
nothing below knows another form. Every refusal is one line: the field, the value, what is allowed.
"""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nardy_rl.errors import ConfigError
from nardy_rl.rules.record import variant
from nardy_rl.train.checks import one_of, real, refuse, whole
from nardy_rl.train.reading import plain, record_from

AIMS = ("points", "wins")
EVALUATORS = ("auto", "kernel", "float32", "bfloat16")
GRADIENTS = ("auto", "kernel", "torch")
SCHEDULES = ("constant", "linear", "cosine", "step")

MOST_LAYERS, MOST_WEIGHTS = 100, 100_000_000
"""Of a net; more is a slip of the finger, and would be found out by running out of memory."""


@dataclass(frozen=True)
class VariantSettings:
    """Which game: `name` and the `options` that differ from its defaults."""

    name: str = "long_nardy"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            refuse("variant.name", self.name, "the name of a variant")
        if not isinstance(self.options, Mapping):
            refuse("variant.options", self.options, "a mapping of option names to values")


@dataclass(frozen=True)
class NetSettings:
    """The net: widths of the hidden layers; `warm_start`, a checkpoint to take weights from."""

    hidden: tuple[int, ...] = (80,)
    warm_start: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, tuple):
            refuse("net.hidden", self.hidden, "a list of whole numbers, such as [80]")
        for width in self.hidden:
            whole("net.hidden", width, at_least=1, at_most=65536)
        weights = sum(a * b for a, b in itertools.pairwise(self.hidden))
        if len(self.hidden) > MOST_LAYERS or weights > MOST_WEIGHTS:
            raise ConfigError(
                f"net.hidden: {len(self.hidden)} layers with {weights:,} weights between them; "
                f"allowed: at most {MOST_LAYERS} layers and {MOST_WEIGHTS:,} weights"
            )
        if self.warm_start is not None and not isinstance(self.warm_start, str):
            refuse("net.warm_start", self.warm_start, "null or the path of a checkpoint")


@dataclass(frozen=True)
class SelfPlaySettings:
    """How games are played, and the threads that play and learn.

    Attributes:
        games_per_batch: games played with one set of weights, then learned from.
        ply_cap: decisions after which a game is truncated, never scored.
        evaluator: what values the candidate plays; `auto` chooses the fastest for the net.
        aim: what both sides play for: `points`, or `wins` whatever they score. The net learns the
            scores either way; who wins is the easier question to begin with.
        threads: processor threads, 0 for all there are.
    """

    games_per_batch: int = 1000
    ply_cap: int = 1000
    evaluator: str = "auto"
    aim: str = "points"
    threads: int = 0

    def __post_init__(self) -> None:
        one_of("selfplay.aim", self.aim, AIMS)
        whole("selfplay.games_per_batch", self.games_per_batch, at_least=1, at_most=1_000_000)
        whole("selfplay.ply_cap", self.ply_cap, at_least=2, at_most=65535)
        one_of("selfplay.evaluator", self.evaluator, EVALUATORS)
        whole("selfplay.threads", self.threads, at_least=0, at_most=4096)


@dataclass(frozen=True)
class TargetSettings:
    """What the net is trained towards.

    Attributes:
        lam: of TD(lambda), 0 one step ahead, 1 the result; the value that a run begins with.
        lam_final: the value it ends with; null for the same.
        lam_games: games over which `lam` moves to `lam_final` in a straight line, then stays.
        every_roll: instead of all that, one step ahead over all 21 rolls, each played best by
            the net, instead of over the one that was thrown: some 15 times the work and a
            fortieth of the noise, for the end of a training.
        plies: rolls that `every_roll` looks ahead; each more is 21 times the work.
        share: of the positions that `every_roll` takes, those in contact, drawn at random;
            1 takes all, races too. The others are not learned from.
    """

    lam: float = 0.0
    lam_final: float | None = None
    lam_games: int = 0
    every_roll: bool = False
    plies: int = 1
    share: float = 1.0

    def __post_init__(self) -> None:
        whole("targets.plies", self.plies, at_least=1, at_most=3)
        real("targets.share", self.share, 0.0, 1.0, above=True)
        for name, neutral in (("plies", 1), ("share", 1.0)):
            if not self.every_roll and getattr(self, name) != neutral:
                refuse(
                    f"targets.{name}",
                    getattr(self, name),
                    f"{neutral:g}, or with targets.every_roll=true",
                )
        real("targets.lam", self.lam, 0.0, 1.0)
        if self.lam_final is not None:
            real("targets.lam_final", self.lam_final, 0.0, 1.0)
        whole("targets.lam_games", self.lam_games, at_least=0)
        if not isinstance(self.every_roll, bool):
            raise ConfigError(
                f"targets.every_roll: {self.every_roll!r} is not allowed; allowed: true, false"
            )

    def lam_after(self, games: int) -> float:
        """Lambda for a batch that begins after `games` games.

        >>> TargetSettings(lam=1.0, lam_final=0.0, lam_games=100).lam_after(25)
        0.75
        """
        if self.lam_final is None:
            return self.lam
        done = min(1.0, games / self.lam_games) if self.lam_games else 1.0
        return self.lam + (self.lam_final - self.lam) * done


@dataclass(frozen=True)
class LearnerSettings:
    """How the net is fitted to a batch of games.

    Attributes:
        minibatch: positions an update, as near as equal shares of the batch come to it.
        epochs: times that every position of a batch is used.
        learning_rate: of Adam, at its highest.
        schedule: `constant`; `linear` or `cosine` fall to `final_fraction` of the rate at the
            horizon; `step` multiplies it by `final_fraction` at each share of `step_at`.
        final_fraction: see `schedule`.
        step_at: shares of the horizon, ascending, for `step`.
        warmup_games: games over which the rate first rises from 0.
        horizon_games: length of the schedule in games; null for the budget's when the run begins.
        betas: decay of Adam's two moments.
        epsilon: Adam's.
        weight_decay: decoupled from the gradient, as in AdamW; 0 for none.
        clip_norm: longest gradient; 0 for no limit.
        ema: decay an update of the averaged weights, which then are what is saved and measured;
            0 for none.
        gradient: what computes it; `auto` takes the kernel for nets with one hidden layer.
    """

    minibatch: int = 1024
    epochs: int = 1
    learning_rate: float = 1e-3
    schedule: str = "constant"
    final_fraction: float = 0.1
    step_at: tuple[float, ...] = (0.5, 0.75)
    warmup_games: int = 0
    horizon_games: int | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip_norm: float = 0.0
    ema: float = 0.0
    gradient: str = "auto"

    def __post_init__(self) -> None:
        one_of("learner.gradient", self.gradient, GRADIENTS)
        whole("learner.minibatch", self.minibatch, at_least=1, at_most=10_000_000)
        whole("learner.epochs", self.epochs, at_least=1, at_most=1000)
        real("learner.learning_rate", self.learning_rate, 0.0, 10.0, above=True)
        one_of("learner.schedule", self.schedule, SCHEDULES)
        real("learner.final_fraction", self.final_fraction, 0.0, 1.0)
        if not isinstance(self.step_at, tuple) or list(self.step_at) != sorted(set(self.step_at)):
            refuse("learner.step_at", self.step_at, "a list of ascending shares of 1")
        for share in self.step_at:
            real("learner.step_at", share, 0.0, 1.0)
        whole("learner.warmup_games", self.warmup_games, at_least=0)
        if self.horizon_games is not None:
            whole("learner.horizon_games", self.horizon_games, at_least=1)
        if not isinstance(self.betas, tuple) or len(self.betas) != 2:
            refuse("learner.betas", self.betas, "two numbers, such as [0.9, 0.999]")
        for beta in self.betas:
            real("learner.betas", beta, 0.0, 1.0, below=True)
        real("learner.epsilon", self.epsilon, 0.0, 1.0, above=True)
        real("learner.weight_decay", self.weight_decay, 0.0, 10.0)
        real("learner.clip_norm", self.clip_norm, 0.0)
        real("learner.ema", self.ema, 0.0, 1.0, below=True)


@dataclass(frozen=True)
class LadderSettings:
    """How a run measures its nets against its own past ones: the ladder of its champions.

    The first net measured is a champion; another one is that a sequential test finds better than
    the newest champion, by `ppg` rather than by 0 points a game.

    Attributes:
        games: of a test at most; 0 for no ladder.
        ppg: points a game that a new champion is tested for.
        alpha, beta: chances of crowning a net that is no better, and of missing one that is
            better by `ppg`.
        champions: how many champions before the newest a measurement plays besides.
        share: games that measuring on the way may play for each game of training, the matches
            of `eval.games` among them; the ladder gets what those leave.
    """

    games: int = 4000
    ppg: float = 0.1
    alpha: float = 0.05
    beta: float = 0.05
    champions: int = 1
    share: float = 0.1

    def __post_init__(self) -> None:
        whole("eval.ladder.games", self.games, at_least=0, at_most=200_000)
        real("eval.ladder.ppg", self.ppg, 0.0, 1.0, above=True)
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            real(f"eval.ladder.{name}", chance, 0.0, 0.5, above=True, below=True)
        whole("eval.ladder.champions", self.champions, at_least=0, at_most=100)
        real("eval.ladder.share", self.share, 0.0, 100.0)


@dataclass(frozen=True)
class EvalSettings:
    """How the run is measured while it trains.

    Attributes:
        every_games: games between two measurements; 0 for none.
        games: games of a match in a measurement on the way.
        final_games: games of a match when the run ends; 0 for none.
        opponents: whom the net plays.
        seed: of the matches' dice, apart from the training's.
        ladder: of champions.
    """

    every_games: int = 50_000
    games: int = 400
    final_games: int = 10_000
    opponents: tuple[str, ...] = ("random", "pips")
    seed: int = 1
    ladder: LadderSettings = field(default_factory=LadderSettings)

    def __post_init__(self) -> None:
        whole("eval.every_games", self.every_games, at_least=0)
        whole("eval.games", self.games, at_least=2)
        whole("eval.final_games", self.final_games, at_least=0)
        if not isinstance(self.opponents, tuple) or not all(
            isinstance(name, str) and name for name in self.opponents
        ):
            refuse("eval.opponents", self.opponents, "a list of players, such as [random, pips]")
        whole("eval.seed", self.seed, at_least=0, at_most=2**63 - 1)


@dataclass(frozen=True)
class BudgetSettings:
    """When the run is complete, resumed parts included: whichever limit comes first.

    Attributes:
        games: rounded up to whole batches; null for no limit.
        minutes: of playing, learning and measuring; null for no limit.
        plateau: successive measurements without a new champion of the ladder that end the run;
            0: it does not end by that.
    """

    games: int | None = 100_000
    minutes: float | None = None
    plateau: int = 0

    def __post_init__(self) -> None:
        whole("budget.plateau", self.plateau, at_least=0)
        if self.games is None and self.minutes is None:
            refuse("budget", "no limit at all", "budget.games or budget.minutes or both")
        if self.games is not None:
            whole("budget.games", self.games, at_least=1)
        if self.minutes is not None:
            real("budget.minutes", self.minutes, 0.0, above=True)

    def used_up(self, games: int, seconds: float, without_champion: int = 0) -> str:
        """The limits that so much has reached, such as `budget.games=40`; empty for none."""
        reached = []
        if self.games is not None and games >= self.games:
            reached.append(f"budget.games={self.games}")
        if self.minutes is not None and seconds >= 60.0 * self.minutes:
            reached.append(f"budget.minutes={self.minutes:g}")
        if 0 < self.plateau <= without_champion:
            reached.append(f"budget.plateau={self.plateau}")
        return " and ".join(reached)


@dataclass(frozen=True)
class CheckpointSettings:
    """When the run is saved: after so many games or seconds (0: not by that count), and at its
    end; `keep` is how many checkpoints stay."""

    every_games: int = 0
    every_seconds: float = 60.0
    keep: int = 2

    def __post_init__(self) -> None:
        whole("checkpoint.every_games", self.every_games, at_least=0)
        real("checkpoint.every_seconds", self.every_seconds, 0.0)
        whole("checkpoint.keep", self.keep, at_least=1)


@dataclass(frozen=True)
class TrainSettings:
    """A whole run. `seed` and the other fields, on one machine, determine its weights."""

    name: str = "run"
    seed: int = 0
    variant: VariantSettings = field(default_factory=VariantSettings)
    net: NetSettings = field(default_factory=NetSettings)
    selfplay: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    targets: TargetSettings = field(default_factory=TargetSettings)
    learner: LearnerSettings = field(default_factory=LearnerSettings)
    eval: EvalSettings = field(default_factory=EvalSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    checkpoint: CheckpointSettings = field(default_factory=CheckpointSettings)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            refuse("name", self.name, "a name for the run")
        whole("seed", self.seed, at_least=0, at_most=2**63 - 1)
        if len(self.net.hidden) != 1:
            for where, value, known in (
                ("selfplay.evaluator", self.selfplay.evaluator, EVALUATORS),
                ("learner.gradient", self.learner.gradient, GRADIENTS),
            ):
                if value == "kernel":
                    others = ", ".join(name for name in known if name != "kernel")
                    shown = list(self.net.hidden)
                    refuse(where, value, f"{others}; kernel needs one hidden layer, not {shown}")
        if self.targets.every_roll and variant(self.variant.name, **self.variant.options).ladder:
            name = self.variant.name
            refuse("targets.every_roll", True, f"false with {name}, where rungs follow no roll")
        if self.learner.schedule != "constant" and self.horizon_games is None:
            refuse(
                "learner.horizon_games",
                None,
                f"a number of games, because learner.schedule={self.learner.schedule} "
                "needs an end and budget.games is null",
            )

    @property
    def horizon_games(self) -> int | None:
        """Games over which the learning-rate schedule runs; None without an end."""
        return self.learner.horizon_games or self.budget.games

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> TrainSettings:
        """The settings written as nested mappings; what is left out has its default.

        Raises:
            ConfigError: an unknown field (with the nearest known ones), or a value not allowed.
        """
        return record_from(TrainSettings, values)

    def to_dict(self) -> dict[str, Any]:
        """Nested plain dicts, lists, strings and numbers: what `from_dict` reads."""
        return typing.cast("dict[str, Any]", plain(dataclasses.asdict(self)))

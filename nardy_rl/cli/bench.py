"""`nardy-rl bench`: how fast rules, self-play and training run on this machine.

Every figure counts all overhead, compiling excepted: each part runs once unmeasured first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import tempfile
import time
import typing
from collections.abc import Sequence
from pathlib import Path

from nardy_rl.cli import overrides, words
from nardy_rl.cli.configs import compose
from nardy_rl.cli.settings import settings_from

if typing.TYPE_CHECKING:
    from nardy_rl.episodes import Episodes
    from nardy_rl.rules.record import Rules
    from nardy_rl.train.settings import TrainSettings

HELP = """\
usage: nardy-rl bench [seconds=10] [only=PART] [overrides of `nardy-rl train`]

Measures, each for so many seconds, with everything that `nardy-rl train` would use:
  random     uniformly random play in the batched environment: turns and games a second
  selfplay   the evaluator alone and the collect step: rows a second, and the share kept
  training   play and learn together: games and positions a second

examples:
  nardy-rl bench
  nardy-rl bench variant=backgammon net=h256x3 only=training seconds=300
"""

TABLES = 1024
"""Games that random play keeps going at once."""

OWN = {"seconds": words.positive, "only": words.one_of("random", "selfplay", "training")}


def run(given: list[str]) -> int:
    """Measure what the words ask for and print a line a figure."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    own = [word for word in given if word.partition("=")[0] in OWN]
    options = words.read(own, OWN)
    rest = overrides.check([word for word in given if word not in own])
    settings = settings_from(compose(rest))
    seconds, only = options.get("seconds", 10.0), options.get("only")

    from nardy_rl.rules.parallel import get_threads, set_threads
    from nardy_rl.rules.record import variant

    rules = variant(settings.variant.name, **settings.variant.options)
    set_threads(settings.selfplay.threads)
    print(f"{rules.name}, hidden {list(settings.net.hidden)}, {get_threads()} threads")
    parts = {"random": _random, "selfplay": _selfplay, "training": _training}
    for name, part in parts.items():
        if only in (None, name):
            part(rules, settings, seconds)
    return 0


def _random(rules: Rules, settings: TrainSettings, seconds: float) -> None:
    from nardy_rl.env import Env

    env = Env(rules, TABLES, settings.seed)
    env.random_turns(1)
    rounds = games = 0
    started = time.perf_counter()
    while (took := time.perf_counter() - started) < seconds:
        games += env.random_turns(50)[0]
        rounds += 50 * TABLES
    print(f"random play       {rounds / took:>12,.0f} turns/s  {games / took:>10,.0f} games/s")


def _selfplay(rules: Rules, settings: TrainSettings, seconds: float) -> None:
    import torch

    from nardy_rl.encoding import Encoding
    from nardy_rl.inference import make_evaluator
    from nardy_rl.net import ValueNet
    from nardy_rl.selfplay import collect

    encoding = Encoding.of(rules)
    generator = torch.Generator().manual_seed(settings.seed)
    net = ValueNet(encoding.size, settings.net.hidden, rules.outcomes, generator)
    evaluator = make_evaluator(net, encoding, settings.selfplay.evaluator)
    batch, first_game = settings.selfplay.games_per_batch, 0

    def play() -> Episodes:
        return collect(
            rules,
            evaluator,
            batch,
            seed=settings.seed,
            first_game=first_game,
            ply_cap=settings.selfplay.ply_cap,
        )

    decisions = _decisions(rules, play())
    evaluator.distributions(decisions)
    evaluated = 0
    started = time.perf_counter()
    while (took := time.perf_counter() - started) < seconds:
        evaluated += len(evaluator.distributions(decisions))
    alone = evaluated / took
    print(f"evaluator alone   {alone:>12,.0f} rows/s   {evaluator.name}")

    rows = positions = games = 0
    started = time.perf_counter()
    while (took := time.perf_counter() - started) < seconds:
        first_game += batch
        episodes = play()
        rows += episodes.candidates
        positions += len(episodes.mover)
        games += batch
    print(
        f"self-play         {rows / took:>12,.0f} rows/s   {games / took:>10,.0f} games/s  "
        f"{positions / took:,.0f} positions/s  {rows / took / alone:.0%} of the evaluator alone"
    )


def _decisions(rules: Rules, episodes: Episodes) -> typing.Any:
    """Decisions as self-play meets them: its own positions under fresh dice."""
    import numpy as np

    from nardy_rl.inference import Decisions
    from nardy_rl.rules.batch import legal_afterstates

    inner = np.ones(len(episodes.mover), bool)
    inner[episodes.offsets[1:] - 1] = False
    points = np.ascontiguousarray(episodes.points[inner][:8192, ::-1])
    rolls = np.random.default_rng(0).integers(1, 7, (len(points), 2)).astype(np.int8)
    flags = np.zeros(len(points), np.uint8)
    legal = legal_afterstates(rules, points, rolls, flags=flags)
    return Decisions(points, flags, np.zeros_like(flags), legal)


def _training(rules: Rules, settings: TrainSettings, seconds: float) -> None:
    from rich.console import Console

    from nardy_rl.train.loop import train
    from nardy_rl.train.settings import BudgetSettings

    def timed(minutes: float, games: int | None = None) -> Sequence[float]:
        # Bounded by time, so a schedule that ends with the games would have no end.
        learner = dataclasses.replace(settings.learner, schedule="constant")
        limited = dataclasses.replace(
            settings, learner=learner, budget=BudgetSettings(games, minutes)
        )
        with tempfile.TemporaryDirectory(prefix="nardy-rl-bench-") as folder:
            quiet = Console(file=io.StringIO())
            started = time.perf_counter()
            result = train(limited, Path(folder) / "run", console=quiet)
            took = time.perf_counter() - started  # logging and saving included
        return result.games / took, result.positions / took, took

    with contextlib.redirect_stdout(io.StringIO()):
        timed(10.0, games=1)
    games, positions, took = timed(seconds / 60)
    print(
        f"training          {games:>12,.0f} games/s  {positions:>10,.0f} positions/s  "
        f"over {took:.0f} s"
    )

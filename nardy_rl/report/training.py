"""A training to look at while it runs."""

from __future__ import annotations

import io
import typing
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from nardy_rl.arena import play_match
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, make_player
from nardy_rl.report.figures import training_figure
from nardy_rl.rules import variant
from nardy_rl.train.loop import train
from nardy_rl.train.settings import TrainSettings

if typing.TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame  # type: ignore[import-untyped]


def watch_training(
    name: str,
    run_dir: str | Path,
    games: int,
    every: int,
    *,
    opponents: tuple[str, ...] = ("random", "pips", "heuristic"),
    hidden: int = 80,
    seed: int = 0,
    show: Callable[[Figure], object] | None = None,
) -> DataFrame:
    """Train a net from nothing and measure it now and then.

    Args:
        name: of the variant.
        run_dir: a new folder, which any other command takes for a run afterwards.
        games, every: of self-play in all, and between two measurements.
        opponents: whom it plays, a match of 400 games each.
        hidden: units.
        seed: of weights and dice.
        show: gets the curves after each measurement.

    Returns:
        A frame: games, opponent, ppg, low, high (95 %).

    Raises:
        ConfigError, CheckpointError: as `train.loop.train`.
    """
    from pandas import DataFrame

    rules = variant(name)
    others = {text: make_player(text, rules) for text in opponents}
    rows: list[dict[str, object]] = []

    def evaluate(net: ValueNet, count: int) -> dict[str, float]:
        player, figures = NetPlayer(rules, net), {}
        trained = min(every * (len(rows) // len(others) + 1), games)
        for text, other in others.items():
            result = play_match(rules, player, other, count, seed=1)
            low, high = result.intervals["ppg"]
            rows.append(
                {"games": trained, "opponent": text, "ppg": result.ppg.value, "low": low}
                | {"high": high}
            )
            figures[f"{text}/ppg"] = result.ppg.value
        if show is not None:
            show(training_figure(DataFrame(rows)))
        return figures

    settings = TrainSettings.from_dict(
        {
            "variant": {"name": name},
            "seed": seed,
            "net": {"hidden": [hidden]},
            "selfplay": {"games_per_batch": 100},
            "targets": {"lam": 0.5},
            "learner": {"learning_rate": 0.001},
            "budget": {"games": games},
            "eval": {"every_games": every, "games": 400, "final_games": 400},
        }
    )
    train(
        settings,
        run_dir,
        evaluate=evaluate,
        console=Console(file=io.StringIO(), force_jupyter=False),
    )
    return DataFrame(rows)

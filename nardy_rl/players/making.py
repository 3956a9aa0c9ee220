"""Players by name: a baseline, or the path of a checkpoint."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable
from pathlib import Path

from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.players.baselines import PipsPlayer, RandomPlayer
from nardy_rl.players.gnubg import GnubgPlayer
from nardy_rl.players.heuristic import HeuristicPlayer
from nardy_rl.players.network import NetPlayer
from nardy_rl.players.protocol import Player
from nardy_rl.players.pubeval import PubevalPlayer
from nardy_rl.rules.record import Rules
from nardy_rl.train.checkpoint import load_checkpoint

BASELINES: dict[str, Callable[[Rules], Player]] = {
    "random": lambda rules: RandomPlayer(),
    "pips": PipsPlayer,
    "heuristic": HeuristicPlayer,
    "pubeval": PubevalPlayer,
    "gnubg": GnubgPlayer,
}
"""Players that every variant has, by name. A folder of the same name is reached as `./random`."""


def make_player(text: str, rules: Rules, *, evaluator: str = "auto") -> Player:
    """The player that `text` names.

    Args:
        text: `random`, `pips`, or the folder of a checkpoint or of a run (its newest checkpoint).
        rules: of the game to be played.
        evaluator: how a net is computed, see `inference.make_evaluator`.

    Raises:
        ConfigError: neither a player's name nor a path, listing the names and near misses; an
            evaluator that is unknown or does not serve the net.
        CheckpointError: no such folder, a damaged checkpoint, or a net of another game.
    """
    if text in BASELINES:
        return BASELINES[text](rules)
    _check_is_path(text)
    checkpoint = load_checkpoint(text)
    difference = _difference(checkpoint.rules, rules)
    if difference:
        raise CheckpointError(
            f"{checkpoint.path}: a net for {difference}; "
            "play the game that it learned, or take a net of this one"
        )
    # A run is known by the checkpoint that played: its newest one changes.
    of_run = "" if Path(text).samefile(checkpoint.path) else f" ({checkpoint.path.name})"
    return NetPlayer(rules, checkpoint.net, text.rstrip("/") + of_run, evaluator)


def rules_of(text: str) -> Rules | None:
    """The game that the player `text` learned; None for a baseline, which plays any.

    Raises as `make_player`.
    """
    if text in BASELINES:
        return None
    _check_is_path(text)
    return load_checkpoint(text).rules


def _check_is_path(text: str) -> None:
    if "/" in text or (text and Path(text).exists()):
        return
    near = difflib.get_close_matches(text.lower(), BASELINES, n=2)
    meant = f" (did you mean {' or '.join(near)}?)" if near else ""
    raise ConfigError(
        f"unknown player {text!r}{meant}; there are: {', '.join(BASELINES)}, "
        "or the path of a checkpoint or run"
    )


def _difference(theirs: Rules, ours: Rules) -> str:
    """How two games differ, `X, not Y`; empty where only their names do."""
    if dataclasses.replace(theirs, name=ours.name) == ours:
        return ""
    our_options = {option.name: option.value for option in ours.options()}
    their_options = {option.name: option.value for option in theirs.options()}
    changed = [
        name
        for name, value in their_options.items()
        if name in our_options and our_options[name] != value
    ]
    alike = theirs.start == ours.start and theirs.contact == ours.contact
    if alike and changed:
        names = [theirs.name, ours.name]
        for index, options in enumerate((their_options, our_options)):
            names[index] += f" with {', '.join(f'{name}={options[name]}' for name in changed)}"
        return f"{names[0]}, not {names[1]}"
    return f"{theirs.name}, not {ours.name}"

"""Players by name: a baseline, or the path of a checkpoint."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nardy_rl.bearoff import with_bearoff
from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.inference import make_evaluator
from nardy_rl.players.baselines import PipsPlayer, RandomPlayer
from nardy_rl.players.exact import ExactPlayer
from nardy_rl.players.gnubg import MOST_PLIES as GNUBG_PLIES
from nardy_rl.players.gnubg import GnubgPlayer, GnubgValuer
from nardy_rl.players.heuristic import HeuristicPlayer
from nardy_rl.players.network import ValuerPlayer
from nardy_rl.players.onnx_file import onnx_valuer, read_onnx
from nardy_rl.players.protocol import Player
from nardy_rl.players.pubeval import PubevalPlayer
from nardy_rl.rollout import Rollout
from nardy_rl.rules.record import Rules
from nardy_rl.search import MOST_PLIES, Lookahead, NetValuer, Valuer
from nardy_rl.solve import ExactTable, is_table
from nardy_rl.train.checkpoint import load_checkpoint

BASELINES: dict[str, Callable[[Rules], Player]] = {
    "random": lambda rules: RandomPlayer(),
    "pips": PipsPlayer,
    "heuristic": HeuristicPlayer,
    "pubeval": PubevalPlayer,
    "gnubg": GnubgPlayer,
}
"""Players that every variant has, by name. A folder of the same name is reached as `./random`."""


_HOW = re.compile(r"(?P<what>.+)@(?:(?P<plies>\d+)ply|(?P<rollout>rollout))")


class _Asked(NamedTuple):
    """A player's text, taken apart: who, how many plies ahead (None: as it comes), rollout."""

    what: str
    plies: int | None
    rollout: bool


def make_player(text: str, rules: Rules, *, evaluator: str = "auto") -> Player:
    """The player that `text` names.

    Args:
        text: a name of `BASELINES`, the folder of a checkpoint or of a run (its newest
            checkpoint), an exported file, or the folder of a solved table. Nets and gnubg look
            ahead if asked: `PATH@1ply`, `gnubg@2ply`, `PATH@rollout`.
        rules: of the game to be played.
        evaluator: how a net is computed, see `inference.make_evaluator`.

    Raises:
        ConfigError: neither a player's name nor a path, listing the names and near misses; a way
            to look ahead that the player does not have; an evaluator that is unknown or does not
            serve the net.
        CheckpointError: no such folder, a damaged checkpoint, or a net of another game.
    """
    asked = _taken_apart(text)
    if asked.what == "gnubg" and not asked.rollout:
        return GnubgPlayer(rules, asked.plies or 0)
    if asked.what in BASELINES and asked.what != "gnubg":
        return BASELINES[asked.what](rules)
    valuer = _valuer(asked.what, rules, evaluator)
    if asked.rollout:
        return ValuerPlayer(rules, Rollout(rules, valuer, forced=False), f"{valuer.name}@rollout")
    if isinstance(valuer, ExactTable):
        return ExactPlayer(valuer)
    plies = asked.plies or 0
    name = f"{valuer.name}@{plies}ply" if plies else valuer.name
    return ValuerPlayer(rules, valuer, name, plies)


def make_valuer(text: str, rules: Rules, *, evaluator: str = "auto") -> Valuer:
    """The valuer that `text` names: whatever `make_player` takes and has equities.

    Arguments and errors as there; ConfigError for a player that has no equities.
    """
    asked = _taken_apart(text)
    if asked.what == "gnubg" and not asked.rollout:
        return GnubgValuer(rules, asked.plies or 0)
    if asked.what in BASELINES and asked.what != "gnubg":
        raise ConfigError(f"{asked.what} has no equities; a net, gnubg or an exact table has")
    valuer = _valuer(asked.what, rules, evaluator)
    if asked.rollout:
        return Rollout(rules, valuer)
    return Lookahead(rules, valuer, asked.plies) if asked.plies else valuer


def _valuer(what: str, rules: Rules, evaluator: str) -> Valuer:
    """The valuer at 0 plies of a path or of gnubg."""
    if what == "gnubg":
        return GnubgValuer(rules)
    _check_is_path(what)
    if _is_onnx(what):
        return onnx_valuer(rules, what)
    if is_table(what):
        return ExactTable.load(what, rules)
    checkpoint = load_checkpoint(what)
    difference = _difference(checkpoint.rules, rules)
    if difference:
        raise CheckpointError(
            f"{checkpoint.path}: a net for {difference}; "
            "play the game that it learned, or take a net of this one"
        )
    # A run is known by the checkpoint that played: its newest one changes.
    of_run = "" if Path(what).samefile(checkpoint.path) else f" ({checkpoint.path.name})"
    net = with_bearoff(make_evaluator(checkpoint.net, Encoding.of(rules), evaluator), rules)
    return NetValuer(rules, net, what.rstrip("/") + of_run)


def _taken_apart(text: str) -> _Asked:
    """Who is asked for, and how; a path that has an @ of its own goes before."""
    found = None if Path(text).exists() else _HOW.fullmatch(text)
    if found is None:
        what, at, how = text.rpartition("@")
        if at and not Path(text).exists() and (what in BASELINES or Path(what).exists()):
            raise ConfigError(
                f"{text}: @{how} is no way to look ahead; "
                f"there are @0ply to @{MOST_PLIES}ply and @rollout"
            )
        return _Asked(text, None, False)
    what = found["what"]
    if (what in BASELINES and what != "gnubg") or is_table(what):
        raise ConfigError(
            f"{text}: {what} does not look ahead; only nets, exported files and gnubg do"
        )
    most = GNUBG_PLIES if what == "gnubg" else MOST_PLIES
    plies = None if found["plies"] is None else int(found["plies"])
    if plies is not None and plies > most:
        raise ConfigError(f"{text}: {plies} plies are not allowed; allowed: 0 to {most}")
    return _Asked(what, plies, bool(found["rollout"]))


def rules_of(text: str) -> Rules | None:
    """The game that the player `text` learned; None for one that learned none.

    Raises as `make_player`.
    """
    what = _taken_apart(text).what
    if what in BASELINES:
        return None
    _check_is_path(what)
    if is_table(what):
        return ExactTable.load(what).rules
    return read_onnx(what).rules if _is_onnx(what) else load_checkpoint(what).rules


def _is_onnx(path: str) -> bool:
    return path.endswith(".onnx") and not Path(path).is_dir()


def _check_is_path(text: str) -> None:
    if "/" in text or (text and Path(text).exists()):
        return
    near = difflib.get_close_matches(text.lower(), BASELINES, n=2)
    meant = f" (did you mean {' or '.join(near)}?)" if near else ""
    raise ConfigError(
        f"unknown player {text!r}{meant}; there are: {', '.join(BASELINES)}, "
        "or the path of a checkpoint, a run, an exported file or a solved table "
        "(PATH@1ply looks ahead)"
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

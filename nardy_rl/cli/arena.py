"""`nardy-rl arena`: a match of two players on duplicate dice."""

from __future__ import annotations

import dataclasses
import time
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nardy_rl.cli import words
from nardy_rl.errors import CheckpointError, ConfigError

if typing.TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.players import Player
    from nardy_rl.rules import Rules

HELP = """\
nardy-rl arena: a match of two players on duplicate dice

usage: nardy-rl arena a=PLAYER b=PLAYER [name=value ...]

A PLAYER is
  random          any legal result, all with the same chance
  pips            the race: most pips ahead, then the rear checkers first; hides its blots a little
  PATH            a checkpoint, or a run (its newest checkpoint): the net's best result, 0 plies

settings and what they are by default:
  games=10000     games to play, in pairs: the same dice twice, the seats exchanged
  variant=NAME    the game; by default the one that a or b learned, long_nardy where neither did
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  seed=1          of the dice: the same seed repeats the match exactly
  ply_cap=2000    turns after which a game is broken off and not scored
  threads=0       processor threads, 0 for all there are; results do not depend on them
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

Figures are in the view of a, with one standard error (by pairs of games). A player against itself
scores exactly 0. Ctrl-C ends the match and shows what was played so far.

examples:
  nardy-rl arena a=runs/long_nardy/2026-11-30_12-00-00-default b=pips
  nardy-rl arena a=RUN1 b=RUN2 games=100000 seed=7
  nardy-rl arena a=pips b=random variant=backgammon variant.options.hit_run=no_hide
"""

EVALUATORS = ("auto", "kernel", "float32", "bfloat16")

SETTINGS: dict[str, Callable[[str], Any]] = {
    "a": str,
    "b": str,
    "games": words.whole(2, 10**9),
    "variant": str,
    "variant.options.": str,
    "seed": words.whole(0),
    "ply_cap": words.whole(1, 65535),
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}

OPTIONS = "variant.options."
LINE_SECONDS = 10.0
"""Time between two lines of progress where there is no terminal."""

INTERRUPTED = 130

SHORT = 12
"""Longer names, such as paths, are `a` and `b` in the table; above it stands who is who."""


def run(given: list[str]) -> int:
    """Play the match that the words ask for and print its table."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    for side in ("a", "b"):
        if not settings.get(side):
            raise ConfigError(f"{side} is missing: {side}=random, pips, or a checkpoint or run")

    from rich.console import Console

    from nardy_rl.arena import PLY_CAP, play_match
    from nardy_rl.arena.report import print_results
    from nardy_rl.rules import set_threads
    from nardy_rl.train.stopping import StopSignals

    rules = _rules(settings)
    set_threads(settings.get("threads", 0))
    a, b = (_player(side, settings, rules) for side in ("a", "b"))
    games, seed = settings.get("games", 10_000), settings.get("seed", 1)
    ply_cap = settings.get("ply_cap", PLY_CAP)
    console = Console()
    for side, player in (("a", a), ("b", b)):
        evaluator = getattr(player, "evaluator", None)
        computed = f", computed by {evaluator.name}" if evaluator is not None else ""
        console.print(f"{side}: {player.name}{computed}", **_PLAIN)
    # What goes on is for stderr: the result alone is the output.
    with StopSignals() as signals, _progress(Console(stderr=True), games) as progress:
        result = play_match(
            rules,
            a,
            b,
            games,
            seed=seed,
            ply_cap=ply_cap,
            progress=progress,
            should_stop=signals.wanted,
        )
    shown = dataclasses.replace(
        result,
        a=a.name if len(a.name) <= SHORT else "a",
        b=b.name if len(b.name) <= SHORT else "b",
    )
    print_results(console, [shown], f"{_described(rules)}, seed {seed}")
    return INTERRUPTED if signals.wanted() else 0


_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}


def _rules(settings: Mapping[str, Any]) -> Rules:
    """The game asked for, or the one that a player learned; with the options asked for."""
    from nardy_rl.players import rules_of
    from nardy_rl.rules import variant

    options = {
        name.removeprefix(OPTIONS): value
        for name, value in settings.items()
        if name.startswith(OPTIONS)
    }
    if "variant" in settings:
        return variant(settings["variant"], **options)
    for side in ("a", "b"):
        with _naming(side):
            learned = rules_of(settings[side])
        if learned is not None:
            known = {option.name: option.value for option in learned.options()}
            return variant(learned.name, **{**known, **options})
    return variant("long_nardy", **options)


def _player(side: str, settings: Mapping[str, Any], rules: Rules) -> Player:
    from nardy_rl.players import make_player

    with _naming(side):
        return make_player(settings[side], rules, evaluator=settings.get("evaluator", "auto"))


@contextmanager
def _naming(side: str) -> Iterator[None]:
    """Errors of a player say which one it was to be."""
    try:
        yield
    except (CheckpointError, ConfigError) as error:
        raise type(error)(f"{side}: {error}") from error


def _described(rules: Rules) -> str:
    """The variant, and the options in which it is not what its name says."""
    from nardy_rl.rules import variant

    usual = {option.name: option.value for option in variant(rules.name).options()}
    changed = [f"{o.name}={o.value}" for o in rules.options() if usual[o.name] != o.value]
    return f"{rules.name} with {', '.join(changed)}" if changed else rules.name


@contextmanager
def _progress(console: Console, games: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, now and then a line elsewhere; yields what to tell games played to."""
    if not console.is_terminal:
        due = time.perf_counter() + LINE_SECONDS

        def say(played: int) -> None:
            nonlocal due
            if time.perf_counter() >= due and played < games:
                due = time.perf_counter() + LINE_SECONDS
                console.print(f"{played:,} of {games:,} games", **_PLAIN)

        yield say
        return

    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("games", total=games)
        yield lambda played: bar.update(task, completed=played)

"""`nardy-rl arena`: a match of two players on duplicate dice."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import (
    EVALUATORS,
    INTERRUPTED,
    OPTIONS,
    PLAIN,
    described,
    naming,
    progress_of,
    rules_for,
)
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
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

SETTINGS: dict[str, Callable[[str], Any]] = {
    "a": str,
    "b": str,
    "games": words.whole(2, 10**9),
    "variant": str,
    OPTIONS: str,
    "seed": words.whole(0),
    "ply_cap": words.whole(1, 65535),
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}

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

    rules = rules_for(settings, [(side, settings[side]) for side in ("a", "b")])
    set_threads(settings.get("threads", 0))
    a, b = (_player(side, settings, rules) for side in ("a", "b"))
    games, seed = settings.get("games", 10_000), settings.get("seed", 1)
    ply_cap = settings.get("ply_cap", PLY_CAP)
    console = Console()
    for side, player in (("a", a), ("b", b)):
        evaluator = getattr(player, "evaluator", None)
        computed = f", computed by {evaluator.name}" if evaluator is not None else ""
        console.print(f"{side}: {player.name}{computed}", **PLAIN)
    # What goes on is for stderr: the result alone is the output.
    with StopSignals() as signals, progress_of(Console(stderr=True), games, "games") as progress:
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
    print_results(console, [shown], f"{described(rules)}, seed {seed}")
    return INTERRUPTED if signals.wanted() else 0


def _player(side: str, settings: Mapping[str, Any], rules: Rules) -> Player:
    from nardy_rl.players import make_player

    with naming(side):
        return make_player(settings[side], rules, evaluator=settings.get("evaluator", "auto"))

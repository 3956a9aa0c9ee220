"""`nardy-rl arena`: two players, duplicate dice, a table."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from typing import Any

from nardy_rl.cli import words
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.rules.record import Rules

HELP = """\
usage: nardy-rl arena a=PLAYER b=PLAYER [name=value ...]

A player is `random`, `pips` (the furthest-behind race), the folder of a run (its newest net) or of
one checkpoint. Games come in pairs: the same dice twice, the seats exchanged, so that a player
against itself scores exactly 0. Figures are those of a, ± one standard error.

  a, b          the players
  games         how many; 10000
  variant       the game; that of a net that plays, else long_nardy
  variant.options.NAME=VALUE    a house rule, as in `nardy-rl variants NAME`
  seed          of the dice; 1
  ply_cap       decisions after which a game is truncated and not scored; 2000
  evaluator     how nets are computed: auto, kernel, float32, bfloat16
  threads       processor threads; 0: all

Ctrl-C ends the match early and shows what was played.

examples:
  nardy-rl arena a=runs/long_nardy/2026-11-30_12-00-00-default b=pips
  nardy-rl arena a=RUN/checkpoints/games-000100000 b=RUN/checkpoints/games-000050000 games=2000
  nardy-rl arena a=pips b=random variant=tavla games=1000 seed=7
"""

OPTION = "variant.options."

KNOWN: dict[str, Callable[[str], Any]] = {
    "a": str,
    "b": str,
    "games": words.whole(2),
    "seed": words.whole(0),
    "ply_cap": words.whole(1),
    "variant": str,
    OPTION: str,
    "evaluator": words.one_of("auto", "kernel", "float32", "bfloat16"),
    "threads": words.whole(0),
}


def run(given: list[str]) -> int:
    """Play the match that the words describe and print its table."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    options = words.read(given, KNOWN)
    for player in ("a", "b"):
        if not options.get(player):
            raise ConfigError(f"{player}: who plays? random, pips, or the path of a run")

    from rich.console import Console
    from rich.progress import Progress

    from nardy_rl.arena import PLY_CAP, play_match
    from nardy_rl.arena.report import print_results
    from nardy_rl.players import make_player
    from nardy_rl.rules.parallel import set_threads
    from nardy_rl.train.stopping import StopSignals

    rules = _rules(options)
    evaluator = options.get("evaluator", "auto")
    a, b = (make_player(options[player], rules, evaluator=evaluator) for player in ("a", "b"))
    games, seed = options.get("games", 10_000), options.get("seed", 1)
    set_threads(options.get("threads", 0))
    # The bar goes to stderr: the table alone is the output.
    bar = Progress(console=Console(stderr=True), transient=True)
    with StopSignals() as signals, bar:
        task = bar.add_task("games", total=games)
        result = play_match(
            rules,
            a,
            b,
            games,
            seed=seed,
            ply_cap=options.get("ply_cap", PLY_CAP),
            progress=lambda done: bar.update(task, completed=done),
            should_stop=signals.wanted,
        )
    print_results(Console(), [result], title=f"{rules.name}, seed {seed}")
    return 0


def _rules(options: Mapping[str, Any]) -> Rules:
    """The game asked for; without a name, the one that a net among the players learned."""
    from nardy_rl.players.making import rules_of
    from nardy_rl.rules.record import variant

    changed = {k.removeprefix(OPTION): v for k, v in options.items() if k.startswith(OPTION)}
    if "variant" in options:
        return variant(options["variant"], **changed)
    learned = rules_of(options["a"]) or rules_of(options["b"]) or variant("long_nardy")
    return variant(learned.name, **{o.name: o.value for o in learned.options()} | changed)

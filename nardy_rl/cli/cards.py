"""`nardy-rl cards`: the figures of trained nets, in their cards and as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import INTERRUPTED, naming, progress_of
from nardy_rl.errors import CheckpointError, ConfigError

HELP = """\
nardy-rl cards: the figures of trained nets, in their cards and as a table

usage: nardy-rl cards [folder=checkpoints] [readme=README.md]
       nardy-rl cards measure=FOLDER against=PLAYER [games=10000] [seed=1]
       nardy-rl cards ship=RUN to=FOLDER weaknesses=TEXT [overwrite=true]

The first prints the table of all nets in a folder, as Markdown, or writes it into a page, between
the lines that mark its place. The second plays a match and writes what came of it into the net's
card.json, with its 95 % interval, the command, the machine and the commit. The third gives the
newest net of a run a folder of its own, without what only resuming needs.

settings and what they are by default:
  folder=checkpoints   whose nets the table has
  readme          a page with the two lines that mark the table's place
  measure         a checkpoint's folder, of which the card is written
  against         a player, as `nardy-rl arena --help` names them
  games=10000     of the match
  seed=1          of its dice
  ship            a run or a checkpoint
  to              the folder it gets, such as checkpoints/backgammon
  weaknesses      what is known that the net does badly; stands in its card
  overwrite=false whether a checkpoint in that folder may be replaced

examples:
  nardy-rl cards
  nardy-rl cards measure=checkpoints/backgammon against=pubeval games=100000
  nardy-rl cards ship=RUN to=checkpoints/tavla "weaknesses=back games"
"""

SETTINGS: dict[str, Callable[[str], Any]] = {
    "folder": str,
    "readme": str,
    "measure": str,
    "against": str,
    "games": words.whole(4, 10**9),
    "seed": words.whole(0),
    "ship": str,
    "to": str,
    "weaknesses": str,
    "overwrite": words.one_of("true", "false"),
}

_TOGETHER: tuple[tuple[set[str], set[str]], ...] = (
    ({"measure", "against"}, {"games", "seed"}),
    ({"ship", "to", "weaknesses"}, {"overwrite"}),
    (set(), {"folder", "readme"}),
)
"""Settings that one use of the verb needs, and those that it takes besides."""


def run(given: list[str]) -> int:
    """Do what the words ask for."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    needed, more = next(use for use in _TOGETHER if not use[0] or use[0] & set(settings))
    for name in sorted(needed - set(settings)):
        raise ConfigError(f"{name} is missing: it goes with {', '.join(sorted(needed - {name}))}")
    for name in settings:
        if name not in needed | more:
            raise ConfigError(f"{name}: does not go with {', '.join(sorted(needed)) or 'folder'}")
    if "measure" in settings:
        return _measure(settings)
    if "ship" in settings:
        return _ship(settings)
    return _table(settings)


def _measure(settings: dict[str, Any]) -> int:
    """Play the match and write it into the card."""
    from rich.console import Console

    from nardy_rl.arena import play_match
    from nardy_rl.arena.cards import add_figure, match_figure
    from nardy_rl.players import make_player
    from nardy_rl.train.checkpoint import load_checkpoint
    from nardy_rl.train.stopping import StopSignals

    folder = Path(settings["measure"])
    if not (folder / "card.json").is_file():
        raise CheckpointError(f"measure: {folder} is no checkpoint's folder: it has no card.json")
    rules = load_checkpoint(folder).rules
    games, seed = settings.get("games", 10_000), settings.get("seed", 1)
    with naming("measure"):
        net = make_player(str(folder), rules)
    with naming("against"):
        other = make_player(settings["against"], rules)
    with StopSignals() as signals, progress_of(Console(stderr=True), games, "games") as progress:
        result = play_match(
            rules, net, other, games, seed=seed, progress=progress, should_stop=signals.wanted
        )
    if signals.wanted():
        print("stopped; the card stays as it was")
        return INTERRUPTED
    command = f"nardy-rl arena a={folder} b={settings['against']} games={games} seed={seed}"
    figure = match_figure(result, settings["against"], command)
    add_figure(folder, figure)
    print(f"{folder}: {figure.what}: {figure}")
    return 0


def _ship(settings: dict[str, Any]) -> int:
    from nardy_rl.arena.cards import ship
    from nardy_rl.train.checkpoint import load_checkpoint

    try:
        checkpoint = load_checkpoint(settings["ship"])
    except CheckpointError as error:
        raise CheckpointError(f"ship: {error}") from error
    folder = ship(
        checkpoint,
        Path(settings["to"]),
        settings["weaknesses"],
        overwrite=settings.get("overwrite") == "true",
    )
    for file in sorted(folder.iterdir()):
        print(f"{file}  {file.stat().st_size:,} bytes")
    return 0


def _table(settings: dict[str, Any]) -> int:
    from nardy_rl.arena.cards import results_table, with_results

    folder = Path(settings.get("folder", "checkpoints"))
    found = sorted(card.parent for card in folder.glob("*/card.json"))
    if not found:
        raise ConfigError(f"folder: there is no net in {folder}; name one with */card.json in it")
    table = results_table(found)
    if "readme" not in settings:
        print(table)
        return 0
    page = Path(settings["readme"])
    new = with_results(page.read_text(encoding="utf-8"), table)
    unfinished = page.with_name(page.name + ".tmp")
    unfinished.write_text(new, encoding="utf-8")
    unfinished.replace(page)
    print(f"{page}: the table of {len(found)} nets is written")
    return 0

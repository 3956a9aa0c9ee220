"""`nardy-rl games`: files of games: listed, converted, and made by playing."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import (
    EVALUATORS,
    OPTIONS,
    PLAIN,
    described,
    naming,
    progress_of,
    rules_for,
)
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.players import Player
    from nardy_rl.records import GameRecord
    from nardy_rl.rules import Rules

HELP = """\
nardy-rl games: files of games: listed, converted, and made by playing

usage: nardy-rl games FILE                      list its games: players, score, plays, result
       nardy-rl games FILE to=OUT               convert it
       nardy-rl games a=PLAYER b=PLAYER to=OUT [name=value ...]     play games and write them down

The ending of a name says the format:
  .jsonl          our own, one game a line: every variant, ladders, draws, the cube; docs/games.md
  .mat            text of Jellyfish and GNU Backgammon: one match of backgammon, nackgammon or
                  hypergammon by the usual rules
  .sgf            GNU Backgammon's own: the same games
Every file is played through by the rules when it is read: an illegal play is named, by game and
move, and nothing is written.

settings and what they are by default:
  to=OUT          the file to write, whole or not at all
  overwrite=false true writes over a file that is there
  a=, b=          the players, of seats 0 and 1; any of `nardy-rl arena --help`
  games=10        games to play
  variant=NAME    the game; by default the one that a or b learned, long_nardy where neither did
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  seed=1          of the dice: the same seed and players make the same games
  ply_cap=2000    decisions after which a game is broken off: unfinished
  threads=0       processor threads, 0 for all there are; results do not depend on them
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

examples:
  nardy-rl games evening.mat
  nardy-rl games evening.mat to=evening.jsonl
  nardy-rl games a=checkpoints/backgammon b=pips games=5 to=five.sgf
  nardy-rl games a=pips b=random variant=gul_bara games=100 to=gul_bara.jsonl
  nardy-rl analyse game=evening.mat player=checkpoints/backgammon
"""

GAMES = 10


def _truth(text: str) -> bool:
    """Read true or false."""
    if text not in ("true", "false"):
        raise ValueError("true, false")
    return text == "true"


SETTINGS: dict[str, Callable[[str], Any]] = {
    "to": str,
    "overwrite": _truth,
    "a": str,
    "b": str,
    "games": words.whole(1, 100_000),
    "variant": str,
    OPTIONS: str,
    "seed": words.whole(0),
    "ply_cap": words.whole(1, 65535),
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}

_OF_A_FILE = ("to", "overwrite")


def run(given: list[str]) -> int:
    """List, convert or play, as the words ask."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    files = [word for word in given if "=" not in word]
    settings = words.read([word for word in given if word not in files], SETTINGS)
    _check(files, settings)

    from rich.console import Console

    from nardy_rl.records import check_writable, read_games, write_games

    if settings.get("to") == "":
        raise ConfigError("to: is empty; name a file that ends in .jsonl, .mat or .sgf")
    to, overwrite = settings.get("to"), settings.get("overwrite", False)
    if to:
        with naming("to"):
            check_writable(to, overwrite=overwrite)
    console = Console()
    games = read_games(files[0]) if files else _played(settings)
    if not to:
        _list(console, games)
        return 0
    with naming("to"):
        write_games(to, games, overwrite=overwrite)
    console.print(f"written: {to}, {len(games):,} game{'s' * (len(games) > 1)}", **PLAIN)
    return 0


def _check(files: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    players = [side for side in ("a", "b") if settings.get(side)]
    if len(files) > 1:
        raise ConfigError(f"one file is read at a time; given: {', '.join(files)}")
    if files and len(settings) > sum(name in settings for name in _OF_A_FILE):
        named = next(name for name in settings if name not in _OF_A_FILE)
        raise ConfigError(f"{named} goes with playing (a=, b=); a file has its games already")
    if not files and not players:
        raise ConfigError("a file of games is missing, or a=PLAYER b=PLAYER who play some")
    if not files and len(players) < 2:
        missing = "b" if players == ["a"] else "a"
        raise ConfigError(f"{missing} is missing: {missing}=PLAYER, such as pips or a checkpoint")
    if players and not settings.get("to"):
        raise ConfigError("to is missing: to=OUT.jsonl, where the games are written")
    if "overwrite" in settings and not settings.get("to"):
        raise ConfigError("overwrite goes with to=OUT")


def _played(settings: Mapping[str, Any]) -> tuple[GameRecord, ...]:
    """The games of two players."""
    from rich.console import Console

    from nardy_rl.arena.recording import PLY_CAP, play_and_record
    from nardy_rl.records import check_writable
    from nardy_rl.rules import set_threads

    rules = rules_for(settings, [(side, settings[side]) for side in ("a", "b")])
    with naming("to"):
        check_writable(settings["to"], overwrite=settings.get("overwrite", False), rules=rules)
    set_threads(settings.get("threads", 0))
    a, b = (_player(side, settings, rules) for side in ("a", "b"))
    count = settings.get("games", GAMES)
    with progress_of(Console(stderr=True), count, "games") as progress:
        return play_and_record(
            rules,
            a,
            b,
            count,
            seed=settings.get("seed", 1),
            ply_cap=settings.get("ply_cap", PLY_CAP),
            progress=progress,
        )


def _player(side: str, settings: Mapping[str, Any], rules: Rules) -> Player:
    from nardy_rl.players import make_player

    with naming(side):
        return make_player(settings[side], rules, evaluator=settings.get("evaluator", "auto"))


def _list(console: Console, games: Sequence[GameRecord]) -> None:
    """A line a game."""
    from rich.console import Console
    from rich.table import Table

    from nardy_rl.records import describe

    table = Table(box=None, pad_edge=False)
    for name in ("game", "variant", "seat 0", "seat 1", "match", "score", "begins", "plays"):
        table.add_column(name, justify="right" if name in ("game", "plays") else "left")
    table.add_column("result")
    for game in games:
        length = game.terms.length
        match = "money" if length is None else f"to {length}"
        table.add_row(
            str(game.number),
            described(game.rules),
            *game.players,
            f"{match}, Crawford game" if game.crawford_game else match,
            f"{game.score[0]:g}:{game.score[1]:g}",
            game.players[game.starter],
            f"{len(game.decisions):,}",
            describe(game.result, game.players),
        )
    wide = console if console.is_terminal else Console(file=console.file, width=10_000)
    wide.print(table, highlight=False, markup=False)

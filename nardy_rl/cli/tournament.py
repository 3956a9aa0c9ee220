"""`nardy-rl tournament`: every player against every other, a cross-table and ratings."""

from __future__ import annotations

import errno
import os
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.near import did_you_mean
from nardy_rl.cli.playing import (
    EVALUATORS,
    INTERRUPTED,
    OPTIONS,
    PLAIN,
    described,
    progress_of,
    rules_for,
)
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.arena.entrants import Entrant
    from nardy_rl.arena.tournament import Anchor, Tournament
    from nardy_rl.rules import Rules
    from nardy_rl.search import Valuer

HELP = """\
nardy-rl tournament: every player against every other, on the same dice

usage: nardy-rl tournament players=[PLAYER,PLAYER,...] [name=value ...]

PLAYERs are those of `nardy-rl arena --help`, two or more, without blanks or commas in their paths.

settings and what they are by default:
  games=10000     games of each match, in pairs: the same dice twice, the seats exchanged
  variant=NAME    the game; by default the one that the first net learned, else long_nardy
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  seed=1          of the dice: the same seed repeats every match exactly
  ply_cap=2000    turns after which a game is broken off and not scored
  luck=PATH       a net that measures the luck of the dice, to be taken out of points a game;
                  by default none
  anchor=PLAYER:ELO   whose rating is fixed, and at what; by default random:0, without it the
                  first player at 0
  alpha=0.5       wins added either way to each match, so that one who lost them all has a rating
  draws=1000      bootstrap samples for the intervals of ratings
  store=FOLDER    where results go, one Parquet file a match; by default results/VARIANT.parquet
  out=FOLDER      where crosstable.md, .html and .png go; by default
                  results/tournaments/DATE_TIME-VARIANT
  fresh=false     true: play every match, whatever the store holds
  threads=0       processor threads, 0 for all there are; results do not depend on them
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

Every match goes into the store as it ends. Ctrl-C ends the tournament and shows what is finished;
the same command then plays the matches that are missing. A match counts as played if the same
players (by the sha256 of their weights) had it on the same dice by the same commit of nardy_rl.

  python -c "import pandas; print(pandas.read_parquet('results/long_nardy.parquet'))"

examples:
  nardy-rl tournament players=[random,pips,checkpoints/long_nardy]
  nardy-rl tournament players=[RUN1,RUN2,pips] games=100000 anchor=pips:1000
  nardy-rl tournament players=[random,pips] variant=backgammon out=here
"""


def run(given: list[str]) -> int:
    """Play the tournament that the words ask for, print and write its tables."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    if not settings.get("players"):
        raise ConfigError("players is missing: players=[random,pips,PATH], two or more")

    from rich.console import Console

    from nardy_rl.arena.crosstable import print_tournament, write_reports
    from nardy_rl.arena.entrants import entrants, luck_judge
    from nardy_rl.rules import set_threads

    texts = settings["players"]
    rules = rules_for(settings, [("players", text) for text in texts])
    set_threads(settings.get("threads", 0))
    anchor = _anchor(settings.get("anchor"), texts)
    evaluator = settings.get("evaluator", "auto")
    players = entrants(texts, rules, evaluator=evaluator)
    luck = settings.get("luck")
    judge = luck_judge(luck, rules, evaluator=evaluator) if luck is not None else None
    store = Path(settings.get("store") or f"results/{rules.name}.parquet")
    out = _out(settings.get("out"), rules)
    try:
        tournament = _play(settings, rules, players, judge, anchor, store)
    except BaseException:
        _leave(out)
        raise
    stopped = not tournament.complete
    console = Console()
    title = f"{described(rules)}, seed {tournament.seed}"
    if tournament.matches:
        print_tournament(console, tournament, title)
        for file in write_reports(tournament, out, title):
            console.print(f"written: {file}", **PLAIN)
    _leave(out)
    console.print(f"results: {store}", **PLAIN)
    if tournament.others:
        console.print(
            f"{tournament.others} of these matches are there as another commit of nardy_rl "
            "played them, and were played again",
            **PLAIN,
        )
    if stopped:
        console.print("stopped; the same command goes on with the missing matches", **PLAIN)
    return INTERRUPTED if stopped else 0


def _play(
    settings: Mapping[str, Any],
    rules: Rules,
    players: Sequence[Entrant],
    luck: tuple[Valuer, str] | None,
    anchor: Anchor,
    store: Path,
) -> Tournament:
    """The tournament, with progress; incomplete where a signal cut it short."""
    from rich.console import Console

    from nardy_rl.arena.tournament import play_tournament
    from nardy_rl.train.stopping import StopSignals

    games = settings.get("games", 10_000)
    matches = len(players) * (len(players) - 1) // 2
    # What goes on is for stderr: the tables alone are the output.
    aside = Console(stderr=True)
    _say_who(aside, players)
    total = matches * (games + games % 2)
    how = {name: settings[name] for name in ("ply_cap", "alpha", "draws") if name in settings}
    with StopSignals() as signals, progress_of(aside, total, "games") as progress:
        tournament = play_tournament(
            rules,
            players,
            games,
            seed=settings.get("seed", 1),
            luck=luck,
            anchor=anchor,
            store=store,
            fresh=settings.get("fresh", False),
            progress=progress,
            finished=lambda result: aside.print(str(result), **PLAIN),
            should_stop=signals.wanted,
            **how,
        )
    if tournament.reused:
        aside.print(f"{tournament.reused} of {matches} matches were in {store}", **PLAIN)
    return tournament


def _say_who(console: typing.Any, players: Sequence[Entrant]) -> None:
    for entrant in players:
        if entrant.source:
            known = f"{entrant.source}, sha256 {entrant.sha256[:12]}"
            console.print(f"{entrant.label}: {known}", **PLAIN)


def _anchor(text: str | None, players: Sequence[str]) -> Anchor:
    """PLAYER or PLAYER:ELO; by default `random`, without it the first player, at 0."""
    from nardy_rl.arena.entrants import short_names
    from nardy_rl.arena.tournament import Anchor

    if text is None:
        return Anchor(list(players).index("random") if "random" in players else 0)
    names = [*players, *short_names(players)]
    name, colon, elo = text.rpartition(":")
    if text in names or not colon:
        name, elo = text, "0"
    if name not in names:
        raise ConfigError(
            f"anchor: {name!r} is not among the players{did_you_mean(name, names)}; "
            f"there are: {', '.join(players)}"
        )
    try:
        value = float(elo)
    except ValueError:
        value = float("nan")
    if not abs(value) <= MOST_ELO:
        raise ConfigError(f"anchor: {elo!r} is not allowed; allowed: PLAYER:ELO, ELO -1e5 to 1e5")
    return Anchor(names.index(name) % len(players), value)


def _out(given: str | None, rules: Rules) -> Path:
    """Where reports go, made: hours of games must not end in a folder that cannot be."""
    out = Path(given or f"results/tournaments/{time.strftime('%Y-%m-%d_%H-%M-%S')}-{rules.name}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ConfigError(
            f"out: {out} cannot be written ({error.strerror}); name another folder"
        ) from error
    return out


def _leave(out: Path) -> None:
    """Take the folder away again if nothing came into it."""
    if not any(out.iterdir()):
        out.rmdir()


def _players(text: str) -> list[str]:
    """Read `[a,b,c]`, the brackets being optional."""
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    names = [name.strip().strip("'\"") for name in inner.split(",")]
    if not all(names) or "[" in inner or "]" in inner:
        raise ValueError("names or paths with commas between them, as in [random,pips]")
    return names


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("a path")
    return text


MOST_ELO = 1e5

SETTINGS: dict[str, Callable[[str], Any]] = {
    "players": _players,
    "games": words.whole(2, 10**9),
    "variant": str,
    OPTIONS: str,
    "seed": words.whole(0),
    "ply_cap": words.whole(1, 65535),
    "luck": _filled,
    "anchor": str,
    "alpha": words.positive,
    "draws": words.whole(2, 1_000_000),
    "store": _filled,
    "out": _filled,
    "fresh": lambda text: words.one_of("true", "false")(text) == "true",
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}

"""`nardy-rl analyse`: what each play of a roll is worth, or what a recorded game lost."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import OPTIONS, PLAIN, described, naming, progress_of, rules_for
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]
    from rich.console import Console

    from nardy_rl.analysis import PlayedDecision
    from nardy_rl.rules import Position
    from nardy_rl.search import Valuer

HELP = """\
nardy-rl analyse: what each play of a roll is worth, or what a recorded game lost

usage: nardy-rl analyse position=ID roll=31 player=PLAYER [name=value ...]
       nardy-rl analyse position=ID player=PLAYER          the 21 rolls, each with its best play
       nardy-rl analyse game=FILE player=PLAYER            losses and luck of recorded decisions

PLAYER is whose values: a checkpoint, a run or an exported net, gnubg, or an exact table; see
`nardy-rl arena --help`. PATH@rollout plays on from the best few and states standard errors.

settings and what they are by default:
  position=ID     a position's id, or start (of variant=)
  roll=31         the dice: 31, 3-1 or 3,1
  game=FILE       games as `nardy-rl games` reads them: .jsonl, .mat, .sgf; or JSON lines of single
                  decisions {"id": "...", "roll": [6, 5], "play": "24/13"}, points by distance to
                  go; "player": "NAME" says whose it was
  plies=0         look so many plies ahead, 0 to 3; a filter keeps the plays that are worth it
  numbering=point of the points: point (24 farthest) or hole (1 farthest)
  top=10          plays to show, 0 for all
  worst=3         game=: worst plays to show with their boards
  out=FOLDER      write the whole table as CSV there, and pictures of the best or worst plays
  variant=NAME    position=start: the game; by default the one that PLAYER learned
  variant.options.X=Y   a house rule
  threads=0       processor threads, 0 for all there are; results do not depend on them

Equities are points for the player to move. Loss is points below the best play, the error rate
thousandths of a point a decision that had a choice. Luck is what a roll was worth above the mean
of all rolls, at 0 plies.

examples:
  nardy-rl analyse position=start roll=31 player=checkpoints/backgammon plies=2
  nardy-rl analyse position=long_nardy.1BByYLotaNGV_vOP player=checkpoints/long_nardy
  nardy-rl analyse game=evening.jsonl player=checkpoints/long_nardy out=evening
  nardy-rl analyse game=match.mat player=checkpoints/backgammon worst=5
"""

NUMBERINGS = {"point": "distance", "hole": "hole"}
PICTURES = 3


def _roll(text: str) -> tuple[int, int]:
    """Read two dice."""
    found = re.fullmatch(r"([1-6])\s*[-,x/ ]?\s*([1-6])", text.strip())
    if found is None:
        raise ValueError("two dice of 1..6, such as 31")
    return int(found[1]), int(found[2])


SETTINGS: dict[str, Callable[[str], Any]] = {
    "position": str,
    "roll": _roll,
    "game": str,
    "player": str,
    "plies": words.whole(0, 3),
    "numbering": words.one_of(*NUMBERINGS),
    "top": words.whole(0, 10_000),
    "worst": words.whole(0, 10_000),
    "out": str,
    "variant": str,
    OPTIONS: str,
    "threads": words.whole(0, 4096),
}


def run(given: list[str]) -> int:
    """Analyse what the words ask for, print it, and write it where they say."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    _check(settings)

    from rich.console import Console

    from nardy_rl.rules import set_threads

    set_threads(settings.get("threads", 0))
    out = Path(settings["out"]) if settings.get("out") else None
    console = Console()
    if settings.get("game"):
        files = _game(settings, console, pictures=out is not None)
    elif "roll" in settings:
        files = _plays(settings, console)
    else:
        files = _rolls(settings, console)
    if out is not None:
        _write(out, files)
        console.print(f"written: {out}, {', '.join(files)}", **PLAIN)
    return 0


def _check(settings: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    if not settings.get("player"):
        raise ConfigError("player is missing: player=PATH of a checkpoint or run, or gnubg")
    if bool(settings.get("position")) == bool(settings.get("game")):
        raise ConfigError("position=ID (or start) or game=FILE is needed, one of them")
    if settings.get("game") and "roll" in settings:
        raise ConfigError("roll goes with position=; a game has its own rolls")
    if settings.get("position") and "worst" in settings:
        raise ConfigError("worst goes with game=; plays of a position are counted by top=")
    named = [name for name in settings if name == "variant" or name.startswith(OPTIONS)]
    if named and settings.get("position") != "start":
        raise ConfigError(f"{named[0]} goes with position=start; an id says its game")


def _plays(settings: Mapping[str, Any], console: Console) -> dict[str, str]:
    """The plays of one roll; returns files to write, by name."""
    from nardy_rl.analysis import analyse
    from nardy_rl.viz import board_svg

    position, numbering = _position(settings), _numbering(settings)
    valuer = _valuer(settings, position)
    roll = settings["roll"]
    frame = analyse(position, roll, valuer, numbering=numbering)
    _draw(console, position, numbering)
    console.print(
        f"\n{described(position.rules)}: X plays {roll[0]}-{roll[1]}, by {valuer.name}", **PLAIN
    )
    if frame["play"].iloc[0] == "pass":
        console.print("no legal play: the turn passes", **PLAIN)
    _table(console, frame, settings.get("top", 10))
    files = {"analysis.csv": frame.to_csv()}
    plays = position.plays(roll)
    for rank, choice in enumerate(frame.index[:PICTURES], start=1):
        files[f"play_{rank:02d}.svg"] = board_svg(position, plays[choice], numbering=numbering)
    return files


def _rolls(settings: Mapping[str, Any], console: Console) -> dict[str, str]:
    """The 21 rolls of a position; likewise."""
    from nardy_rl.analysis import preroll
    from nardy_rl.viz import board_svg

    position, numbering = _position(settings), _numbering(settings)
    valuer = _valuer(settings, position)
    found = preroll(position, valuer, numbering=numbering)
    _draw(console, position, numbering)
    console.print(
        f"\n{described(position.rules)}: X to roll, by {valuer.name}: equity {found.equity:+.4f}",
        **PLAIN,
    )
    _table(console, found.rolls, 0)
    return {
        "rolls.csv": found.rolls.to_csv(index=False),
        "position.svg": board_svg(position, numbering=numbering),
    }


def _game(settings: Mapping[str, Any], console: Console, *, pictures: bool) -> dict[str, str]:
    """The decisions of a file; likewise."""
    from rich.console import Console

    from nardy_rl.analysis import analyse_decisions, error_rates, read_decisions

    with naming("game"):
        played = read_decisions(settings["game"])
    numbering = _numbering(settings)
    valuer = _valuer(settings, played[0].position)
    with progress_of(Console(stderr=True), len(played), "decisions") as progress:
        frame = analyse_decisions(played, valuer, numbering=numbering, progress=progress)
    console.print(
        f"{described(played[0].position.rules)}, {len(played):,} decisions, by {valuer.name}",
        **PLAIN,
    )
    _table(console, error_rates(frame).reset_index(), 0)
    if frame["game"].nunique() > 1:
        console.print("\nby game:", **PLAIN)
        _table(console, error_rates(frame, ("game", "player")).reset_index(), 0)
    files = {"decisions.csv": frame.to_csv(index=False)}
    lost = frame[frame["loss"] > 0].sort_values("loss", ascending=False, kind="stable")
    for rank, (at, row) in enumerate(lost.head(settings.get("worst", 3)).iterrows(), start=1):
        one = played[int(at)]
        console.print(f"\n{rank}. {_said(row)}", **PLAIN)
        _draw(console, one.position, numbering)
        if pictures:
            files |= _pictures(one, row["best"], numbering, rank)
    return files


def _said(row: Mapping[str, Any]) -> str:
    """One line of a decision that lost."""
    who = f"{row['player']}, " if row["player"] else ""
    error = f" ± {row['se']:.4f}" if row["se"] == row["se"] else ""
    where = f"game {row['game']}, move {row['move']}" if row["game"] else f"line {row['line']}"
    return (
        f"{where}: {who}{row['roll']}: played {row['play']}, best {row['best']}; lost "
        f"{row['loss']:.4f}{error}, luck {row['luck']:+.4f}"
    )


def _pictures(one: PlayedDecision, best: str, numbering: str, rank: int) -> dict[str, str]:
    from nardy_rl.notation import parse_play
    from nardy_rl.viz import board_svg

    better = parse_play(one.position, one.play.roll, best, numbering)
    return {
        f"worst_{rank:02d}_{name}.svg": board_svg(one.position, play, numbering=numbering)
        for name, play in (("played", one.play), ("best", better))
    }


def _position(settings: Mapping[str, Any]) -> Position:
    """The position asked for."""
    from nardy_rl.notation import from_id
    from nardy_rl.rules import Position

    if settings["position"] == "start":
        return Position.start(rules_for(settings, [("player", settings["player"])]))
    with naming("position"):
        return from_id(settings["position"])


def _valuer(settings: Mapping[str, Any], position: Position) -> Valuer:
    from nardy_rl.analysis import valuer_for

    plies = settings.get("plies", 0)
    with naming("player"):
        return valuer_for(settings["player"], position.rules, plies)


def _numbering(settings: Mapping[str, Any]) -> str:
    return NUMBERINGS[settings.get("numbering", "point")]


def _draw(console: Console, position: Position, numbering: str) -> None:
    from nardy_rl.notation import board_text

    console.print(board_text(position, numbering), **PLAIN)


def _table(console: Console, frame: DataFrame, top: int) -> None:
    """The first `top` rows, 0 for all; columns that say nothing are left out."""
    from rich.console import Console
    from rich.table import Table

    shown = frame.dropna(axis="columns", how="all")
    shown = shown.head(top) if top else shown
    table = Table(box=None, pad_edge=False)
    table.add_column("", justify="right")
    for name in shown.columns:
        left = name in ("play", "method", "player", "roll")
        header = f"{name} %" if _is_share(name) else name.replace("_", " ")
        table.add_column(header, justify="left" if left else "right", no_wrap=True)
    for rank, row in enumerate(shown.itertuples(index=False), start=1):
        cells = (_cell(n, value) for n, value in zip(shown.columns, row, strict=True))
        table.add_row(str(rank), *cells)
    # Off a terminal as wide as it needs to be, as every table of ours.
    wide = console if console.is_terminal else Console(file=console.file, width=10_000)
    wide.print(table, highlight=False, markup=False)
    if len(shown) < len(frame):
        console.print(f"and {len(frame) - len(shown)} more: top=0 shows all", **PLAIN)


def _is_share(name: str) -> bool:
    return name == "chance" or name.startswith("P(")


def _cell(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value != value:
        return ""
    if name in ("decisions", "unforced", "game"):
        return f"{value:,}"
    if name == "error_rate":
        return f"{value:.1f}"
    if _is_share(name):
        return f"{100 * value:.1f}"
    return f"{value:+.4f}" if name in ("equity", "luck") else f"{value:.4f}"


def _write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, over those of an earlier analysis."""
    folder.mkdir(parents=True, exist_ok=True)
    # Pictures of an earlier analysis would be taken for this one's.
    for old in (*folder.glob("play_??.svg"), *folder.glob("worst_??_*.svg")):
        old.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")

"""`nardy-rl solve`: the exact values of a small game, as a table on disk."""

from __future__ import annotations

import math
import time
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import INTERRUPTED, LINE_SECONDS, OPTIONS, PLAIN, described
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.rules import Rules
    from nardy_rl.solve import ExactTable, Progress

HELP = """\
nardy-rl solve: exact values of small games, as a table on disk

usage: nardy-rl solve variant=NAME [name=value ...]

settings and what they are by default:
  variant         the game: long_nardy_2, long_nardy_3 or hypergammon
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  out=FOLDER      where the table goes; by default tables/NAME, the house rules after it
  tolerance=1e-10 largest Bellman residual, in points: how far any position's value may be from
                  what its 21 rolls, best played, are worth by the values after them
  threads=0       processor threads, 0 for all there are; results do not depend on them

The values are found by the rules' own play generator: games without hits by one sweep in the order
of the pips, games with hits by policy iteration. A last look at every position proves them.
Whatever interrupts it, Ctrl-C or worse: the same command goes on from where it was saved last, at
most a minute before, in FOLDER.work. A table that is there is never overwritten.

The table serves `nardy-rl judge by=exact table=FOLDER`, and as a player: `nardy-rl arena a=FOLDER`.

examples:
  nardy-rl solve variant=long_nardy_3
  nardy-rl solve variant=hypergammon out=tables/hypergammon threads=2
  nardy-rl solve variant=hypergammon variant.options.koks=none tolerance=1e-6
"""

SETTINGS: dict[str, Callable[[str], Any]] = {
    "variant": str,
    OPTIONS: str,
    "out": str,
    "tolerance": words.positive,
    "threads": words.whole(0, 4096),
}

STAGES = {
    "sweep": "sweep by pips",
    "check": "check of all positions",
    "follow": "valuing the choices",
}


def run(given: list[str]) -> int:
    """Solve the game that the words ask for and print what was found."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    if not settings.get("variant"):
        raise ConfigError("variant is missing: variant=long_nardy_2, long_nardy_3 or hypergammon")

    from rich.console import Console

    from nardy_rl.rules import set_threads, variant
    from nardy_rl.solve import TOLERANCE, solve
    from nardy_rl.train.provenance import provenance
    from nardy_rl.train.stopping import StopSignals

    options = {
        name.removeprefix(OPTIONS): value
        for name, value in settings.items()
        if name.startswith(OPTIONS)
    }
    rules = variant(settings["variant"], **options)
    set_threads(settings.get("threads", 0))
    out = Path(settings.get("out") or _usual_folder(rules, options))
    tolerance = settings.get("tolerance", TOLERANCE)
    errors = Console(stderr=True)
    was_there = out.exists()
    with StopSignals() as signals, _shown(errors) as progress:
        table = solve(
            rules,
            out,
            tolerance=tolerance,
            progress=progress,
            should_stop=signals.wanted,
            notes=provenance(),
        )
    if table is None:
        errors.print(f"stopped; the same command goes on from {out}.work", **PLAIN)
        return INTERRUPTED
    _print_table(Console(), table, out, was_there)
    return 0


def _usual_folder(rules: Rules, options: Mapping[str, str]) -> Path:
    changed = [f"{name}={value}" for name, value in sorted(options.items())]
    return Path("tables") / "-".join([rules.name, *changed])


def _print_table(console: Console, table: ExactTable, out: Path, was_there: bool) -> None:
    card = table.card
    lines = [
        f"{described(table.rules)}: {card['positions']:,} positions, largest Bellman residual "
        f"{table.residual:.1e} points",
        f"before the starter's roll  {table.start_value():+.16f} points",
    ]
    if table.rules.opening_roll == "use_opening_dice":
        lines.append(f"winner of the opening roll {table.opening_value():+.16f} points")
    if was_there:
        lines.append(f"{out} was there already")
    else:
        rounds = f"{card['checks']} checks of all positions"
        if card["follow_sweeps"]:
            rounds += f", {card['follow_sweeps']} sweeps by known choices"
        lines += [
            f"{_time(card['seconds'])}, {_time(card['cpu_seconds'])} of processor time, "
            f"at most {card['peak_memory_bytes'] / 1e9:.2f} GB of memory; {rounds}",
            f"written to {out}",
        ]
    for line in lines:
        console.print(line, **PLAIN)


@contextmanager
def _shown(console: Console) -> Iterator[Callable[[Progress], None]]:
    """A bar for each pass on a terminal, now and then a line elsewhere."""
    if not console.is_terminal:
        yield _Lines(console).tell
        return

    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[residual]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=1, residual="")
        current = ""

        def tell(now: typing.Any) -> None:
            nonlocal current
            title = _title(now)
            if title != current and now.stage != "follow":
                bar.reset(task)
            current = title
            bar.update(
                task,
                description=title,
                completed=now.done,
                total=now.total,
                residual=_residual(now),
            )

        yield tell


class _Lines:
    """Lines of progress where there is no terminal, with the time that the pass still takes."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.due = time.monotonic() + LINE_SECONDS
        self.title = ""
        self.begun = time.monotonic()
        self.first = 0

    def tell(self, now: Progress) -> None:
        """Print a line if one is due."""
        title, moment = _title(now), time.monotonic()
        if title != self.title:
            self.title, self.begun, self.first = title, moment, now.done
        if moment < self.due:
            return
        self.due = moment + LINE_SECONDS
        line = title
        if now.stage != "follow":
            line += f"  {now.done:,} of {now.total:,} positions"
            if now.done > self.first:
                pace = (moment - self.begun) / (now.done - self.first)
                line += f", {_time(pace * (now.total - now.done))} left of this pass"
        self.console.print(line + _residual(now), **PLAIN)


def _title(now: Progress) -> str:
    return f"{STAGES[now.stage]} {now.round + 1}" if now.round else STAGES[now.stage]


def _residual(now: Progress) -> str:
    if not math.isfinite(now.residual):
        return ""
    return f"  {'change' if now.stage == 'follow' else 'residual'} {now.residual:.1e}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

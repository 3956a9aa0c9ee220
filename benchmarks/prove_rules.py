"""The long proof: play-generation kernels against the slow reference of tests/.

    python benchmarks/prove_rules.py --count 1000000 --seed 1

Random reachable (position, roll, option set) triples of every family of variants, as in
tests/test_reference.py but as many as asked. The work is cut into numbered stretches that depend
on the seed and their number only: `--skip N` takes up a stopped run after its first N stretches,
another `--seed` proves other positions. Exit status 1 and the first disagreements in full when
there are any.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from nardy_rl.rules import RULES_VERSION, set_threads
from tests.comparison import FAMILIES, Tally, compare

GAMES, TURNS = 4, 250
STRETCH = GAMES * TURNS
SHOWN = 10
SHARES = (
    *("long_nardy", "backgammon", "long_nardy", "nackgammon", "long_nardy", "hypergammon"),
    *("mad_gyulbar", "gul_bara"),
    *("fevga", "moultezim", "plakoto"),
)
"""Most to those with the most sets of options that decide what is legal: long nardy has 240, the
ladder games 7680, the others few."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="triples (default 1000000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="stretches that an earlier run did")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, help="only these")
    args = parser.parse_args()
    if args.count < 1 or args.skip < 0 or args.processes < 1:
        parser.error("--count and --processes must be at least 1, --skip at least 0")

    shares = args.families or SHARES
    stretches = range(args.skip, -(-args.count // STRETCH))
    tasks = [(shares[number % len(shares)], args.seed, number) for number in stretches]
    console = Console()
    began = time.monotonic()
    done: list[tuple[str, Tally]] = []
    stopped = ""
    context = multiprocessing.get_context("spawn")
    with context.Pool(args.processes, initializer=_worker) as pool:
        try:
            # In order, so that --skip can take up from a number.
            for item in _shown(pool.imap(_stretch, tasks), len(tasks), console):
                done.append(item)
        except KeyboardInterrupt:
            stopped = f"stopped, go on with --skip {args.skip + len(done)}; "

    total = Tally.of(tally for _, tally in done)
    for disagreement in total.disagreements[:SHOWN]:
        console.print(disagreement)
    triples: Counter[str] = Counter()
    for name, tally in done:
        triples[name] += tally.triples
    families = ", ".join(f"{name} {count:,}" for name, count in sorted(triples.items()))
    print(
        f"{stopped}rules version {RULES_VERSION}, seed {args.seed}: {total.triples:,} triples "
        f"({families}) under {len(total.option_sets)} option sets, {total.results:,} results, "
        f"{len(total.disagreements)} disagreements, {time.monotonic() - began:.0f} s "
        f"on {args.processes} processes"
    )
    return 1 if total.disagreements else 0


def _worker() -> None:
    """One thread a process, and Ctrl-C is the parent's to answer."""
    set_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stretch(task: tuple[str, int, int]) -> tuple[str, Tally]:
    """One stretch of comparison, in a process of the pool."""
    name, seed, number = task
    return name, Tally.of(compare(name, games=GAMES, turns=TURNS, seed=(seed, number)))


def _shown(
    done: Iterator[tuple[str, Tally]], total: int, console: Console
) -> Iterator[tuple[str, Tally]]:
    """`done`, with a bar on a terminal and a line now and then elsewhere."""
    wrong = 0
    if not console.is_terminal:
        for number, item in enumerate(done, start=1):
            yield item
            wrong += len(item[1].disagreements)
            if number % max(1, total // 20) == 0:
                print(f"{number} of {total} stretches, {wrong} disagreements", flush=True)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TextColumn("stretches, {task.fields[wrong]} disagreements"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("proving", total=total, wrong=0)
        for item in done:
            yield item
            wrong += len(item[1].disagreements)
            progress.update(bar, advance=1, wrong=wrong)


if __name__ == "__main__":
    raise SystemExit(main())

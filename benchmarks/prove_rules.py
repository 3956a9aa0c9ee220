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
from tests.comparison import FAMILIES, Disagreement, Tally, compare

GAMES, TURNS = 4, 250
STRETCH = GAMES * TURNS
SHOWN = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="triples (default 1000000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0, help="stretches that an earlier run did")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    args = parser.parse_args()
    if args.count < 1 or args.skip < 0 or args.processes < 1:
        parser.error("--count and --processes must be at least 1, --skip at least 0")

    stretches = range(args.skip, -(-args.count // STRETCH))
    tasks = [(args.families[n % len(args.families)], args.seed, n) for n in stretches]
    console = Console()
    began = time.monotonic()
    triples: Counter[str] = Counter()
    results = 0
    wrong: list[Disagreement] = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(args.processes, initializer=set_threads, initargs=(1,)) as pool:
        done = pool.imap(_stretch, tasks)  # in order, so that --skip can take up from a number
        for name, tally in _shown(done, len(tasks), wrong, console):
            triples[name] += tally.triples
            results += tally.results
            wrong += tally.disagreements
    for disagreement in wrong[:SHOWN]:
        console.print(disagreement)
    families = ", ".join(f"{name} {count:,}" for name, count in sorted(triples.items()))
    print(
        f"rules version {RULES_VERSION}, seed {args.seed}: {sum(triples.values()):,} triples "
        f"({families}), {results:,} results, {len(wrong)} disagreements, "
        f"{time.monotonic() - began:.0f} s on {args.processes} processes"
    )
    return 1 if wrong else 0


def _stretch(task: tuple[str, int, int]) -> tuple[str, Tally]:
    """One stretch of comparison, in a process of the pool."""
    name, seed, number = task
    tallies = list(compare(name, games=GAMES, turns=TURNS, seed=(seed, number)))
    return name, Tally(
        triples=sum(tally.triples for tally in tallies),
        results=sum(tally.results for tally in tallies),
        disagreements=[found for tally in tallies for found in tally.disagreements],
    )


def _shown(
    done: Iterator[tuple[str, Tally]], total: int, wrong: list[Disagreement], console: Console
) -> Iterator[tuple[str, Tally]]:
    """`done`, with a bar on a terminal and a line now and then elsewhere."""
    if not console.is_terminal:
        for number, item in enumerate(done, start=1):
            yield item
            if number % max(1, total // 20) == 0:
                print(f"{number} of {total} stretches, {len(wrong)} disagreements", flush=True)
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
            progress.update(bar, advance=1, wrong=len(wrong))


if __name__ == "__main__":
    raise SystemExit(main())

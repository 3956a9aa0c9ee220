"""Looking ahead: how fast, and what each filter loses against looking at every candidate.

python benchmarks/search.py CHECKPOINT [DECISIONS]

Decisions come from the net's own games. The loss is in thousandths of a point a decision, by the
net's own 1-ply equities; the speeds of the filters are measured in one run.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from nardy_rl.encoding import Encoding
from nardy_rl.inference import Decisions, make_evaluator
from nardy_rl.rules import Rules
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import (
    Filter,
    Lookahead,
    NetValuer,
    best_replies,
    best_rows,
    decisions_at,
    final_scores,
    turned,
)
from nardy_rl.selfplay import collect
from nardy_rl.train.checkpoint import load_checkpoint

EVERYTHING = Filter(100_000, 100.0)
FILTERS = [Filter(8, 0.16), Filter(6, 0.12), Filter(5, 0.1), Filter(4, 0.08), Filter(3, 0.06)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint")
    parser.add_argument("decisions", type=int, nargs="?", default=4000)
    asked = parser.parse_args()
    checkpoint = load_checkpoint(asked.checkpoint)
    rules = checkpoint.rules
    valuer = NetValuer(rules, make_evaluator(checkpoint.net, Encoding.of(rules)))
    decisions = own_decisions(rules, valuer, asked.decisions)
    points, flags = decisions.points, np.zeros(len(decisions.points), np.uint8)
    best_replies(rules, valuer, points[:2], flags[:2])
    start = time.perf_counter()
    best_replies(rules, valuer, points, flags)
    print(f"{len(points) / (time.perf_counter() - start):,.0f} positions/s, all 21 rolls of each")

    truth = Lookahead(rules, valuer, 1, [EVERYTHING], forced=False).equities(decisions)
    offsets = decisions.legal.offsets
    best = truth[best_rows(truth, offsets)]

    def report(name: str, values: np.ndarray, seconds: float) -> None:
        lost = 1000 * (best - truth[best_rows(values, offsets)])
        se = lost.std(ddof=1) / np.sqrt(len(lost))
        print(
            f"{name:24} {len(points) / seconds:10,.0f} decisions/s  "
            f"{lost.mean():6.2f} ± {se:.2f} thousandths lost"
        )

    start = time.perf_counter()
    values = valuer.equities(decisions)
    report("0 plies", values, time.perf_counter() - start)
    for one in FILTERS:
        look = Lookahead(rules, valuer, 1, [one], forced=False)
        start = time.perf_counter()
        values = look.equities(decisions)
        report(f"1 ply, best {one.keep} in {one.margin}", values, time.perf_counter() - start)


def own_decisions(rules: Rules, valuer: NetValuer, count: int) -> Decisions:
    """Decisions of the net's own games, from the start of the games to their ends."""
    episodes = collect(rules, valuer.evaluator, 1 + count // 40, seed=3)
    going_on = final_scores(rules, episodes.points, episodes.flags) == NOT_OVER
    points, flags = turned(rules, episodes.points[going_on], episodes.flags[going_on])
    rolls = np.random.default_rng(1).integers(1, 7, (len(points), 2)).astype(np.int8)
    return decisions_at(rules, points[:count], flags[:count], rolls[:count])


if __name__ == "__main__":
    main()

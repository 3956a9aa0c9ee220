"""How long a 0-ply net takes over a whole turn of 1-1 in a ladder game, six rungs and all.

    python benchmarks/ladder_turn.py checkpoints/mad_gyulbar [POSITIONS]

One thread, one position at a time, as at a table: positions from games of the net against itself
before a roll; each rung is generated, evaluated and chosen until the player has nothing more to do.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from nardy_rl import load_checkpoint
from nardy_rl.encoding import Encoding
from nardy_rl.env import Env
from nardy_rl.inference import Decisions, make_evaluator
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.ladder import follow, states_after
from nardy_rl.rules.parallel import set_threads
from nardy_rl.selfplay import choose


def main() -> None:
    """Print the median, the 99th percentile and the slowest turn in milliseconds."""
    path, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    set_threads(1)
    checkpoint = load_checkpoint(path)
    rules = checkpoint.rules
    evaluator = make_evaluator(checkpoint.net, Encoding.of(rules), "auto")
    env = Env(rules, count, seed=3)
    taken = np.arange(count) % 60
    for turn in range(60):
        legal = env.legal()
        picks = (np.diff(legal.offsets) * ((turn * 37 % 97) / 97)).astype(np.int64)
        kept = env.tables.pending.copy()
        if turn == 0:
            chosen = env.points.copy(), env.tables.flags.copy()
        now = (taken == turn) & (kept == 0)
        chosen[0][now], chosen[1][now] = env.points[now], env.tables.flags[now]
        env.step(picks)
    times = np.array([_turn(rules, evaluator, chosen[0][i], chosen[1][i]) for i in range(count)])
    times = 1000 * times[10:]  # the first ones compile
    print(
        f"{rules.name}, {len(times)} turns of 1-1, one thread: median {np.median(times):.2f} ms, "
        f"99 % below {np.quantile(times, 0.99):.2f} ms, slowest {times.max():.2f} ms"
    )


def _turn(rules, evaluator, points, flags) -> float:  # type: ignore[no-untyped-def]
    """Seconds that one whole turn takes."""
    began = time.perf_counter()
    pending, die, goes_on = np.uint8(0), 1, True
    roll = np.array([[1, 1]], np.int8)
    while goes_on:
        before = points[None].copy(), np.array([flags], np.uint8), np.array([pending], np.uint8)
        legal, _ = generate_batch(rules.kernel, *before, roll)
        state = states_after(rules, before[1], before[2], roll, legal.dice_used)
        decisions = Decisions(before[0], *state, legal)
        row = choose(rules, decisions, evaluator.distributions(decisions))[0]
        used = legal.dice_used[0]
        after = legal.after[row]
        goes_on, flags, pending = follow(
            rules.kernel, flags, pending, die, die, used, points, after
        )
        points = after
        goes_on = goes_on and pending > 0
    return time.perf_counter() - began


if __name__ == "__main__":
    main()

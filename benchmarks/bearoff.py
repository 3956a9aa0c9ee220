"""Bear-off tables: how long one takes to make and to load, what it costs, what it gains.

python benchmarks/bearoff.py [checkpoint] [games]
for example: python benchmarks/bearoff.py checkpoints/backgammon 20000

Cost is the processor time, on one thread, that the evaluator takes for ordinary decisions (the
first 24 turns of games, where no bear-off comes up), alternately with and without the table, the
shortest of many.
Gain is a match of the net with the table against the net without, on duplicate dice.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nardy_rl.arena import play_match
from nardy_rl.bearoff import BearoffEvaluator, build_table, load_table
from nardy_rl.encoding import Encoding
from nardy_rl.env import Env
from nardy_rl.inference import Decisions, Evaluator, make_evaluator
from nardy_rl.players import Player
from nardy_rl.players.network import ValuerPlayer
from nardy_rl.rules import Rules, get_threads, set_threads
from nardy_rl.search import NetValuer
from nardy_rl.train.checkpoint import load_checkpoint


def print_making(rules: Rules) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    build_table(rules)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    with tempfile.TemporaryDirectory() as folder:
        load_table(rules, Path(folder, "a"))
        [path] = Path(folder, "a").iterdir()
        Path(folder, "b").mkdir()
        path.rename(Path(folder, "b", path.name))
        start = time.perf_counter()
        load_table(rules, Path(folder, "b"))
        read = time.perf_counter() - start
        size = Path(folder, "b", path.name).stat().st_size
    print(
        f"made in {wall:.1f} s ({processor:.1f} s of processor, {get_threads()} threads), "
        f"{size / 1e6:.1f} MB, read and checked in {1000 * read:.0f} ms"
    )


def ordinary_decisions(rules: Rules, player: Player, games: int) -> list[Decisions]:
    """The decisions of the first 24 turns of `games` games of the net, a batch a turn."""
    env = Env(rules, games, seed=3)
    batches = []
    for _ in range(24):
        legal = env.legal()
        flags = np.zeros(games, np.uint8)
        decisions = Decisions(env.points.copy(), flags, np.zeros(games, np.uint8), legal)
        batches.append(decisions)
        rows = player.choose(decisions, env.rolls, np.zeros(games, np.uint64))
        env.step(rows - legal.offsets[:-1])
    return batches


def seconds_of(evaluator: Evaluator, batches: list[Decisions]) -> float:
    start = time.process_time()
    for decisions in batches:
        evaluator.distributions(decisions)
    return time.process_time() - start


def main() -> None:
    path, games = (*sys.argv[1:], *("checkpoints/backgammon", "20000")[len(sys.argv) - 1 :])
    checkpoint = load_checkpoint(path)
    rules = checkpoint.rules
    net = make_evaluator(checkpoint.net, Encoding.of(rules))
    plain = ValuerPlayer(rules, NetValuer(rules, net), "plain")
    exact = ValuerPlayer(rules, NetValuer(rules, BearoffEvaluator(net, rules)), "exact")
    build_table(rules)  # compiles
    print_making(rules)
    set_threads(1)
    for batch in (1, 32, 1024):
        batches = ordinary_decisions(rules, plain, batch)
        times = [
            [seconds_of(evaluator, batches) for evaluator in (net, BearoffEvaluator(net, rules))]
            for _ in range(max(20, 2000 // batch))
        ]
        without, with_table = np.min(times, 0)
        print(
            f"decisions by {batch}: {1e6 * without / 24 / batch:.2f} us each, with the table "
            f"{100 * (with_table / without - 1):+.1f} %"
        )
    set_threads(0)
    print(play_match(rules, exact, plain, int(games)))


if __name__ == "__main__":
    main()

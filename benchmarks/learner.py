"""Speed of learning alone: positions a second through `Learner.learn`.

python benchmarks/learner.py [hidden] [minibatch] [threads]
for example: python benchmarks/learner.py 80 1024 2; python benchmarks/learner.py 256,256,256
"""

import sys
import time

import numpy as np

from nardy_rl.encoding import Encoding
from nardy_rl.net import ValueNet
from nardy_rl.rules import set_threads, variant
from nardy_rl.train.learner import Learner
from nardy_rl.train.settings import LearnerSettings

POSITIONS = 55_000
"""About a thousand games of backgammon."""


def scattered_boards(count: int) -> np.ndarray:
    """int8[count, 2, 26]: fifteen checkers a side on up to nine places, as in mid-game."""
    random = np.random.default_rng(0)
    points = np.zeros((count, 2, 26), np.int8)
    boards = np.arange(count)
    for side in range(2):
        places = random.integers(0, 26, (count, 9))
        for _ in range(15):
            points[boards, side, places[boards, random.integers(0, 9, count)]] += 1
    return points


def main() -> None:
    widths, minibatch, threads = (*sys.argv[1:], *("80", "1024", "2")[len(sys.argv) - 1 :])
    hidden = tuple(int(width) for width in widths.split(","))
    set_threads(int(threads))
    rules = variant("backgammon")
    encoding = Encoding.of(rules)
    net = ValueNet(encoding.size, hidden, rules.outcomes)
    learner = Learner(net, encoding, LearnerSettings(minibatch=int(minibatch)), 0, None)
    points, flags = scattered_boards(POSITIONS), np.zeros(POSITIONS, np.uint8)
    targets = np.random.default_rng(1).dirichlet(np.ones(6), POSITIONS).astype(np.float32)
    for batch in range(6):
        wall, processor = time.perf_counter(), time.process_time()
        learner.learn(points, flags, targets, batch=batch, games_before=0, games=1000)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        print(
            f"{encoding.size}-{'-'.join(map(str, hidden))}-6, minibatch {minibatch}, "
            f"{threads} threads: {POSITIONS / wall:,.0f} positions/s, "
            f"{processor / POSITIONS * 1e6:.2f} us of processor a position"
        )


if __name__ == "__main__":
    main()

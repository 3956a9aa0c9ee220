"""A larger net taught by a checkpoint for so many seconds: a warm start for speed runs.

python benchmarks/distil.py CHECKPOINT 256,256,256 FOLDER [seconds]
for example: python benchmarks/distil.py checkpoints/backgammon 256,256,256 /tmp/warm 45
"""

import sys
import time
from pathlib import Path

import torch

import nardy_rl
from nardy_rl.encoding import Encoding
from nardy_rl.inference import make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.selfplay import collect
from nardy_rl.train.checkpoint import save_checkpoint
from nardy_rl.train.learner import Learner
from nardy_rl.train.settings import LearnerSettings


def main() -> None:
    path, widths, folder, seconds = (*sys.argv[1:], "45")[:4]
    teacher = nardy_rl.load_checkpoint(path)
    rules, encoding = teacher.rules, Encoding.of(teacher.rules)
    hidden = tuple(int(width) for width in widths.split(","))
    net = ValueNet(encoding.size, hidden, rules.outcomes, torch.Generator().manual_seed(0))
    learner = Learner(net, encoding, LearnerSettings(minibatch=512), 0, None)
    evaluator = make_evaluator(teacher.net, encoding)
    games, started = 0, time.perf_counter()
    while time.perf_counter() - started < float(seconds):
        batch = collect(rules, evaluator, 500, seed=9, first_game=games)
        report = learner.learn(
            batch.points, batch.flags, batch.values, batch=games, games_before=0, games=500
        )
        games += 500
    saved = save_checkpoint(Path(folder), net=net, rules=rules, config={}, card={}, games=games)
    print(f"{saved}: {games:,} games, divergence from the teacher {report.excess:.4f} nats")


if __name__ == "__main__":
    main()

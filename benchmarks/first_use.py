"""What a fresh install costs once: the import, and compiling every kernel of a training run.

python benchmarks/first_use.py            compiles (the stored kernels are deleted first)
python benchmarks/first_use.py cached     loads what the last run stored
"""

import subprocess
import sys
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "nardy_rl"

IMPORT = "import nardy_rl; nardy_rl.Position, nardy_rl.Env, nardy_rl.load_checkpoint"
EVERYTHING = """
from nardy_rl.arena import play_match
from nardy_rl.encoding import Encoding
from nardy_rl.env import Env
from nardy_rl.inference import FloatEvaluator, make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, PipsPlayer, RandomPlayer
from nardy_rl.rules import variant
from nardy_rl.selfplay import collect, collect_lockstep
from nardy_rl.train.gradient import Batch, make_gradient
from nardy_rl.train.labels import episode_targets
rules = variant("long_nardy")
encoding = Encoding.of(rules)
net = ValueNet(encoding.size, (80,), rules.outcomes)
evaluator = make_evaluator(net, encoding)
Env(rules, 2).random_turns(2)
collect_lockstep(rules, FloatEvaluator(net, encoding), 2)
collect_lockstep(rules, evaluator, 2)
games = collect(rules, evaluator, 2)
targets = episode_targets(games, rules.outcomes, 0.5)
order = __import__("numpy").arange(len(games.mover))
make_gradient(net, encoding).of(Batch(games.points, games.flags, targets), order)
play_match(rules, NetPlayer(rules, net), PipsPlayer(rules), 2)
play_match(rules, RandomPlayer(), PipsPlayer(rules), 2)
"""


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - started


def main() -> None:
    if "cached" not in sys.argv:
        for stored in PACKAGE.rglob("*.nb?"):
            stored.unlink()
    print(f"import: {seconds(IMPORT):.1f} s")
    print(f"every kernel of a training run: {seconds(EVERYTHING):.1f} s, import included")


if __name__ == "__main__":
    main()

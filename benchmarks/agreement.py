"""How nearly the fast evaluators agree with torch in float32, on a trained net's own decisions.

python benchmarks/agreement.py CHECKPOINT [games]
for example: python benchmarks/agreement.py checkpoints/long_nardy 200
"""

import sys

import numpy as np
import torch

import nardy_rl
from nardy_rl.encoding import Encoding
from nardy_rl.inference import Decisions, FloatEvaluator, KernelEvaluator, make_evaluator
from nardy_rl.rules import legal_afterstates
from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN
from nardy_rl.selfplay import choose, collect


def main() -> None:
    path, games = (*sys.argv[1:], "200")[:2]
    checkpoint = nardy_rl.load_checkpoint(path)
    rules, net = checkpoint.rules, checkpoint.net
    encoding = Encoding.of(rules)
    episodes = collect(rules, make_evaluator(net, encoding), int(games), seed=77)
    inner = np.ones(len(episodes.mover), bool)
    inner[episodes.offsets[1:] - 1] = False
    points = np.ascontiguousarray(episodes.points[inner][:, ::-1])
    # After a decision the mover's first turn is past; the other's may still come.
    flags = ((episodes.flags[inner] & OPPONENT_FIRST_TURN) >> 1).astype(np.uint8)
    rolls = np.random.default_rng(0).integers(1, 7, (len(points), 2))
    legal = legal_afterstates(rules, points, rolls, flags=flags)
    after = (flags & ~np.uint8(FIRST_TURN)).astype(np.uint8)
    decisions = Decisions(points, after, np.zeros_like(after), legal)
    exact = FloatEvaluator(net, encoding).distributions(decisions)
    scores = np.array(rules.outcomes, np.float32)
    best = choose(rules, decisions, exact)
    others = {"bfloat16": FloatEvaluator(net, encoding, torch.bfloat16)}
    if len(net.hidden) == 1:
        others["kernel"] = KernelEvaluator(net, encoding)
    print(f"{rules.name}, {len(points):,} decisions, {len(legal.after):,} candidates")
    for name, evaluator in others.items():
        shares = evaluator.distributions(decisions)
        gap = np.abs(shares - FloatEvaluator(net, encoding).distributions(decisions)).max()
        chosen = choose(rules, decisions, shares)
        lost = (exact[best] - exact[chosen]) @ scores
        error = lost.std() / np.sqrt(len(lost))
        print(
            f"{name:<9} largest difference of a probability {gap:.1e}, equal choices "
            f"{(best == chosen).mean():.3%}, equity lost a decision {lost.mean():.2e} ± {error:.0e}"
        )


if __name__ == "__main__":
    main()

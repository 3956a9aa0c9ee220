"""The NumPy reader of examples/ plays a full legal game, and chooses what our 0-ply player does."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

from nardy_rl.encoding import Encoding
from nardy_rl.export import export
from nardy_rl.inference import Decisions, make_evaluator
from nardy_rl.rules import legal_afterstates
from nardy_rl.rules.board import turn_flags
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.search import NetValuer
from nardy_rl.train.checkpoint import load_checkpoint

ROOT = Path(__file__).parents[1]


def test_the_numpy_reader_plays_a_game_as_we_do(tmp_path: Path) -> None:
    folder = ROOT / "checkpoints" / "long_nardy"
    checkpoint = load_checkpoint(folder)
    rules = checkpoint.rules
    file = export(checkpoint, tmp_path / "net.npz")[0]
    theirs = runpy.run_path(str(ROOT / "examples" / "play_npz.py"))["NpzPlayer"](str(file))
    # The bare net: our players know the bear-off exactly.
    ours = NetValuer(rules, make_evaluator(checkpoint.net, Encoding.of(rules), "float32"))
    rng = np.random.default_rng(5)
    points, flags, turns = rules.start_points(), 7 & rules.flag_mask, 0
    while True:
        rolls = rng.integers(1, 7, (1, 2)).astype(np.int8)
        bits = np.array([flags], np.uint8)
        legal = legal_afterstates(rules, points[None], rolls, flags=bits)
        later = flags & ~1
        scores = [int(score_after(rules.kernel, row, later)) for row in legal.after]
        results = [
            (row.tolist(), later, 0, None if score == NOT_OVER else score)
            for row, score in zip(legal.after, scores, strict=True)
        ]
        chosen = theirs.choose(results)
        after = np.array([later], np.uint8)
        decisions = Decisions(points[None], after, np.zeros_like(after), legal)
        mine = int(np.argmax(ours.equities(decisions)))
        assert chosen == mine, (turns, [theirs.equity(*results[i][:3]) for i in (chosen, mine)])
        turns += 1
        if scores[chosen] != NOT_OVER:
            assert legal.after[chosen][0, 0] == rules.checkers
            break
        points, flags = legal.after[chosen][::-1].copy(), int(turn_flags(rules.kernel, later))
    assert turns > 30

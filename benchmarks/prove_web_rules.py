"""The long proof of `nardy_rl/export/web`: rules, encoding and bot in JavaScript against Python's.

    python benchmarks/prove_web_rules.py --count 20000 --positions 1500

First random reachable (position, pending, roll, option set) of every variant: the results in their
order, how each is reached, its score, the state after it, the input units (bit by bit), and, where
there are no more than 60 results, that single steps lead to all of them and are never stuck. Then
whole series of games on the same dice. Then the choices of the nets in checkpoints/, without
bear-off tables, at positions of their own games. One node process answers; exit status 1 where
anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from nardy_rl.encoding import Encoding
from nardy_rl.rules import Rules, set_threads, variant, variants
from nardy_rl.train.checkpoint import load_checkpoint
from tests.reachable import option_sets, play_turns
from tests.web_node import ROOT, Node, choices, disagreements, python_series

TURNS = 125
"""Decisions of one option set, most of a game and some of the next."""
SHOWN = 10
SERIES_GAMES = 5
EQUAL = 1e-6
"""Values closer than this are equal: float32 sums in another order differ by so much."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="triples (default 20000)")
    parser.add_argument("--positions", type=int, default=1_500, help="of the bots (default 1500)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--runtime",
        type=Path,
        help="folder of onnxruntime-web, which then computes the nets as the page does "
        "(npm install onnxruntime-web; node_modules/onnxruntime-web)",
    )
    args = parser.parse_args()
    if args.count < 1 or args.positions < 1 or args.seed < 0:
        parser.error("--count and --positions must be at least 1, --seed at least 0")
    set_threads(1)
    with Node() as node:
        wrong = prove_rules(node, args.count, args.seed)
        wrong += prove_series(node, args.seed)
        wrong += prove_bot(node, args.positions, args.seed, args.runtime)
    return 1 if wrong else 0


def prove_rules(node: Node, count: int, seed: int) -> int:
    """Compare `count` decisions or some more, as many of each variant; how many differ."""
    began, done, wrong, sets = time.monotonic(), 0, 0, set()
    each = -(-count // (TURNS * len(variants())))
    for number, name in enumerate(variants()):
        rng = np.random.default_rng((seed, number))
        known = option_sets(name, every=True)
        # The variant as it is, then others.
        taken = [variant(name), *(known[at] for at in rng.permutation(len(known)))]
        here = 0
        for rules in (taken * each)[:each]:
            sets.add(rules)
            _agree_on_size(node, rules)
            for turns in play_turns(rules, games=1, turns=TURNS, rng=rng):
                here += 1
                for text in disagreements(node, rules, turns):
                    wrong += 1
                    if wrong <= SHOWN:
                        print(text)
        done += here
        print(f"{name}: {here:,} triples, {wrong} disagreements so far", flush=True)
    print(
        f"rules and encoding, seed {seed}: {done:,} triples of {len(variants())} variants under "
        f"{len(sets)} option sets, {wrong} disagreements, {time.monotonic() - began:.0f} s"
    )
    return wrong


def _agree_on_size(node: Node, rules: Rules) -> None:
    size = node.use_rules(rules)
    if size != Encoding.of(rules).size:
        raise SystemExit(
            f"{rules.name}: {size} units in JavaScript, {Encoding.of(rules).size} here"
        )


def prove_series(node: Node, seed: int) -> int:
    """Compare a series of games of every variant under every way to begin; how many differ."""
    began, games, decisions, wrong = time.monotonic(), 0, 0, 0
    for name in variants():
        for first in ("reroll", "use_opening_dice"):
            for following in ("alternate", "winner", "roll"):
                rules = variant(name, opening_roll=first, next_starter=following)
                node.use_rules(rules)
                expected = python_series(rules, seed, SERIES_GAMES)
                found = node.ask("series", seed=seed, games=SERIES_GAMES)["lines"]
                games += SERIES_GAMES
                decisions += len(expected) - SERIES_GAMES
                if found != expected:
                    wrong += 1
                    print(f"{name} opening_roll={first} next_starter={following}: series differ")
    print(
        f"series, seed {seed}: {games:,} games, {decisions:,} decisions, {wrong} series differ, "
        f"{time.monotonic() - began:.0f} s"
    )
    return wrong


def prove_bot(node: Node, positions: int, seed: int, runtime: Path | None) -> int:
    """Compare choices at `positions` positions or some more; how many differ by more than ties.

    `runtime`: see `Node.use_net`.
    """
    began, done, ties, wrong, forced = time.monotonic(), 0, 0, 0, 0
    apart = 0.0
    folders = sorted(path.parent for path in (ROOT / "checkpoints").glob("*/card.json"))
    each = -(-positions // len(folders))
    for number, folder in enumerate(folders):
        checkpoint = load_checkpoint(folder)
        node.use_rules(checkpoint.rules)
        node.use_net(checkpoint, runtime)
        rng = np.random.default_rng((seed, number))
        for choice in choices(node, checkpoint, each, rng, seed):
            done += 1
            forced += choice.plays == 1
            apart = max(apart, choice.apart)
            if choice.python == choice.javascript:
                continue
            ties += choice.lost <= EQUAL
            wrong += choice.lost > EQUAL
            print(f"{folder.name}: {choice}")
    print(
        f"bot by {runtime.name if runtime else 'plain JavaScript'}, seed {seed}: {done:,} "
        f"positions of {len(folders)} nets, {forced:,} with one result; {wrong} other choices, "
        f"{ties} among equals (values within {EQUAL:.0e}); values differ by {apart:.1e} at most, "
        f"{time.monotonic() - began:.0f} s"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main())

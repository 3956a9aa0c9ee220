"""Speed of the arena: games a second between baselines and nets, all overhead counted.

python benchmarks/arena.py [variant] [games] [a] [b]
for example: python benchmarks/arena.py; python benchmarks/arena.py long_nardy 20000 RUN RUN

Nets named by width (`80`, `256-256-256`) are fresh ones, whose games are longer and wider than
those of trained nets. The last column is what idle cores of this number would make of the
processor time used: the figure to compare where other programs run too.
"""

import os
import sys
import time

import torch

from nardy_rl.arena import play_match
from nardy_rl.encoding import Encoding
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, Player, make_player
from nardy_rl.rules import Rules, get_threads, variant

MATCHES = (("random", "random"), ("pips", "random"), ("pips", "pips"), ("80", "pips"), ("80", "80"))


def player(text: str, rules: Rules, seed: int) -> Player:
    """A fresh net by its widths, or whatever `make_player` knows."""
    if not text.replace("-", "").isdigit():
        return make_player(text, rules)
    generator = torch.Generator().manual_seed(seed)
    hidden = tuple(int(width) for width in text.split("-"))
    return NetPlayer(
        rules, ValueNet(Encoding.of(rules).size, hidden, rules.outcomes, generator), text
    )


def main() -> None:
    name, games, *names = (*sys.argv[1:], *("backgammon", "8192")[len(sys.argv) - 1 :])
    rules = variant(name)
    for texts in [tuple(names)] if names else MATCHES:
        a, b = (player(text, rules, seed) for seed, text in enumerate(texts))
        play_match(rules, a, b, 64)
        wall, processor = time.perf_counter(), time.process_time()
        result = play_match(rules, a, b, int(games))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        played, threads = result.played.score.size, get_threads()
        print(
            f"{name}: {result}\n    {result.plies:.1f} plies, {threads} threads, "
            f"{played / wall:,.0f} games/s, load {os.getloadavg()[0]:.1f}, "
            f"{threads * played / processor:,.0f} games/s by processor time",
            flush=True,
        )


if __name__ == "__main__":
    main()

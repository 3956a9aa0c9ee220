"""Positions that play from the start reaches, for the tests that compare or check rules.

Games go on in step, and every player of every game has his own manner of choosing, so that walls,
laggards and bear-offs all come up: uniform play alone hardly ever builds six points in a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import numpy as np

from nardy_rl.rules import Rules, legal_afterstates, variant
from nardy_rl.rules.ladder import follow
from tests.reference import reference_outcome

MINE_FIRST, HIS_FIRST, I_STARTED = 1, 2, 4
"""Bits of the flags: first turns still to come, and whether I began the game."""

UNIFORM, WALL, NEAR_WALL, FAR_WALL, RACE, LINGER, PIN = range(7)
"""Manners of play: any result; the longest run of own points anywhere, on 24..13 or on 12..1; the
last checker as far on as can be; as few checkers at home as can be; as many of his pinned as can
be (only where checkers are pinned)."""


@dataclass(frozen=True)
class Turns:
    """One decision of every game of a batch.

    `points` int8 [G, 2, 26], `flags` and `pending` uint8 [G] as seen by the player to move,
    `rolls` int8 [G, 2] thrown where nothing is pending, `chosen` int8 [G, 2, 26] the results he
    chose, still seen by him.
    """

    points: np.ndarray
    flags: np.ndarray
    pending: np.ndarray
    rolls: np.ndarray
    chosen: np.ndarray


@cache
def option_sets(name: str, *, every: bool = False) -> list[Rules]:
    """The variant `name` under every combination of the options that decide what is legal.

    With `every` also of those that decide what is scored, but not of who starts.
    """
    skipped = {"opening_roll", "next_starter"} | (set() if every else {"koks", "last_roll"})
    options = [option for option in variant(name).options() if option.name not in skipped]
    return [
        variant(name, **dict(zip((o.name for o in options), values, strict=True)))
        for values in product(*(option.allowed for option in options))
    ]


def play_turns(
    rules: Rules, *, games: int, turns: int, rng: np.random.Generator
) -> Iterator[Turns]:
    """`turns` turns of `games` games played from the start; finished games start again."""
    start = start_points(rules)
    points = np.repeat(start[None], games, axis=0)
    flags = np.full(games, MINE_FIRST | HIS_FIRST | I_STARTED, dtype=np.uint8)
    pending = np.zeros(games, dtype=np.uint8)
    manners = (PIN if rules.contact == "pin" else LINGER) + 1
    manner = rng.integers(manners, size=(games, 2))
    for _ in range(turns):
        rolls = rng.integers(1, 7, size=(games, 2)).astype(np.int8)
        found = legal_afterstates(rules, points, rolls, flags=flags, pending=pending)
        chosen = found.after[_choose(found.after, found.offsets, manner[:, 0], rng)]
        yield Turns(points.copy(), flags.copy(), pending.copy(), rolls, chosen.copy())
        over = np.array(
            [
                reference_outcome(rules, after[0], after[1], bool(flag & I_STARTED)) is not None
                for after, flag in zip(chosen.tolist(), flags.tolist(), strict=True)
            ]
        )
        before, points = points, chosen[:, ::-1].copy()
        manner = manner[:, ::-1].copy()
        if rules.ladder:
            for game in range(games):
                goes_on, flags[game], pending[game] = follow(
                    rules.kernel,
                    flags[game],
                    pending[game],
                    rolls[game, 0],
                    rolls[game, 1],
                    found.dice_used[game],
                    before[game],
                    chosen[game],
                )
                if goes_on:
                    points[game] = chosen[game]
                    manner[game] = manner[game, ::-1].copy()
        else:
            flags = _turned(flags)
        points[over] = start
        pending[over] = 0
        flags[over] = MINE_FIRST | HIS_FIRST | I_STARTED
        manner[over] = rng.integers(manners, size=(int(over.sum()), 2))


def start_points(rules: Rules) -> np.ndarray:
    """The position that a game of `rules` starts from, int8 [2, 26]."""
    points = np.zeros((2, 26), dtype=np.int8)
    for place, count in rules.start:
        points[:, place] = count
    return points


def _turned(flags: np.ndarray) -> np.ndarray:
    """The flags as the other player sees them, my first turn being over."""
    his_first = np.where(flags & HIS_FIRST, MINE_FIRST, 0)
    started = np.where(flags & I_STARTED, 0, I_STARTED)
    return (his_first | started).astype(np.uint8)


def _choose(
    after: np.ndarray,
    offsets: np.ndarray,
    manner: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """One row of `after` for each game, by the game's manner; uniform between equals."""
    manner = np.repeat(manner, np.diff(offsets))
    mine = after[:, 0].astype(np.int64)
    liked = [
        np.zeros(len(after)),
        longest_run(np.concatenate([mine[:, 1:25], mine[:, 1:25]], axis=1)),
        longest_run(mine[:, 13:25]),
        longest_run(mine[:, 1:13]),
        (mine[:, ::-1] > 0).argmax(axis=1),
        -mine[:, :7].sum(axis=1),
        (after[:, 1] < 0).sum(axis=1),
    ]
    appeal = np.choose(manner, liked) + rng.random(len(after))
    return np.array([lo + appeal[lo:hi].argmax() for lo, hi in pairwise(offsets)])


def longest_run(counts: np.ndarray) -> np.ndarray:
    """The most consecutive columns of `counts` that hold a checker: [N, P] -> [N]."""
    run = np.zeros(len(counts), dtype=np.int64)
    longest = run.copy()
    for held in (counts > 0).T:
        run = np.where(held, run + 1, 0)
        longest = np.maximum(longest, run)
    return longest

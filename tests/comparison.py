"""Kernels against the reference on random reachable positions, for CI and the long proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from nardy_rl.rules import Rules, legal_afterstates
from nardy_rl.rules.ladder import follow
from tests.reachable import HIS_FIRST, MINE_FIRST, option_sets, play_turns
from tests.reference import (
    Ladder,
    reference_afterstates,
    reference_next,
    reference_outcome,
    reference_rung,
)

FAMILIES = (
    *("long_nardy", "backgammon", "nackgammon", "hypergammon", "mad_gyulbar", "gul_bara"),
    *("fevga", "moultezim", "plakoto"),
)
"""Starts and sets of options; every other preset is one of these under options compared here."""

SHARE_FIRST_TURN = 0.1
"""Of the positions, how many are judged as a first turn whatever their age: the head exception
depends on where the enemy stands, and real first turns see few places."""

SHARE_PENDING = 0.25
"""Of ladder positions, how many are judged with a random rung pending, and random turns taken."""


@dataclass(frozen=True)
class Disagreement:
    """A position and roll on which the two differ, with what only one of them finds."""

    rules: Rules
    me: list[int]
    opp: list[int]
    roll: tuple[int, int]
    flags: int
    pending: int
    kernel_dice: int
    reference_dice: int
    only_kernel: list[tuple[tuple[int, ...], tuple[int, ...]]]
    only_reference: list[tuple[tuple[int, ...], tuple[int, ...]]]
    repeated: int


@dataclass(frozen=True)
class Tally:
    """What one stretch of comparison has covered."""

    triples: int
    results: int
    option_sets: frozenset[Rules]
    disagreements: list[Disagreement]

    @staticmethod
    def of(tallies: Iterable[Tally]) -> Tally:
        """Several stretches as one."""
        tallies = list(tallies)
        return Tally(
            triples=sum(tally.triples for tally in tallies),
            results=sum(tally.results for tally in tallies),
            option_sets=frozenset[Rules]().union(*(tally.option_sets for tally in tallies)),
            disagreements=[found for tally in tallies for found in tally.disagreements],
        )


def compare(name: str, *, games: int, turns: int, seed: tuple[int, ...]) -> Iterator[Tally]:
    """Play `games` games of `name` under one random option set and compare every turn.

    Every second turn is judged by the option set that the games are played by, the others by a
    random one, so that positions come up which no play by those options leads to.
    """
    rng = np.random.default_rng(seed)
    choices = option_sets(name)
    played = choices[rng.integers(len(choices))]
    for number, turn in enumerate(play_turns(played, games=games, turns=turns, rng=rng)):
        judged = played if number % 2 else choices[rng.integers(len(choices))]
        forced = rng.random(games) < SHARE_FIRST_TURN
        flags = np.where(forced, turn.flags | MINE_FIRST, turn.flags).astype(np.uint8)
        pending = turn.pending
        if judged.ladder:
            thrown = rng.random((2, games)) < SHARE_PENDING
            pending = np.where(thrown[0], rng.integers(1, 145, games), pending).astype(np.uint8)
            most = int(judged.ladder_from_turn) - 1
            taken = rng.integers(0, most + 1, (2, games))
            counted = np.minimum((flags >> 3 & 3, flags >> 5), most)
            mine, his = np.where(thrown[1], taken, counted)
            flags = (flags & 7 | mine << 3 | his << 5).astype(np.uint8)
        live = np.ones(games, bool)
        if judged.contact == "pin":  # a game of other options may be over by these
            live = np.array(
                [reference_outcome(judged, b[0], b[1], True) is None for b in turn.points]
            )
        yield compare_batch(judged, turn.points[live], turn.rolls[live], flags[live], pending[live])


def nearly_walls(count: int, rng: np.random.Generator) -> np.ndarray:
    """Long-nardy positions, int8 [count, 2, 26], one step short of six points in a row.

    Anywhere on the board, the enemy's most advanced checker on any point: what the prime options
    dispute, and what play comes to only now and then. No game need reach them.
    """
    points = np.zeros((count, 2, 26), dtype=np.int8)
    for mine, his in points:
        wall = (rng.integers(24) + np.arange(rng.integers(6, 9))) % 24 + 1
        gap = rng.choice(wall)
        held = wall[wall != gap]
        mine[held] = 1
        behind = [place for place in range(gap + 1, min(gap + 7, 25)) if place not in held]
        spare = np.array([*held, *behind, *rng.integers(1, 25, size=3)])
        spare = spare[spare != gap]
        for place in rng.choice(spare, size=15 - len(held)):
            mine[place] += 1
        free = [place for place in range(1, 25) if not mine[_same_way(place)]]
        front = rng.choice(free)
        his[front] = 1
        for place in rng.choice([place for place in free if place >= front], size=14):
            his[place] += 1
    return points


def _same_way(place: int) -> int:
    return (place + 11) % 24 + 1


def compare_batch(
    rules: Rules,
    points: np.ndarray,
    rolls: np.ndarray,
    flags: np.ndarray,
    pending: np.ndarray | None = None,
) -> Tally:
    """Both answers for points [B, 2, 26], rolls [B, 2], flags and pending [B]."""
    pending = np.zeros(len(points), np.uint8) if pending is None else pending
    flags = flags & np.uint8(rules.flag_mask | MINE_FIRST | HIS_FIRST)
    found = legal_afterstates(rules, points, rolls, flags=flags, pending=pending)
    disagreements = []
    for game in range(len(points)):
        me, opp = points[game].tolist()
        roll = (int(rolls[game, 0]), int(rolls[game, 1]))
        first_turn = bool(flags[game] & MINE_FIRST)
        boards = found.after[found.offsets[game] : found.offsets[game + 1]]
        rows = boards.tolist()
        kernel = {(tuple(mine), tuple(his)) for mine, his in rows}
        kernel_dice = int(found.dice_used[game])
        agree = True
        if rules.ladder:
            state = _ladder(rules, int(flags[game]), int(pending[game]))
            expected, dice = reference_rung(rules, me, opp, state, roll)
            if kernel_dice == dice:
                at = int(rolls[game].sum() + kernel_dice) % len(rows)
                kernel_next = follow(
                    rules.kernel,
                    flags[game],
                    pending[game],
                    roll[0],
                    roll[1],
                    dice,
                    points[game],
                    boards[at],
                )
                mine, his = rows[at]
                agree = reference_outcome(rules, mine, his, True) is not None or _same(
                    rules,
                    kernel_next,
                    reference_next(rules, (me, opp), rows[at], state, roll, dice),
                )
        else:
            expected, dice = reference_afterstates(rules, me, opp, roll, first_turn)
        if kernel != expected or kernel_dice != dice or len(kernel) != len(rows) or not agree:
            disagreements.append(
                Disagreement(
                    rules=rules,
                    me=me,
                    opp=opp,
                    roll=roll,
                    flags=int(flags[game]),
                    pending=int(pending[game]),
                    kernel_dice=kernel_dice,
                    reference_dice=dice,
                    only_kernel=sorted(kernel - expected),
                    only_reference=sorted(expected - kernel),
                    repeated=len(rows) - len(kernel),
                )
            )
    return Tally(len(points), len(found.after), frozenset({rules}), disagreements)


def _ladder(rules: Rules, flags: int, pending: int) -> Ladder:
    """The state bytes as the reference writes them, by their definition in `rules.ladder`."""
    first_turns = (bool(flags & MINE_FIRST), bool(flags & HIS_FIRST))
    turns = (flags >> 3 & 3, flags >> 5 & 3)
    if not pending:
        return Ladder((), False, 0, first_turns, turns)
    rest, die = divmod(pending - 1, 6)
    rest, steps = divmod(rest, 4)
    whose, head = divmod(rest, 3)
    repeats = int(rules.ladder_repeats)
    dice = (die + 1,) * (steps + 1)
    dice += tuple(higher for higher in range(die + 2, 7) for _ in range(repeats))
    may_leave = rules.checkers if rules.head_rule == "free" else head
    return Ladder(dice, whose == 1, may_leave, first_turns, turns)


def _same(rules: Rules, kernel: tuple[bool, int, int], reference: tuple[bool, Ladder]) -> bool:
    """Whether the two mean the same next state."""
    goes_on, flags, pending = kernel
    again, state = reference
    found = _ladder(rules, int(flags), int(pending))
    if not rules.flag_mask & MINE_FIRST:
        found, state = (one._replace(first_turns=(False, False)) for one in (found, state))
    if rules.head_rule == "free":
        found, state = (one._replace(may_leave=0) for one in (found, state))
    return bool(goes_on) == again and found == state

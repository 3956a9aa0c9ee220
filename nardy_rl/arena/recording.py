"""Games that are written down: two players in lockstep, every play kept as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import whole_number
from nardy_rl.inference import Decisions
from nardy_rl.players.protocol import Player
from nardy_rl.records import GameRecord, Result, decision_of, result_after
from nardy_rl.records.game import numbered
from nardy_rl.rules import Play, Position, Rules
from nardy_rl.rules.dice import PURPOSE_CHOICE, random_word
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.tables import TRUNCATED, Tables, deal_range, new_tables, play_turn, turn_of

PLY_CAP = 2000
MOST_GAMES = 100_000
"""Records are kept in memory until they are written."""

BLOCK = 256
"""Games played at once. Results do not depend on it."""
_NAME = 100
"""Characters of a name; of a longer one, such as a path, the end."""


class _Block(NamedTuple):
    """Games being played: their tables, plays so far, results int8[T]."""

    tables: Tables
    plays: list[list[tuple[int, Play]]]
    results: NDArray[np.int8]


def play_and_record(
    rules: Rules,
    a: Player,
    b: Player,
    games: int,
    *,
    seed: int = 0,
    ply_cap: int = PLY_CAP,
    names: tuple[str, str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[GameRecord, ...]:
    """Play games of a (seat 0) against b (seat 1), and write them down; no cube.

    Each game is dealt as if it were the first: its dice, and who begins, are a pure function of
    (seed, its number). The same players and seed make the same games.

    Args:
        rules: the variant.
        a, b: who plays.
        games: how many, 1 or more.
        seed: of the dice and the players' keys.
        ply_cap: decisions after which a game is broken off; its record is `unfinished`.
        names: of a and b in the records; by default their own.
        progress: told how many games are over.

    Returns:
        The records, the score running on from one to the next.

    Raises:
        ConfigError: a number out of range.
    """
    whole_number("games", games, 1, MOST_GAMES)
    whole_number("seed", seed, 0, 2**63 - 1)
    whole_number("ply_cap", ply_cap, 1, 2**31 - 1)
    named = names or _apart(a.name, b.name)
    found: list[GameRecord] = []
    for low in range(0, games, BLOCK):
        block = _new_block(rules, min(BLOCK, games - low), seed, low)
        while (live := np.flatnonzero(block.results == NOT_OVER)).size:
            for seat, player in enumerate((a, b)):
                at = live[block.tables.mover[live] == seat]
                if at.size:
                    _move(rules, player, block, at, seed, ply_cap)
            if progress is not None:
                progress(low + int((block.results != NOT_OVER).sum()))
        found += [_record(rules, named, seed, block, t) for t in range(len(block.plays))]
    return numbered(found)


def _apart(a: str, b: str) -> tuple[str, str]:
    """Names as a record takes them: not too long, and two of them."""
    short_a, short_b = a[-_NAME:], b[-_NAME:]
    return short_a, f"{short_b} (2)" if short_a == short_b else short_b


def _new_block(rules: Rules, games: int, seed: int, first: int) -> _Block:
    tables = new_tables(games)
    run_chunks(deal_range, games, rules.kernel, rules.start_points(), seed, tables, first)
    return _Block(tables, [[] for _ in range(games)], np.full(games, NOT_OVER, np.int8))


def _move(
    rules: Rules, player: Player, block: _Block, at: NDArray[np.int64], seed: int, ply_cap: int
) -> None:
    """Let `player` move on the tables `at`."""
    turn = turn_of(rules, block.tables, at)
    now, legal = turn.now, turn.legal
    words = [
        random_word(seed, g, t, PURPOSE_CHOICE) for g, t in zip(now.game, now.turn, strict=True)
    ]
    decisions = Decisions(now.points, turn.flags, turn.pending, legal)
    rows = player.choose(decisions, now.rolls, np.array(words, np.uint64))
    for t, choice, state in zip(at, rows - legal.offsets[:-1], range(len(at)), strict=True):
        position = Position(
            rules, now.points[state].copy(), int(now.flags[state]), int(now.pending[state])
        )
        die1, die2 = now.rolls[state].tolist()
        block.plays[t].append((int(now.mover[state]), position.plays((die1, die2))[int(choice)]))
    block.results[at] = play_turn(rules, seed, block.tables, turn, rows, ply_cap)


def _record(
    rules: Rules, names: tuple[str, str], seed: int, block: _Block, table: int
) -> GameRecord:
    plays = block.plays[table]
    result = Result(0, "unfinished")
    if block.results[table] != TRUNCATED:
        result = result_after(*plays[-1])
    return GameRecord(
        rules=rules,
        players=names,
        starter=int(block.tables.starter[table]),
        events=tuple(decision_of(*one) for one in plays),
        result=result,
        seed=seed,
    )

"""What is judged: decisions, each a position and the roll to be played in it.

Fresh ones come from games that a player plays against itself; frozen ones from a file of JSON
lines, `{"id": "long_nardy.1BByYLotaNGV_vOP", "roll": [6, 5], "game": 0}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, InvalidPosition, InvalidText, whole_number
from nardy_rl.inference import Decisions
from nardy_rl.notation import from_id, to_id
from nardy_rl.players import Player
from nardy_rl.rules import Position, Rules
from nardy_rl.rules.dice import PURPOSE_CHOICE, random_word, uniform_index
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import decisions_at
from nardy_rl.tables import Tables, deal_range, new_tables, play_turn, turn_of

PLY_CAP = 1000

BLOCK_GAMES = 256
"""Games that are played at once; what comes of a seed depends on it."""

# Purposes of random words of a (seed, game, turn), apart from those in `rules.dice`.
_PURPOSE_STRAY = np.uint64(16)
_PURPOSE_WHERE = np.uint64(17)
_PURPOSE_KEEP = np.uint64(18)


@dataclass(frozen=True)
class Sample:
    """Decisions to be judged.

    Attributes:
        rules: the variant.
        points: int8[B, 2, 26], each seen by the player to move.
        flags: uint8[B], before the play, in the same view.
        rolls: int8[B, 2], to be played.
        game: int64[B], the game each came up in: decisions of one game are not independent.
        keys: uint64[B], for players that want random bits.
    """

    rules: Rules
    points: NDArray[np.int8]
    flags: NDArray[np.uint8]
    rolls: NDArray[np.int8]
    game: NDArray[np.int64]
    keys: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.points)

    def decisions(self) -> Decisions:
        """With all results of each roll."""
        return decisions_at(self.rules, self.points, self.flags, self.rolls)

    def part(self, which: slice | NDArray[Any]) -> Sample:
        """Some of them."""
        return Sample(
            self.rules,
            self.points[which],
            self.flags[which],
            self.rolls[which],
            self.game[which],
            self.keys[which],
        )

    def position(self, at: int) -> Position:
        """One of them as a value."""
        return Position(self.rules, self.points[at], int(self.flags[at]))

    def roll(self, at: int) -> tuple[int, int]:
        """Its dice."""
        return int(self.rolls[at, 0]), int(self.rolls[at, 1])


def _joined(rules: Rules, parts: list[Sample]) -> Sample:
    nothing = Sample(
        rules,
        np.empty((0, 2, 26), np.int8),
        np.empty(0, np.uint8),
        np.empty((0, 2), np.int8),
        np.empty(0, np.int64),
        np.empty(0, np.uint64),
    )
    every = [nothing, *parts]
    return Sample(
        rules,
        np.concatenate([part.points for part in every]),
        np.concatenate([part.flags for part in every]),
        np.concatenate([part.rolls for part in every]),
        np.concatenate([part.game for part in every]),
        np.concatenate([part.keys for part in every]),
    )


def self_play_sample(
    rules: Rules,
    player: Player,
    count: int,
    *,
    seed: int = 0,
    stray: float = 0.0,
    one_in: int = 1,
    ply_cap: int = PLY_CAP,
    progress: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Sample:
    """Decisions that came up when a player played itself, forced ones among them.

    A pure function of its arguments: the same for any number of threads.

    Args:
        rules: the variant.
        player: on both seats.
        count: of decisions.
        seed: of the dice, the strays and what is kept.
        stray: share of plays that are taken at random instead, so that positions come up which
            the player would avoid.
        one_in: keep one decision in so many, at random: spreads a small sample over more games.
        ply_cap: decisions after which a game is broken off.
        progress: told how many decisions there are.
        should_stop: asked before each turn; True ends the sample early.

    Raises:
        ConfigError: a number out of range.
    """
    whole_number("positions", count, 1, 2**31 - 1)
    whole_number("seed", seed, 0, 2**63 - 1)
    whole_number("one_in", one_in, 1, 1_000_000)
    whole_number("ply_cap", ply_cap, 1, 2**31 - 1)
    if not 0.0 <= stray <= 1.0:
        raise ConfigError(f"stray={stray} is not allowed; a share, 0 to 1")
    parts: list[Sample] = []
    have, first_game = 0, 0
    while have < count:
        tables = new_tables(BLOCK_GAMES)
        block: list[Sample] = []
        run_chunks(
            deal_range, BLOCK_GAMES, rules.kernel, rules.start_points(), seed, tables, first_game
        )
        live = np.arange(BLOCK_GAMES)
        while len(live):
            if should_stop is not None and should_stop():
                return _joined(rules, [*parts, *block]).part(slice(count))
            part, live = _turn(rules, player, tables, live, seed, stray, one_in, ply_cap)
            block.append(part)
        # By game, so that cutting at `count` leaves the last games out and not all their ends.
        whole = _joined(rules, block)
        parts.append(whole.part(np.argsort(whole.game, kind="stable")))
        have += len(whole)
        first_game += BLOCK_GAMES
        if progress is not None:
            progress(min(have, count))
    return _joined(rules, parts).part(slice(count))


def _turn(
    rules: Rules,
    player: Player,
    tables: Tables,
    live: NDArray[np.int64],
    seed: int,
    stray: float,
    one_in: int,
    ply_cap: int,
) -> tuple[Sample, NDArray[np.int64]]:
    """Play one turn on the tables `live`; what was kept of it, and the tables still playing."""
    turn = turn_of(rules, tables, live)
    now, legal = turn.now, turn.legal
    words = np.empty((4, len(live)), np.uint64)
    run_chunks(_words_range, len(live), seed, now.game, now.turn, words, min_chunk=1024)
    keys = words[0]
    decisions = Decisions(now.points, turn.flags, turn.pending, legal)
    rows = player.choose(decisions, now.rolls, keys)
    strays = words[1] < np.uint64(min(int(stray * 2**64), 2**64 - 1))
    counts = np.diff(legal.offsets)
    for at in np.flatnonzero(strays):
        rows[at] = legal.offsets[at] + uniform_index(words[2, at], counts[at])
    # A decision here is a roll: the later rungs of a ladder are not sampled.
    kept = np.flatnonzero((words[3] % np.uint64(one_in) == 0) & (now.pending == 0))
    sample = Sample(
        rules, now.points[kept], now.flags[kept], now.rolls[kept], now.game[kept], keys[kept]
    )
    scores = play_turn(rules, seed, tables, turn, rows, ply_cap)
    return sample, live[scores == NOT_OVER]


@njit(nogil=True, cache=True)
def _words_range(low, high, seed, game, turn, words):
    for i in range(low, high):
        words[0, i] = random_word(seed, game[i], turn[i], PURPOSE_CHOICE)
        words[1, i] = random_word(seed, game[i], turn[i], _PURPOSE_STRAY)
        words[2, i] = random_word(seed, game[i], turn[i], _PURPOSE_WHERE)
        words[3, i] = random_word(seed, game[i], turn[i], _PURPOSE_KEEP)


def write_sample(path: str | Path, sample: Sample) -> None:
    """Freeze a sample as a file of JSON lines, which `read_sample` reads."""
    lines = [
        json.dumps(
            {
                "id": to_id(sample.position(at)),
                "roll": list(sample.roll(at)),
                "game": int(sample.game[at]),
            }
        )
        for at in range(len(sample))
    ]
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_sample(path: str | Path, rules: Rules, *, seed: int = 0) -> Sample:
    """Decisions of a file: JSON lines with `id`, `roll` and, if they came from games, `game`.

    Args:
        path: of the file.
        rules: of the game; ids of another one are refused.
        seed: of the keys for players that want random bits.

    Raises:
        ConfigError: no decision in it, or a line that is none; the message says which.
        FileNotFoundError: there is none.
    """
    file = Path(path)
    points, flags, rolls, games = [], [], [], []
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not a text; JSON lines with id and roll are needed") from error
    for number, line in _lines(text):
        try:
            position, roll, game = _decision(json.loads(line), rules, number)
        except json.JSONDecodeError as error:
            raise ConfigError(
                f"{file}, line {number}: not JSON ({error.msg}); lines with id and roll are needed"
            ) from error
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{file}, line {number}: {error}") from error
        points.append(position.points)
        flags.append(position.flags)
        rolls.append(roll)
        games.append(game)
    if not points:
        raise ConfigError(f"{file}: no decisions in it; JSON lines with id and roll are needed")
    total = len(points)
    keys = np.empty((4, total), np.uint64)
    numbers = np.arange(total, dtype=np.int64)
    run_chunks(_words_range, total, seed, numbers, np.zeros(total, np.int64), keys)
    return Sample(
        rules,
        np.stack(points),
        np.array(flags, np.uint8),
        np.array(rolls, np.int8),
        np.array(games, np.int64),
        keys[0],
    )


def _lines(text: str) -> Iterable[tuple[int, str]]:
    return (
        (number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()
    )


def _decision(line: Any, rules: Rules, number: int) -> tuple[Position, tuple[int, int], int]:
    """One line of a file; without a game it is a game of its own, and numbered as the line is."""
    if not isinstance(line, dict) or not isinstance(line.get("id"), str):
        raise ConfigError('expected {"id": "...", "roll": [6, 5]}')
    position = from_id(line["id"])
    if position.rules != rules:
        raise InvalidText(f"{line['id']} is of another game or other rules than {rules.name} here")
    roll = line.get("roll")
    if (
        not isinstance(roll, list)
        or len(roll) != 2
        or any(isinstance(die, bool) or die not in range(1, 7) for die in roll)
    ):
        raise ConfigError(f"roll={roll!r} is not allowed; two dice of 1..6, such as [6, 5]")
    if position.moved:
        raise InvalidPosition(f"{line['id']} is seen by the player who has just moved")
    if position.reasons():
        raise InvalidPosition(f"{line['id']}: {'; '.join(position.reasons())}")
    if position.outcome() is not None:
        raise InvalidPosition(f"{line['id']}: the game is over")
    if position.pending:
        raise InvalidPosition(f"{line['id']}: a rung of a ladder is to be played, not a roll")
    game = whole_number("game", line.get("game", -number), -(2**62), 2**62)
    return position, (int(roll[0]), int(roll[1])), game

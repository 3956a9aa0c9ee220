"""The exact table of a game: a folder of values, memory-mapped, and a card that says of what.

values.npy   float64[N], by the numbers of `index`; NaN for what no game can reach
card.json    the game, versions, how exact it is and how it was made
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import CheckpointError, ConfigError, InvalidPosition
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.board import FIRST_TURN, OPPONENT_FIRST_TURN, STARTED
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import RULES_VERSION, Rules
from nardy_rl.solve.index import count_positions, position_index
from nardy_rl.solve.storage import flush_folder, read_values, write_file
from nardy_rl.solve.sweep import ROLL_CHANCES, ROLL_DICE, value_positions, value_results

if typing.TYPE_CHECKING:
    from nardy_rl.inference import Decisions

TABLE_FORMAT = 1
"""Changes when an older table can no longer be read. 1: the first."""

VALUES = "values.npy"
CARD = "card.json"


def playing_rules(rules: Rules) -> Rules:
    """The rules without what does not touch the value of a position: the name, who starts how."""
    return dataclasses.replace(rules, name="", opening_roll="reroll", next_starter="alternate")


def is_table(path: str | Path) -> bool:
    """Whether a path looks like a table (and not like a checkpoint or a run)."""
    return (Path(path) / VALUES).is_file()


class ExactTable:
    """What every position of a small game is worth; a `Valuer` of results.

    Args:
        rules: the variant.
        values: float64[N], see the module.
        card: what is said of it.
        name: for tables of results.

    Attributes:
        residual: largest Bellman residual over all positions, in points.

    Use `load` for a table on the disk.
    """

    def __init__(
        self,
        rules: Rules,
        values: NDArray[np.float64],
        card: Mapping[str, Any],
        name: str = "exact",
    ) -> None:
        self.name = name
        self.rules = rules
        self.values = values
        self.card = dict(card)
        self.residual = float(card["residual"])
        self.index = position_index(rules)

    @classmethod
    def load(cls, path: str | Path, rules: Rules | None = None) -> ExactTable:
        """Open a table that `nardy-rl solve` wrote; its values stay on the disk.

        Args:
            path: its folder.
            rules: the game that it must be of; how the game starts may differ.

        Raises:
            CheckpointError: no table, a damaged one, of another version or another game.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise CheckpointError(f"{folder}: there is no such folder; an exact table is expected")
        card = _read_card(folder)
        theirs = _rules_of(folder, card)
        if rules is not None and playing_rules(rules) != playing_rules(theirs):
            raise CheckpointError(
                f"{folder}: an exact table of {theirs.name}{_difference(theirs, rules)}; "
                "take, or solve, a table of this game"
            )
        values = read_values(
            folder / VALUES, count_positions(theirs), f"{folder}: {{}}; solve the game again"
        )
        digest = hashlib.sha256(memoryview(values)).hexdigest()  # type: ignore[arg-type]
        if digest != card.get("sha256"):
            raise CheckpointError(
                f"{folder / VALUES}: not the values that {CARD} was written for; "
                "the file was changed or swapped, solve the game again"
            )
        return cls(rules or theirs, values, card, str(path).rstrip("/"))

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Valuer`. Raises `InvalidPosition` for a result that no game can reach."""
        return self.result_values(decisions).astype(np.float32)

    def result_values(self, decisions: Decisions) -> NDArray[np.float64]:
        """`equities` in double precision, float64[M]."""
        legal = decisions.legal
        return self._result_values(legal.after, legal.offsets, decisions.flags)

    def position_values(
        self, points: NDArray[np.int8], flags: NDArray[np.uint8]
    ) -> NDArray[np.float64]:
        """What the player about to roll can expect, float64[B], in points.

        Args:
            points: int8[B, 2, 26], seen by the player to roll. The values of finished games are
                their scores.
            flags: uint8[B], in the same view.

        Raises:
            InvalidPosition: a position that no game can reach.
        """
        # In the first position alone both first turns are to come; the table has what follows it.
        opening = (flags & self.rules.flag_mask & OPPONENT_FIRST_TURN) != 0
        out = np.empty(len(points))
        run_chunks(
            value_positions,
            len(points),
            self.rules.kernel,
            self.index,
            self.values,
            np.ascontiguousarray(points, np.int8),
            flags.astype(np.uint8),
            out,
        )
        if opening.any():
            rolls = self.roll_values(points[opening], flags[opening])
            out[opening] = rolls @ ROLL_CHANCES
        return _checked(out)

    def roll_values(
        self, points: NDArray[np.int8], flags: NDArray[np.uint8]
    ) -> NDArray[np.float64]:
        """What the player to move can expect after each of the 21 rolls, float64[B, 21].

        Arguments and errors as `position_values`; games that are not over. The rolls are those
        of `search.ROLLS`.
        """
        total = len(points)
        bits = np.repeat(flags.astype(np.uint8), len(ROLL_DICE))
        legal, _ = generate_batch(
            self.rules.kernel,
            np.repeat(np.ascontiguousarray(points, np.int8), len(ROLL_DICE), axis=0),
            bits,
            np.zeros(len(bits), np.uint8),
            np.tile(ROLL_DICE.astype(np.int8), (total, 1)),
        )
        after = self._result_values(legal.after, legal.offsets, bits & np.uint8(~FIRST_TURN & 255))
        best: NDArray[np.float64] = np.maximum.reduceat(after, legal.offsets[:-1])
        return best.reshape(total, len(ROLL_DICE))

    def start_value(self) -> float:
        """What the player who starts can expect before he throws two dice."""
        return float(self._start_rolls() @ ROLL_CHANCES)

    def opening_value(self) -> float:
        """What he can expect when it is known that he starts, by the rules' `opening_roll`.

        `use_opening_dice`: he plays the two dice that decided it, never a double.
        """
        if self.rules.opening_roll != "use_opening_dice":
            return self.start_value()
        rolls = self._start_rolls()
        return float(rolls[ROLL_DICE[:, 0] != ROLL_DICE[:, 1]].mean())

    def _start_rolls(self) -> NDArray[np.float64]:
        flags = (FIRST_TURN | OPPONENT_FIRST_TURN | STARTED) & self.rules.flag_mask
        return self.roll_values(self.rules.start_points()[None], np.array([flags], np.uint8))[0]

    def _result_values(
        self,
        after: NDArray[np.int8],
        offsets: NDArray[np.int64],
        flags: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        out = np.empty(len(after))
        kernel, boards = self.rules.kernel, np.ascontiguousarray(after)
        total = len(offsets) - 1
        run_chunks(
            value_results, total, kernel, self.index, self.values, boards, offsets, flags, out
        )
        return _checked(out)


def write_table(
    folder: Path, rules: Rules, values: NDArray[np.float64], figures: Mapping[str, Any]
) -> None:
    """Write a complete new table, or nothing.

    Args:
        folder: must not be there.
        rules: the variant.
        values: float64[N].
        figures: what to say of it; `residual` at least.
    """
    table = ExactTable(rules, values, figures)
    card = {
        "table_format": TABLE_FORMAT,
        "rules_version": RULES_VERSION,
        "variant": {"name": rules.name, "options": {o.name: o.value for o in rules.options()}},
        "rules": dataclasses.asdict(rules),
        "start_value": table.start_value(),
        "opening_value": table.opening_value(),
        "sha256": hashlib.sha256(memoryview(values)).hexdigest(),  # type: ignore[arg-type]
        **figures,
    }
    unfinished = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    write_file(unfinished / VALUES, values)
    content = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_file(unfinished / CARD, content.encode())
    flush_folder(unfinished)
    unfinished.rename(folder)
    flush_folder(folder.parent)


def _checked(values: NDArray[np.float64]) -> NDArray[np.float64]:
    wrong = np.isnan(values)
    if wrong.any():
        raise InvalidPosition(
            f"row {int(np.argmax(wrong))} of {len(values)} is a position that no game can reach"
        )
    return values


def _read_card(folder: Path) -> dict[str, Any]:
    file = folder / CARD
    try:
        card = json.loads(file.read_text())
    except OSError as error:
        raise CheckpointError(
            f"{file}: {error.strerror or error}; {folder} is no exact table, "
            "name a folder that `nardy-rl solve` wrote"
        ) from error
    except ValueError as error:  # not JSON, or not UTF-8
        raise CheckpointError(f"{file}: not JSON ({error}); solve the game again") from error
    if not isinstance(card, dict) or "table_format" not in card:
        raise CheckpointError(
            f"{file}: not the card of an exact table; name a folder that `nardy-rl solve` wrote"
        )
    for field, ours in (("table_format", TABLE_FORMAT), ("rules_version", RULES_VERSION)):
        if card.get(field) != ours:
            raise CheckpointError(
                f"{file}: {field}: {card.get(field)!r}, but this version reads {ours}; "
                "solve the game again, or use the nardy_rl that wrote it"
            )
    residual = card.get("residual")
    if isinstance(residual, bool) or not isinstance(residual, float | int):
        raise CheckpointError(f"{file}: residual: {residual!r}, expected a number")
    return card


def _rules_of(folder: Path, card: Mapping[str, Any]) -> Rules:
    fields: Any = card.get("rules")
    try:
        start = tuple((int(point), int(count)) for point, count in fields["start"])
        rules = Rules(**{**fields, "start": start, "checkers": int(fields["checkers"])})
        standing = all(1 <= point <= 25 and count > 0 for point, count in start)
        if not standing or sum(count for _, count in start) != rules.checkers > 0:
            raise ConfigError(f"start={start} does not hold {rules.checkers} checkers")
    except (TypeError, ValueError, KeyError) as error:
        raise CheckpointError(f"{folder / CARD}: rules: {error}; solve the game again") from error
    return rules


def _difference(theirs: Rules, ours: Rules) -> str:
    """What tells two games apart, for a message."""
    his = {option.name: option.value for option in playing_rules(theirs).options()}
    mine = {option.name: option.value for option in playing_rules(ours).options()}
    if (theirs.checkers, theirs.start, theirs.contact) != (ours.checkers, ours.start, ours.contact):
        return f", not {ours.name}"
    parts = [f"{name}={value}, not {mine[name]}" for name, value in his.items()
             if mine.get(name, value) != value]  # fmt: skip
    return f" with {'; '.join(parts)}"

"""The legal plays of a roll as values: what `Position.plays` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.batch import generate_batch, unpack_path
from nardy_rl.rules.board import FIRST_TURN, opponent_point
from nardy_rl.rules.ladder import follow
from nardy_rl.rules.pins import PINNED
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.scoring import NOT_OVER, score_after


@dataclass(frozen=True)
class Play:
    """One legal result of a roll, and one way to get there.

    Attributes:
        before: the position the roll was thrown in.
        roll: the two dice.
        after: the result, still seen by the player who played; its `moved` says whether his
            turn is over.
        moves: ((from, to), ...) in the order played, own numbering; 25 the bar, 0 off.
        hits: for each move, whether it hit, or pinned a checker that the play leaves pinned.
    """

    before: Position
    roll: tuple[int, int]
    after: Position
    moves: tuple[tuple[int, int], ...]
    hits: tuple[bool, ...]

    @property
    def dice_used(self) -> int:
        """How many dice (steps) the play uses; 0 is a pass."""
        return len(self.moves)

    def __str__(self) -> str:
        from nardy_rl.notation import move_text

        return move_text(self)

    def _repr_svg_(self) -> str:
        from nardy_rl.viz import board_svg

        return board_svg(self.before, play=self)


class Plays(Sequence[Play]):
    """The legal plays of one roll, generated when first looked at.

    `len`, indexing and iteration work as for a tuple; `play in plays` and `position in plays`
    compare by resulting position.
    """

    def __init__(self, before: Position, roll: tuple[int, int]) -> None:
        self.before = before
        self.roll = roll
        self._used = 0

    @cached_property
    def _all(self) -> tuple[Play, ...]:
        before = self.before
        legal, paths = generate_batch(
            before.rules.kernel,
            before.points[None],
            np.array([before.flags], np.uint8),
            np.array([before.pending], np.uint8),
            np.array([self.roll], np.int8),
        )
        self._used = int(legal.dice_used[0])
        return tuple(
            self._play(legal.after[row], unpack_path(int(paths[row]), self._used))
            for row in range(len(legal.after))
        )

    def _play(self, after: NDArray[np.int8], steps: list[tuple[int, int]]) -> Play:
        before = self.before
        opposite = before.rules.kernel.opposite
        his = before.points[1].copy()
        moves, hits = [], []
        for source, die in steps:
            landing = max(source - die, OFF)
            hit = False
            if before.rules.contact != "block" and landing != OFF:
                place = opponent_point(opposite, landing)
                hit = bool(his[place] == 1)
                if before.rules.contact == "pin":
                    hit = hit and bool(after[1, place] == PINNED)
                his[place] = 0 if hit else his[place]
            moves.append((source, landing))
            hits.append(hit)
        return Play(before, self.roll, self._result(after), tuple(moves), tuple(hits))

    def _result(self, after: NDArray[np.int8]) -> Position:
        before = self.before
        rules = before.rules
        flags = before.flags & ~FIRST_TURN
        if score_after(rules.kernel, after, flags) != NOT_OVER:
            return Position(rules, after, flags, moved=True)
        state = (before.flags, before.pending, *self.roll, self._used)
        goes_on, flags, pending = follow(rules.kernel, *state, before.points, after)
        if goes_on:
            return Position(rules, after, flags, pending)
        return Position(rules, after[::-1], flags, pending).flip()

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, index: int) -> Play: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Play, ...]: ...
    def __getitem__(self, index: int | slice) -> Play | tuple[Play, ...]:
        return self._all[index]

    def __iter__(self) -> Iterator[Play]:
        return iter(self._all)

    def __contains__(self, item: object) -> bool:
        wanted = item.after if isinstance(item, Play) else item
        return any(play.after == wanted for play in self._all)

    def __repr__(self) -> str:
        return f"<Plays of {self.roll[0]}-{self.roll[1]}: {', '.join(map(str, self._all))}>"

"""An evaluator that knows the end of the game: exact shares of pure bear-offs, else another's."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.bearoff.storage import load_table, show_progress
from nardy_rl.bearoff.table import BearoffTable, kind_of_play, row_of
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions, Evaluator
from nardy_rl.rules.board import STARTED
from nardy_rl.rules.kernels import MAX_STEPS
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import HOME, KernelRules, Rules
from nardy_rl.rules.scoring import NOT_OVER, score_after

_BEST_SCORE = 3


def with_bearoff(evaluator: Evaluator, rules: Rules) -> Evaluator:
    """`evaluator` with exact bear-offs; itself where the variant has no table, or it has them.

    The table is loaded, or made, when the first bear-off comes up.
    """
    if kind_of_play(rules) is None or isinstance(evaluator, BearoffEvaluator):
        return evaluator
    return BearoffEvaluator(evaluator, rules)


class BearoffEvaluator:
    """The shares of `inner`, but exact ones where both sides have all checkers home or off.

    Exact for two players who each need the fewest rolls on average; see `BearoffTable`. What
    `inner` says of all other candidates stays as it is, to the bit.

    Args:
        inner: asked for all candidates.
        rules: of the game.
        table: of those rules; without it `load_table` is asked once a bear-off comes up.

    Raises:
        ConfigError: a variant that has no bear-off table, or the table of another.
    """

    def __init__(self, inner: Evaluator, rules: Rules, table: BearoffTable | None = None) -> None:
        kind = kind_of_play(rules)
        if kind is None:
            raise ConfigError(f"{rules.name}: there is no bear-off table for this variant")
        if table is not None and (table.kind, table.checkers) != (kind, rules.checkers):
            raise ConfigError(
                f"table: {table.kind} play with {table.checkers} checkers; {rules.name} needs "
                f"{kind} play with {rules.checkers}"
            )
        self.inner = inner
        self.name = f"{inner.name} with bear-off tables"
        self.rules = rules
        self._table = table
        self.columns = np.zeros(2 * _BEST_SCORE + 1, np.int64)
        for column, score in enumerate(rules.outcomes):
            self.columns[score + _BEST_SCORE] = column

    @property
    def table(self) -> BearoffTable:
        """The table, loaded or made when first asked for."""
        if self._table is None:
            self._table = load_table(self.rules, progress=show_progress)
        return self._table

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `Evaluator`."""
        shares = self.inner.distributions(decisions)
        boards = np.ascontiguousarray(decisions.legal.after)
        offsets = decisions.legal.offsets
        # The look is so short, about 10 ns a decision, that threads would not pay.
        if _any_bearoff(decisions.points, boards, offsets):
            run_chunks(
                _put_exact,
                len(decisions.points),
                self.rules.kernel,
                decisions.points,
                boards,
                offsets,
                decisions.flags,
                self.table.chances,
                self.columns,
                shares,
                min_chunk=64,
            )
        return shares


@njit(nogil=True, cache=True)
def is_home(side: NDArray[np.int8]) -> bool:
    """Whether one side int8[26] has no checker outside home: most others have some far back."""
    place = 25
    while place > HOME and side[place] == 0:
        place -= 1
    return place == HOME


@njit(nogil=True, cache=True)
def _any_bearoff(
    points: NDArray[np.int8], boards: NDArray[np.int8], offsets: NDArray[np.int64]
) -> bool:
    """Whether any decision has a candidate with both sides home or off."""
    for b in range(len(points)):
        # The opponent does not move home in my turn: one look at him serves all candidates.
        if is_home(points[b, 1]):
            for row in range(offsets[b], offsets[b + 1]):
                if is_home(boards[row, 0]) and is_home(boards[row, 1]):
                    return True
    return False


@njit(nogil=True, cache=True)
def _put_exact(
    low: int,
    high: int,
    rules: KernelRules,
    points: NDArray[np.int8],
    boards: NDArray[np.int8],
    offsets: NDArray[np.int64],
    flags: NDArray[np.uint8],
    chances: NDArray[np.float32],
    columns: NDArray[np.int64],
    shares: NDArray[np.float32],
) -> None:
    """Overwrite the shares of those candidates of decisions low..high-1."""
    for b in range(low, high):
        if is_home(points[b, 1]):
            for row in range(offsets[b], offsets[b + 1]):
                if is_home(boards[row, 0]) and is_home(boards[row, 1]):
                    exact_shares(rules, boards[row], flags[b], chances, columns, shares[row])


@njit(nogil=True, cache=True)
def exact_shares(
    rules: KernelRules,
    board: NDArray[np.int8],
    flags: int,
    chances: NDArray[np.float32],
    columns: NDArray[np.int64],
    shares: NDArray[np.float32],
) -> None:
    """The outcome shares of one position int8[2, 26], seen by who just moved (side 0).

    The opponent rolls first. He wins by finishing with his roll r, r = 1, 2, .., before my roll
    r; I by finishing with mine before his roll r + 1. With a drawn last roll, the second player
    has one more roll when the starter finishes first (RULES.md 1, last_roll), and a mars is
    settled after it where it is thrown: that needs four checkers or fewer, so a loser with
    none off throws it only in games of so few checkers.

    Nobody is ever koks here: that takes a checker outside the loser's home, or none in it.
    Positions that the table leaves out, which no play leads to, stay as they are.
    """
    mine, his = chances[row_of(board[0])], chances[row_of(board[1])]
    if np.isnan(mine[0, 0]) or np.isnan(his[0, 0]):
        return
    for k in range(len(shares)):
        shares[k] = 0.0
    score = score_after(rules, board, flags)
    if score != NOT_OVER:
        shares[columns[score + _BEST_SCORE]] = 1.0
        return
    he_is_owed = int(rules.last_roll != 0 and (flags & STARTED) != 0)
    i_am_owed = int(rules.last_roll != 0 and (flags & STARTED) == 0)
    few = int(rules.checkers <= MAX_STEPS)
    win = _before(mine[0], his[0], he_is_owed)
    loss = _before(his[0], mine[0], i_am_owed - 1)
    win_mars = _before(mine[0], his[1], he_is_owed * few) if board[1, 0] == 0 else 0.0
    loss_mars = _before(his[0], mine[1], i_am_owed * few - 1) if board[0, 0] == 0 else 0.0
    if rules.last_roll != 0:
        shares[columns[_BEST_SCORE]] = max(1.0 - win - loss, 0.0)
    shares[columns[_BEST_SCORE + 2]] = win_mars
    shares[columns[_BEST_SCORE + 1]] = max(win - win_mars, 0.0)
    shares[columns[_BEST_SCORE - 1]] = max(loss - loss_mars, 0.0)
    shares[columns[_BEST_SCORE - 2]] = loss_mars


@njit(nogil=True, cache=True)
def _before(one: NDArray[np.float32], other: NDArray[np.float32], extra: int) -> float:
    """The chance that `one` takes r rolls and `other` more than r + extra (-1, 0 or 1)."""
    rolls = len(one)
    more = 1.0
    if extra >= 0:
        more -= other[0]
    if extra > 0:
        more -= other[1]
    chance = 0.0
    for r in range(rolls):
        # Here `more` is the chance that the other takes more than r + extra rolls.
        chance += one[r] * max(more, 0.0)  # rounding may leave it below
        if r + 1 + extra < rolls:
            more -= other[r + 1 + extra]
    return chance

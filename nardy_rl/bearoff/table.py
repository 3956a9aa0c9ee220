"""One-sided bear-off tables: how many rolls until all checkers are off, and until the first is.

A side with every checker on its points 6..1 or off plays for itself: nobody blocks it. For each
such position the table has two distributions over the number of rolls, both under the play that
needs the fewest rolls on average (of equals, the one that leaves the fewest checkers). That play
is nearly, not always, the best against a given opponent: a side behind may rather gamble.

Positions with a checker outside home are not in the table, races or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError
from nardy_rl.rules.kernels import MAX_AFTERSTATES, Rows, Scratch, generate, new_rows, new_scratch
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.record import HOME, KernelRules, Rules

TABLE_VERSION = 1
"""Changes when a table's numbers or layout do; stored tables of another version are made anew."""

_TIE = 1e-10
"""Means closer than this are equal: they differ by rounding only."""

# _CHOOSE[j, n]: how many ways there are to place fewer than n checkers on the points 6 - j..6.
_CHOOSE = np.array([[math.comb(n + j, j + 1) for n in range(16)] for j in range(HOME)], np.int64)


@dataclass(frozen=True)
class BearoffTable:
    """The rolls that every home position of one side needs.

    Attributes:
        checkers: of a side; positions have 0 to so many on the board, the others are off.
        kind: of play, see `kind_of_play`.
        chances: float32[N, 2, R], read-only: the chance that exactly r rolls take
            [n, 0, r] all checkers off, [n, 1, r] at least one; `row` says which n. NaN for
            positions that no play leads to, and from which a roll may have to be passed: primes
            under `prime_rule=forbid`.
    """

    checkers: int
    kind: str
    chances: NDArray[np.float32]

    def row(self, home: tuple[int, ...]) -> int:
        """The row of the position with home[i] checkers on point i + 1, as six counts.

        Raises ValueError for counts that the table does not have.
        """
        if len(home) != HOME or min(home) < 0 or sum(home) > self.checkers:
            raise ValueError(
                f"home={home!r} is not allowed; six counts, 0 or more, "
                f"that add up to {self.checkers} at most"
            )
        side = np.zeros(26, np.int8)
        side[1 : HOME + 1] = home
        return int(row_of(side))

    def mean_rolls(self, home: tuple[int, ...]) -> tuple[float, float]:
        """Mean rolls until all are off, and until the first is, of a position as in `row`.

        >>> from nardy_rl.rules.record import variant
        >>> table = build_table(variant("hypergammon"))
        >>> table.mean_rolls((0, 0, 0, 0, 0, 1))  # one checker on the 6-point
        (1.25, 1.25)
        """
        chances = self.chances[self.row(home)].astype(np.float64)
        finish, first = chances @ np.arange(chances.shape[1])
        return float(finish), float(first)


def kind_of_play(rules: Rules) -> str | None:
    """The name of the rules that a lone bear-off of this variant follows; None for no table.

    Bearing off is alike in all variants (RULES.md 0), and a prime in the home is beyond none of
    the enemies who are home themselves, so it is allowed: one kind, "plain". But
    doubles that run on have no table, and `prime_rule=forbid` forbids it there too, and
    then it matters when it is checked.

    >>> from nardy_rl.rules.record import variant
    >>> kind_of_play(variant("backgammon")), kind_of_play(variant("long_nardy"))
    ('plain', 'plain')
    >>> kind_of_play(variant("long_nardy", prime_rule="forbid"))
    'no_primes_turn_end'
    """
    if rules.ladder or rules.contact not in ("block", "hit") or not 1 <= rules.checkers <= 15:
        return None
    if rules.contact == "block" and rules.prime_rule == "forbid" and rules.checkers >= HOME:
        return f"no_primes_{rules.prime_check}"
    return "plain"


def table_shape(checkers: int) -> tuple[int, int, int]:
    """The shape [N, 2, R] of the table of so many checkers.

    2 * checkers rolls are enough: so many it takes from the 6-point when every roll is 2-1.
    """
    return math.comb(checkers + HOME, HOME), 2, 2 * checkers + 1


def home_positions(checkers: int) -> NDArray[np.int8]:
    """Every home position of 0..checkers checkers as a side int8[N, 26], by its row.

    Borne-off checkers are on place 0. Rows are sorted by checkers on board, then by those on
    points 6..2, 6..3 and so on; every step of a checker leads to a lower row.
    """
    sums = np.array(list(combinations_with_replacement(range(checkers + 1), HOME)), np.int8)
    sums = sums[np.lexsort(sums.T)]  # sums[:, j]: checkers on points 6 - j..6
    sides = np.zeros((len(sums), 26), np.int8)
    sides[:, HOME:0:-1] = np.diff(sums, axis=1, prepend=np.int8(0))
    sides[:, 0] = checkers - sums[:, -1]
    return sides


@njit(nogil=True, cache=True)
def row_of(side: NDArray[np.int8]) -> int:
    """The row of one side int8[26] that is wholly home or off."""
    row = 0
    count = 0
    for j in range(HOME):
        count += side[HOME - j]
        row += _CHOOSE[j, count]
    return row


def build_table(rules: Rules, progress: Callable[[int, int], None] | None = None) -> BearoffTable:
    """Make the table of `rules` with the rules' own kernel, on all threads.

    Args:
        rules: the variant.
        progress: told (positions done, positions in all) now and then.

    Raises:
        ConfigError: a variant that has no bear-off table.
    """
    kind = kind_of_play(rules)
    if kind is None:
        raise ConfigError(f"{rules.name}: there is no bear-off table for contact={rules.contact!r}")
    shape = table_shape(rules.checkers)
    chances = np.zeros(shape)
    chances[0, :, 0] = 1.0
    means = np.zeros(shape[0])
    boards = np.zeros((shape[0], 2, 26), np.int8)
    boards[:, 0] = home_positions(rules.checkers)
    boards[:, 1, 1] = rules.checkers  # an enemy who is home: he must be on board, and is nowhere
    # Every step takes pips off, so positions of one pip count do not need each other.
    pips = boards[:, 0, : HOME + 1] @ np.arange(HOME + 1)
    order = np.argsort(pips, kind="stable")
    edges = np.searchsorted(pips[order], np.arange(1, 2 + HOME * rules.checkers))
    for low, high in pairwise(edges):

        def work(start: int, stop: int, low: int = low) -> None:
            rows = order[low + start : low + stop]
            scratch, room = new_scratch(), new_rows(MAX_AFTERSTATES)
            _fill_rows(rules.kernel, scratch, room, boards, rows, means, chances)

        map_chunks(work, high - low, min_chunk=32)
        if progress is not None:
            progress(int(high), shape[0])
    table = chances.astype(np.float32)
    table.flags.writeable = False
    return BearoffTable(rules.checkers, kind, table)


@njit(nogil=True, cache=True)
def _fill_rows(
    rules: KernelRules,
    scratch: Scratch,
    room: Rows,
    boards: NDArray[np.int8],
    rows: NDArray[np.int64],
    means: NDArray[np.float64],
    chances: NDArray[np.float64],
) -> None:
    """Fill `rows` of `means` and `chances` from those of fewer pips."""
    last = chances.shape[2] - 1
    for row in rows:
        possible = True
        mean = 1.0
        for die1 in range(1, 7):
            for die2 in range(1, die1 + 1):
                chance = (1.0 if die1 == die2 else 2.0) / 36.0
                count, used = generate(
                    rules, scratch, boards[row], 0, 0, die1, die2, room.words, room.paths, 0
                )
                if used == 0:
                    possible = False
                    continue
                best = row_of(room.boards[0, 0])
                for i in range(1, count):
                    other = row_of(room.boards[i, 0])
                    gain = means[best] - means[other]
                    if gain > _TIE or (gain > -_TIE and other < best):
                        best = other
                mean += chance * means[best]
                for rolls in range(last):
                    chances[row, 0, rolls + 1] += chance * chances[best, 0, rolls]
                if boards[best, 0, 0] > boards[row, 0, 0]:
                    chances[row, 1, 1] += chance
                else:
                    for rolls in range(last):
                        chances[row, 1, rolls + 1] += chance * chances[best, 1, rolls]
        means[row] = mean
        if not possible:
            # Only a prime that a rule forbids can have to pass here, and no play makes one.
            means[row] = np.inf
            chances[row] = np.nan

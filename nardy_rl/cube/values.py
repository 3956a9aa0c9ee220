"""What cube decisions are worth: Janowski's interpolation between a dead cube and a live one.

A dead cube is never turned again: a position is worth the mean of its results. A live one is
turned by whoever reaches the point where the other is just as well off refusing (E. B. Keeler and
J. Spencer, "Optimal doubling in backgammon", Operations Research 23, 1975): between such points
the value is linear in the chance of winning. The truth lies between, a part `cube_life` of the
way to the live value (R. Janowski, "Take-points in money games", 1993). The same recursion over
stakes serves money and matches, where N. Zadeh and G. Kobliska ("On optimal doubling in
backgammon", Management Science 23, 1977) measured stakes in chances to win the match.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.cube.state import next_stake
from nardy_rl.cube.terms import Terms

CUBE_LIFE = 0.68
"""Between 0 (dead) and 1 (live): Janowski's estimate for ordinary positions."""

_MONEY_OFFERS = {"geometric": 24, "arithmetic": 60}
"""Offers looked ahead at money, where no score ends them: the last one is taken for dead."""

Floats = NDArray[np.float64]


class Worth(NamedTuple):
    """What points are worth: themselves at money, chances to win the match otherwise.

    Attributes:
        away: int64[B, 2], points that I and the opponent need; not read at money.
        table: float64[N + 1, N + 1], my chance by points needed, or several of them [R, ..];
            None: money.
        which: int64[B], the table of each position, where there are several.
    """

    away: NDArray[np.int64]
    table: Floats | None = None
    which: NDArray[np.int64] | None = None

    def of(self, points: NDArray[np.int64] | NDArray[np.float64]) -> Floats:
        """My value, float64[B], after winning points int64[B] (negative: losing)."""
        if self.table is None:
            return np.asarray(points, np.float64)
        mine = np.maximum(self.away[:, 0] - np.maximum(points, 0), 0).astype(np.int64)
        theirs = np.maximum(self.away[:, 1] + np.minimum(points, 0), 0).astype(np.int64)
        if self.which is not None:
            return np.asarray(self.table[self.which, mine, theirs])
        return np.asarray(self.table[mine, theirs])


class CubeValues(NamedTuple):
    """My value (points, or chance to win the match) of each way to go on, float64[B] each.

    Attributes:
        no_double: the cube stays as it is.
        take: I double and it is taken.
        refused: I double and it is refused.
        beaver: I double and it is doubled back at once.
    """

    no_double: Floats
    take: Floats
    refused: Floats
    beaver: Floats

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Whether doubling is better; not where playing on for more is (too good)."""
        return np.minimum(self.take, self.refused) > self.no_double + 1e-9

    @property
    def takes(self) -> NDArray[np.bool_]:
        """Whether the opponent takes; where both are alike he does."""
        return self.take <= self.refused + 1e-9

    @property
    def beavers(self) -> NDArray[np.bool_]:
        """Whether the opponent is better off doubling back."""
        return self.takes & (self.beaver < self.take - 1e-9)


def cube_values(
    terms: Terms,
    outcomes: tuple[int, ...],
    shares: Floats,
    stake: NDArray[np.int64],
    owner: NDArray[np.int64],
    worth: Worth,
    cube_life: float = CUBE_LIFE,
) -> CubeValues:
    """Values of the player about to roll.

    Args:
        terms: what is played for; Jacoby holds while nobody owns the cube.
        outcomes: scores, ascending, as of `Rules.outcomes`.
        shares: float64[B, K], their probabilities before the roll, without any cube.
        stake: int64[B], 1 or more.
        owner: int64[B]: 0 both may double, 1 I may, 2 the opponent may.
        worth: of points.
        cube_life: 0 dead .. 1 live.
    """
    ladder = _Stakes(terms, outcomes, np.asarray(shares, np.float64), stake, worth, cube_life)
    return CubeValues(
        ladder.value(0, owner, terms.jacoby),
        ladder.value(1, np.full(len(stake), 2)),
        ladder.worth.of(stake),
        ladder.value(2, np.full(len(stake), 2)),
    )


class _Stakes:
    """Values at the present stake and those that can follow, one level an accepted offer."""

    def __init__(
        self,
        terms: Terms,
        outcomes: tuple[int, ...],
        shares: Floats,
        stake: NDArray[np.int64],
        worth: Worth,
        cube_life: float,
    ) -> None:
        scores = np.array(outcomes)
        if terms.cube != "none" and not terms.mars_with_cube:
            scores = np.sign(scores)
        self.scores, self.shares, self.worth, self.life = scores, shares, worth, cube_life
        if worth.table is None:
            top = _MONEY_OFFERS[terms.cube_progression]
        else:
            need = int(worth.away.max(initial=1))
            top = need if terms.cube_progression == "arithmetic" else need.bit_length()
        self.stakes = [next_stake(terms, stake, n) for n in range(max(top, 2) + 1)]
        wins, losses = scores > 0, scores < 0
        won, lost = shares[:, wins].sum(1), shares[:, losses].sum(1)
        self.chance = won + (1.0 - won - lost) / 2
        self.kinds = {1: _normed(shares, wins, scores), -1: _normed(shares, losses, scores)}
        ends = [self._ends(level, scores) for level in range(len(self.stakes))]
        self.lost, self.won = [e[0] for e in ends], [e[1] for e in ends]
        self._cash_points()

    def _ends(self, level: int, scores: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Mean value where the game is lost, and where it is won."""
        found = []
        for sign in (-1, 1):
            mean = np.zeros(len(self.shares))
            for k in np.flatnonzero(np.sign(scores) == sign):
                mean += self.kinds[sign][:, k] * self.worth.of(scores[k] * self.stakes[level])
            found.append(mean)
        return found[0], found[1]

    def _cash_points(self) -> None:
        """My chance to win at which each side's offer is just as well refused, level by level.

        `mine[n]` is 1 and `theirs[n]` 0 where doubling gains that side nothing (a dead cube).
        """
        top = len(self.stakes) - 1
        ones, zeros = np.ones(len(self.shares)), np.zeros(len(self.shares))
        self.mine, self.theirs = [ones] * (top + 1), [zeros] * (top + 1)
        for n in range(top - 1, -1, -1):
            up, down = self.worth.of(self.stakes[n]), self.worth.of(-self.stakes[n])
            # Taken, the opponent owns the cube: a line from his own cash point to my win.
            x, y = self._knot(n + 1, mine=False)
            span = self.won[n + 1] - y
            share = np.divide(up - y, span, out=np.ones_like(span), where=span > 1e-12)
            self.mine[n] = x + np.clip(share, 0.0, 1.0) * (1.0 - x)
            x, y = self._knot(n + 1, mine=True)
            span = y - self.lost[n + 1]
            share = np.divide(
                down - self.lost[n + 1], span, out=np.zeros_like(span), where=span > 1e-12
            )
            self.theirs[n] = np.clip(share, 0.0, 1.0) * x

    def _knot(self, n: int, mine: bool) -> tuple[Floats, Floats]:
        """The end of the line on one side: his cash point, or the end of the game."""
        if mine:
            dead = self.mine[n] >= 1.0
            return self.mine[n], np.where(dead, self.won[n], self.worth.of(self.stakes[n]))
        dead = self.theirs[n] <= 0.0
        return self.theirs[n], np.where(dead, self.lost[n], self.worth.of(-self.stakes[n]))

    def value(self, n: int, owner: NDArray[np.int64], jacoby: bool = False) -> Floats:
        """My value at level n; 0 nobody owns the cube, 1 I do, 2 the opponent does."""
        dead = sum(
            self.shares[:, k] * self.worth.of(score * self.stakes[n])
            for k, score in enumerate(self.scores)
        )
        lost, won = self.lost[n], self.won[n]
        if jacoby:
            centred = owner == 0
            up, down = self.worth.of(self.stakes[n]), self.worth.of(-self.stakes[n])
            even = 2 * self.chance - 1
            dead = np.where(centred, even * self.stakes[n], dead)
            lost, won = np.where(centred, down, lost), np.where(centred, up, won)
        left, low = self._knot(n, mine=False)
        right, high = self._knot(n, mine=True)
        left, low = np.where(owner == 1, 0.0, left), np.where(owner == 1, lost, low)
        right, high = np.where(owner == 2, 1.0, right), np.where(owner == 2, won, high)
        low, high = np.where(left <= 0.0, lost, low), np.where(right >= 1.0, won, high)
        p = self.chance
        live = np.where(
            p < left,
            _line(p, np.zeros_like(p), lost, left, low),
            np.where(
                p > right,
                _line(p, right, high, np.ones_like(p), won),
                _line(p, left, low, right, high),
            ),
        )
        return np.asarray((1 - self.life) * dead + self.life * live)


def _line(p: Floats, x0: Floats, y0: Floats, x1: Floats, y1: Floats) -> Floats:
    span = x1 - x0
    part = np.divide(p - x0, span, out=np.zeros_like(span), where=span > 1e-12)
    return np.asarray(y0 + part * (y1 - y0))


def _normed(shares: Floats, among: NDArray[np.bool_], scores: NDArray[np.int64]) -> Floats:
    """The kinds of win (or loss) given that there is one; single where there never is."""
    kinds = np.where(among, shares, 0.0)
    total = kinds.sum(1, keepdims=True)
    single = np.zeros(len(scores))
    nearest = np.flatnonzero(among)[np.argmin(np.abs(scores[among]))]
    single[nearest] = 1.0
    return np.where(total > 1e-9, kinds / np.maximum(total, 1e-9), single)

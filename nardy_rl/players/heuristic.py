"""`heuristic`: plays by rules of thumb, each a number of pips; no search and nothing learned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.players.pinning import PinWeights, choose_pin
from nardy_rl.players.shots import expected_loss, holes_of
from nardy_rl.players.thumbs import WIN, closed, race, running, walled
from nardy_rl.rules.board import opponent_point
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import HOME, Rules


class BlockWeights(NamedTuple):
    """What the rules of thumb count where checkers block each other, in pips.

    Attributes:
        head: for each own checker still on the head: one a turn may leave, so leave early.
        points: for a held point that all of him must still pass: spread out in his way.
        wall: for each roll of 36 that one of his checkers cannot play in full.
        walled: for each roll of 36 that one of mine cannot.
        spare: for each spare move that I lack: whoever has none must break his own wall.
        denied: for each that he lacks.
        stack: for each checker beyond the second on a point: it holds nothing.
        mars: for each pip short of home once he bears off and I have not: save the double loss.
        outside: for each checker short of home: in a race cross into home first.
    """

    head: float = 10.0
    points: float = 4.0
    wall: float = 0.15
    walled: float = 0.08
    spare: float = 1.0
    denied: float = 1.0
    stack: float = 1.5
    mars: float = 2.0
    outside: float = 0.5


class HitWeights(NamedTuple):
    """What the rules of thumb count where lone checkers are hit, in pips.

    Attributes:
        risk: for each pip that his next roll may be expected to send me back.
        shut: for the chance of being hit, for each point closed in his home: harder to come in.
        daring: the share by which risk falls while I am behind: then I have less to lose.
        points: for the worth of each point held (`POINT_WORTH`): home and the bar point first.
        anchor: for each point held in his home or just outside: a place to come in.
        back: for each checker and pip deep in his home: get out before the door shuts.
        bar: for each of his checkers on the bar and each point closed in my home.
        tempo: for having anything of his on the bar: he must spend half a roll.
        wall: for each roll of 36 that one of his checkers cannot play in full.
        walled: for each roll of 36 that one of mine cannot.
        stack: for each checker beyond the third on a point: it makes no points.
        mars: for each pip short of home once he bears off and I have not: save the double loss.
        outside: for each checker short of home: in a race cross into home first.
    """

    risk: float = 1.0
    shut: float = 1.0
    daring: float = 0.2
    points: float = 1.0
    anchor: float = 4.0
    back: float = 1.0
    bar: float = 2.0
    tempo: float = 1.0
    wall: float = 0.1
    walled: float = 0.08
    stack: float = 1.0
    mars: float = 1.0
    outside: float = 1.0


Weights = BlockWeights | HitWeights | PinWeights

BLOCK_FEW = BlockWeights(head=0.0, points=0.0, spare=0.2, denied=0.2, stack=1.0, outside=2.0)
"""For a handful of checkers: no hurry from the head, no holding of points, moves are always few."""

HIT_FEW = HitWeights(
    risk=1.3, points=0.4, anchor=0.0, back=0.0, tempo=4.0, wall=0.15, walled=0.0, outside=0.5
)
"""For a handful of checkers: they make few points and no walls, a hit is nearly all there is."""

FEW = 8
"""Fewer checkers than this are a handful."""

POINT_WORTH = (0, 3, 5, 7, 8, 9, 7, 7, 5, 3, 3, 2, 1, 1, *[0] * 12)
"""Of holding each point 0..25 where lone checkers are hit; the five-point above all."""


class HeuristicPlayer:
    """Plays the result that its rules of thumb think most of; the first one of equals.

    Everything is counted in pips and added up; the weights say how many (`BlockWeights`,
    `HitWeights`, `PinWeights`, with reasons). A result that wins comes before all else.

    Long nardy and its kin, in order of weight:

    1. *Race*: the opponent's pips less the own. Both counts add what is wasted near the end: two
       for each checker but one on the ace point, one for each but one on the two-point and each
       beyond three on the three-point, one for each gap on 4, 5 and 6 (after Keith's count); and
       take off two for each checker borne off.
    2. *Leave the head early*: every checker on it costs.
    3. *Spread*: a held point counts by how many of his checkers, up to eight, must still pass it;
       a third checker on a point outside home, and every further one, costs.
    4. *Wall him in*: of each of his checkers, up to three a point, the rolls of 36 that it could
       not play in full, were it alone. A row of five in front of it stops 34, one of six all, and
       points far from his last checkers nothing: primes are built before he comes out.
    5. *Do not be walled in*: the same of the own checkers.
    6. *Keep spare moves*: a die that no checker can play costs three spare moves, one that only
       one point can play costs one. The opponent's lack is the own gain.
    7. *Save the mars*: once he bears off and the player has not, all hurry home.
    8. *Cross over*: of equal races the one with more checkers at home.

    Backgammon and its kin:

    1. *Race*: as above, a checker on the bar counting 25: so hitting gains what it sends back.
    2. *Play safe*: of every roll of his the dearest blot that it hits, with what bars its way;
       the pips that it loses, and more for each point of his home closed against it. Less of it
       while behind in the race.
    3. *Make points* in order of their worth: five, four, six and bar, three, eight.
    4. *Get the back checkers out*, or hold an anchor in his home with them.
    5. *Close the board against the bar*: his checkers there times the closed points of home.
    6. *Wall in*, *do not be walled in*, *do not stack*, *save the mars*, *cross over*: as above,
       a stack beginning at the fourth checker.

    Once the two sides have passed each other, the race alone counts, with crossing over and the
    mars.

    Plakoto: *race*, *wall in*, *do not be walled in*, *do not stack*, *save the mars* and *cross
    over* as above; *pin*, the farther back the better; *do not be pinned*, the mother least of
    all: of every roll of his the dearest pin; *make points*, *leave the start*.

    Args:
        rules: the variant; its contact chooses the list, its number of checkers the weights.
        weights: other ones, for instance to see what a rule is worth.

    Raises:
        ConfigError: a kind of contact without rules of thumb, or weights for another kind.
    """

    name = "heuristic"

    def __init__(self, rules: Rules, weights: Weights | None = None) -> None:
        if rules.contact not in ("block", "hit", "pin"):
            raise ConfigError(
                f"{rules.name}: heuristic has no rules of thumb for contact={rules.contact}; "
                "they are for: block, hit, pin"
            )
        few = rules.checkers < FEW
        usual: Weights
        if rules.contact == "pin":
            usual, self._kernel = PinWeights(), choose_pin
        elif rules.contact == "hit":
            usual, self._kernel = HIT_FEW if few else HitWeights(), _choose_hit
        else:
            usual, self._kernel = BLOCK_FEW if few else BlockWeights(), _choose_block
        self.weights = usual if weights is None else weights
        if type(self.weights) is not type(usual):
            raise ConfigError(
                f"weights: {type(weights).__name__} is not allowed; "
                f"{rules.name} needs {type(usual).__name__}"
            )
        self._rules = rules.kernel

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        chosen = np.empty(len(keys), np.int64)
        legal = decisions.legal
        # One type of number, so that there is one kernel, whatever weights were given.
        weights = type(self.weights)(*map(float, self.weights))
        run_chunks(
            self._kernel, len(keys), self._rules, weights, legal.after, legal.offsets, chosen
        )
        return chosen


_BOARD = np.int64((1 << 25) - 2)  # holes 1..24
_PASSING = 8  # checkers of his that make a point in their way count in full
_WORTH = np.array(POINT_WORTH, np.float64)


@njit(nogil=True, cache=True)
def _choose_block(low, high, rules, weights, boards, offsets, chosen):
    for b in range(low, high):
        best = offsets[b]
        best_score = _block_score(rules, weights, boards[best])
        for row in range(best + 1, offsets[b + 1]):
            score = _block_score(rules, weights, boards[row])
            if score > best_score:
                best = row
                best_score = score
        chosen[b] = best


@njit(nogil=True, cache=True)
def _choose_hit(low, high, rules, weights, boards, offsets, chosen):
    for b in range(low, high):
        best = offsets[b]
        best_score = _hit_score(rules, weights, boards[best])
        for row in range(best + 1, offsets[b + 1]):
            score = _hit_score(rules, weights, boards[row])
            if score > best_score:
                best = row
                best_score = score
        chosen[b] = best


@njit(nogil=True, cache=True)
def _block_score(rules, weights, board):
    """Pips that int8[2, 26] is worth to the player of row 0, who just moved: blocking."""
    mine, his = board[0], board[1]
    if mine[0] == rules.checkers:
        return WIN
    closed_to_him = closed(rules, mine, 1)
    closed_to_me = closed(rules, his, 1)
    score = running(weights, mine, his)
    score -= weights.head * mine[24]
    score += weights.points * _points_in_his_way(rules, mine, his)
    score += weights.wall * walled(his, closed_to_him)
    score -= weights.walled * walled(mine, closed_to_me)
    score += weights.denied * _lacking(his, closed_to_him)
    score -= weights.spare * _lacking(mine, closed_to_me)
    for point in range(HOME + 1, 24):
        if mine[point] > 2:
            score -= weights.stack * (mine[point] - 2)
    return score


@njit(nogil=True, cache=True)
def _hit_score(rules, weights, board):
    """Pips that int8[2, 26] is worth to the player of row 0, who just moved: hitting."""
    mine, his = board[0], board[1]
    if mine[0] == rules.checkers:
        return WIN
    score = running(weights, mine, his)
    if _last(mine) < opponent_point(rules.opposite, _last(his)):
        return score
    closed_to_him = closed(rules, mine, 2)
    closed_to_me = closed(rules, his, 2)
    risk = weights.risk * (1.0 if race(his) >= race(mine) else 1.0 - weights.daring)
    shut = weights.shut * _home_points(his)
    score -= risk * expected_loss(rules, mine, his, closed_to_him, shut)
    if his[25] > 0:
        score += weights.tempo + weights.bar * his[25] * _home_points(mine)
    score += weights.wall * walled(his, closed_to_him)
    score -= weights.walled * walled(mine, closed_to_me)
    for point in range(1, 25):
        deep = point - (24 - HOME - 1)
        if mine[point] > 1:
            score += weights.points * _WORTH[point]
            if deep > 0 and point < 24:
                score += weights.anchor
        if mine[point] > 3:
            score -= weights.stack * (mine[point] - 3)
        if deep > 0:
            score -= weights.back * deep * mine[point]
    return score


@njit(nogil=True, cache=True)
def _points_in_his_way(rules, mine, his):
    """My points, each by the share of his checkers that have still to pass it."""
    behind = 0
    total = 0
    for place in range(24, 0, -1):
        if mine[opponent_point(rules.opposite, place)] > 0:
            total += min(behind, _PASSING)
        behind += his[place]
    return total / _PASSING


@njit(nogil=True, cache=True)
def _lacking(own, closed):
    """Spare moves that `own` int8[26] lacks, over the dice 1..6 (see the class)."""
    holes = holes_of(own)
    all_home = holes >> (25 - HOME) << (25 - HOME) == holes
    lacking = 0
    for die in range(1, 7):
        free = holes & ~(closed >> die)
        if not all_home:
            free &= _BOARD >> die
        if free == 0:
            lacking += 3
        elif free & (free - 1) == 0:
            lacking += 1
    return lacking


@njit(nogil=True, cache=True)
def _last(own):
    """The point farthest from home where `own` int8[26] stands."""
    for point in range(25, 0, -1):
        if own[point] > 0:
            return point
    return 0


@njit(nogil=True, cache=True)
def _home_points(own):
    count = 0
    for point in range(1, HOME + 1):
        count += own[point] > 1
    return count

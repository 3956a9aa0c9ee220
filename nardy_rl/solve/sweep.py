"""The kernels of a solve: one look ahead over all 21 rolls, and sweeps over all positions.

A value is what the player about to roll can expect, in points. All rolls that leave a player
without a play lead to the same position with the other to roll, and his passes lead back: the two
values are one small linear system, solved in `settle`. Everything else moves checkers, so without
hits the pips fall and one sweep in the order of the pips is exact.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numba import njit

from nardy_rl.rules.board import FIRST_TURN, opponent_point, turn_flags
from nardy_rl.rules.kernels import generate
from nardy_rl.rules.scoring import NOT_OVER, score_after
from nardy_rl.solve.index import known_rank, place_of, position_at, side_rank

ROLLS = 21

ROLL_DICE = np.array(list(combinations_with_replacement(range(1, 7), 2)), np.int64)
"""The rolls, int64[21, 2], the smaller die first."""

_CHANCES = np.where(ROLL_DICE[:, 0] == ROLL_DICE[:, 1], 1, 2)  # of 36
_ALL = 36

ROLL_CHANCES = _CHANCES / _ALL
"""Of each roll, float64[21]."""

_OCTAVE = 5
GAPS = np.concatenate([[0.0], 8.0 * 2.0 ** ((np.arange(1, 255) - 254) / _OCTAVE), [np.inf]])
"""Points that a code uint8 of a difference stands for at least, float64[256]."""

_ROUNDING = 1e-12  # far more than sums of a few values err by

CLOSED = np.int16(-1)
"""Level of a position that is not to be solved: impossible, or over."""

_BAR = 25


@njit(nogil=True, cache=True)
def survey_range(low, high, rules, index, values, levels):
    """Sort the positions low..high-1: what is over gets its score, what cannot be NaN.

    Writes values float64[N] and levels int16[N]: twice the pips of both sides, one more with a
    first turn to come (whose passes lead into the level without), or `CLOSED`.
    """
    board = np.empty((2, 26), np.int8)
    for place in range(low, high):
        mine, his, flags = position_at(index, place)
        levels[place] = CLOSED
        values[place] = np.nan
        if not _possible(rules, index, mine, his):
            continue
        board[0] = index.sides[his]
        board[1] = index.sides[mine]
        score = score_after(rules, board, turn_flags(rules, flags))
        if score != NOT_OVER:
            values[place] = -score
            continue
        values[place] = 0.0
        levels[place] = 2 * (index.pips[mine] + index.pips[his]) + (flags & FIRST_TURN)


@njit(nogil=True, cache=True)
def _possible(rules, index, mine, his):
    """Whether two sides can face each other: no shared point, none off too early or too late."""
    me = index.sides[mine]
    he = index.sides[his]
    if me[0] == rules.checkers and he[0] == rules.checkers and rules.last_roll == 0:
        return False
    for point in range(1, 25):
        if me[point] > 0 and he[opponent_point(rules.opposite, point)] > 0:
            return False
    if rules.hit:
        return True
    for point in range(7, 25):  # who is never sent back bears off from a full home only
        if (me[0] > 0 and me[point] > 0) or (he[0] > 0 and he[point] > 0):
            return False
    return True


@njit(nogil=True, cache=True)
def gap_code(gap):
    """The largest code whose `GAPS` is at most `gap`: 0..254, and 255 where there is no other."""
    if not gap > GAPS[1]:
        return 0
    if gap == np.inf:
        return 255
    code = np.int64(min(254 + _OCTAVE * np.log2(gap / GAPS[254]), 254.0))
    return code if GAPS[code] <= gap else code - 1


@njit(nogil=True, cache=True)
def look_ahead(
    rules, index, scratch, room, values, board, mine, his, flags, before, rise, choices, gaps
):
    """The best results of all rolls, by `values`; returns (points, passes).

    Args:
        board: int8[2, 26], room.
        mine, his, flags: the position.
        choices: int32[21], the number of each roll's best result, one's complement for a pass.
        gaps: uint8[21], code of how far the next best is behind it at least.
        before, rise: the values by which `choices` and `gaps` were found, float64[N], or of
            length 0 where they were not; and how much any result can have gained since. Where
            the best is still ahead, however the others gained, there is no need to look.

    Returns:
        The sum over the rolls that can be played, each by its chance, and how many of the 36
        throws cannot.
    """
    board[0] = index.sides[mine]
    board[1] = index.sides[his]
    turned = turn_flags(rules, flags & ~FIRST_TURN)
    total = 0.0
    passes = 0
    for roll in range(ROLLS):
        if len(before) > 0:
            known = np.int64(choices[roll])
            if known < 0:
                passes += _CHANCES[roll]
                continue
            ahead = GAPS[gaps[roll]] + before[known] - values[known] - rise
            if ahead > _ROUNDING:
                gaps[roll] = gap_code(ahead)
                total -= _CHANCES[roll] * values[known]
                continue
        count, used = generate(
            rules,
            scratch,
            board,
            flags,
            0,
            ROLL_DICE[roll, 0],
            ROLL_DICE[roll, 1],
            room.words,
            room.paths,
            0,
        )
        if used == 0:
            passes += _CHANCES[roll]
            choices[roll] = ~place_of(index, his, mine, turned)
            gaps[roll] = 255
            continue
        best = -np.inf
        second = -np.inf
        best_place: int | np.int64 = np.int64(-1)
        for row in range(count):
            hit = room.boards[row, 1, _BAR] != board[1, _BAR]
            his_rank = known_rank(index, room.boards, row, 1) if hit else np.int64(his)
            place = place_of(index, his_rank, known_rank(index, room.boards, row, 0), turned)
            value = -values[place]
            # (Not a number is no result: it fails every comparison, and the sum shows it.)
            if value > best:
                second = best
                best = value
                best_place = place
            elif value > second:
                second = value
        total += _CHANCES[roll] * best
        choices[roll] = best_place
        gaps[roll] = gap_code(best - second)
    return total / _ALL, passes


@njit(nogil=True, cache=True)
def passed_to(rules, index, mine, his, flags):
    """The number of the position after a pass, seen by the other player."""
    return place_of(index, his, mine, turn_flags(rules, flags & ~FIRST_TURN))


@njit(nogil=True, cache=True)
def greedy_range(
    low, high, rules, index, scratch, room, values, order, before, rise, policy, gaps, sums, passes
):
    """`look_ahead` at the positions order[low:high]; row k goes to the k-th of each output.

    order int32[K], policy int32[K, 21] and gaps uint8[K, 21] (or no rows: not wanted), sums
    float64[K], passes uint8[K].
    """
    board = np.empty((2, 26), np.int8)
    some = len(policy) > 0
    no_choices = np.empty(ROLLS, np.int32)
    no_gaps = np.empty(ROLLS, np.uint8)
    for k in range(low, high):
        mine, his, flags = position_at(index, order[k])
        sums[k], passes[k] = look_ahead(
            rules,
            index,
            scratch,
            room,
            values,
            board,
            mine,
            his,
            flags,
            before,
            rise,
            policy[k] if some else no_choices,
            gaps[k] if some else no_gaps,
        )


@njit(nogil=True, cache=True)
def follow_range(low, high, values, policy, sums, passes):
    """As `greedy_range`, with the choices that `policy` holds."""
    for k in range(low, high):
        total = 0.0
        passing = 0
        for roll in range(ROLLS):
            place = policy[k, roll]
            if place < 0:
                passing += _CHANCES[roll]
            else:
                total -= _CHANCES[roll] * values[place]
        sums[k] = total / _ALL
        passes[k] = passing


@njit(nogil=True, cache=True)
def settle(rules, index, order, sums, passes, values, passing):
    """Write one level's values from its `sums` and `passes`; returns the largest change.

    order int32[K] holds a whole level, sums float64[K] and passes uint8[K] belong to it and are
    overwritten; values float64[N], passing uint8[N] (of 36, kept for the partners of passes).

    With v = sum - p v' and v' = sum' - p' v, v is (sum - p sum') / (1 - p p').
    """
    change = 0.0
    for k in range(len(order)):
        place = order[k]
        sums[k], values[place] = values[place], sums[k]
        passing[place] = passes[k]
    for k in range(len(order)):
        before = sums[k]
        mine, his, flags = position_at(index, order[k])
        sums[k] = values[order[k]]
        if passes[k] > 0:
            partner = passed_to(rules, index, mine, his, flags)
            # From a first turn the other does not come back: his value is settled already.
            back = 0 if flags & FIRST_TURN else np.int64(passing[partner])
            apart = _ALL * _ALL - np.int64(passes[k]) * back
            sums[k] -= passes[k] / _ALL * values[partner]
            sums[k] = sums[k] / (apart / (_ALL * _ALL)) if apart > 0 else np.nan
        difference = abs(sums[k] - before)
        if not difference <= change:  # so that what is not a number shows
            change = difference
    for k in range(len(order)):
        values[order[k]] = sums[k]
    return change


@njit(nogil=True, cache=True)
def largest_rise(before, values):
    """The most that a result can have gained for who made it: his opponent's value fell so far."""
    largest = 0.0
    for place in range(len(values)):
        if before[place] - values[place] > largest:
            largest = before[place] - values[place]
    return largest


@njit(nogil=True, cache=True)
def residual_of(rules, index, order, sums, passes, values):
    """The largest |what a look ahead gives - the value|, values[N] as they stand."""
    largest = 0.0
    for k in range(len(order)):
        total = sums[k]
        if passes[k] > 0:
            mine, his, flags = position_at(index, order[k])
            total -= passes[k] / _ALL * values[passed_to(rules, index, mine, his, flags)]
        difference = abs(total - values[order[k]])
        if not difference <= largest:
            largest = difference
    return largest


@njit(nogil=True, cache=True)
def value_results(low, high, rules, index, values, boards, offsets, flags, out):
    """Values for the movers of the results of decisions low..high-1; NaN where there is none.

    boards int8[M, 2, 26] seen by the mover, offsets int64[B + 1], flags uint8[B] after the play.
    """
    for b in range(low, high):
        turned = turn_flags(rules, flags[b])
        for row in range(offsets[b], offsets[b + 1]):
            mine = side_rank(index, boards[row], 0)
            place = place_of(index, side_rank(index, boards[row], 1), mine, turned)
            out[row] = -values[place] if place >= 0 else np.nan


@njit(nogil=True, cache=True)
def value_positions(low, high, rules, index, values, boards, flags, out):
    """Values float64[B] of positions int8[B, 2, 26] for the players to roll; NaN where none."""
    for b in range(low, high):
        place = place_of(
            index,
            side_rank(index, boards[b], 0),
            side_rank(index, boards[b], 1),
            flags[b] & rules.flag_mask,
        )
        out[b] = values[place] if place >= 0 else np.nan

"""What a roll hits, and what that costs: exact but for the duty to play both dice."""

from __future__ import annotations

import numpy as np
from numba import njit

from nardy_rl.rules.board import lowest_bit_index, opponent_point
from nardy_rl.rules.pins import MOTHER

_BOARD = np.int64((1 << 25) - 2)  # holes 1..24
_ROLLS = 36


@njit(nogil=True, cache=True)
def holes_of(own):
    """The points where `own` int8[26] stands, as holes on its own path; the bar is hole 0."""
    holes = np.int64(0)
    for point in range(1, 26):
        if own[point] > 0:
            holes |= np.int64(1) << (25 - point)
    return holes


@njit(nogil=True, cache=True)
def expected_loss(rules, mine, his, closed, shut):
    """Pips that his next roll may be expected to take from me: of each roll the dearest blot.

    Args:
        rules: `KernelRules`.
        mine, his: int8[26], each in its own numbering; he is to roll.
        closed: the points that he cannot land on, as holes on his path.
        shut: pips that any hit costs besides.
    """
    blots = np.int64(0)
    for point in range(1, 25):
        if mine[point] == 1:
            blots |= np.int64(1) << (25 - opponent_point(rules.opposite, point))
    if blots == 0:
        return 0.0
    movers = holes_of(his)
    loss = 0.0
    for die1 in range(1, 7):
        for die2 in range(die1, 7):
            hit = _hit_by(blots, ~closed & _BOARD, movers, his[25], die1, die2)
            dearest = 0.0
            while hit != 0:
                blot = opponent_point(rules.opposite, 25 - lowest_bit_index(hit))
                dearest = max(dearest, 25 - blot + shut)
                hit &= hit - 1
            loss += dearest * (1 if die1 == die2 else 2)
    return loss / _ROLLS


@njit(nogil=True, cache=True)
def expected_pin(rules, mine, his, closed, weights):
    """Pips that his next roll may be expected to cost me by a pin: of each roll the dearest.

    Arguments as of `expected_loss`; `weights` are `PinWeights`, which say what a pin costs.
    """
    blots = np.int64(0)
    for point in range(1, 25):
        if mine[point] == 1 and his[opponent_point(rules.opposite, point)] == 0:
            blots |= np.int64(1) << (25 - opponent_point(rules.opposite, point))
    if blots == 0:
        return 0.0
    movers = holes_of(his)
    loss = 0.0
    for die1 in range(1, 7):
        for die2 in range(die1, 7):
            hit = _hit_by(blots, ~closed & _BOARD, movers, 0, die1, die2)
            dearest = 0.0
            while hit != 0:
                blot = opponent_point(rules.opposite, 25 - lowest_bit_index(hit))
                cost = weights.held + weights.far * blot
                cost += weights.mother if blot == MOTHER else 0.0
                dearest = max(dearest, cost)
                hit &= hit - 1
            loss += dearest * (1 if die1 == die2 else 2)
    return loss / _ROLLS


@njit(nogil=True, cache=True)
def _hit_by(blots, opened, movers, on_bar, die1, die2):
    """Which blots a roll can hit; all sets are holes on the path of who hits, `movers` his own.

    Whoever is on the bar comes in first, and plays on with what the roll has left.
    """
    hit = np.int64(0)
    if die1 == die2:
        reached = movers
        for step in range(4):
            if step < on_bar:
                reached = (np.int64(1) << die1) & opened
            else:
                reached = (reached << die1) & opened
            hit |= reached & blots
            if step < on_bar:
                if reached == 0:
                    return hit
                reached |= movers
        return hit
    for order in range(2):
        first, second = (die1, die2) if order == 0 else (die2, die1)
        reached = (movers << first) & opened
        if on_bar > 0:
            reached &= np.int64(1) << first
            if reached == 0:
                continue
        hit |= reached & blots
        if on_bar == 1:
            reached |= movers & _BOARD
        if on_bar < 2:
            hit |= (reached << second) & opened & blots
    return hit

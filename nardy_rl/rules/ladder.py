"""Ladders: doubles that run on to 6-6, one decision a rung (RULES.md 3).

Between two decisions of one turn the state is a byte, `pending`, that tells what is played next:

* 0: the player to move throws the dice;
* a rung: its die, the steps left of it, whose it is (`OWN` roll, or `HANDED` over by the
  opponent and played before the own roll), and how many more checkers may leave the head in this
  part of the turn. Complete rungs follow it up to 6-6.

After a decision, seen by the player who made it, there are two more: a rung may be `GIVEN` to the
opponent, and `ROLL_AGAIN` says that the same player now throws. In that view 0 says that the
opponent does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import FIRST_TURN, TURNS, turn_flags
from nardy_rl.rules.limits import head_quota
from nardy_rl.rules.parallel import run_chunks
from nardy_rl.rules.record import KernelRules, Rules

OWN, HANDED, GIVEN = range(3)
"""Whose a rung is; `GIVEN` only in the view of the player who hands it over."""

ROLL_AGAIN = 217
"""The same player goes on and throws the dice, in the view after a decision."""

Number = Any
"""Whole numbers: Python's or NumPy's, as kernels take and return them."""

_DICE, _STEPS, _HEADS = 6, 4, 3
_FREE = 0  # head_rule
_STOP = 0  # stall
_OPPONENT = 0  # unplayed


@njit(nogil=True, cache=True)
def rung_code(die: Number, steps: Number, whose: Number, head: Number) -> Number:
    """The byte of a rung: die 1..6, steps left 1..4, whose, head moves left 0..2."""
    return 1 + ((whose * _HEADS + head) * _STEPS + steps - 1) * _DICE + die - 1


@njit(nogil=True, cache=True)
def rung_of(pending: Number) -> tuple[Number, Number, Number, Number]:
    """(die, steps left, whose, head moves left) of a rung's byte 1..216."""
    rest = np.int64(pending) - 1
    die = rest % _DICE + 1
    rest //= _DICE
    steps = rest % _STEPS + 1
    rest //= _STEPS
    return die, steps, rest // _HEADS, rest % _HEADS


@njit(nogil=True, cache=True)
def rung_repeats(rules: KernelRules) -> int:
    """Steps of a complete rung, 2 or 4."""
    return 2 + 2 * rules.ladder_repeats


@njit(nogil=True, cache=True, forceinline=True)
def asked_rung(
    rules: KernelRules, flags: Number, pending: Number, die1: Number, die2: Number
) -> tuple[Number, Number]:
    """The die and the steps of the rung to be played now; steps 0: it is an ordinary roll."""
    if pending > 0:
        die, steps, _whose, _head = rung_of(pending)
        return die, steps
    if rules.ladder and die1 == die2 and (flags >> TURNS) & 3 >= rules.ladder_from_turn:
        return np.int64(die1), rung_repeats(rules)
    return np.int64(0), 0


@njit(nogil=True, cache=True, forceinline=True)
def head_left(rules: KernelRules, pending: Number) -> Number:
    """How many checkers may still leave the head where a rung is pending."""
    if rules.head_rule == _FREE:
        return 99
    _die, _steps, _whose, head = rung_of(pending)
    return head


@njit(nogil=True, cache=True, forceinline=True)
def _turn_over(rules: KernelRules, flags: Number) -> Number:
    """The flags, still seen by the mover, once his turn is over."""
    flags = np.int64(flags) & ~FIRST_TURN
    if (flags >> TURNS) & 3 < rules.ladder_from_turn:
        flags += 1 << TURNS
    return flags


@njit(nogil=True, cache=True, forceinline=True)
def after_decision(
    rules: KernelRules, flags: Number, pending: Number, die1: Number, die2: Number, used: Number
) -> tuple[Number, Number]:
    """What all results of one decision share: the state after it, seen by the mover.

    Args:
        rules: `KernelRules`.
        flags, pending: before the play.
        die1, die2: the roll; not looked at where a rung is pending.
        used: steps that the results make.

    Returns:
        (flags, pending), pending as the module says of the view after a decision, without the
        head moves that are left: those differ between results, see `follow`.
    """
    die, steps = asked_rung(rules, flags, pending, die1, die2)
    if steps == 0:
        return _turn_over(rules, flags), 0
    whose = OWN
    if pending > 0:
        _die, _steps, whose, _head = rung_of(pending)
    if used < steps and rules.stall == _STOP:
        if whose == HANDED:
            return np.int64(flags), ROLL_AGAIN
        if rules.unplayed == _OPPONENT:
            return _turn_over(rules, flags), rung_code(die, steps - used, GIVEN, 0)
        return _turn_over(rules, flags), 0
    if die < _DICE:
        return np.int64(flags), rung_code(die + 1, rung_repeats(rules), whose, 0)
    if whose == HANDED:
        return np.int64(flags), ROLL_AGAIN
    return _turn_over(rules, flags), 0


@njit(nogil=True, cache=True, forceinline=True)
def follow(
    rules: KernelRules,
    flags: Number,
    pending: Number,
    die1: Number,
    die2: Number,
    used: Number,
    before: NDArray[np.int8],
    after: NDArray[np.int8],
) -> tuple[bool, Number, Number]:
    """Who moves next after a play that does not end the game, and in what state.

    Args:
        rules, flags, pending, die1, die2, used: as of `after_decision`.
        before, after: int8[2, 26], the mover first, before and after his play.

    Returns:
        (goes_on, flags, pending): whether the mover goes on, and the state as the next player
        sees it; pending 0 means that he throws the dice.
    """
    flags, code = after_decision(rules, flags, pending, die1, die2, used)
    if code == 0:
        return False, turn_flags(rules, flags), 0
    if code == ROLL_AGAIN:
        return True, flags, 0
    die, steps, whose, _head = rung_of(code)
    head: Number = 0
    if whose == GIVEN:
        flags = turn_flags(rules, flags)
        if rules.head_rule != _FREE:
            head = head_quota(rules, flags, die, die, after[0])
        return False, flags, rung_code(die, steps, HANDED, head)
    if rules.head_rule != _FREE:
        if pending > 0:
            head = head_left(rules, pending)
        else:
            head = head_quota(rules, flags, die1, die2, before[1])
        head -= np.int64(before[0, 24]) - np.int64(after[0, 24])
    return True, flags, rung_code(die, steps, whose, head)


def states_after(
    rules: Rules,
    flags: NDArray[np.uint8],
    pending: NDArray[np.uint8],
    rolls: NDArray[np.int8],
    used: NDArray[np.int8],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """`after_decision` of many decisions: flags and pending uint8[B], as `Decisions` has them."""
    found = np.empty_like(flags), np.empty_like(pending)
    run_chunks(
        _after_range, len(flags), rules.kernel, flags, pending, rolls, used, *found, min_chunk=4096
    )
    return found


@njit(nogil=True, cache=True)
def _after_range(low, high, rules, flags, pending, rolls, used, flags_after, pending_after):  # type: ignore[no-untyped-def]
    for b in range(low, high):
        flags_after[b], pending_after[b] = after_decision(
            rules, flags[b], pending[b], rolls[b, 0], rolls[b, 1], used[b]
        )


def pending_possible(rules: Rules, pending: Number) -> bool:
    """Whether a player to move can have `pending` to play in this variant."""
    if pending == 0:
        return True
    if not rules.ladder or not 0 < pending < rung_code(1, 1, GIVEN, 0):
        return False
    die, steps, whose, head = rung_of(pending)
    repeats = int(rules.ladder_repeats)
    if (rules.head_rule == "free" and head) or (rules.head_rule == "strict" and head > 1):
        return False
    if whose == OWN:
        return bool(die > 1 and steps == repeats)
    passed_on = rules.unplayed == "opponent" and rules.stall == "stop"
    return bool(passed_on and steps <= repeats)

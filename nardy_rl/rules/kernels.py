"""Play generation: every distinct position that a roll can lead to, for one position.

Inside the kernels the mover's board is a set of holes (`board.py`): a move adds the die, and the
lowest bit is the checker farthest from home. A position's key is a sum of random words, one a
checker and hole, so a step adds one difference. (The words are constants: over the some 1e12
differences that four steps can make, the chance that any two results share a key is below 1e-6.)

For doubles the steps of a play may be sorted, farthest checker first, without changing the
result or becoming illegal, so one order is enough. That fails where a rule looks at the order:
`prime_check=every_step`, `hit_run=no_hide` and, while the runner is on its way, `runner`; there
every order is tried. So it is where a step can end the game by the mother (`rules.pins`): what
ends it depends on which step comes first, and such a result is kept beside the longest ones,
whatever dice it leaves.

A checker that is pinned is in nobody's set of holes, but a bit of its own keeps its side from
bearing off. Pins add nothing to the key: they follow from the mover's checkers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from nardy_rl.rules.board import ROW_WORDS, Bits, lowest_bit_index, opponent_point
from nardy_rl.rules.ladder import asked_rung, head_left
from nardy_rl.rules.limits import (
    forbidden_prime,
    head_quota,
    runner_of,
    runner_on_the_way,
    trapping_holes,
    walls_fit,
)
from nardy_rl.rules.pins import MOTHER, PINNED
from nardy_rl.rules.record import KernelRules
from nardy_rl.rules.results import clear_table, insert, insert_ended
from nardy_rl.rules.scoring import NOT_OVER, mother_score
from nardy_rl.rules.scratch import (
    MAX_AFTERSTATES,
    Rows,
    Scratch,
    new_rows,
    new_scratch,
)

__all__ = ["MAX_AFTERSTATES", "MAX_STEPS", "Rows", "Scratch", "generate", "new_rows", "new_scratch"]

MAX_STEPS = 4
"""Steps of one decision: four of a double."""


_ALLOW = 0  # prime_rule
_EVERY_STEP = 1  # prime_check
_HIDE_ALLOWED, _NO_HIDE, _NO_CONTINUE = range(3)

_BAR = np.int64(1)
_HELD = np.int64(1 << 30)  # not a hole: the mover has a pinned checker
_OUTSIDE = np.int64((1 << 19) - 1) | _HELD  # holes 0..18: bar and everything short of home
_HITTER = 32  # candidate bits from here on move the checker that hit (no_hide)

_generator = np.random.Generator(np.random.PCG64(20_261_130))
_CHECKER_KEYS = _generator.integers(1, 2**63, 32, dtype=np.uint64)
_HIT_KEYS = _generator.integers(1, 2**63, 32, dtype=np.uint64)
_BASE_KEY = np.uint64(0x9E3779B97F4A7C15)


@njit(nogil=True, cache=True, forceinline=True)
def sources(rules: KernelRules, scratch: Scratch, own: Bits, die: int, head_left: int) -> Bits:
    """Bitboard of the holes from which a checker may be moved by `die`.

    With `no_hide`, bit 32 + hole stands for moving the checker that hit this turn.
    """
    bits = np.int64(own & (scratch.open_holes[0] >> die))
    if own & _BAR:
        bits &= _BAR
    elif own & _OUTSIDE == 0 and own != 0:
        bits |= own & (np.int64(1) << (25 - die))
        farthest = own & -own
        if farthest > (np.int64(1) << (25 - die)):
            bits |= farthest
    if head_left <= 0:
        bits &= ~np.int64(2)
    passed = rules.runners is None or rules.runner == 0 or scratch.board[0, 0] > 0
    if not passed and runner_on_the_way(own):
        bits &= runner_of(own)
    if rules.hit_run != _HIDE_ALLOWED:
        return np.int64(_restrain_hitters(rules, scratch, own, die, bits))
    return bits


@njit(nogil=True, cache=True)
def _restrain_hitters(
    rules: KernelRules, scratch: Scratch, own: Bits, die: int, bits: Bits
) -> Bits:
    """Take out, or mark apart, the moves of checkers that hit this turn (RULES.md 2, hit_run)."""
    allowed = bits
    for hole in range(25):
        marks = scratch.marks[hole]
        if marks == 0 or not (bits >> hole) & 1:
            continue
        if scratch.board[0, 25 - hole] <= marks:
            allowed &= ~(np.int64(1) << hole)
        if rules.hit_run == _NO_HIDE:
            landing = hole + die
            if landing > 24 or not (own >> landing) & 1:
                allowed |= np.int64(1) << (hole + _HITTER)
    return allowed


@njit(nogil=True, cache=True)
def _set_pin(rules: KernelRules, scratch: Scratch, hole: Bits) -> None:
    """Make the lone enemy checker on an open hole pinned or free, as the mover stands there."""
    if (scratch.open_holes[1] >> hole) & 1:
        his = opponent_point(rules.opposite, 25 - hole)
        scratch.board[1, his] = PINNED if scratch.board[0, 25 - hole] > 0 else 1


@njit(nogil=True, cache=True, forceinline=True)
def _make_step(rules: KernelRules, scratch: Scratch, depth: int, candidate: Bits, die: int) -> None:
    """Play one step on the scratch board and fill depth + 1 of the stacks."""
    hole = candidate & 31
    landing = hole + die
    hitter = candidate >> 5
    own = scratch.own[depth]
    key = scratch.keys[depth]
    scratch.board[0, 25 - hole] -= 1
    if scratch.board[0, 25 - hole] == 0:
        own &= ~(np.int64(1) << hole)
    key -= _CHECKER_KEYS[hole]
    hit = 0
    if landing > 24:
        scratch.board[0, 0] += 1
        key += _CHECKER_KEYS[25]
    else:
        scratch.board[0, 25 - landing] += 1
        own |= np.int64(1) << landing
        key += _CHECKER_KEYS[landing]
        if rules.hit and (scratch.open_holes[1] >> landing) & 1:
            his = opponent_point(rules.opposite, 25 - landing)
            if scratch.board[1, his] == 1:
                hit = 1
                scratch.board[1, his] = 0
                scratch.board[1, 25] += 1
                key += _HIT_KEYS[landing]
    if rules.hit_run != _HIDE_ALLOWED:
        scratch.marks[hole] -= hitter
        if landing < 25:
            newly = hit and (rules.hit_run_zone == 1 or landing >= 19)
            scratch.marks[landing] += 1 if (hitter or newly) else 0
            hit += 2 if (hitter or newly) else 0
    if rules.pin is not None and (
        (scratch.open_holes[1] >> hole | scratch.open_holes[1] >> landing) & 1
    ):
        _set_pin(rules, scratch, hole)
        _set_pin(rules, scratch, landing)
        hit = 4  # pins may have changed
    scratch.steps[depth, 0] = hole
    scratch.steps[depth, 1] = die
    scratch.steps[depth, 2] = hit
    scratch.steps[depth, 3] = hitter
    scratch.own[depth + 1] = own
    scratch.keys[depth + 1] = key
    scratch.path[depth + 1] = scratch.path[depth] | (hole | die << 5) << (8 * depth)
    scratch.head[depth + 1] = scratch.head[depth] - (1 if hole == 1 else 0)


@njit(nogil=True, cache=True, forceinline=True)
def _undo_step(rules: KernelRules, scratch: Scratch, depth: int) -> None:
    """Take back the step made at `depth`."""
    hole = scratch.steps[depth, 0]
    landing = hole + scratch.steps[depth, 1]
    hit = scratch.steps[depth, 2]
    scratch.board[0, 25 - hole] += 1
    scratch.board[0, 0 if landing > 24 else 25 - landing] -= 1
    if hit & 1:
        scratch.board[1, opponent_point(rules.opposite, 25 - landing)] = 1
        scratch.board[1, 25] -= 1
    if rules.hit_run != _HIDE_ALLOWED:
        scratch.marks[hole] += scratch.steps[depth, 3]
        if hit & 2:
            scratch.marks[landing] -= 1
    if rules.pin is not None and hit & 4:
        _set_pin(rules, scratch, hole)
        _set_pin(rules, scratch, landing)


@njit(nogil=True, cache=True, forceinline=True)
def _search(
    rules: KernelRules,
    scratch: Scratch,
    limit: int,
    sorted_steps: bool,
    after: NDArray[np.int32],
    paths: NDArray[np.int64],
    row0: int,
    count: int,
    best: int,
    keep_first: bool,
) -> tuple[int, int]:
    """Depth-first over the steps of `scratch.dice[:limit]`, in that order; returns (count, best).

    `best` is the most steps that a result has so far; a longer one empties the list.
    `keep_first` 0: results of one step are not wanted (the other order found some, with the
    larger die). Results are added after those below them, so few are thrown away.
    """
    dice = scratch.dice
    check_steps = rules.prime_rule != _ALLOW and rules.prime_check == _EVERY_STEP
    limited = may_end = False
    if rules.runners is not None:
        limited = rules.start_prime != 0 or rules.trapping_prime != 0
    if rules.pin is not None:
        may_end = scratch.ended[0] != 0
    front = scratch.open_holes[2]
    depth = 0
    scratch.cand[0] = sources(rules, scratch, scratch.own[0], dice[0], scratch.head[0])
    while True:
        bits = scratch.cand[depth]
        if bits != 0:
            candidate = lowest_bit_index(bits)
            scratch.cand[depth] = bits & (bits - 1)
            _make_step(rules, scratch, depth, candidate, dice[depth])
            depth += 1
            own = scratch.own[depth]
            stop = check_steps and forbidden_prime(rules, own, front)
            if may_end and mother_score(rules, scratch.board) != NOT_OVER:
                stop = True
                if depth > best:
                    clear_table(scratch, count, scratch.ended[1])
                    count = scratch.ended[1]
                    best = depth
                count = insert_ended(scratch, depth, after, paths, row0, count)
            if stop:
                depth -= 1
                _undo_step(rules, scratch, depth)
                continue
            if depth < limit and own != 0:
                more = sources(rules, scratch, own, dice[depth], scratch.head[depth])
                if sorted_steps:
                    more &= -(np.int64(1) << (candidate & 31))
                scratch.cand[depth] = more
                if more != 0:
                    continue
            else:
                scratch.cand[depth] = 0
        elif depth == 0:
            return count, best
        # Everything below this node is done: is the node itself a result?
        if depth >= best and (depth > 1 or keep_first):
            fits = rules.prime_rule == _ALLOW or not forbidden_prime(
                rules, scratch.own[depth], front
            )
            if rules.runners is not None and limited:
                fits = fits and walls_fit(rules, scratch.open_holes[3], scratch.own[depth])
            if fits:
                if depth > best:
                    kept = 0
                    if rules.pin is not None:
                        kept = scratch.ended[1]
                    clear_table(scratch, count, kept)
                    count = kept
                    best = depth
                count = insert(scratch, depth, after, paths, row0, count)
        depth -= 1
        _undo_step(rules, scratch, depth)


@njit(nogil=True, cache=True, forceinline=True)
def _prepare(
    rules: KernelRules,
    scratch: Scratch,
    points: NDArray[np.int8],
    flags: int,
    die1: int,
    die2: int,
) -> None:
    """Load one position into the scratch."""
    own = np.int64(0)
    opened = np.int64(0)
    blots = np.int64(0)
    closing = 2 if rules.hit or rules.pin is not None else 1
    front = 0
    for point in range(26):
        scratch.board[0, point] = points[0, point]
        scratch.board[1, point] = points[1, point]
        scratch.marks[point] = 0
    for point in range(1, 26):
        if scratch.board[0, point] > 0:
            own |= np.int64(1) << (25 - point)
    for point in range(1, 25):
        his = scratch.board[1, opponent_point(rules.opposite, point)]
        if his < closing:
            opened |= np.int64(1) << (25 - point)
        if his == 1:
            blots |= np.int64(1) << (25 - point)
        if front == 0 and scratch.board[1, point] > 0:
            front = 25 - point
    if rules.pin is not None:
        for point in range(1, 25):
            his = scratch.board[1, opponent_point(rules.opposite, point)]
            hole = np.int64(1) << (25 - point)
            if scratch.board[0, point] == PINNED:
                own |= _HELD
                opened &= ~hole
                blots &= ~hole
            elif his == PINNED:
                blots |= hole
        scratch.ended[0] = abs(scratch.board[1, MOTHER]) == 1
    scratch.ended[1] = 0
    scratch.open_holes[0] = opened
    scratch.open_holes[1] = blots
    scratch.open_holes[2] = front
    if rules.runners is not None:
        scratch.open_holes[3] = trapping_holes(scratch.board[1]) if rules.trapping_prime else 0
    scratch.own[0] = own
    scratch.keys[0] = _BASE_KEY
    scratch.path[0] = 0
    scratch.head[0] = head_quota(rules, flags, die1, die2, scratch.board[1])


@njit(nogil=True, cache=True)
def generate(
    rules: KernelRules,
    scratch: Scratch,
    points: NDArray[np.int8],
    flags: int,
    pending: int,
    die1: int,
    die2: int,
    after: NDArray[np.int32],
    paths: NDArray[np.int64],
    row0: int,
) -> tuple[int, int]:
    """All distinct legal results of a roll, written to rows row0.. of `after` and `paths`.

    Args:
        rules: `KernelRules`.
        scratch: this thread's `Scratch`.
        points: int8[2, 26], the mover first, each side in its own numbering.
        flags, pending: the position's flag bits and ladder state (0 outside ladder games).
        die1, die2: the roll, in any order; not looked at where a rung is pending.
        after: int32[rows, ROW_WORDS], the memory of int8[rows, 2, 26]; there must be
            `MAX_AFTERSTATES` rows from row0 on.
        paths: int64[rows], one way to reach each result; see `unpack_path`.

    Returns:
        (count, dice_used): a pass is one row, the position itself, with no dice used.

    Source: RULES.md 0, "A legal turn": results use as many dice as any result can; one die of a
    non-double is the larger where the larger can be used. RULES.md 3: one rung of a ladder.
    RULES.md 4, mother: results that end the game by it may use fewer.
    """
    rung, repeats = asked_rung(rules, flags, pending, die1, die2)
    if repeats > 0:
        die1, die2 = rung, rung
    _prepare(rules, scratch, points, flags, die1, die2)
    if pending > 0:
        scratch.head[0] = head_left(rules, pending)
    count = 0
    best = 0
    if scratch.own[0] != 0:
        double = die1 == die2
        in_order = double and rules.hit_run != _NO_HIDE
        if rules.prime_rule != _ALLOW and rules.prime_check == _EVERY_STEP:
            in_order = False
        if rules.runners is not None and rules.runner and runner_on_the_way(scratch.own[0]):
            in_order = False
        if rules.pin is not None and scratch.ended[0] != 0:
            in_order = False
        limit = MAX_STEPS if double else 2
        if repeats > 0:
            limit = repeats
        keep_first = True
        for order in range(1 if double else 2):
            # The larger die first, so that one-step results with it come before the others.
            first, second = max(die1, die2), min(die1, die2)
            if order == 1:
                first, second = second, first
                keep_first = best == 0
            for step in range(limit):
                scratch.dice[step] = first if step == 0 else second
            count, best = _search(
                rules, scratch, limit, in_order, after, paths, row0, count, best, keep_first
            )
        clear_table(scratch, count)
    if count == 0:
        for i in range(ROW_WORDS):
            after[row0, i] = scratch.words[i]
        paths[row0] = 0
        return 1, 0
    return count, best

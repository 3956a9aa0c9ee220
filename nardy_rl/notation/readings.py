"""What a move text can mean on a board, and why a meaning is not legal.

The reader of move text names checkers and where they go. `readings` plays these movements out,
in every order and with every split over the dice, looking only at closed points; whether a
result is legal is never decided here but by looking it up among `Position.plays`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.notation.numbering import Numbering, across, point_name
from nardy_rl.rules import Play, Position
from nardy_rl.rules.pins import PINNED
from nardy_rl.rules.position import BAR, OFF
from nardy_rl.rules.record import HOME

Board = NDArray[np.int8]

_HEAD = 24
_PRIME = 6


class Path(NamedTuple):
    """One checker's movement: the points the text names, farthest first, and those starred."""

    points: tuple[int, ...]
    stars: frozenset[int]


class Reading(NamedTuple):
    """One way to play a text: the board after it (bytes of int8 [2, 26]) and how."""

    points: bytes
    hits: frozenset[int]
    dice_used: int


class _State(NamedTuple):
    """Where a partly played text stands. `ahead` holds what each checker must still visit."""

    me: tuple[int, ...]
    opp: tuple[int, ...]
    ahead: tuple[tuple[int, ...], ...]
    dice: tuple[int, ...]
    hits: frozenset[int]


def readings(
    position: Position, roll: tuple[int, int], paths: Sequence[Path]
) -> tuple[Reading, ...]:
    """Every distinct outcome of moving along `paths` with the dice of `roll`, legal or not."""
    dice = position.dice(roll)
    me, opp = (tuple(int(n) for n in row) for row in position.points)
    first = _State(me, opp, tuple(sorted(path.points for path in paths)), dice, frozenset())
    seen = {first}
    waiting = [first]
    found: dict[Reading, None] = {}
    while waiting:
        state = waiting.pop()
        if not state.ahead:
            after = np.array([state.me, state.opp], np.int8).tobytes()
            hits = state.hits or _pinned_points(position, state)
            found[Reading(after, hits, len(dice) - len(state.dice))] = None
            continue
        for following in _steps(position, state):
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return tuple(found)


def _steps(position: Position, state: _State) -> Iterable[_State]:
    """The states one die further on."""
    for path in dict.fromkeys(state.ahead):
        here, target = path[0], path[1]
        if state.me[here] <= 0:
            continue
        for die in dict.fromkeys(state.dice):
            landing = max(here - die, OFF)
            if landing < target:
                continue
            # A checker may land short of what the text names next, or exactly on it.
            left = (landing, *path[1:]) if landing > target else path[1:]
            me = list(state.me)
            me[here] -= 1
            me[landing] += 1
            opp = list(state.opp)
            hits = state.hits
            if position.rules.contact == "pin" and me[here] == 0:
                left_behind = across(position.rules, here)
                opp[left_behind] = abs(opp[left_behind])
            if landing != OFF:
                facing = across(position.rules, landing)
                if closes(position, state.me, opp, landing):
                    continue
                if opp[facing] and position.rules.contact == "pin":
                    opp[facing] = PINNED
                elif opp[facing]:
                    opp[facing] -= 1
                    opp[BAR] += 1
                    hits = hits | {landing}
            ahead = list(state.ahead)
            ahead.remove(path)
            if len(left) > 1:
                ahead.append(left)
            dice = list(state.dice)
            dice.remove(die)
            yield _State(tuple(me), tuple(opp), tuple(sorted(ahead)), tuple(dice), hits)


def _pinned_points(position: Position, state: _State) -> frozenset[int]:
    """The mover's points on which he has pinned a checker that was free before."""
    before = position.points[1]
    return frozenset(
        across(position.rules, point)
        for point, count in enumerate(state.opp)
        if count == PINNED and before[point] == 1
    )


def closes(
    position: Position,
    me: Sequence[int] | NDArray[np.int8],
    opp: Sequence[int] | NDArray[np.int8],
    point: int,
) -> bool:
    """Whether a point is closed to the mover (RULES.md 1, 2 and 4)."""
    if me[point] == PINNED and position.rules.contact == "pin":
        return True
    enemies = opp[across(position.rules, point)]
    return bool(enemies >= (1 if position.rules.contact == "block" else 2))


def why_illegal(
    position: Position,
    roll: tuple[int, int],
    paths: Sequence[Path] | None,
    found: Sequence[Reading],
    plays: Sequence[Play],
    numbering: Numbering,
) -> str:
    """Why none of the readings `found` of `paths` (None: a pass) is among the legal `plays`.

    The first reason that applies, in the order in which a player would look: dice, checkers,
    bar, closed points, bearing off, number of dice, and then the rules that are options.
    """
    must = max(play.dice_used for play in plays)
    if not plays[0].moves:
        return "there is no legal play, the turn passes: write 'pass'"
    if paths is None:
        return f"it cannot pass: {_dice(must)} must be played"
    if not found:
        return _why_no_reading(position, roll, paths, numbering)
    afters = [np.frombuffer(reading.points, np.int8).reshape(2, 26) for reading in found]
    outside = any(path.points[0] != BAR for path in paths)
    if outside and all(after[0, BAR] for after in afters):
        return "checkers on the bar enter first"
    if reason := _why_not_home(position.points[0], paths) or _why_not_off(paths, afters, roll):
        return reason
    most = max(reading.dice_used for reading in found)
    if most < must:
        return f"it uses {_dice(most)}, but {must} must be played"
    best, pips = (_pips_moved(position, after) for after in (plays[0].after.points, afters[0]))
    if most == must == 1 and best > pips:
        return f"the larger die, {max(roll)}, can be played and must be"
    return _why_by_option(position, roll, found, afters, plays)


def _dice(count: int) -> str:
    return "1 die" if count == 1 else f"{count} dice"


def _why_no_reading(
    position: Position, roll: tuple[int, int], paths: Sequence[Path], numbering: Numbering
) -> str:
    """Why the movements cannot even be made one by one."""
    me, opp = position.points
    dice = position.dice(roll)
    visited = {point for path in paths for point in path.points[1:]}
    for point, count in Counter(path.points[0] for path in paths).items():
        name = point_name(point, numbering)
        if not me[point] and point not in visited:
            return f"no checker of the player to move is on {name}"
        if me[point] == PINNED:
            return f"the checker on {name} is pinned"
        if me[point] < count and point not in visited:
            return f"only {me[point]} of the player's checkers on {name}"
    if reason := _why_not_home(me, paths):
        return reason
    sums = {sum(dice[i] for i in range(len(dice)) if mask >> i & 1) for mask in range(1, 16)}
    for path in paths:
        for start, end in pairwise(path.points):
            text = f"{point_name(start, numbering)}/{point_name(end, numbering)}"
            pips = start - end
            if (pips > max(sums)) if end == OFF else (pips not in sums):
                return f"{text} is {pips} pip{'s' * (pips > 1)}, which the dice do not make"
    for path in paths:
        for point in path.points[1:]:
            if point != OFF and closes(position, me, opp, point):
                return f"point {point_name(point, numbering)} is closed"
    for path in paths:
        for start, end in pairwise(path.points):
            between = [start - die for die in dict.fromkeys(dice) if start - die > end]
            blocked = [p for p in between if closes(position, me, opp, p)]
            if between == blocked and start - end not in dice and end != OFF:
                names = " and ".join(point_name(point, numbering) for point in blocked)
                return f"the landing between, {names}, is closed"
    pips = sum(path.points[0] - path.points[-1] for path in paths)
    if pips > sum(dice) and all(path.points[-1] != OFF for path in paths):
        return f"it moves {pips} pips, the roll has {sum(dice)}"
    if len(paths) > len(dice):
        return f"it moves {len(paths)} checkers with {_dice(len(dice))}"
    return "the dice do not make it, or every landing between is closed"


def _why_not_home(me: NDArray[np.int8], paths: Sequence[Path]) -> str:
    """Why nothing may be borne off yet, where `paths` bears off."""
    arriving = sum(path.points[0] > HOME >= path.points[-1] for path in paths)
    off = any(path.points[-1] == OFF for path in paths)
    if off and (me == PINNED).any():
        return "no checker is borne off while one is pinned"
    if off and me[HOME + 1 :].sum() > arriving:
        return "all checkers must be home before one is borne off"
    return ""


def _why_not_off(paths: Sequence[Path], afters: Sequence[Board], roll: tuple[int, int]) -> str:
    """Why the checkers that the text bears off may not be, with all of them home."""
    off = [path.points[-2] for path in paths if path.points[-1] == OFF]
    larger = [point for point in off if point not in roll]
    if larger and all(after[0, max(larger) + 1 :].any() for after in afters):
        return (
            f"a die larger than {max(larger)} bears off from there only when no checker "
            "stands farther from home"
        )
    return ""


def _pips_moved(position: Position, after: Board) -> int:
    weights = np.arange(26)
    return int(weights @ position.points[0].astype(int) - weights @ after[0].astype(int))


def _why_by_option(
    position: Position,
    roll: tuple[int, int],
    found: Sequence[Reading],
    afters: Sequence[Board],
    plays: Sequence[Play],
) -> str:
    """Which disputed rule forbids every reading, found by lifting one at a time."""
    rules = position.rules
    options = {option.name: option.value for option in rules.options()}
    if options.get("head_rule", "free") != "free":
        head = position.points[0, _HEAD]
        leaving = min(int(head - after[0, _HEAD]) for after in afters)
        allowed = max(int(head - play.after.points[0, _HEAD]) for play in plays)
        if leaving > allowed:
            return (
                f"head rule (head_rule={rules.head_rule}): {leaving} checkers would leave the "
                f"head, this turn at most {allowed} may"
            )
    if options.get("prime_rule", "allow") != "allow" and (
        all(_has_prime(after) for after in afters)
        or _legal_under(position, roll, found, prime_rule="allow")
    ):
        return f"prime rule (prime_rule={rules.prime_rule}): it would build a forbidden prime"
    if options.get("hit_run", "allowed") != "allowed" and _legal_under(
        position, roll, found, hit_run="allowed"
    ):
        return f"hit rule (hit_run={rules.hit_run}): the checker that hit may not move on so"
    if any(after[0, BAR] for after in afters):
        return "checkers on the bar enter first"
    return "it is not among the legal results"


def _has_prime(after: Board) -> bool:
    """Whether the mover holds six points in a row, the 1 and the 24 counted as neighbours."""
    held = after[0, 1:25] > 0
    return any(np.roll(held, -start)[:_PRIME].all() for start in range(24))


def _legal_under(
    position: Position, roll: tuple[int, int], found: Sequence[Reading], **options: str
) -> bool:
    """Whether a reading would be legal with `options` instead."""
    lenient = replace(position, rules=replace(position.rules, **options))  # type: ignore[arg-type]
    legal = {play.after.points.tobytes() for play in lenient.plays(roll)}
    return any(reading.points in legal for reading in found)

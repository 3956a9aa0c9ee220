"""The slow reference: the rules again, written from RULES.md alone.

Nothing here is shared with the kernels. A side is a sorted tuple of the places of its checkers
(one entry a checker, counted by distance to go), a turn is played out literally, one die after
the other, in every order of the dice, and the legal results are read off the definition of
section 0: S_k is the set of positions after k steps that satisfy the end-of-turn rules, K the
largest k with S_k not empty.

Places: 1..24 distance to go, 25 the bar, 0 borne off.

A turn of a ladder game is several decisions: `reference_rung` gives the results of the one at
hand, `reference_next` who decides next, and on what. The steps of a ladder that are still to be
made are written out one by one.

Where checkers are pinned, counts name a pinned one -1. A board then knows the places of the
mover's own pinned checkers (`held`, not among his others) and of those that he holds down
(`down`, in the opponent's numbering, not among his others).

Source: RULES.md sections 0 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

Side = tuple[int, ...]
Counts = tuple[int, ...]
Result = tuple[Counts, Counts]

OFF, BAR, HEAD = 0, 25, 24
HOME = frozenset(range(1, 7))


class Board(NamedTuple):
    """What the turn has made of the position so far.

    `plain` are my checkers that did not hit (or whose hit carries no duty), `hitters` those that
    did, `opp` the enemy's checkers in his own numbering. `held` are mine that are pinned, `down`
    the enemy's. All are sorted.
    """

    plain: Side
    hitters: Side
    opp: Side
    held: Side = ()
    down: Side = ()


def reference_afterstates(
    rules: Any,
    me: Mapping[int, int] | Sequence[int],
    opp: Mapping[int, int] | Sequence[int],
    roll: Sequence[int],
    first_turn: bool,
) -> tuple[set[Result], int]:
    """All legal results of one turn, and how many dice each of them uses.

    `rules` is anything with the fields of `nardy_rl.Rules`. `me` and `opp` are counts by own
    distance to go: a list of 26, or a mapping in which the checkers not named are borne off.

    Returns the set of (me, opp) as two tuples of 26 counts, still seen by the player who played,
    and K. A turn that passes gives the unchanged position and K = 0.
    """
    start = _board(rules, me, opp)
    must_stay = _head_must_stay(rules, start, roll, first_turn)
    orders = set(permutations(roll)) if roll[0] != roll[1] else {(roll[0],) * 4}

    # reached[k] holds the boards after k steps, by the die that was played last; `ended` those
    # at which the mother ends the game, whatever dice are left.
    reached: dict[int, dict[int, set[Board]]] = {}
    ended: set[Result] = set()
    for order in orders:
        boards = {start}
        for k, die in enumerate(order, start=1):
            boards = {after for board in boards for after in _steps(rules, board, die, must_stay)}
            reached.setdefault(k, {}).setdefault(die, set()).update(boards)
            over = {board for board in boards if _mother(rules, *_counts(board)) is not None}
            ended |= {_counts(board) for board in over}
            boards -= over

    for k in sorted(reached, reverse=True):
        legal = {die: _turn_ends(rules, boards) for die, boards in reached[k].items()}
        if k == 1 and len(legal) == 2 and legal[max(roll)]:
            return legal[max(roll)] | ended, 1
        results = set().union(*legal.values())
        if results:
            return results | ended, k
    return {_counts(start)}, 0


def reference_outcome(
    rules: Any,
    me: Mapping[int, int] | Sequence[int],
    opp: Mapping[int, int] | Sequence[int],
    started: bool,
) -> tuple[int, float] | None:
    """The result of the game once `me` has played, or None while it goes on.

    `me` is the player who has just played, `started` says whether he is the one who began the
    game. Returns (score, points): the signed score as he sees it (0 a drawn last roll) and the
    points that each of the two gets from a draw (0 where the game is not drawn).
    """
    mine, his = _side(rules, me), _side(rules, opp)
    mine_left = [place for place in mine if place != OFF]
    his_left = [place for place in his if place != OFF]
    draws = {"draw_half": 0.5, "draw_one": 1.0}
    last_roll = rules.contact == "block" and rules.last_roll in draws

    if not mine_left and not his_left:
        # Only the last roll can clear a board whose owner's opponent has finished already.
        return (0, draws[rules.last_roll]) if last_roll else None
    if not mine_left:
        if last_roll and started and len(his_left) <= 4:
            return None  # the other has one more roll
        return _value(rules, his), 0.0
    if not his_left:
        return -_value(rules, mine), 0.0
    decided = _mother(rules, *(_signed(side) for side in (me, opp)))
    return None if decided is None else (decided, 0.0)


# --- pins -------------------------------------------------------------------------------------


def _board(
    rules: Any, me: Mapping[int, int] | Sequence[int], opp: Mapping[int, int] | Sequence[int]
) -> Board:
    """A board from counts, with pinned checkers apart."""
    held, down = _pinned(me), _pinned(opp)
    mine, his = list(_side(rules, me)), list(_side(rules, opp))
    for place in held:
        mine.remove(place)
    for place in down:
        his.remove(place)
    return Board(tuple(mine), (), tuple(his), held, down)


def _pinned(counts: Mapping[int, int] | Sequence[int]) -> Side:
    pairs = counts.items() if isinstance(counts, Mapping) else enumerate(counts)
    return tuple(sorted(place for place, count in pairs if count == -1))


def _signed(counts: Mapping[int, int] | Sequence[int]) -> Counts:
    pairs = dict(counts) if isinstance(counts, Mapping) else dict(enumerate(counts))
    return tuple(pairs.get(place, 0) for place in range(26))


def _mother(rules: Any, me: Counts, opp: Counts) -> int | None:
    """The score for `me` where pinned mothers end the game, None where they do not."""
    if rules.contact != "pin":
        return None
    if me[HEAD] == -1 and opp[HEAD] == -1:
        return 0
    if rules.mother == "none":
        return None
    if opp[HEAD] == -1 and (me[HEAD] == 0 or rules.mother == "at_once"):
        return 2
    if me[HEAD] == -1 and (opp[HEAD] == 0 or rules.mother == "at_once"):
        return -2
    return None


def _released(rules: Any, board: Board, left: int) -> Board:
    """The board once a checker has left `left`: nobody there, nobody held down there."""
    there = _across(rules, left)
    if there in board.down and left not in board.plain:
        return board._replace(
            opp=tuple(sorted((*board.opp, there))), down=_without(board.down, there)
        )
    return board


def _without(side: Side, place: int) -> Side:
    checkers = list(side)
    checkers.remove(place)
    return tuple(checkers)


# --- ladders ----------------------------------------------------------------------------------


class Ladder(NamedTuple):
    """Where a game of ladders stands, seen by the player to move.

    `dice` are the steps to be made before any dice are thrown, () for none; `handed` says that
    the opponent left them, `may_leave` how many checkers may still leave the head with them.
    `first_turns` tells whose first turn is to come and `turns` how many turns were taken, as
    far as they count for the ladder; both (mine, his).
    """

    dice: tuple[int, ...] = ()
    handed: bool = False
    may_leave: int = 0
    first_turns: tuple[bool, bool] = (False, False)
    turns: tuple[int, int] = (0, 0)


def reference_rung(
    rules: Any,
    me: Mapping[int, int] | Sequence[int],
    opp: Mapping[int, int] | Sequence[int],
    state: Ladder,
    roll: Sequence[int],
) -> tuple[set[Result], int]:
    """`reference_afterstates` of one decision of a ladder game; `roll` counts if it is thrown."""
    start = Board(_side(rules, me), (), _side(rules, opp))
    duty = _duty(rules, start, state, roll)
    if not duty.dice:
        return reference_afterstates(rules, me, opp, roll, state.first_turns[0])
    must_stay = max(0, start.plain.count(HEAD) - duty.may_leave)
    reached = [{start}]
    for die in _rung(duty):
        reached.append({b for board in reached[-1] for b in _steps(rules, board, die, must_stay)})
    for k in range(len(reached) - 1, 0, -1):
        results = _turn_ends(rules, reached[k])
        if results:
            return results, k
    return {_counts(start)}, 0


def reference_next(
    rules: Any,
    before: tuple[Sequence[int], Sequence[int]],
    after: tuple[Sequence[int], Sequence[int]],
    state: Ladder,
    roll: Sequence[int],
    used: int,
) -> tuple[bool, Ladder]:
    """Whether the same player decides again after a play, and the state as the next one sees it.

    `before` and `after` are (mine, his) counts around a play of `used` steps that did not end
    the game.
    """
    start = Board(_side(rules, before[0]), (), _side(rules, before[1]))
    duty = _duty(rules, start, state, roll)
    rung, dice = _rung(duty), duty.dice[used:]
    first_turns, turns = state.first_turns, state.turns
    counted = min(turns[0] + 1, int(rules.ladder_from_turn) - 1)
    his = Ladder((), False, 0, (first_turns[1], False), (turns[1], counted))
    if duty.dice and used < len(rung):
        if rules.stall == "skip_rung":
            dice = duty.dice[len(rung) :]
        elif duty.handed or rules.unplayed == "lost":
            dice = ()
        else:
            turned = Board(_side(rules, after[1]), (), _side(rules, after[0]))
            may = _may_leave(rules, turned, (dice[0], dice[0]), first_turns[1])
            return False, his._replace(dice=dice, handed=True, may_leave=may)
    if duty.dice and dice:
        left = before[0][HEAD] - after[0][HEAD]
        return True, duty._replace(dice=dice, may_leave=duty.may_leave - left)
    if duty.dice and duty.handed:
        return True, state._replace(dice=(), handed=False, may_leave=0)
    return False, his


def _duty(rules: Any, start: Board, state: Ladder, roll: Sequence[int]) -> Ladder:
    """`state`, with the ladder of the roll written out if no dice were to be made before it."""
    if state.dice or roll[0] != roll[1] or state.turns[0] + 1 < int(rules.ladder_from_turn):
        return state
    repeats = int(rules.ladder_repeats)
    dice = tuple(die for die in range(roll[0], 7) for _ in range(repeats))
    may = _may_leave(rules, start, roll, state.first_turns[0])
    return state._replace(dice=dice, handed=False, may_leave=may)


def _rung(duty: Ladder) -> list[int]:
    return [die for die in duty.dice if die == duty.dice[0]]


def _may_leave(rules: Any, start: Board, roll: Sequence[int], first_turn: bool) -> int:
    if rules.head_rule == "free":
        return rules.checkers
    return _head_allowance(rules, start, roll, first_turn)


# --- single steps -----------------------------------------------------------------------------


def _steps(rules: Any, board: Board, die: int, must_stay: int) -> Iterator[Board]:
    """Every board that one checker moved by `die` can make."""
    mine = board.plain + board.hitters
    checkers = [(place, False) for place in set(board.plain)]
    checkers += [(place, True) for place in set(board.hitters)]
    for place, is_hitter in checkers:
        if place == OFF or (BAR in mine and place != BAR):
            continue
        if place == HEAD and mine.count(HEAD) <= must_stay:
            continue
        if rules.runner == "pass_start" and min(mine) > 11 and place != min(mine):
            continue  # the first checker has not yet passed the enemy's head: only it moves
        if is_hitter and rules.hit_run == "no_continue":
            continue
        target = place - die
        if target <= OFF:
            if board.held or not _may_bear_off(mine, place, die):
                continue
            after = _moved(board, place, is_hitter, OFF, is_hitter, board.opp)
        else:
            if is_hitter and rules.hit_run == "no_hide" and target in mine:
                continue
            there = _across(rules, target)
            enemies = board.opp.count(there)
            if enemies >= (1 if rules.contact == "block" else 2):
                continue
            if target in board.held:
                continue
            opp, marked = board.opp, is_hitter
            if enemies and rules.contact == "pin":
                pinning = board._replace(
                    opp=_without(opp, there), down=tuple(sorted((*board.down, there)))
                )
                after = _moved(pinning, place, False, target, False, pinning.opp)
                yield _released(rules, after, place)
                continue
            if enemies:
                opp = _replaced(opp, there, BAR)
                marked = marked or _hit_counts(rules, target)
            after = _moved(board, place, is_hitter, target, marked, opp)
        if rules.contact == "pin":
            after = _released(rules, after, place)
        checked = rules.contact == "block" and rules.prime_check == "every_step"
        if not checked or _prime_allowed(rules, after.plain, after.opp):
            yield after


def _hit_counts(rules: Any, target: int) -> bool:
    """Whether a hit on `target` puts the hit-and-run duty on the hitter."""
    if rules.hit_run == "allowed":
        return False
    return rules.hit_run_zone == "all" or target in HOME


def _may_bear_off(mine: Side, place: int, die: int) -> bool:
    """Exact die, or a larger one from the highest point, with every checker home or off."""
    highest = max(mine)
    return highest in HOME and (die == place or place == highest)


def _across(rules: Any, point: int) -> int:
    """The opponent's number of my point (and mine of his: it is its own inverse)."""
    if rules.direction == "opposite":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def _moved(
    board: Board, place: int, was_hitter: bool, target: int, is_hitter: bool, opp: Side
) -> Board:
    plain, hitters = list(board.plain), list(board.hitters)
    (hitters if was_hitter else plain).remove(place)
    (hitters if is_hitter else plain).append(target)
    return board._replace(plain=tuple(sorted(plain)), hitters=tuple(sorted(hitters)), opp=opp)


def _replaced(side: Side, old: int, new: int) -> Side:
    checkers = list(side)
    checkers.remove(old)
    return tuple(sorted([*checkers, new]))


# --- the head ---------------------------------------------------------------------------------


def _head_must_stay(rules: Any, start: Board, roll: Sequence[int], first_turn: bool) -> int:
    """How many checkers at least must stand on the head when the turn is over.

    Nothing ever returns to 24, so a quota of leaving checkers is a number that has to stay.
    """
    if rules.contact != "block" or rules.head_rule == "free":
        return 0
    return max(0, start.plain.count(HEAD) - _head_allowance(rules, start, roll, first_turn))


def _head_allowance(rules: Any, start: Board, roll: Sequence[int], first_turn: bool) -> int:
    double = roll[0] == roll[1]
    if rules.head_rule == "strict" or not double:
        return 1
    if rules.head_rule == "any_double":
        return 2
    if rules.head_rule == "any_double_first":
        return 2 if first_turn else 1
    assert rules.head_rule == "classic", rules.head_rule
    if not first_turn or roll[0] not in (3, 4, 6):
        return 1
    if rules.head_exception == "always":
        return 2
    assert rules.head_exception == "blocked_by_head", rules.head_exception
    return 2 if _runner_meets(rules, start, roll[0]) == 12 else 1


def _runner_meets(rules: Any, start: Board, die: int) -> int | None:
    """The first enemy point that a lone checker from the head meets in four steps of `die`."""
    for step in range(1, 5):
        point = HEAD - step * die
        if point >= 1 and _across(rules, point) in start.opp:
            return point
    return None


# --- the prime --------------------------------------------------------------------------------


def _turn_ends(rules: Any, boards: set[Board]) -> set[Result]:
    """The boards with which a turn may end, as counts."""
    if rules.contact == "block":
        boards = {board for board in boards if _prime_allowed(rules, board.plain, board.opp)}
        boards = {board for board in boards if _greek_walls_allowed(rules, board.plain, board.opp)}
    return {_counts(board) for board in boards}


def _prime_allowed(rules: Any, mine: Side, opp: Side) -> bool:
    """Whether every run of six own points may stand."""
    if rules.prime_rule == "allow":
        return True
    places = set(mine) - {OFF}
    if len(places) < 6:
        return True
    enemies = set(opp) - {OFF}
    if not enemies:
        return True
    held = {_across(rules, place) for place in places}
    return all(
        _wall_allowed(rules, window, enemies)
        for window in _windows(rules.prime_wrap)
        if held.issuperset(window)
    )


def _wall_allowed(rules: Any, window: frozenset[int], enemies: set[int]) -> bool:
    """Whether the six points `window`, in the opponent's numbering, may all be mine."""
    if rules.prime_rule == "forbid":
        return False
    if max(window) - min(window) != 5:
        return False  # it lies over his 24/1 seam: nobody is beyond it
    if rules.prime_rule == "home":
        return not enemies.isdisjoint(HOME)
    assert rules.prime_rule == "ahead", rules.prime_rule
    return min(enemies) < min(window)


def _greek_walls_allowed(rules: Any, mine: Side, opp: Side) -> bool:
    """The limits of fevga and moultezim: starting quarters, and the prime that shuts all in."""
    quarters = {
        "none": [],
        "own": [range(19, 25)],
        "opponent": [range(7, 13)],
        "both": [range(19, 25), range(7, 13)],
    }
    for quarter in quarters[rules.start_prime]:
        if sum(place in mine for place in quarter) > int(rules.start_prime_points):
            return False
    if rules.trapping_prime == "allow":
        return True
    enemies = set(opp) - {OFF}
    if len(enemies) != 1:
        return True
    (behind,) = enemies
    ahead = [behind - steps for steps in range(1, 7)]
    return min(ahead) < 1 or not all(_across(rules, point) in mine for point in ahead)


@lru_cache
def _windows(prime_wrap: str) -> tuple[frozenset[int], ...]:
    """The runs of six points that count, in the opponent's numbering (same direction of play)."""

    def ring(point: int) -> int:
        return (point - 1) % 24 + 1

    def run(lowest: int) -> frozenset[int]:
        return frozenset(ring(lowest + i) for i in range(6))

    if prime_wrap == "opponent_path":
        return tuple(run(lowest) for lowest in range(1, 20))
    if prime_wrap == "own_path":
        return tuple(frozenset(ring(p + 12) for p in run(lowest)) for lowest in range(1, 20))
    assert prime_wrap == "circular", prime_wrap
    return tuple(run(lowest) for lowest in range(1, 25))


# --- counting ---------------------------------------------------------------------------------


def _value(rules: Any, loser: Side) -> int:
    """1 oin, 2 mars, 3 koks, for the player who has borne everything off."""
    if OFF in loser:
        return 1
    back = {place for place in loser if place > 18}
    koks = {
        "none": False,
        "first_quarter": bool(back),
        "none_home": HOME.isdisjoint(loser),
        "backgammon": bool(back),  # the winner's home is the loser's 24..19, or the bar
    }
    return 3 if koks[rules.koks] else 2


def _side(rules: Any, counts: Mapping[int, int] | Sequence[int]) -> Side:
    if not isinstance(counts, Mapping):
        counts = dict(enumerate(counts))
    places = [int(place) for place, count in counts.items() for _ in range(abs(int(count)))]
    missing = rules.checkers - len(places)
    if missing < 0:
        raise ValueError(f"{len(places)} checkers on a side of {rules.checkers}")
    return tuple(sorted(places + [OFF] * missing))


def _counts(board: Board) -> Result:
    mine, his = [0] * 26, [0] * 26
    for place in board.plain + board.hitters:
        mine[place] += 1
    for place in board.opp:
        his[place] += 1
    for place in board.held:
        mine[place] = -1
    for place in board.down:
        his[place] = -1
    return tuple(mine), tuple(his)

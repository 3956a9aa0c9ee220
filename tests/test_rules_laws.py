"""Laws that every legal result obeys, on positions that Hypothesis makes up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from nardy_rl.rules import (
    Play,
    Position,
    Rules,
    get_threads,
    legal_afterstates,
    set_threads,
    variant,
)
from tests.reachable import I_STARTED, MINE_FIRST, option_sets, play_turns, start_points
from tests.reference import reference_outcome

NAMES = ("long_nardy", "backgammon", "hypergammon")
OPTION_SETS = {name: option_sets(name) for name in NAMES}
SCORING_SETS = {name: option_sets(name, every=True) for name in NAMES}

laws = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,  # CI looks at the same examples every time
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

dice = st.integers(1, 6)
rolls = st.tuples(dice, dice)


@st.composite
def sides(draw: st.DrawFn, checkers: int, points: list[int], hit: bool) -> list[int]:
    """One side's counts [26]: on `points` of his own (perhaps the bar), the rest borne off."""
    home = [point for point in points if point <= 6]
    row = [0] * 26
    racing = bool(home) and draw(st.booleans())
    places = home if racing else points + ([25] if hit else [])
    off = draw(st.integers(0, checkers - 1)) if racing or not places else 0
    row[0] = off if places else checkers
    for _ in range(checkers - row[0]):
        row[draw(st.sampled_from(places))] += 1
    return row


@st.composite
def positions(draw: st.DrawFn, name: str) -> Position:
    """A possible position of `name` under any options, its points shared out at random."""
    rules = draw(st.sampled_from(OPTION_SETS[name]))
    hit = rules.contact == "hit"
    holder = draw(st.lists(st.sampled_from((0, 1, 1, 2, 2)), min_size=24, max_size=24))
    mine = [point for point in range(1, 25) if holder[point - 1] == 1]
    his = [_across(rules, point) for point in range(1, 25) if holder[point - 1] == 2]
    rows = [draw(sides(rules.checkers, mine, hit)), draw(sides(rules.checkers, his, hit))]
    flags = draw(st.sampled_from((0, I_STARTED)))
    if draw(st.integers(0, 9)) == 0 and not any(holder[place - 1] == 2 for place, _ in rules.start):
        rows[0] = start_points(rules)[0].tolist()
        flags |= MINE_FIRST
    position = Position(rules, np.array(rows, dtype=np.int8), flags)
    assume(not position.status() and position.outcome() is None)
    return position


any_position = st.sampled_from(NAMES).flatmap(positions)


def _across(rules: Rules, point: int) -> int:
    return 25 - point if rules.direction == "opposite" else (point + 11) % 24 + 1


@laws
@given(any_position, rolls)
def test_checkers_are_never_made_or_lost(position: Position, roll: tuple[int, int]) -> None:
    for play in position.plays(roll):
        assert play.after.points.min() >= 0
        assert play.after.points.sum(axis=1, dtype=int).tolist() == [position.rules.checkers] * 2
        assert not play.after.status()


@laws
@given(any_position, rolls)
def test_pips_fall_by_exactly_the_dice_used(position: Position, roll: tuple[int, int]) -> None:
    for play in position.plays(roll):
        lost = position.pips[0] - play.after.pips[0]
        exact = sum(_dice_of(play))
        borne_off = int(play.after.points[0, 0] - position.points[0, 0])
        assert 0 <= lost <= exact
        if not borne_off:
            assert lost == exact
        # A checker wastes less of the die that bears it off than the whole die.
        assert exact - lost <= borne_off * (max(roll) - 1)


@laws
@given(any_position, rolls)
def test_the_opponent_changes_by_hits_only(position: Position, roll: tuple[int, int]) -> None:
    for play in position.plays(roll):
        before, after = position.points[1].astype(int), play.after.points[1].astype(int)
        hits = after[25] - before[25]
        assert hits == sum(play.hits)
        assert after[0] == before[0]
        gone = before[1:25] - after[1:25]
        assert set(gone.tolist()) <= {0, 1}
        assert gone.sum() == hits
        assert (before[1:25][gone == 1] == 1).all()
        if position.rules.contact == "block":
            assert hits == 0
        rise = sum(25 - (point + 1) for point in np.flatnonzero(gone))
        assert play.after.pips[1] - position.pips[1] == rise


@laws
@given(any_position)
def test_flip_twice_is_identity(position: Position) -> None:
    assert position.flip().flip() == position
    assert hash(position.flip().flip()) == hash(position)
    assert position.flip().pips == position.pips[::-1]
    assert (position.flip().points == position.points[::-1]).all()
    assert position.flip().first_turn == position.first_turn[::-1]


@laws
@given(any_position, rolls)
def test_plays_are_distinct_and_found_by_their_result(
    position: Position, roll: tuple[int, int]
) -> None:
    plays = position.plays(roll)
    assert len({play.after.points.tobytes() for play in plays}) == len(plays) > 0
    assert len({play.dice_used for play in plays}) == 1
    assert plays[0] in plays
    assert plays[len(plays) - 1].after in plays
    assert position not in plays or plays[0].dice_used == 0
    for play in plays:
        assert play.before == position
        assert play.roll == roll
        assert play.after.first_turn[0] is False


@laws
@given(any_position, rolls)
def test_the_order_of_the_dice_is_the_players(position: Position, roll: tuple[int, int]) -> None:
    turned = {play.after for play in position.plays((roll[1], roll[0]))}
    assert {play.after for play in position.plays(roll)} == turned


@laws
@given(any_position, rolls)
def test_moves_replayed_by_hand_give_the_result(position: Position, roll: tuple[int, int]) -> None:
    for play in position.plays(roll):
        assert len(play.moves) == len(play.hits) == play.dice_used
        assert not Counter(_dice_of(play)) - _dice_in(roll)
        assert _replayed(play) == play.after.points.tolist()


def _dice_in(roll: tuple[int, int]) -> Counter[int]:
    return Counter(roll) if roll[0] != roll[1] else Counter({roll[0]: 4})


def _dice_of(play: Play) -> list[int]:
    """The die of each move; where a bear-off leaves it open, the largest that is still there."""
    dice = [source - target for source, target in play.moves if target]
    left = _dice_in(play.roll)
    left.subtract(dice)
    for source, target in sorted(play.moves, reverse=True):
        if target:
            continue
        fits = [die for die in left.elements() if die >= source]
        # The exact die first, else the largest: 6-1 bears off 5 and 1 by a 6 and a 1.
        die = source if source in fits else max(fits)
        left[die] -= 1
        dice.append(die)
    return dice


def _replayed(play: Play) -> list[list[int]]:
    """The moves of a play made one after the other, every rule of a single step checked."""
    rules = play.before.rules
    mine, his = play.before.points.tolist()
    for (source, target), hit in zip(play.moves, play.hits, strict=True):
        assert mine[source] > 0
        assert source == 25 or mine[25] == 0
        assert 0 <= target < source
        mine[source] -= 1
        mine[target] += 1
        if target == 0:
            assert sum(mine[7:]) == 0
            assert source <= 6
            continue
        there = _across(rules, target)
        assert his[there] <= (1 if rules.contact == "hit" else 0)
        assert hit == (his[there] == 1)
        if hit:
            his[there] -= 1
            his[25] += 1
    return [mine, his]


@laws
@given(any_position, rolls)
def test_scalar_equals_batch(position: Position, roll: tuple[int, int]) -> None:
    plays = position.plays(roll)
    found = legal_afterstates(
        position.rules,
        position.points[None],
        np.array([roll]),
        flags=np.array([position.flags], dtype=np.uint8),
    )
    assert found.after.tolist() == [play.after.points.tolist() for play in plays]
    assert found.offsets.tolist() == [0, len(plays)]
    assert found.dice_used.tolist() == [plays[0].dice_used]
    by_first_turn = legal_afterstates(
        position.rules, position.points[None], np.array([roll]), np.array([position.first_turn])
    )
    assert (by_first_turn.after == found.after).all()


@st.composite
def finished(draw: st.DrawFn, name: str) -> list[list[int]]:
    """Counts of a winner (either of the two) and of a loser with checkers anywhere, or none."""
    rules = variant(name)
    winner = [rules.checkers] + [0] * 25
    loser = [0] * 26
    top = 25 if rules.contact == "hit" else 24
    highest = draw(st.sampled_from((6, 18, 19, top)))
    left = draw(st.sampled_from((*range(7), rules.checkers, rules.checkers)))
    for _ in range(min(left, rules.checkers)):
        loser[draw(st.integers(1, highest))] += 1
    loser[0] = rules.checkers - sum(loser)
    return [winner, loser] if draw(st.booleans()) else [loser, winner]


@laws
@given(
    st.sampled_from(NAMES).flatmap(
        lambda name: st.tuples(st.sampled_from(SCORING_SETS[name]), finished(name))
    ),
    st.booleans(),
)
@example((variant("long_nardy"), [[15] + [0] * 25, [0] * 24 + [15, 0]]), True)
def test_outcome_equals_the_reference(game: tuple[Rules, list[list[int]]], started: bool) -> None:
    rules, rows = game
    assume(rows[0] != rows[1] or rules.last_roll != "none")
    flags = I_STARTED if started else 0
    position = Position(rules, np.array(rows, dtype=np.int8), flags, moved=True)
    outcome = position.outcome()
    found = None if outcome is None else (outcome.score, outcome.points_each)
    assert found == reference_outcome(rules, rows[0], rows[1], started)
    assert outcome is None or outcome.score in rules.outcomes


@pytest.fixture
def threads() -> Iterator[None]:
    before = get_threads()
    yield
    set_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_threads_gives_the_same_bytes(name: str) -> None:
    rules = variant(name)
    rng = np.random.default_rng(3)
    turns = list(play_turns(rules, games=40, turns=40, rng=rng))
    points = np.concatenate([turn.points for turn in turns])
    flags = np.concatenate([turn.flags for turn in turns])
    thrown = np.concatenate([turn.rolls for turn in turns])
    found = []
    for count in (1, 2, 3):
        set_threads(count)
        assert get_threads() == count
        found.append(legal_afterstates(rules, points, thrown, flags=flags))
    for other in found[1:]:
        for field in found[0]._fields:
            left, right = getattr(found[0], field), getattr(other, field)
            assert left.dtype == right.dtype
            assert left.tobytes() == right.tobytes()
    # One position at a time, too.
    for row in range(0, len(points), 97):
        one = slice(row, row + 1)
        alone = legal_afterstates(rules, points[one], thrown[one], flags=flags[one])
        lo, hi = found[0].offsets[row], found[0].offsets[row + 1]
        assert alone.after.tobytes() == found[0].after[lo:hi].tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_batch_gives_nothing(name: str) -> None:
    found = legal_afterstates(variant(name), np.zeros((0, 2, 26), np.int8), np.zeros((0, 2), int))
    assert found.after.shape == (0, 2, 26)
    assert found.offsets.tolist() == [0]
    assert found.dice_used.shape == (0,)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("roll", [(0, 1), (1, 7), (-1, 3)])
def test_impossible_dice_are_refused(name: str, roll: tuple[int, int]) -> None:
    rules = variant(name)
    with pytest.raises(ValueError, match=r"1\.\.6"):
        legal_afterstates(rules, start_points(rules)[None], np.array([roll]))
    with pytest.raises(ValueError, match=r"1\.\.6"):
        Position.start(rules).plays(roll)

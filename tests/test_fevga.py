"""fevga and moultezim: the runner, the starting quarters, and the prime that shuts all in."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.errors import ConfigError
from nardy_rl.rules import Position, Status, variant
from tests.comparison import compare_batch

HEAD = {24: 15}
SEED = 20_261_201


def moves(
    me: dict[int, int],
    opp: dict[int, int],
    roll: tuple[int, int],
    name: str = "fevga",
    **options: str,
) -> set[tuple[tuple[int, int], ...]]:
    """The results of a roll, each as (point, checkers) of the mover's occupied points."""
    rules = variant(name, **options)
    missing = [15 - sum(side.values()) for side in (me, opp)]
    position = Position.from_points(rules, me, opp, me_off=missing[0], opp_off=missing[1])
    return {
        tuple((place, int(n)) for place, n in enumerate(play.after.points[0]) if n and place)
        for play in position.plays(roll)
    }


def held(**counts: int) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((int(place[1:]), count) for place, count in counts.items()))


# --- the runner -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fevga", "moultezim"])
def test_at_the_start_one_checker_plays_the_whole_roll(name: str) -> None:
    assert moves(HEAD, HEAD, (6, 5), name) == {held(p24=14, p13=1)}
    assert moves(HEAD, HEAD, (2, 1), name) == {held(p24=14, p21=1)}
    assert moves(HEAD, HEAD, (4, 4), name) == {held(p24=14, p16=1)}  # stopped by his head


def test_the_runner_alone_moves_until_it_has_passed() -> None:
    # 16-3-1 ends on his head on 12 in either order, so one die only, the larger: 16/13.
    assert moves({24: 14, 16: 1}, HEAD, (3, 1)) == {held(p24=14, p13=1)}
    # Standing on the emptied start of the opponent is not yet beyond it.
    assert moves({24: 14, 12: 1}, {6: 15}, (2, 1)) == {held(p24=14, p9=1)} | {
        held(p24=13, p22=1, p11=1),
        held(p24=13, p23=1, p10=1),
    }


def test_the_others_are_free_once_the_runner_is_past_within_the_roll() -> None:
    # 13/11 passes; then the 6 is anybody's, and a 6 first would pass as well.
    assert moves({24: 14, 13: 1}, HEAD, (6, 2)) == {
        held(p24=14, p5=1),
        held(p24=13, p18=1, p11=1),
        held(p24=13, p22=1, p7=1),
    }


def test_a_double_is_tried_in_every_order_in_the_runner_phase() -> None:
    """Runner first, then the head: the order that doubles are not sorted in."""
    found = moves({24: 14, 13: 1}, HEAD, (2, 2))
    assert held(p24=11, p22=3, p11=1) in found
    assert held(p24=14, p5=1) in found
    assert held(p24=13, p22=1, p7=1) in found


def test_a_runner_before_closed_points_passes_the_turn() -> None:
    behind = {24: 9, 3: 2, 2: 2, 1: 2}  # his 3, 2, 1 are my 15, 14, 13
    assert moves({24: 14, 16: 1}, behind, (2, 1)) == {held(p24=14, p16=1)}
    assert moves({24: 14, 16: 1}, behind, (2, 1), runner="none") != {held(p24=14, p16=1)}
    assert moves({24: 14, 18: 1}, HEAD, (6, 6)) == {held(p24=14, p18=1)}  # his head is on 12


def test_without_the_runner_rule_anybody_moves() -> None:
    assert held(p24=13, p23=1, p22=1) in moves(HEAD, HEAD, (2, 1), runner="none")


# --- primes -----------------------------------------------------------------------------------


def test_all_six_points_of_the_own_quarter_are_never_held() -> None:
    me = {24: 9, 23: 1, 22: 1, 21: 1, 20: 1, 11: 2}  # 19 is missing
    sixes = moves(me, HEAD, (5, 1))
    assert all(sum(place >= 19 for place, _ in after) < 6 for after in sixes)
    allowed = moves(me, HEAD, (5, 1), start_prime="none")
    assert held(p24=8, p23=1, p22=1, p21=1, p20=1, p19=1, p11=1, p10=1) in allowed - sixes
    assert moves(me, HEAD, (5, 1), name="moultezim") == allowed


@pytest.mark.parametrize(("points", "most"), [("5", 5), ("4", 4)])
def test_the_opponents_quarter_in_moultezim(points: str, most: int) -> None:
    me = {24: 5, 14: 2, 13: 2, 11: 3, 10: 1, 9: 1, 8: 1}  # his quarter is my 12..7
    opp = {10: 14, 5: 1}  # his head is empty, so is my 12
    found = moves(me, opp, (2, 1), name="moultezim", start_prime_points=points)
    everything = moves(me, opp, (2, 1), name="moultezim", start_prime="none")
    expected = {a for a in everything if sum(7 <= place <= 12 for place, _ in a) <= most}
    assert found == expected
    assert moves(me, opp, (2, 1), start_prime="both", start_prime_points=points) == expected


def test_a_trapping_prime_must_be_opened() -> None:
    """He stands on his 24, my 12, with everything: my 11..6 shut him in."""
    me = {11: 2, 10: 2, 9: 2, 8: 2, 7: 2, 6: 5}
    roll = (3, 1)
    trapped = moves(me, HEAD, roll)
    free = moves(me, HEAD, roll, trapping_prime="allow")
    assert trapped == {a for a in free if not set(range(6, 12)) <= {place for place, _ in a}}
    # One of his checkers elsewhere, and the prime may stand.
    assert moves(me, {24: 14, 1: 1}, roll) == free


def test_who_has_to_open_a_prime_and_cannot_passes() -> None:
    me = {11: 1, 10: 1, 9: 1, 8: 1, 7: 1, 6: 1, 24: 9}
    assert len(moves(me, HEAD, (1, 2), trapping_prime="allow")) > 1
    for after in moves(me, HEAD, (1, 2)):
        assert not set(range(6, 12)) <= {place for place, _ in after}
    # All home but one, whose way of four sixes bears off one of nine and opens nothing.
    me = {24: 1, 6: 9, 5: 1, 4: 1, 3: 1, 2: 1, 1: 1}
    before = held(p24=1, p6=9, p5=1, p4=1, p3=1, p2=1, p1=1)
    assert moves(me, {19: 15}, (6, 6)) == {before}
    after = held(p6=9, p5=1, p4=1, p3=1, p2=1, p1=1)
    assert moves(me, {19: 15}, (6, 6), trapping_prime="allow") == {after}


def test_random_positions_with_everybody_behind_a_prime_agree_with_the_reference() -> None:
    """All of one side on one point, six or more points of the other around: rare in play."""
    rng = np.random.default_rng(SEED)
    count = 600
    points = np.zeros((count, 2, 26), np.int8)
    for mine, his in points:
        behind = int(rng.integers(1, 25))
        his[behind] = 15
        away = [
            _same_way(behind - step) for step in range(-2, 9) if 1 <= behind - step <= 24 and step
        ]
        places = [place for place in away if place != _same_way(behind)]
        spare = [place for place in range(1, 25) if place != _same_way(behind)]
        chosen = list(rng.permutation(places)[: rng.integers(5, 9)]) + list(rng.choice(spare, 15))
        for place in chosen[:15]:
            mine[place] += 1
        if rng.random() < 0.2:
            his[behind] -= 1
            his[rng.choice([p for p in range(1, 25) if not mine[_same_way(p)]])] += 1
    rolls = rng.integers(1, 7, (count, 2)).astype(np.int8)
    flags = np.zeros(count, np.uint8)
    for options in (
        {},
        {"trapping_prime": "allow"},
        {"start_prime": "both", "start_prime_points": "4"},
    ):
        tally = compare_batch(variant("fevga", **options), points, rolls, flags)
        assert not tally.disagreements


def _same_way(place: int) -> int:
    return (place + 11) % 24 + 1


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("me", "opp", "status"),
    [
        ({24: 13, 20: 1, 15: 1}, HEAD, Status.LEFT_BEFORE_RUNNER),
        (HEAD, {24: 13, 20: 2}, Status.OPPONENT_LEFT_BEFORE_RUNNER),
        ({24: 13, 20: 1, 11: 1}, HEAD, Status.VALID),
        ({24: 14, 13: 1}, {24: 14, 13: 1}, Status.VALID),
        ({24: 9, 23: 1, 22: 1, 21: 1, 20: 1, 19: 1, 11: 1}, HEAD, Status.FORBIDDEN_PRIME),
        (HEAD, {24: 9, 23: 1, 22: 1, 21: 1, 20: 1, 19: 1, 3: 1}, Status.OPPONENT_FORBIDDEN_PRIME),
        ({11: 2, 10: 2, 9: 2, 8: 2, 7: 2, 6: 5}, HEAD, Status.VALID),  # he may have gathered there
    ],
)
def test_status(me: dict[int, int], opp: dict[int, int], status: Status) -> None:
    assert Position.from_points(variant("fevga"), me, opp).status() == status


def test_the_two_differ_by_one_option_and_score_one_or_two() -> None:
    fevga, moultezim = variant("fevga"), variant("moultezim")
    assert fevga.outcomes == (-2, -1, 1, 2)
    values = [{o.name: o.value for o in rules.options()} for rules in (fevga, moultezim)]
    assert values[0] == {
        "runner": "pass_start",
        "start_prime": "own",
        "start_prime_points": "5",
        "trapping_prime": "open",
        "koks": "none",
        "opening_roll": "reroll",
        "next_starter": "winner",
    }
    assert values[1] == values[0] | {"start_prime": "opponent"}
    lost = Position.from_points(fevga, {1: 1}, HEAD, me_off=14).plays((2, 1))[0].after.outcome()
    assert lost is not None
    assert lost.score == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runner": "two"}, "fevga: runner='two' is not allowed; choose from none, pass_start"),
        ({"start_prime_points": "6"}, "start_prime_points='6' is not allowed; choose from 5, 4"),
        ({"head_rule": "strict"}, "fevga has no option 'head_rule'"),
    ],
)
def test_options_are_checked(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        variant("fevga", **options)


def test_long_nardy_has_no_runner() -> None:
    with pytest.raises(ConfigError, match="long_nardy has no option 'runner'"):
        variant("long_nardy", runner="pass_start")

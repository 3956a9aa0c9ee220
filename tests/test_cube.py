"""The cube and the score of a match, from the text of RULES.md 2."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nardy_rl.cube import CENTRED, Cube, MatchScore, Terms, terms
from nardy_rl.errors import ConfigError, IllegalPlay
from nardy_rl.rules import variant

STANDARD = terms("backgammon", cube="standard")
DAVE = terms("backgammon_dave")


def after(cube: Cube, *events: tuple[int, str]) -> Cube:
    for seat, word in events:
        cube = cube.after(seat, word)
    return cube


def exchanged(cube: Cube) -> Cube:
    """Two accepted offers: seat 0's, then seat 1's."""
    return after(cube, (0, "double"), (1, "take"), (1, "double"), (0, "take"))


@pytest.mark.parametrize(("progression", "stake"), [("arithmetic", 3), ("geometric", 4)])
def test_two_accepted_offers(progression: str, stake: int) -> None:
    cube = exchanged(Cube(terms("backgammon_dave", cube_progression=progression)))
    assert cube.stake == stake
    assert cube.owner == 0
    assert cube.points(1) == stake
    assert cube.points(-2) == -stake, "no mars with the dave"


def test_no_mars_with_the_dave_though_it_was_never_turned() -> None:
    assert Cube(DAVE).points(3) == 1
    assert Cube(DAVE).points(-2) == -1
    assert Cube(terms("backgammon_dave", mars_with_cube=True)).points(3) == 3
    assert exchanged(Cube(STANDARD)).points(3) == 12


@pytest.mark.parametrize("played_for", [STANDARD, DAVE])
def test_both_may_offer_first_then_only_the_last_taker(played_for: Terms) -> None:
    cube = Cube(played_for)
    assert cube.owner == CENTRED
    assert cube.words(0) == cube.words(1) == ("double",)
    offered = cube.after(1, "double")
    assert offered.words(1) == ()
    assert offered.words(0) == ("take", "pass")
    taken = offered.after(0, "take")
    assert taken.words(0) == ("double",)
    assert taken.words(1) == ()
    with pytest.raises(IllegalPlay, match="seat 0 took last and alone may double"):
        taken.after(1, "double")


def test_refusing_loses_the_current_stake() -> None:
    assert after(Cube(DAVE), (0, "double"), (1, "pass")).points(0) == 1
    twice = exchanged(Cube(DAVE))
    ended = after(twice, (0, "double"), (1, "pass"))
    assert ended.points(-3) == 4
    assert ended.words(0) == ended.words(1) == ()
    assert after(Cube(DAVE), (1, "double"), (0, "pass")).points(0) == -1


def test_a_match_to_5_at_4_2_has_one_game_without_the_cube() -> None:
    score = MatchScore(terms("backgammon", cube="standard", match_length=5), (4, 2))
    assert score.away == (1, 3)
    first = score.cube()
    assert first.words(0) == first.words(1) == ()
    with pytest.raises(IllegalPlay, match="the Crawford game has no cube"):
        first.after(1, "double")
    then = score.after(-1)
    assert then.points == (4, 3)
    # The leader's cube is dead: one point is all he needs.
    assert then.cube().words(1) == ("double",)
    assert then.cube().words(0) == ()
    with pytest.raises(IllegalPlay, match="already wins him the match"):
        then.cube().after(0, "double")


def test_a_match_without_crawford_keeps_its_cube() -> None:
    played_for = terms("backgammon", cube="standard", match_length=5, crawford=False)
    assert MatchScore(played_for, (4, 2)).cube().words(1) == ("double",)


def test_when_a_match_is_over() -> None:
    score = MatchScore(terms("backgammon", cube="standard", match_length=3))
    assert not score.over
    assert score.winner is None
    assert score.after(0).points == (0, 0), "a draw scores nobody"
    won = score.after(-2).after(1).after(-4)
    assert won.over
    assert won.winner == 1
    assert won.points == (1, 6)
    assert not won.crawford_game
    with pytest.raises(IllegalPlay, match="the match is over: 1 to 6"):
        won.after(1)
    assert not MatchScore(STANDARD, (1000, 0)).over


def test_jacoby_counts_no_mars_while_the_cube_is_in_the_middle() -> None:
    cube = Cube(terms("backgammon", cube="standard", jacoby=True))
    assert [cube.points(score) for score in (3, 2, 1, 0, -1, -2)] == [1, 1, 1, 0, -1, -1]
    turned = after(cube, (0, "double"), (1, "take"))
    assert [turned.points(score) for score in (3, 1, -2)] == [6, 2, -4]


@pytest.mark.parametrize(("progression", "stake"), [("geometric", 4), ("arithmetic", 3)])
def test_a_beaver_doubles_again_and_keeps_the_cube(progression: str, stake: int) -> None:
    played_for = terms("backgammon_dave", cube_progression=progression, beavers=True)
    offered = Cube(played_for).after(0, "double")
    assert offered.words(1) == ("take", "pass", "beaver")
    cube = offered.after(1, "beaver")
    assert (cube.stake, cube.owner, cube.offered) == (stake, 1, None)
    with pytest.raises(IllegalPlay, match="beavers are not allowed"):
        after(Cube(DAVE), (0, "double"), (1, "beaver"))


def test_a_dead_cube_may_not_be_turned() -> None:
    score = MatchScore(terms("backgammon", cube="standard", match_length=7), (3, 5))
    cube = after(score.cube(), (0, "double"), (1, "take"))
    assert cube.words(1) == (), "two points are all that seat 1 needs"
    cube = after(score.cube(), (1, "double"), (0, "take"))
    assert cube.words(0) == ("double",)


@pytest.mark.parametrize(
    ("seat", "word", "why"),
    [
        (0, "take", "there is no double to answer"),
        (0, "pass", "there is no double to answer"),
        (0, "resign", "no such word; double, take, pass, beaver"),
    ],
)
def test_what_may_not_be_done(seat: int, word: str, why: str) -> None:
    with pytest.raises(IllegalPlay, match=why):
        Cube(STANDARD).after(seat, word)


def test_a_game_without_a_cube() -> None:
    with pytest.raises(IllegalPlay, match="cube=none"):
        Cube(terms("long_nardy")).after(0, "double")
    with pytest.raises(IllegalPlay, match="waits for the other seat"):
        after(Cube(STANDARD), (0, "double"), (0, "take"))
    with pytest.raises(IllegalPlay, match="is answered with take, pass"):
        after(Cube(STANDARD), (0, "double"), (1, "double"))


def test_defaults() -> None:
    assert terms("long_nardy") == Terms()
    assert DAVE == Terms("dave", mars_with_cube=False)
    assert terms("backgammon", match_length="5") == Terms(match_length=5)
    dave = terms("long_nardy", cube="dave", match_length=5, crawford="off")
    assert dave == Terms("dave", mars_with_cube=False, match_length=5)
    assert terms("tavla", cube="standard", match_length=5).crawford
    assert variant("backgammon_dave").start == variant("backgammon").start


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cube": "dav"}, r"cube='dav' is not allowed \(did you mean dave\?\); choose from none"),
        ({"cub": "dave"}, r"no option 'cub' \(did you mean cube\?\)"),
        ({"cube": "standard", "cube_progression": "arithmetic"}, "not allowed with cube=standard"),
        ({"cube_progression": "fibonacci"}, "choose from geometric, arithmetic"),
        ({"jacoby": True}, "jacoby=true needs a cube"),
        (
            {"cube": "standard", "jacoby": True, "match_length": 3},
            "jacoby=true is not allowed with",
        ),
        ({"cube": "standard", "beavers": True, "match_length": 3}, "beavers=true is not allowed"),
        ({"cube": "standard", "crawford": True}, "crawford=true needs a match"),
        ({"cube": "standard", "jacoby": "perhaps"}, "jacoby='perhaps' is not allowed; true, false"),
        ({"cube": "standard", "jacoby": 3}, "jacoby=3 is not allowed"),
        ({"match_length": "five"}, "match_length='five' is not allowed; none or 1..99"),
        ({"match_length": 0}, "match_length=0 is not allowed; whole numbers 1..99"),
        ({"match_length": 2.5}, "match_length=2.5 is not allowed"),
        ({"match_length": "100"}, "match_length=100 is not allowed"),
    ],
)
def test_wrong_terms(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        terms("backgammon", **options)


def test_terms_of_an_unknown_variant() -> None:
    with pytest.raises(ConfigError, match="unknown variant 'backgamon'"):
        terms("backgamon")


@given(st.data())
def test_whatever_is_done_the_stake_grows_and_one_seat_has_the_cube(data: st.DataObject) -> None:
    length = data.draw(st.sampled_from([None, 2, 5, 11]))
    played_for = Terms(
        "dave",
        data.draw(st.sampled_from(["geometric", "arithmetic"])),
        beavers=length is None,
        match_length=length,
    )
    away = (0, 0) if length is None else data.draw(st.tuples(*[st.integers(1, length)] * 2))
    cube = Cube(played_for, away)
    for _ in range(8):
        ready = [(seat, word) for seat in (0, 1) for word in cube.words(seat)]
        if not ready:
            break
        seat, word = data.draw(st.sampled_from(ready))
        before, cube = cube, cube.after(seat, word)
        if word in ("take", "beaver"):
            raises = 2 if word == "beaver" else 1
            expected = before.stake + raises
            if played_for.cube_progression == "geometric":
                expected = before.stake * 2**raises
            assert cube.stake == expected
            assert cube.owner == seat
            assert cube.words(1 - seat) == ()
        else:
            assert (cube.stake, cube.owner) == (before.stake, before.owner)
        if cube.passed is not None:
            assert abs(cube.points(3)) == cube.stake
            assert (cube.points(0) > 0) == (cube.passed == 1)

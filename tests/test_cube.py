"""The cube and the score of a match, from the text of RULES.md 2, and as the arena plays them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nardy_rl.arena.cube_match import play_matches
from nardy_rl.cube import CubeGame, MatchScore, Terms, Worth, terms
from nardy_rl.cube.state import CENTRE
from nardy_rl.errors import ConfigError, IllegalPlay
from nardy_rl.inference import Decisions
from nardy_rl.players import PipsPlayer
from nardy_rl.players.cubing import BEAVER, PASS, TAKE, Situation
from nardy_rl.rules import Position, Rules, variant
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.dice import opening, roll_dice
from nardy_rl.rules.ladder import states_after

STANDARD = terms("backgammon", cube="standard")
DAVE = terms("backgammon_dave")


def after(cube: CubeGame, *events: tuple[int, str]) -> CubeGame:
    for seat, event in events:
        cube = cube.after(seat, event)
    return cube


def exchanged(cube: CubeGame) -> CubeGame:
    """Two accepted offers: seat 0's, then seat 1's."""
    return after(cube, (0, "double"), (1, "take"), (1, "double"), (0, "take"))


@pytest.mark.parametrize(("progression", "stake"), [("arithmetic", 3), ("geometric", 4)])
def test_two_accepted_offers(progression: str, stake: int) -> None:
    cube = exchanged(CubeGame(terms("backgammon_dave", cube_progression=progression)))
    assert (cube.stake, cube.owner) == (stake, 0)
    assert cube.points(1) == stake
    assert cube.points(-2) == -stake, "no mars with dave"


def test_no_mars_with_dave_though_it_was_never_turned() -> None:
    assert CubeGame(DAVE).points(3) == 1
    assert CubeGame(DAVE).points(-2) == -1
    assert CubeGame(terms("backgammon_dave", mars_with_cube=True)).points(3) == 3
    assert exchanged(CubeGame(STANDARD)).points(3) == 12


@pytest.mark.parametrize("played_for", [STANDARD, DAVE])
def test_both_may_offer_first_then_only_the_last_taker(played_for: Terms) -> None:
    cube = CubeGame(played_for)
    assert cube.owner == CENTRE
    assert cube.may_double(0)
    assert cube.may_double(1)
    offered = cube.after(1, "double")
    assert not offered.may_double(0), "an answer comes first"
    taken = offered.after(0, "take")
    assert taken.may_double(0)
    assert not taken.may_double(1)
    with pytest.raises(IllegalPlay, match="seat 1 may not double: the other seat owns the cube"):
        taken.after(1, "double")


def test_refusing_loses_the_current_stake() -> None:
    assert after(CubeGame(DAVE), (0, "double"), (1, "pass")).points() == 1
    assert after(CubeGame(DAVE), (1, "double"), (0, "pass")).points() == -1
    ended = after(exchanged(CubeGame(DAVE)), (0, "double"), (1, "pass"))
    assert ended.points(-3) == 4
    assert not ended.may_double(0)
    with pytest.raises(IllegalPlay, match="the game is over"):
        ended.after(0, "double")


def test_a_match_to_5_at_4_2_has_one_game_without_the_cube() -> None:
    score = MatchScore(terms("backgammon", cube="standard", match_length=5), (4, 2))
    assert score.away == (1, 3)
    assert score.is_crawford
    first = CubeGame(score.terms, crawford=score.is_crawford)
    assert not first.may_double(0)
    with pytest.raises(IllegalPlay, match="the Crawford game has no cube"):
        first.after(1, "double")
    then = score.after(-1)
    assert then.score == (4, 3)
    assert not then.is_crawford
    assert CubeGame(then.terms, crawford=then.is_crawford).may_double(1)
    assert not score.after(0).is_crawford, "a drawn game without the cube was that game"


def test_a_match_without_crawford_keeps_its_cube() -> None:
    played_for = terms("backgammon", cube="standard", match_length=5, crawford=False)
    assert not MatchScore(played_for, (4, 2)).is_crawford


def test_when_a_match_is_over() -> None:
    score = MatchScore(terms("backgammon", cube="standard", match_length=3))
    assert score.winner is None
    assert score.after(0).score == (0, 0), "a draw scores nobody"
    won = score.after(-2).after(1).after(-4)
    assert won.winner == 1
    assert won.score == (1, 6)
    assert won.away == (2, 0)
    assert MatchScore(STANDARD, (1000, 0)).winner is None
    assert MatchScore(STANDARD, (1000, 0)).away == (0, 0)


def test_jacoby_counts_no_mars_while_the_cube_is_in_the_middle() -> None:
    cube = CubeGame(terms("backgammon", cube="standard", jacoby=True))
    assert [cube.points(score) for score in (3, 2, 1, 0, -1, -2)] == [1, 1, 1, 0, -1, -1]
    turned = after(cube, (0, "double"), (1, "take"))
    assert [turned.points(score) for score in (3, 1, -2)] == [6, 2, -4]


@pytest.mark.parametrize(("progression", "stake"), [("geometric", 4), ("arithmetic", 3)])
def test_a_beaver_doubles_again_and_keeps_the_cube(progression: str, stake: int) -> None:
    played_for = terms("backgammon_dave", cube_progression=progression, beavers=True)
    offered = CubeGame(played_for).after(0, "double")
    assert offered.may_beaver(1)
    assert not offered.may_beaver(0)
    cube = offered.after(1, "beaver")
    assert (cube.stake, cube.owner, cube.offered) == (stake, 1, None)
    with pytest.raises(IllegalPlay, match="beavers are not allowed"):
        after(CubeGame(DAVE), (0, "double"), (1, "beaver"))


@pytest.mark.parametrize(
    ("seat", "event", "why"),
    [
        (0, "take", "seat 0 has no offer of the other seat to take"),
        (1, "pass", "seat 1 has no offer of the other seat to pass"),
        (0, "resign", "'resign' is no event; there are: double, take, pass, beaver"),
    ],
)
def test_what_may_not_be_done(seat: int, event: str, why: str) -> None:
    with pytest.raises(IllegalPlay, match=why):
        CubeGame(STANDARD).after(seat, event)


def test_who_offered_waits_for_the_answer() -> None:
    with pytest.raises(IllegalPlay, match="no offer of the other seat"):
        after(CubeGame(STANDARD), (0, "double"), (0, "take"))
    with pytest.raises(IllegalPlay, match="waits for its answer"):
        after(CubeGame(STANDARD), (0, "double"), (1, "double"))
    with pytest.raises(IllegalPlay, match="cube=none"):
        CubeGame(terms("long_nardy")).after(0, "double")


def test_defaults() -> None:
    assert terms("long_nardy") == Terms()
    assert terms("backgammon_dave") == Terms("dave", mars_with_cube=False)
    assert terms("backgammon", match_length="5") == Terms(match_length=5)
    dave = terms("long_nardy", cube="dave", match_length=5, crawford="off")
    assert dave == Terms("dave", mars_with_cube=False, match_length=5)
    assert terms("tavla", cube="standard", match_length=5).crawford
    assert variant("backgammon_dave").start == variant("backgammon").start


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cube": "dav"}, "cube='dav' is not allowed; choose from none, standard, dave"),
        ({"cub": "dave"}, "unknown term 'cub'; there are: cube, "),
        ({"cube": "standard", "cube_progression": "arithmetic"}, "use cube=dave"),
        ({"cube_progression": "fibonacci"}, "choose from geometric, arithmetic"),
        ({"jacoby": True}, "jacoby=on needs a cube"),
        ({"crawford": "off", "match_length": 5}, "crawford=off needs a cube"),
        ({"beavers": "off"}, "beavers=off needs a cube"),
        ({"mars_with_cube": "true"}, "mars_with_cube=true needs a cube"),
        ({"cube_progression": "geometric"}, "cube_progression=geometric needs a cube"),
        (
            {"cube": "dave", "mars_with_cube": "maybe"},
            "'maybe' is not allowed; choose from true, f",
        ),
        ({"cube": "standard", "jacoby": True, "match_length": 3}, "jacoby=on is not allowed in"),
        ({"cube": "standard", "beavers": True, "match_length": 3}, "beavers=on is not allowed in"),
        ({"cube": "standard", "crawford": True}, "crawford=on is for matches"),
        ({"cube": "standard", "jacoby": "perhaps"}, "jacoby='perhaps' is not allowed"),
        ({"cube": "standard", "jacoby": 3}, "jacoby=3 is not allowed"),
        ({"match_length": "five"}, "match_length='five' is not allowed; whole numbers 1.."),
        ({"match_length": 0}, "match_length=0 is not allowed; whole numbers 1.."),
        ({"match_length": 2.5}, "match_length=2.5 is not allowed"),
        ({"match_length": "1000"}, "match_length=1000 is not allowed"),
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
    geometric = data.draw(st.booleans())
    played_for = Terms("dave", "geometric" if geometric else "arithmetic", beavers=True)
    cube = CubeGame(played_for)
    for _ in range(8):
        ready = [(seat, "double") for seat in (0, 1) if cube.may_double(seat)]
        if cube.offered is not None:
            ready = [(1 - cube.offered, event) for event in ("take", "pass", "beaver")]
        if not ready:
            break
        seat, event = data.draw(st.sampled_from(ready))
        before, cube = cube, cube.after(seat, event)
        if event in ("take", "beaver"):
            raises = 2 if event == "beaver" else 1
            expected = before.stake * 2**raises if geometric else before.stake + raises
            assert (cube.stake, cube.owner) == (expected, seat)
            assert not cube.may_double(1 - seat)
        else:
            assert (cube.stake, cube.owner) == (before.stake, before.owner)
        if cube.passed is not None:
            assert abs(cube.points(3)) == cube.stake
            assert (cube.points() > 0) == (cube.passed == 1)


class Whims:
    """Doubles and answers by the position alone, without any sense; at the start if asked."""

    def __init__(self, rules: Rules, who: int) -> None:
        self.start, self.who = rules.start_points(), who

    def _number(self, points: NDArray[np.int8], stake: int, most: int) -> int:
        weights = np.arange(52).reshape(2, 26) ** 2 + self.who
        return int((points.astype(np.int64) * weights).sum() + stake) % most

    def doubles(self, situation: Situation) -> NDArray[np.bool_]:
        pairs = zip(situation.points, situation.stake, strict=True)
        return np.array(
            [
                self._number(points, int(stake), 9) == 0 or bool((points == self.start).all())
                for points, stake in pairs
            ],
            bool,
        )

    def answers(self, situation: Situation) -> NDArray[np.int64]:
        pairs = zip(situation.points, situation.stake, strict=True)
        return np.array([self._number(points, int(stake), 5) % 3 for points, stake in pairs])


def alone(position: Position, stake: int) -> Situation:
    one = np.ones(1, np.int64)
    return Situation(
        position.points[None],
        np.array([position.flags], np.uint8),
        one * stake,
        one * 0,
        Worth(np.zeros((1, 2), np.int64)),
    )


class Slow:
    """Matches one decision at a time, by `Position`, `CubeGame` and `MatchScore`."""

    def __init__(self, rules: Rules, played_for: Terms, seed: int, pair: int, seat_of_a: int):
        self.rules, self.terms, self.seed = rules, played_for, seed
        self.first, self.seat_of_a = pair << 20, seat_of_a
        self.player = PipsPlayer(rules)
        self.whims = [Whims(rules, who) for who in ((0, 1) if seat_of_a == 0 else (1, 0))]
        self.counts = np.zeros((2, 4), int)  # by player: doubles, takes, passes, beavers

    def match(self) -> tuple[list[int], MatchScore]:
        """Points of seat 0 in each game, and the score at the end."""
        games: list[int] = []
        score, starter = MatchScore(self.terms), -1
        while score.winner is None and not (games and self.terms.match_length is None):
            number = self.first + len(games)
            if starter < 0 or self.rules.next_starter == "roll":
                starter = int(opening(self.seed, number)[0])
                known = False
            else:
                known = True
            points = self.game(number, starter, known, score.is_crawford)
            games.append(points)
            score = score.after(points)
            winner = starter if points == 0 else int(points < 0)
            starter = winner if self.rules.next_starter == "winner" else 1 - starter
        return games, score

    def game(self, number: int, seat: int, known: bool, crawford: bool) -> int:
        """Points of seat 0."""
        cube = CubeGame(self.terms, crawford=crawford)
        position, turn = Position.start(self.rules), 0
        while True:
            if turn > 0 and position.rung is None and cube.may_double(seat):
                cube = self.ask(cube, position, seat)
                if cube.passed is not None:
                    return cube.points()
            dice = roll_dice(self.seed, number, turn)
            if turn == 0 and not known and self.rules.opening_roll == "use_opening_dice":
                dice = opening(self.seed, number)[1:]
            roll = (int(dice[0]), int(dice[1]))
            roll = roll if position.rung is None else (position.rung[0],) * 2
            after = position.plays(roll)[self.choice(position, roll)].after
            outcome = after.outcome()
            if outcome is not None:
                return cube.points(outcome.score if seat == 0 else -outcome.score)
            seat = 1 - seat if after.moved else seat
            position, turn = after.for_mover(), turn + 1

    def ask(self, cube: CubeGame, position: Position, seat: int) -> CubeGame:
        if not self.whims[seat].doubles(alone(position, cube.stake))[0]:
            return cube
        answer = int(self.whims[1 - seat].answers(alone(position, cube.stake))[0])
        event = {TAKE: "take", PASS: "pass", BEAVER: "beaver"}[answer]
        event = "take" if event == "beaver" and not self.terms.beavers else event
        places = {"take": 1, "pass": 2, "beaver": 3}
        self.counts[int(seat != self.seat_of_a), 0] += 1
        self.counts[int(1 - seat != self.seat_of_a), places[event]] += 1
        return cube.after(seat, "double").after(1 - seat, event)

    def choice(self, position: Position, roll: tuple[int, int]) -> int:
        points, flags = position.points[None], np.array([position.flags], np.uint8)
        pending, rolls = np.array([position.pending], np.uint8), np.array([roll], np.int8)
        legal, _ = generate_batch(self.rules.kernel, points, flags, pending, rolls)
        states = states_after(self.rules, flags, pending, rolls, legal.dice_used)
        decisions = Decisions(points, *states, legal)
        return int(self.player.choose(decisions, rolls, np.zeros(1, np.uint64))[0])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hypergammon", {"cube": "standard", "match_length": 9}),
        ("hypergammon", {"cube": "standard", "match_length": 9, "crawford": False}),
        ("hypergammon", {"cube": "dave", "cube_progression": "arithmetic", "match_length": 7}),
        ("hypergammon", {"match_length": 5}),
        ("hypergammon", {"cube": "standard", "jacoby": True, "beavers": True}),
        ("long_nardy_3", {"cube": "standard", "match_length": 9}),
        ("long_nardy_house", {"cube": "standard", "match_length": 3}),
        ("mad_gyulbar", {"cube": "standard", "match_length": 3}),
    ],
)
def test_the_arena_plays_matches_as_they_are_played_one_by_one(
    name: str, options: dict[str, Any]
) -> None:
    rules, played_for = variant(name), terms(name, **options)
    pairs = 3 if rules.checkers == 15 else 8
    player = PipsPlayer(rules)
    whims = (Whims(rules, 0), Whims(rules, 1))
    found = play_matches(
        rules, played_for, player, player, 2 * pairs, seed=5, cube_players=whims, block_pairs=2
    )
    for table in range(2 * pairs):
        pair, seat_of_a = divmod(table, 2)
        slow = Slow(rules, played_for, 5, pair, seat_of_a)
        games, score = slow.match()
        of_a = 1 - 2 * seat_of_a
        at = (pair, seat_of_a)
        assert found.games[at] == len(games)
        assert found.points[at] == of_a * sum(games)
        ahead = np.sign(score.score[0] - score.score[1])
        assert found.ahead[at] == of_a * ahead
        assert (found.counts[at] == slow.counts).all()
    assert found.truncated == 0
    if played_for.cube != "none":
        assert (found.counts.sum((0, 1))[:, :3] > 0).all()
    assert (found.counts[..., 3] > 0).any() == played_for.beavers

"""What every variant must pass, whatever its rules."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from nardy_rl.encoding import Encoding, encode
from nardy_rl.rules import Play, Position, variant, variants
from tests.reachable import play_turns
from tests.reference import reference_outcome

ROLLS = list(combinations_with_replacement(range(1, 7), 2))
GAMES = 5
LONGEST = 3000

every_variant = pytest.mark.parametrize("name", variants())


@lru_cache
def games_of(name: str) -> list[list[Play]]:
    """A few random games, as the plays made in each."""
    rng = np.random.default_rng([len(name), *name.encode()])
    games = []
    for _ in range(GAMES):
        position = Position.start(variant(name))
        plays: list[Play] = []
        while position.outcome() is None:
            assert len(plays) < LONGEST, f"{name} does not end"
            roll = (int(rng.integers(1, 7)), int(rng.integers(1, 7)))
            legal = position.plays(None if position.rung else roll)
            plays.append(legal[int(rng.integers(len(legal)))])
            position = plays[-1].after.for_mover()
        games.append(plays)
    return games


@every_variant
def test_the_start_is_possible_and_both_may_play(name: str) -> None:
    rules = variant(name)
    start = Position.start(rules)
    assert start.rules == rules
    assert not start.status()
    assert start.outcome() is None
    assert start.pips[0] == start.pips[1] == sum(point * count for point, count in rules.start)
    assert (start.points[0] == start.points[1]).all()
    assert start.points.dtype == np.int8
    assert start.points.sum(axis=1).tolist() == [rules.checkers] * 2
    for roll in ROLLS:
        plays = start.plays(roll)
        assert len(plays) >= 1
        assert plays[0].dice_used >= 1, "nobody is shut out at the start"


@every_variant
def test_random_games_end_with_a_score_of_the_variant(name: str) -> None:
    rules = variant(name)
    assert list(rules.outcomes) == sorted({-score for score in rules.outcomes})
    for plays in games_of(name):
        last = plays[-1].after.outcome()
        assert last is not None
        assert last.score in rules.outcomes
        draw_pays = last.score == 0 and rules.contact != "pin"
        assert (last.points_each > 0) == draw_pays
        turned = plays[-1].after.flip().outcome()
        assert turned is not None
        assert (turned.score, turned.points_each) == (-last.score, last.points_each)
        with pytest.raises(ValueError, match="over"):
            plays[-1].after.flip().plays((1, 2))
        assert [play.after.outcome() for play in plays[:-1]] == [None] * (len(plays) - 1)


@every_variant
def test_every_position_of_a_game_is_possible(name: str) -> None:
    for plays in games_of(name):
        for number, play in enumerate(plays):
            assert not play.before.status(), play.before.reasons()
            assert not play.after.status(), play.after.reasons()
            assert play.before.flip().flip() == play.before
            assert play.after.flip().flip() == play.after
            if number:
                assert play.before == plays[number - 1].after.for_mover()


@every_variant
def test_the_game_is_over_when_the_reference_says_so(name: str) -> None:
    for plays in games_of(name):
        starter = True  # is to move: the games begin with him
        for play in plays:
            me, opp = play.after.points.tolist()
            outcome = play.after.outcome()
            found = None if outcome is None else (outcome.score, outcome.points_each)
            assert found == reference_outcome(play.before.rules, me, opp, starter)
            starter ^= play.after.moved


@every_variant
def test_first_turns_are_over_after_the_first_turn(name: str) -> None:
    for plays in games_of(name):
        reads_first_turns = plays[0].before.first_turn[0]
        over = 0  # turns that are
        for play in plays:
            assert play.before.first_turn == (
                reads_first_turns and over < 2,
                reads_first_turns and over < 1,
            )
            over += play.after.moved


@every_variant
def test_from_points_gives_the_position_back(name: str) -> None:
    for play in games_of(name)[0]:
        position = play.before
        me, opp = (
            {place: int(row[place]) for place in range(1, 25) if row[place]}
            for row in position.points
        )
        again = Position.from_points(
            position.rules,
            me=me,
            opp=opp,
            me_off=int(position.points[0, 0]),
            opp_off=int(position.points[1, 0]),
            me_bar=int(position.points[0, 25]),
            opp_bar=int(position.points[1, 25]),
            first_turn=position.first_turn,
            started=position.started,
        )
        turns = position.flags & ~7
        again = replace(again, flags=again.flags | turns, pending=position.pending)
        assert again == position
        assert hash(again) == hash(position)


@every_variant
def test_the_encoding_fits_every_position(name: str) -> None:
    rules = variant(name)
    encoding = Encoding.of(rules)
    assert len(encoding.names) == len(set(encoding.names)) == encoding.size
    turns = list(play_turns(rules, games=8, turns=120, rng=np.random.default_rng(1)))
    points = np.concatenate([turn.points for turn in turns])
    flags = np.concatenate([turn.flags for turn in turns])
    units = encode(encoding, points, flags, np.concatenate([turn.pending for turn in turns]))
    assert units.shape == (len(points), encoding.size)
    assert units.dtype == np.float32
    assert np.isfinite(units).all()
    # Different positions are different inputs, as far as unary counts can tell them apart.
    distinct = {(row.tobytes(), int(flag)) for row, flag in zip(points, flags, strict=True)}
    assert len(np.unique(units, axis=0)) > 0.9 * len({row for row, _ in distinct})


@every_variant
def test_texts_round_trip(name: str) -> None:
    notation = pytest.importorskip("nardy_rl.notation")
    rules = variant(name)
    for plays in games_of(name)[:2]:
        for play in plays[::3]:
            for position in (play.before, play.after):
                assert notation.parse_board(rules, notation.board_text(position)) == position
                assert notation.from_id(notation.to_id(position)) == position
            text = notation.move_text(play)
            assert notation.parse_play(play.before, play.roll, text).after == play.after


@pytest.mark.parametrize(
    ("last_roll", "points_each"), [("none", None), ("draw_half", 0.5), ("draw_one", 1.0)]
)
@pytest.mark.parametrize("left", [4, 5])
@pytest.mark.parametrize("starter_finishes", [True, False])
def test_the_last_roll(
    last_roll: str, points_each: float | None, left: int, starter_finishes: bool
) -> None:
    """RULES.md section 1: only the second player is owed a roll, and only one that can clear."""
    rules = variant("long_nardy", last_roll=last_roll)
    position = Position.from_points(
        rules, me={1: 1}, opp={2: left}, me_off=14, opp_off=15 - left, started=starter_finishes
    )
    finished = position.plays((2, 1))[0].after
    if points_each is None or left == 5 or not starter_finishes:
        outcome = finished.outcome()
        assert outcome is not None
        assert (outcome.score, outcome.points_each) == (1, 0.0)
        return
    assert finished.outcome() is None
    owed = finished.flip()
    assert owed.outcome() is None

    cleared = owed.plays((2, 2))
    assert len(cleared) == 1
    drawn = cleared[0].after.outcome()
    assert drawn is not None
    assert (drawn.score, drawn.points_each) == (0, points_each)

    for play in owed.plays((6, 5)):
        failed = play.after.outcome()
        assert failed is not None
        assert (failed.score, failed.points_each) == (-1, 0.0)

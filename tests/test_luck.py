"""Luck: what each roll gave, of mean 0 whatever the values say and however the players play."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.arena import play_match
from nardy_rl.arena.luck import opening_luck, roll_luck
from nardy_rl.players import PipsPlayer, RandomPlayer
from nardy_rl.rules import Position, Rules, set_threads, variant
from nardy_rl.rules.dice import PURPOSE_CHOICE, opening, random_word, roll_dice, uniform_index
from nardy_rl.tables import deal_range, new_tables
from tests.pip_values import PipValuer

ALL_ROLLS = np.array(list(itertools.product(range(1, 7), repeat=2)), np.int8)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def best(position: Position, roll: tuple[int, int], valuer: PipValuer) -> float:
    """What the best play of a roll is worth to the player to move."""
    boards = np.stack([play.after.points for play in position.plays(roll)])
    return float(valuer.of_boards(boards).max())


CAP = 16


def replayed(rules: Rules, seed: int, pair: int, valuer: PipValuer) -> float:
    """Luck of seat 0 in `CAP` turns of two random players, by `Position`."""
    seat, die1, die2 = opening(seed, pair)
    roll = roll_dice(seed, pair, 0)
    if rules.opening_roll == "use_opening_dice":
        roll = (die1, die2)
    position, turn, luck = Position.start(rules), 0, 0.0
    while True:
        dice = (int(roll[0]), int(roll[1]))
        value = best(position, dice, valuer)
        if turn > 0:
            others = [best(position, (int(d), int(e)), valuer) for d, e in ALL_ROLLS]
            value -= sum(others) / 36
        luck += value if seat == 0 else -value
        plays = position.plays(dice)
        key = np.uint64(random_word(seed, pair, turn, PURPOSE_CHOICE))
        after = plays[int(uniform_index(key, len(plays)))].after
        turn += 1
        if after.outcome() is not None or turn == CAP:
            return luck
        position, seat, roll = after.flip(), 1 - seat, roll_dice(seed, pair, turn)


@pytest.mark.parametrize("name", ["long_nardy_draw", "hypergammon", "tavla"])
def test_it_is_what_every_roll_tried_at_every_turn_gives(name: str) -> None:
    rules = variant(name)
    valuer = PipValuer(rules)
    match = play_match(
        rules, RandomPlayer(), RandomPlayer(), 4, seed=5, first_pair=30, ply_cap=CAP, luck=valuer
    )
    assert match.luck is not None
    for pair in range(2):
        luck = replayed(rules, 5, 30 + pair, valuer)
        assert match.luck[pair] == pytest.approx([luck, -luck], abs=1e-5)
    assert match.luck_by == "pip count"


@pytest.mark.parametrize("name", ["long_nardy", "long_nardy_draw", "backgammon", "nackgammon"])
def test_the_36_rolls_have_no_luck_between_them(name: str) -> None:
    """At every turn, the first head rules and the doubles of nardy among them."""
    rules = variant(name)
    played = play_match(rules, RandomPlayer(), PipsPlayer(rules), 8, ply_cap=12).played
    assert played.truncated.all()
    position = Position.start(rules)
    for turn in range(6):
        points = np.repeat(position.points[None], 36, axis=0)
        flags = np.full(36, position.flags, np.uint8)
        luck = roll_luck(rules, PipValuer(rules), points, flags, ALL_ROLLS)
        assert luck.sum() == pytest.approx(0.0, abs=1e-5)
        assert np.ptp(luck) > 0.01
        square = luck.reshape(6, 6)
        assert (square == square.T).all(), "the order of the dice is no luck"
        plays = position.plays((1 + turn % 6, 6))
        position = plays[turn % len(plays)].after.flip()


@pytest.mark.parametrize("name", ["long_nardy", "long_nardy_draw", "backgammon"])
def test_the_opening_is_luck_and_each_side_has_as_much_of_it(name: str) -> None:
    rules = variant(name)
    valuer = PipValuer(rules)
    tables = new_tables(20_000)
    deal_range(0, 20_000, rules.kernel, rules.start_points(), 4, tables, 0)
    luck = opening_luck(rules, valuer, int(tables.flags[0]), tables.rolls)
    start = Position.start(rules)
    for t in range(20):
        dice = (int(tables.rolls[t, 0]), int(tables.rolls[t, 1]))
        assert luck[t] == pytest.approx(best(start, dice, valuer), abs=1e-6)
    of_seat_0 = np.where(tables.mover == 0, luck, -luck)
    assert abs(of_seat_0.mean()) < 2.5 * of_seat_0.std() / np.sqrt(20_000)
    doubles = (tables.rolls[:, 0] == tables.rolls[:, 1]).mean()
    assert doubles == pytest.approx(0.0 if name == "backgammon" else 1 / 6, abs=0.01)


@pytest.mark.parametrize(("name", "games"), [("hypergammon", 1000), ("long_nardy_2", 2000)])
def test_adjusted_and_plain_points_agree(name: str, games: int) -> None:
    rules = variant(name)
    players = PipsPlayer(rules), RandomPlayer()
    result = play_match(rules, *players, games, seed=8, luck=PipValuer(rules))
    assert abs(result.luck_ppg.value) < 2.5 * result.luck_ppg.se
    assert result.ppg.value - result.adjusted_ppg.value == pytest.approx(result.luck_ppg.value)
    assert result.ppg == play_match(rules, *players, games, seed=8).ppg
    # The race is some of the truth, so the error shrinks.
    assert result.worth > 1.15 * result.games
    plain = result.games * (result.ppg.se / result.adjusted_ppg.se) ** 2
    assert result.worth == pytest.approx(plain)


def test_values_that_mean_nothing_only_add_noise() -> None:
    rules = variant("hypergammon")
    players = PipsPlayer(rules), RandomPlayer()
    result = play_match(rules, *players, 800, seed=9, luck=PipValuer(rules, scale=-0.02))
    assert abs(result.luck_ppg.value) < 2.5 * result.luck_ppg.se
    assert result.worth < 0.8 * result.games


def test_the_games_and_their_luck_depend_on_nothing_else() -> None:
    rules = variant("long_nardy_draw")
    players, valuer = (PipsPlayer(rules), RandomPlayer()), PipValuer(rules)
    plain = play_match(rules, *players, 24, seed=2)
    whole = play_match(rules, *players, 24, seed=2, luck=valuer)
    assert whole == plain
    assert (whole.played.score == plain.played.score).all()
    assert whole.luck is not None
    assert plain.luck is None
    set_threads(2)
    blocks = play_match(rules, *players, 24, seed=2, block_pairs=5, luck=valuer)
    later = play_match(rules, *players, 16, seed=2, first_pair=4, luck=valuer)
    assert blocks.luck is not None
    assert later.luck is not None
    assert (blocks.luck == whole.luck).all()
    assert (later.luck == whole.luck[4:]).all()
    back = play_match(rules, *players[::-1], 24, seed=2, luck=valuer)
    assert back.luck is not None
    assert (back.luck == -whole.luck[:, ::-1]).all()


def test_against_itself_there_is_no_luck_left() -> None:
    rules = variant("hypergammon")
    player = PipsPlayer(rules)
    result = play_match(rules, player, player, 40, luck=PipValuer(rules))
    assert result.luck is not None
    assert result.luck.any()
    assert result.adjusted_ppg == (0.0, 0.0)
    assert np.isnan(result.worth)
    assert "worth" not in result.figures()


def test_truncated_games_are_left_out_of_it() -> None:
    rules = variant("hypergammon")
    free = play_match(rules, PipsPlayer(rules), RandomPlayer(), 200, luck=PipValuer(rules))
    cap = int(np.quantile(free.played.plies, 0.7))
    result = play_match(
        rules, PipsPlayer(rules), RandomPlayer(), 200, ply_cap=cap, luck=PipValuer(rules)
    )
    scored = (free.played.plies <= cap).all(1)
    assert 0 < scored.sum() < 100
    assert free.luck is not None
    less = (free.played.score - free.luck)[scored]
    assert result.pair_scores == pytest.approx(less.mean(1))
    assert result.adjusted_ppg.value == pytest.approx(less.mean())
    none = play_match(rules, RandomPlayer(), RandomPlayer(), 4, ply_cap=2, luck=PipValuer(rules))
    assert none.games == 0
    assert none.figures() == {"truncated": 4.0}


def test_the_verb_takes_luck_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = "arena a=pips b=random games=8 luck=checkpoints/backgammon threads=1 stop=0:0.5"
    assert cli.main(words.split()) == 0
    out = capsys.readouterr().out
    assert "backgammon, seed 1" in out
    assert "luck-adjusted by the values of checkpoints/backgammon: +" in out
    assert " points a game, an error bar worth " in out
    assert "after 4 pairs" in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("luck=pips", "luck: pips has no equities"),
        ("luck=nowhere", "luck: unknown player 'nowhere'"),
        ("variant=tavla luck=checkpoints/backgammon", "luck: checkpoints/backgammon: a net for"),
    ],
)
def test_the_verb_refuses_in_one_line(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["arena", "a=pips", "b=pips", *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert line in error

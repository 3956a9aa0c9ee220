"""Matches: exact cancellation, an independent replay, honest errors, and who beats whom."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from nardy_rl import cli
from nardy_rl.arena import (
    Games,
    MatchResult,
    by_pair,
    evaluation,
    joined,
    match_result,
    play_match,
    print_results,
)
from nardy_rl.encoding import Encoding
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, PipsPlayer, Player, RandomPlayer
from nardy_rl.rules import LegalAfterstates, Position, Rules, set_threads, variant, variants
from nardy_rl.rules.dice import PURPOSE_CHOICE, opening, random_word, roll_dice, uniform_index

every_variant = pytest.mark.parametrize("name", variants())


def net_player(rules: Rules, hidden: tuple[int, ...] = (12,), seed: int = 1) -> NetPlayer:
    generator = torch.Generator().manual_seed(seed)
    net = ValueNet(Encoding.of(rules).size, hidden, rules.outcomes, generator)
    with torch.no_grad():
        list(net.parameters())[-2].mul_(10.0)
    return NetPlayer(rules, net, f"net {seed}", "auto" if len(hidden) == 1 else "float32")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """torch's threads wait for each other at every layer: beside other tests that costs minutes."""
    set_threads(1)
    yield
    set_threads(0)


PLAYERS: dict[str, Callable[[Rules], Player]] = {
    "random": lambda rules: RandomPlayer(),
    "pips": PipsPlayer,
    "kernel": net_player,
    "dense": lambda rules: net_player(rules, (16, 8)),
}


@pytest.mark.parametrize("name", ["long_nardy_draw", "backgammon"])
@pytest.mark.parametrize("kind", PLAYERS)
def test_a_player_scores_exactly_0_against_its_like(name: str, kind: str) -> None:
    rules = variant(name)
    result = play_match(rules, PLAYERS[kind](rules), PLAYERS[kind](rules), 120)
    assert result.games == 120
    assert (result.played.score.sum(1) == 0).all(), "in every single pair"
    assert result.ppg == (0.0, 0.0)
    assert result.mars == result.lost_mars
    assert result.played.score.any()


@pytest.mark.parametrize("kind", ["random", "kernel", "dense"])
def test_the_players_exchanged_mirror_the_result(kind: str) -> None:
    rules = variant("backgammon")
    one, two = PLAYERS[kind](rules), PipsPlayer(rules)
    there, back = play_match(rules, one, two, 120, seed=3), play_match(rules, two, one, 120, seed=3)
    assert (there.played.score == -back.played.score[:, ::-1]).all()
    assert (there.played.plies == back.played.plies[:, ::-1]).all()
    assert there.ppg == (-back.ppg.value, back.ppg.se)
    assert (there.mars, there.koks) == (back.lost_mars, back.lost_koks)
    assert there.win.value + back.win.value == pytest.approx(1.0)
    assert there.ppg.value != 0.0


def replayed(rules: Rules, kinds: tuple[str, str], seed: int, pair: int) -> tuple[int, int]:
    """Score for seat 0 and plies of one game with these players on the seats, by `Position`."""
    seat, die1, die2 = opening(seed, pair)
    roll = roll_dice(seed, pair, 0)
    if rules.opening_roll == "use_opening_dice":
        roll = (die1, die2)
    position, turn = Position.start(rules), 0
    while True:
        plays = position.plays((int(roll[0]), int(roll[1])))
        if kinds[seat] == "random":
            key = np.uint64(random_word(seed, pair, turn, PURPOSE_CHOICE))
            play = plays[int(uniform_index(key, len(plays)))]
        else:
            boards = np.stack([p.after.points for p in plays])
            one = Decisions(
                position.points[None],
                np.zeros(1, np.uint8),
                np.zeros(1, np.uint8),
                # dice_used is no business of a player.
                LegalAfterstates(boards, np.array([0, len(boards)]), np.zeros(1, np.int8)),
            )
            row = PipsPlayer(rules).choose(one, np.array([roll], np.int8), np.zeros(1, np.uint64))
            play = plays[int(row[0])]
        turn += 1
        outcome = play.after.outcome()
        if outcome is not None:
            return outcome.score * (1 if seat == 0 else -1), turn
        position, seat, roll = play.after.flip(), 1 - seat, roll_dice(seed, pair, turn)


@pytest.mark.parametrize("name", ["long_nardy", "long_nardy_draw", "backgammon", "tavla"])
def test_a_match_is_what_single_games_by_position_give(name: str) -> None:
    rules, seed, first = variant(name), 11, 40
    match = play_match(rules, PipsPlayer(rules), RandomPlayer(), 8, seed=seed, first_pair=first)
    for i in range(4):
        for game, kinds in enumerate((("pips", "random"), ("random", "pips"))):
            score, plies = replayed(rules, kinds, seed, first + i)
            assert match.played.score[i, game] == (score if game == 0 else -score)
            assert match.played.plies[i, game] == plies


class Watching(RandomPlayer):
    """Random, and remembers the rolls and keys of every batch it was given."""

    def __init__(self) -> None:
        self.seen: list[tuple[list[list[int]], list[int]]] = []

    def choose(self, decisions: Decisions, rolls: np.ndarray, keys: np.ndarray) -> np.ndarray:
        self.seen.append((rolls.tolist(), keys.tolist()))
        return super().choose(decisions, rolls, keys)


def test_the_games_of_a_pair_have_the_same_dice_and_keys_and_the_seats_exchanged() -> None:
    one, two = Watching(), Watching()
    play_match(variant("long_nardy"), one, two, 50)
    # Alike players: as long as all games live, each sees in its game what the other sees.
    assert one.seen[:40] == two.seen[:40]
    assert all(len(rolls) == 25 for rolls, _ in one.seen[:40])
    dice = np.array([rolls for rolls, _ in one.seen[:40]])
    assert len(np.unique(dice.reshape(40, 50), axis=0)) == 40
    keys = [key for _, turn in one.seen[:40] for key in turn]
    assert len(set(keys)) == len(keys)


@every_variant
def test_pips_beats_random(name: str) -> None:
    rules = variant(name)
    # Two or three checkers that cannot be hit leave little to choose, so little to win.
    dull = rules.contact == "block" and rules.checkers < 15
    games, ppg, win = (6000, 0.0, 0.5) if dull else (300, 0.2, 0.7)
    if rules.ladder:  # its long doubles are luck
        games, ppg, win = 2000, 0.1, 0.55
    result = play_match(rules, PipsPlayer(rules), RandomPlayer(), games, seed=2)
    assert result.games == games
    assert result.ppg.value - 4 * result.ppg.se > ppg
    assert result.win.value > win


@pytest.mark.parametrize("kind", ["kernel", "dense"])
def test_threads_blocks_and_parts_do_not_change_a_match(kind: str) -> None:
    rules = variant("hypergammon")
    players, games = (PLAYERS[kind](rules), PipsPlayer(rules)), 600 if kind == "dense" else 1200
    whole = play_match(rules, *players, games, seed=5)
    for threads in (2, 3):
        set_threads(threads)
        again = play_match(rules, *players, games, seed=5)
        assert again == whole
        assert same_games(again.played, whole.played)
    set_threads(1)
    blocks = play_match(rules, *players, games, seed=5, block_pairs=71)
    assert same_games(blocks.played, whole.played)
    third = games // 3
    parts = [
        play_match(rules, *players, third, seed=5, first_pair=i * third // 2).played
        for i in range(3)
    ]
    joined = Games(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    assert same_games(joined, whole.played)
    assert play_match(rules, *players, games, seed=6) != whole


def same_games(one: Games, two: Games) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in Games._fields)


def test_truncated_games_are_left_out_with_their_pairs() -> None:
    rules = variant("long_nardy")
    free = play_match(rules, PipsPlayer(rules), RandomPlayer(), 400, seed=1)
    cap = int(np.quantile(free.played.plies, 0.7))
    result = play_match(rules, PipsPlayer(rules), RandomPlayer(), 400, seed=1, ply_cap=cap)
    # A game that would end on the very last ply allowed has ended.
    long = free.played.plies > cap
    assert 0 < long.sum() < 400
    assert result.truncated == long.sum()
    assert (result.played.truncated == long).all()
    assert (result.played.plies == np.minimum(free.played.plies, cap)).all()
    assert (result.played.score[long] == 0).all()
    scored = ~long.any(1)
    assert result.games == 2 * scored.sum()
    assert result.excluded == 400 - result.games > result.truncated
    assert result.ppg == by_pair(free.played.score[scored])
    assert result.win == by_pair(free.played.score[scored] > 0)
    assert f"{result.excluded} left out" in str(result)
    assert f"{result.truncated} games reached ply_cap={cap} " in printed([result])


def test_a_match_of_truncated_games_has_no_figures() -> None:
    rules = variant("long_nardy")
    result = play_match(rules, RandomPlayer(), RandomPlayer(), 10, ply_cap=3)
    assert (result.games, result.truncated, result.excluded) == (0, 10, 10)
    assert math.isnan(result.ppg.value)
    assert result.figures() == {"truncated": 10.0}
    assert str(result) == "random against random: no game was scored, 10 left out"
    assert "- ± -" in printed([result])


def simulated(pairs: int, rng: np.random.Generator) -> np.ndarray:
    """int8[pairs, 2]: scores of games that share their luck in part, the seats exchanged."""
    luck, own = rng.normal(size=(pairs, 1)), rng.normal(size=(pairs, 2))
    strength = 0.2 + 0.9 * own + luck * np.array([1.0, -1.0])
    return np.select([strength > 1.5, strength > 0, strength > -1.5], [2, 1, -1], -2).astype(
        np.int8
    )


def test_standard_errors_agree_with_a_bootstrap_of_pairs() -> None:
    rng = np.random.default_rng(8)
    scores = simulated(1500, rng)
    for values in (scores, scores > 0, scores == -2):
        drawn = rng.integers(0, len(values), (4000, len(values)))
        spread = values.mean(1)[drawn].mean(1).std()
        assert by_pair(values).se == pytest.approx(spread, rel=0.05)
        assert by_pair(values).value == pytest.approx(values.mean())


def test_two_standard_errors_hold_the_truth_as_often_as_they_should() -> None:
    rng = np.random.default_rng(9)
    truth = simulated(400_000, rng).mean()
    estimates = [by_pair(simulated(200, rng)) for _ in range(2000)]
    held = np.mean([abs(value - truth) < 1.96 * se for value, se in estimates])
    assert held == pytest.approx(0.95, abs=0.015)
    # Games of a pair cancel luck: as many independent games would know less.
    assert np.mean([se for _, se in estimates]) < 0.8 * simulated(4000, rng).std() / math.sqrt(400)


def test_shares_count_every_game_once() -> None:
    score = np.array([[3, -2], [1, 0], [2, -1], [-3, 0]], np.int8)
    games = Games(score, np.zeros((4, 2), bool), np.full((4, 2), 50, np.int32))
    result = match_result(games, a="a", b="b", rules=variant("backgammon"))
    assert result.ppg.value == 0.0
    assert (result.win.value, result.draw.value, result.loss.value) == (3 / 8, 2 / 8, 3 / 8)
    assert (result.mars.value, result.koks.value) == (1 / 8, 1 / 8)
    assert (result.lost_mars.value, result.lost_koks.value) == (1 / 8, 1 / 8)
    assert (result.games, result.plies) == (8, 50.0)
    assert "koks_se" in result.figures()
    assert "draw" not in result.figures(), "backgammon has none"


def test_one_pair_has_no_standard_error() -> None:
    result = play_match(variant("hypergammon"), RandomPlayer(), RandomPlayer(), 2)
    assert result.ppg.value == 0.0
    assert math.isnan(result.ppg.se)
    assert not {"ppg_se", "ppg_low", "ppg_high"} & set(result.figures())


def test_an_odd_number_is_rounded_up_and_said_so() -> None:
    result = play_match(variant("hypergammon"), RandomPlayer(), RandomPlayer(), 7)
    assert (result.asked, result.games) == (7, 8)
    assert "games=7 made 8: games come in pairs" in printed([result])


def test_stopping_keeps_whole_blocks() -> None:
    rules, told = variant("hypergammon"), [0]
    players = PipsPlayer(rules), RandomPlayer()
    result = play_match(
        rules,
        *players,
        1000,
        block_pairs=50,
        progress=told.append,
        should_stop=lambda: told[-1] > 250,
    )
    assert result.games == 200
    assert told == sorted(told)
    assert same_games(result.played, play_match(rules, *players, 200).played)
    assert "stopped after 200 of 1,000 games" in printed([result])
    assert play_match(rules, *players, 1000, should_stop=lambda: True).games == 0
    told.clear()
    play_match(rules, *players, 300, block_pairs=50, progress=told.append)
    assert told[-1] == 300


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"games": 1}, "games: 1 is not allowed; allowed: whole numbers >= 2"),
        ({"games": 0}, "games"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"ply_cap": 0}, "ply_cap"),
        ({"first_pair": -1}, "first_pair"),
        ({"block_pairs": 0}, "block_pairs"),
    ],
)
def test_numbers_out_of_range_are_refused(how: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError, match=field):
        play_match(variant("hypergammon"), RandomPlayer(), RandomPlayer(), **how)


def test_a_player_that_chooses_what_is_not_its_own_is_named() -> None:
    class Wrong(RandomPlayer):
        name = "wrong"

        def choose(self, decisions: Decisions, rolls: np.ndarray, keys: np.ndarray) -> np.ndarray:
            return np.zeros(len(rolls), np.int64)

    with pytest.raises(ValueError, match="player wrong: chose row 0 for decision 1"):
        play_match(variant("backgammon"), Wrong(), RandomPlayer(), 10)


def test_evaluation_is_matches_of_the_net() -> None:
    rules = variant("hypergammon")
    player = net_player(rules)
    generator = torch.Generator().manual_seed(1)
    net = ValueNet(Encoding.of(rules).size, (12,), rules.outcomes, generator)
    with torch.no_grad():
        list(net.parameters())[-2].mul_(10.0)
    evaluate = evaluation(rules, ["random", "pips"], seed=4)
    figures = evaluate(net, 99)
    matches = [
        play_match(rules, player, other, 99, seed=4)
        for other in (RandomPlayer(), PipsPlayer(rules))
    ]
    assert [replace(m, a="net", seconds=0.0) for m in matches] == list(evaluate.results)
    assert figures["pips/ppg"] == matches[1].ppg.value
    assert figures["random/ppg_se"] == matches[0].ppg.se
    assert figures["random/ppg_low"] == matches[0].intervals["ppg"].low
    assert all(type(value) is float and math.isfinite(value) for value in figures.values())
    assert figures == evaluate(net, 99)
    with pytest.raises(ConfigError, match=r"eval.opponents: unknown player 'pops'.*did you mean"):
        evaluation(rules, ["random", "pops"])


def printed(results: list[MatchResult], terminal: bool = False) -> str:
    file = io.StringIO()
    print_results(Console(file=file, force_terminal=terminal, width=100), results)
    return file.getvalue()


def test_tables_are_plain_off_a_terminal() -> None:
    rules = variant("long_nardy_draw")
    results = [
        play_match(rules, PipsPlayer(rules), other, 20)
        for other in (RandomPlayer(), PipsPlayer(rules))
    ]
    plain, drawn = printed(results), printed(results, terminal=True)
    assert "\x1b" not in plain
    assert "\x1b[1m" in drawn
    head, first, second, *_ = plain.splitlines()
    assert head.split("  ")[0] == "player"
    assert "drawn %" in head
    assert "koks" not in head
    result = results[0]
    low, high = result.intervals["ppg"]
    assert high - low == pytest.approx(4 * result.ppg.se, rel=0.2)
    points = f"{result.ppg.value:+.3f} [{low:+.3f}, {high:+.3f}]"
    assert first.startswith(f"pips    {points}")
    assert second.startswith("random ")
    low, high = (100 * end for end in result.intervals["loss"])
    assert f" {100 * result.loss.value:.1f} [{low:.1f}, {high:.1f}] " in second
    assert str(result).startswith(f"pips against random: {points} points a game, ")
    assert str(result).endswith(" % drawn, 20 games")
    assert "+0.000 ± 0.000" in plain.splitlines()[3], "against itself"
    assert "95 % intervals" in plain


def test_draws_are_shown_where_there_are_any() -> None:
    """Rare between pips players, so their games are made here."""
    score = np.array([[1, 0], [0, -1], [2, -1], [1, -2]] * 25, np.int8)
    games = Games(score, np.zeros((100, 2), bool), np.full((100, 2), 90, np.int32))
    for name, there in (("long_nardy_draw", True), ("long_nardy", False)):
        result = match_result(games, a="a", b="b", rules=variant(name))
        assert ("25.0 ± 5.0 % drawn" in str(result)) is there
        assert ("drawn %" in printed([result])) is there
        assert ("25.0 ± 5.0" in printed([result]).splitlines()[1]) is there
        assert ("draw_low" in result.figures()) is there


def test_parts_join_to_the_match_they_are_of() -> None:
    rules = variant("hypergammon")
    players = PipsPlayer(rules), RandomPlayer()
    first = play_match(rules, *players, 60, seed=4, first_pair=5)
    second = play_match(rules, *players, 40, seed=4, first_pair=35)
    whole = joined([first, second])
    assert whole == play_match(rules, *players, 100, seed=4, first_pair=5)
    parts = first.played, second.played
    fields = (np.concatenate([getattr(part, name) for part in parts]) for name in Games._fields)
    assert same_games(whole.played, Games(*fields))
    assert whole.seconds == first.seconds + second.seconds
    with pytest.raises(ValueError, match="first_pair=5, not 55"):
        joined([second, first])
    with pytest.raises(ValueError, match="parts of matches apart: b"):
        joined([first, replace(second, b="other")])


def test_the_verb_plays_and_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["arena", "a=pips", "b=pips", "games=31", "variant=hypergammon"]) == 0
    out = capsys.readouterr().out
    assert "+0.000 ± 0.000" in out
    assert "hypergammon, seed 1" in out
    assert "games=31 made 32" in out
    assert cli.main(["arena", "--help"]) == 0
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("a=pips", "b is missing: b=PLAYER, such as random, pips or a checkpoint"),
        ("a=pips b=pips games=4 games=6", "games is given twice"),
        ("a=pips b=", "b is missing"),
        ("a=pisp b=random", "a: unknown player 'pisp' (did you mean pips?)"),
        ("a=pips b=runs/none", "b: runs/none: there is no such folder"),
        ("a=pips b=random games=1", "games: '1' is not allowed; allowed: whole numbers >= 2"),
        ("a=pips b=random games=-4", "games: '-4'"),
        ("a=pips b=random gams=4", "unknown setting 'gams' (did you mean games?)"),
        ("a=pips b=random variant=chess", "unknown variant 'chess'"),
        ("a=pips b=random variant.options.koks=often", "koks='often' is not allowed"),
        ("a=pips b=random evaluator=slow", "evaluator: 'slow' is not allowed"),
        ("a=pips b=random seed=9223372036854775808", "seed: '9223372036854775808'"),
    ],
)
def test_the_verb_refuses_in_one_line(
    words: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["arena", *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert line in error

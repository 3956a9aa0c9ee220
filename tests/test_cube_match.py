"""The cube and matches: rules from the text, values against closed forms, play in the arena."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.arena.cube_match import play_matches
from nardy_rl.cli.arena import run
from nardy_rl.cube import (
    CubeGame,
    CubeValues,
    EquityTable,
    MatchScore,
    Terms,
    Worth,
    cube_values,
    equity_table,
    points_won,
    terms,
)
from nardy_rl.errors import ConfigError, IllegalPlay
from nardy_rl.players import PipsPlayer, ValuerPlayer, make_player
from nardy_rl.players.cubing import start_shares
from nardy_rl.rules.record import variant

SCORES = (-3, -2, -1, 1, 2, 3)


def _shares(chance: np.ndarray, mars: float = 0.0) -> np.ndarray:
    nothing = np.zeros_like(chance)
    lost, won = 1 - chance, chance
    parts = [nothing, lost * mars, lost * (1 - mars), won * (1 - mars), won * mars, nothing]
    return np.stack(parts, 1)


def _values(
    chances: np.ndarray,
    life: float,
    owner: int = 0,
    mars: float = 0.0,
    played_for: Terms | None = None,
    worth: Worth | None = None,
) -> CubeValues:
    total = len(chances)
    return cube_values(
        played_for or Terms(cube="standard"),
        SCORES,
        _shares(chances, mars),
        np.ones(total, np.int64),
        np.full(total, owner),
        worth or Worth(np.zeros((total, 2), np.int64)),
        life,
    )


def _accepted_twice(played_for: Terms) -> CubeGame:
    game = CubeGame(played_for).after(0, "double").after(1, "take")
    return game.after(1, "double").after(0, "take")


@pytest.mark.parametrize(("progression", "stake"), [("arithmetic", 3), ("geometric", 4)])
def test_two_accepted_offers(progression: str, stake: int) -> None:
    game = _accepted_twice(terms("backgammon_dave", cube_progression=progression))
    assert game.stake == stake
    assert game.points(2) == stake  # no mars with dave
    assert game.points(-3) == -stake


def test_both_may_offer_first_then_only_the_last_taker() -> None:
    game = CubeGame(terms("backgammon_dave"))
    assert game.may_double(0)
    assert game.may_double(1)
    game = game.after(0, "double")
    assert not game.may_double(0)
    assert not game.may_double(1)
    game = game.after(1, "take")
    assert game.may_double(1)
    assert not game.may_double(0)
    with pytest.raises(IllegalPlay, match="other seat owns the cube"):
        game.after(0, "double")


def test_refusing_loses_the_current_stake() -> None:
    game = _accepted_twice(terms(cube="standard")).after(0, "double").after(1, "pass")
    assert game.points() == 4
    with pytest.raises(IllegalPlay, match="over"):
        game.after(0, "double")


def test_match_to_five_at_four_two() -> None:
    played_for = terms("backgammon_dave", match_length=5)
    score = MatchScore(played_for, (2, 2)).after(2)
    assert score.score == (4, 2)
    assert score.is_crawford
    assert not CubeGame(played_for, crawford=score.is_crawford).may_double(1)
    following = score.after(-1)
    assert not following.is_crawford
    assert CubeGame(played_for, crawford=following.is_crawford).may_double(1)
    assert following.after(-2).winner == 1


def test_jacoby_counts_once_with_a_centred_cube() -> None:
    jacoby = terms(cube="standard", jacoby="on")
    assert CubeGame(jacoby).points(2) == 1
    assert CubeGame(jacoby).after(0, "double").after(1, "take").points(-2) == -4
    assert points_won(Terms(cube="standard"), 2, 1, False) == 2


def test_a_beaver_doubles_back_and_keeps_the_cube() -> None:
    game = CubeGame(terms(cube="standard", beavers="on")).after(0, "double").after(1, "beaver")
    assert (game.stake, game.owner) == (4, 1)
    with pytest.raises(IllegalPlay, match="beavers=off"):
        CubeGame(terms(cube="standard")).after(0, "double").after(1, "beaver")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cube": "gold"}, "none, standard, dave"),
        ({"cube": "standard", "cube_progression": "arithmetic"}, "use cube=dave"),
        ({"cube": "standard", "jacoby": "on", "match_length": 3}, "jacoby=on"),
        ({"jacoby": "on"}, "needs a cube"),
        ({"match_length": "many"}, "match_length='many'"),
        ({"stakes": "high"}, "unknown term 'stakes'"),
    ],
)
def test_terms_that_do_not_exist(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        terms("backgammon", **options)


@pytest.mark.parametrize("life", [0.0, 0.4, 0.68, 1.0])
@pytest.mark.parametrize("mars", [0.0, 0.25])
def test_take_points_are_janowskis(life: float, mars: float) -> None:
    mean = 1 + mars  # W and L of his formula
    takes_from = (mean - 0.5) / (2 * mean + 0.5 * life)
    chances = np.array([1 - takes_from - 1e-4, 1 - takes_from + 1e-4])
    assert _values(chances, life, mars=mars).takes.tolist() == [True, False]


def test_take_points_without_mars() -> None:
    chances = np.array([0.7499, 0.7501, 0.7999, 0.8001])
    assert _values(chances, 0.0).takes.tolist() == [True, False, False, False]
    assert _values(chances, 1.0).takes.tolist() == [True, True, True, False]


@pytest.mark.parametrize("life", [0.3, 0.68])
def test_values_are_janowskis(life: float) -> None:
    """With W = L = 1: p(W + L + x/2) - L owning the cube, x/2 less where the opponent does."""
    chance = np.linspace(0.25, 0.75, 21)
    mine = _values(chance, life, owner=1).no_double
    assert mine == pytest.approx(chance * (2 + 0.5 * life) - 1, abs=1e-6)
    theirs = _values(chance, life, owner=2).no_double
    assert theirs == pytest.approx(chance * (2 + 0.5 * life) - 1 - 0.5 * life, abs=1e-6)


def test_too_good_to_double() -> None:
    values = _values(np.array([0.79, 0.99]), 0.68, owner=1, mars=0.6)
    assert not values.doubles[1]
    assert not values.takes[1]
    assert values.no_double[1] > values.refused[1]


def _table(length: int, mars: float, **options: object) -> EquityTable:
    played_for = terms("backgammon", cube="standard", match_length=length, **options)
    return equity_table(played_for, SCORES, _shares(np.array([0.5]), mars)[0])


@pytest.mark.parametrize("mars", [0.0, 0.26])
def test_match_equities_are_even_and_fall_with_points_needed(mars: float) -> None:
    table = _table(9, mars)
    for equities in (table.before, table.after):
        inner = equities[1:, 1:]
        assert inner + inner.T == pytest.approx(np.ones((9, 9)))
        assert (np.diff(inner, axis=0) <= 1e-9).all()


def test_match_equities_of_closed_form() -> None:
    plain = _table(4, 0.0)
    # Crawford game: lose the match at once, or win one point; then who trails doubles at once.
    assert plain.before[2, 1] == pytest.approx(0.25)
    assert plain.after[2, 1] == pytest.approx(0.5)
    assert plain.after[3, 1] == pytest.approx(0.25)
    # At two-away both, whoever doubles plays for the match.
    assert plain.before[2, 2] == 0.5
    mars = 0.26
    assert _table(4, mars).before[2, 1] == pytest.approx(0.5 * ((1 - mars) * 0.5 + mars))


def test_a_cube_is_dead_where_its_owner_needs_no_more() -> None:
    table = _table(5, 0.2).before
    chance = np.linspace(0.3, 0.9, 7)
    worth = Worth(np.tile([1, 4], (7, 1)), table)
    assert not _values(chance, 0.68, owner=1, worth=worth, mars=0.2).doubles.any()


def test_matches_against_oneself_are_even_and_a_net_beats_pips() -> None:
    rules = variant("backgammon")
    net = make_player("checkpoints/backgammon", rules)
    assert isinstance(net, ValuerPlayer)
    assert net.evaluator is not None
    crawford_02 = equity_table(
        terms(cube="standard", match_length=3), rules.outcomes, start_shares(rules, net.evaluator)
    ).before[2, 1]
    assert crawford_02 == pytest.approx(0.32, abs=0.02)  # as published tables have it
    played_for = terms(cube="standard", match_length=3)
    even = play_matches(rules, played_for, net, net, 60, seed=3)
    assert even.won == 0.5
    assert even.ppg == 0.0
    assert even.cube["doubles"][0] > 0.1
    assert even.cube["takes"][0] + even.cube["passes"][0] == pytest.approx(even.cube["doubles"][1])
    again = play_matches(rules, played_for, net, net, 60, seed=3, block_pairs=7)
    assert (again.points == even.points).all()
    assert (again.counts == even.counts).all()
    money = play_matches(rules, terms(cube="standard"), net, PipsPlayer(rules), 200, seed=3)
    assert money.ppg_interval.low > 0


@pytest.mark.parametrize("name", ["long_nardy_draw", "gul_bara", "hypergammon", "mad_gyulbar"])
def test_every_variant_has_matches(name: str) -> None:
    rules = variant(name)
    player = PipsPlayer(rules)
    result = play_matches(rules, terms(name, cube="dave", match_length=2), player, player, 8)
    assert result.won == 0.5
    assert result.truncated == 0


def test_the_command_line_plays_matches(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["a=pips", "b=random", "variant=backgammon_dave", "match_length=2", "games=4"]
    assert run([*words, "threads=1"]) == 0
    assert "of 4 matches" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="luck"):
        run([*words, "luck=checkpoints/backgammon"])

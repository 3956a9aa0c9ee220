"""Frames of the report: each against a computation of another kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl.arena import play_match
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.notation import from_id, parse_play
from nardy_rl.players import PipsPlayer, make_player
from nardy_rl.report import (
    PUBLISHED,
    beside_published,
    compare_house_rules,
    compare_players,
    disagreements,
    disputed,
    house_rule_figure,
    opening_book,
    opening_figure,
    rules_tour,
    watch_training,
)
from nardy_rl.rules import Position, variant, variants
from nardy_rl.rules.dice import opening

NET = str(Path(__file__).parents[1] / "checkpoints" / "hypergammon")
LITTLE: dict[str, Any] = {"games": 36, "plies": 2}


def test_the_tour_names_every_option_once() -> None:
    frame = rules_tour()
    assert not frame.duplicated(["variant", "option"]).any()
    assert set(frame["variant"]) == set(variants())
    for row in frame.itertuples():
        for value in row.others.split(", "):
            assert value != row.default
            variant(row.variant, **{row.option: value})
    assert set(rules_tour(["plakoto"])["variant"]) == {"plakoto"}
    with pytest.raises(ConfigError, match="unknown variant"):
        rules_tour(["chess"])


def test_house_rules_are_those_of_the_games() -> None:
    tables = {"strict": {"head_rule": "strict"}, "free": {"head_rule": "free"}}
    frame = compare_house_rules("long_nardy", tables, "pips", 60, seed=5)
    found = frame.set_index(["table", "figure"])["value"]
    for table, options in tables.items():
        rules = variant("long_nardy", **options)
        first, mars, plies = [], [], []
        for game in range(60):  # one by one, a pair each
            one = play_match(
                rules, PipsPlayer(rules), PipsPlayer(rules), 2, seed=5, first_pair=game
            ).played
            seat0 = int(one.score[0, 0])
            first.append(seat0 if opening(5, game)[0] == 0 else -seat0)
            mars.append(abs(seat0) == 2)
            plies.append(one.plies[0, 0])
        assert found[table, "first"] == pytest.approx(np.mean(first))
        assert found[table, "mars"] == pytest.approx(np.mean(mars))
        assert found[table, "plies"] == pytest.approx(np.mean(plies))
    assert (frame["games"] == 60).all()
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"])).all()
    assert len(house_rule_figure(frame).axes) == 3


def test_the_pips_race_is_won_by_who_goes_first() -> None:
    frame = compare_house_rules("long_nardy", {"here": {}}, {"here": "pips"}, 1000)
    assert frame.set_index("figure")["low"]["first"] > 0


def test_house_rules_refuse() -> None:
    with pytest.raises(ConfigError, match="tables"):
        compare_house_rules("long_nardy", {}, "pips")
    with pytest.raises(ConfigError, match="'b'"):
        compare_house_rules("long_nardy", {"b": {}}, {"a": "pips"}, 2)
    with pytest.raises(ConfigError, match="games"):
        compare_house_rules("long_nardy", {"b": {}}, "pips", 1)
    with pytest.raises(CheckpointError):
        compare_house_rules("hypergammon", {"b": {"koks": "none"}}, NET, 2)


def test_the_opening_book_has_every_roll() -> None:
    frame = opening_book(variant("hypergammon"), NET, **LITTLE)
    assert frame["roll"].nunique() == 21
    assert (frame.groupby("roll").size() == 2).all()
    assert (frame.loc[frame["rank"] == 1, "loss"] == 0).all()
    assert (frame["loss"] >= 0).all()
    assert (frame["se"] > 0).all(), "every play in the book was rolled out"
    assert frame.query("rank == 1").set_index("roll")["equity"]["6-6"] > 0
    assert len(opening_figure(frame).axes[0].get_yticks()) == 21
    with pytest.raises(ConfigError, match="top"):
        opening_book(variant("hypergammon"), NET, top=0)


def test_disagreements_are_of_legal_plays_and_the_net_is_right_against_chance() -> None:
    rules = variant("hypergammon")
    frame = disagreements(rules, NET, "random", NET, positions=60, most=15, **LITTLE)
    assert 0 < len(frame) <= 15
    for row in frame.itertuples():
        position = from_id(row.id)
        die1, die2 = map(int, row.roll.split("-"))
        one, other = (parse_play(position, (die1, die2), text) for text in (row.play_a, row.play_b))
        assert one.after != other.after
    assert frame["gain"].tolist() == sorted(frame["gain"], reverse=True)
    assert np.allclose(frame["gain"], frame["equity_a"] - frame["equity_b"])
    clear = frame["gain"].abs() > 1.96 * frame["se"]
    assert ((frame["right"] != "unclear") == clear).all()
    assert (frame["right"] == "a").sum() > (frame["right"] == "b").sum()


def test_a_player_does_not_disagree_with_itself() -> None:
    rules = variant("hypergammon")
    again = make_player(NET, rules)
    frame = disagreements(rules, NET, again, NET, positions=40, **LITTLE)
    assert len(frame) == 0
    assert "right" in frame


def test_a_dispute_is_about_legal_plays() -> None:
    frame = disputed("long_nardy", "head_rule", (2, 2)).set_index("value")
    assert frame["plays"].to_dict() == {
        "free": 5,
        "classic *": 1,
        "any_double_first": 3,
        "any_double": 3,
        "strict": 1,
    }
    assert frame.loc["strict", "disputed"] == ""
    assert "24/18 24/20" not in frame.loc["any_double", "disputed"]
    assert frame.loc["any_double", "disputed"] == "24/18 24/22, 24/20(2)"
    with pytest.raises(ConfigError, match="option='colour'"):
        disputed("long_nardy", "colour", (2, 2))


def test_published_openings_are_legal_and_of_every_roll_but_doubles() -> None:
    start = Position.start(variant("backgammon"))
    assert len(PUBLISHED) == 15
    for roll, texts in PUBLISHED.items():
        high, low = (int(die) for die in roll.split("-"))
        assert high > low
        boards = [parse_play(start, (high, low), text).after for text in texts]
        assert len({str(board.points.tolist()) for board in boards}) == len(texts)


def test_the_shipped_net_opens_mostly_as_published() -> None:
    net = str(Path(__file__).parents[1] / "checkpoints" / "backgammon")
    book = opening_book(variant("backgammon"), net, games=36, plies=2)
    frame = beside_published(book)
    assert frame["agrees"].isna().sum() == 6
    assert frame["agrees"].sum() >= 9
    point_makers = frame.set_index("roll").loc[["3-1", "4-2", "6-1"], "agrees"]
    assert point_makers.all()


def test_a_training_is_watched(tmp_path: Path) -> None:
    shown: list[object] = []
    frame = watch_training(
        "hypergammon", tmp_path / "run", 200, 100, opponents=("random", "pips"), show=shown.append
    )
    assert frame["games"].tolist() == [100, 100, 200, 200]
    assert (frame["low"] <= frame["ppg"]).all()
    assert len(shown) == 2
    assert make_player(str(tmp_path / "run"), variant("hypergammon"))


def test_players_are_compared() -> None:
    table, crosstable = compare_players(variant("hypergammon"), ["random", "pips"], 200)
    assert table["player"].tolist() == ["pips", "random"]
    assert crosstable.shape == (2, 2)

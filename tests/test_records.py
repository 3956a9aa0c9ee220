"""Records of games: replayed by the rules, round trips, and whatever can be wrong with a file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nardy_rl import records
from nardy_rl.arena.recording import play_and_record
from nardy_rl.env import Env
from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.players import make_player
from nardy_rl.records import CubeEvent, Decision, GameRecord, Result, Terms, json_lines
from nardy_rl.records.game import MatchRecord, describe
from nardy_rl.rules import Rules, variant, variants

SCHEMA = json.loads((Path(records.__file__).parent / "game.schema.json").read_text())


def games_of(rules: Rules, count: int = 2, seed: int = 3) -> tuple[GameRecord, ...]:
    random = make_player("random", rules)
    return play_and_record(rules, random, random, count, seed=seed, names=("Anna", "Bert"))


@pytest.fixture(scope="module")
def short() -> dict[str, Any]:
    """A finished game of hypergammon, as JSON."""
    return json_lines.as_json(games_of(variant("hypergammon"), 1)[0])


@pytest.mark.parametrize("name", variants())
def test_games_of_every_variant_come_back(name: str, tmp_path: Path) -> None:
    rules = variant(name)
    games = games_of(rules, 1)
    file = tmp_path / "games.jsonl"
    records.write_games(file, games)
    assert records.read_games(file) == games
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line, game in zip(lines, games, strict=True):
        jsonschema.validate(line, SCHEMA)
        assert game.result.reason == "played out"
        assert {event["seat"] for event in line["moves"]} == {0, 1}
    MatchRecord(games)


@pytest.mark.parametrize("name", ["backgammon", "long_nardy", "gul_bara"])
def test_the_environment_deals_and_scores_what_is_recorded(name: str) -> None:
    # The environment steps by kernels alone; the record was replayed play by play.
    rules = variant(name)
    game = games_of(rules, 1, seed=8)[0]
    env = Env(rules, 1, seed=8, ply_cap=10_000)
    assert env.mover[0] == game.starter
    for one, decision in zip(records.replay(game), game.decisions, strict=True):
        assert env.mover[0] == one.seat
        assert env.rolls[0].tolist() == list(decision.roll)
        np.testing.assert_array_equal(env.points[0], one.position.points)
        plays = list(one.position.plays(decision.roll))
        finished = env.step(np.array([[p.after for p in plays].index(one.play.after)]))
    assert finished.score.tolist() == [game.result.score]


def test_rungs_are_written_as_rungs() -> None:
    found = [e for g in games_of(variant("mad_gyulbar"), 3) for e in g.decisions if e.rung]
    assert found
    assert all(event.roll[0] == event.roll[1] and 1 <= event.rung <= 4 for event in found)


def test_a_drawn_last_roll_gives_points_to_each(tmp_path: Path) -> None:
    rules = variant("long_nardy_2", last_roll="draw_half")
    games = games_of(rules, 60)
    drawn = [game for game in games if game.result.score == 0]
    assert drawn
    assert drawn[0].result == Result(0, "played out", 0.5)
    after = games[games.index(drawn[0]) + 1]
    assert after.score == tuple(points + 0.5 for points in drawn[0].score)
    file = tmp_path / "drawn.jsonl"
    records.write_games(file, games)
    assert records.read_games(file) == games
    with pytest.raises(InvalidText, match=r"each 0 does not fit the moves; 0\.5"):
        records.replay(replace(drawn[0], result=Result(0, "played out")))


def cube_game(*words: tuple[int, str], **changes: Any) -> GameRecord:
    """Backgammon: 3-1 by seat 0, then words of the cube, then a move where nobody passed."""
    events: tuple[Any, ...] = (Decision(0, (3, 1), "8/5 6/5"), *(CubeEvent(*w) for w in words))
    if not words or words[-1][1] != "pass":
        events += (Decision(1, (6, 4), "24/14"),)
    made: dict[str, Any] = {
        "rules": variant("backgammon"),
        "players": ("Anna", "Bert"),
        "starter": 0,
        "events": events,
        "result": Result(0, "unfinished"),
        "terms": Terms(cube="standard", beavers=True),
    }
    return GameRecord(**{**made, **changes})


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ([(1, "double"), (0, "take")], Result(-4, "resigned")),
        ([(1, "double"), (0, "beaver")], Result(12, "resigned")),
        ([(1, "double"), (0, "pass")], Result(-1, "passed cube")),
        ([], Result(0, "unfinished")),
    ],
)
def test_cube_events_and_results(words: list[tuple[int, str]], result: Result) -> None:
    game = cube_game(*words, result=result)
    text = json_lines.write([game])
    jsonschema.validate(json.loads(text), SCHEMA)
    assert json_lines.read(text) == (game,)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (cube_game((0, "double"), (1, "take")), "it is the turn of seat 1"),
        (cube_game((0, "take")), "has no offer of the other seat"),
        (cube_game((1, "double")), "take, pass or beaver comes first"),
        (cube_game((1, "double"), (1, "take")), "no offer of the other seat to take"),
        (cube_game((1, "double"), (1, "double")), "an offer waits for its answer"),
        (cube_game((1, "double"), (0, "take"), terms=Terms()), "the game has no cube"),
        (
            cube_game((1, "double"), (0, "beaver"), terms=Terms(cube="standard")),
            "beavers are not allowed",
        ),
        (cube_game((1, "double"), (0, "pass")), "reason 'unfinished' does not fit"),
        (
            cube_game((1, "double"), (0, "pass"), result=Result(-2, "passed cube")),
            r"score -2 \(points of seat 0\) does not fit the moves; -1",
        ),
        (cube_game(result=Result(5, "resigned")), "does not fit the moves; -3 or -2 or"),
        (cube_game(result=Result(1, "unfinished")), "does not fit the moves; 0"),
    ],
)
def test_events_that_do_not_fit(game: GameRecord, said: str) -> None:
    with pytest.raises(InvalidText, match=said):
        records.replay(game)


@pytest.mark.parametrize(
    ("terms", "score"),
    [
        (Terms(cube="dave", length=5), -4),
        (Terms(cube="dave", mars_with_cube=False), -2),
        (Terms(cube="dave arithmetic", length=5), -4),
        (Terms(cube="standard", jacoby=True), -4),
    ],
)
def test_the_rules_of_the_cube_work_out_the_stakes(terms: Terms, score: int) -> None:
    words = (1, "double"), (0, "take")
    game = cube_game(*words, terms=terms, result=Result(score, "resigned"))
    assert records.replay(game)[1].number == 2
    text = json_lines.write([game])
    jsonschema.validate(json.loads(text), SCHEMA)
    assert json_lines.read(text) == (game,)
    with pytest.raises(InvalidText, match=r"score 5 .* does not fit"):
        records.replay(replace(game, result=Result(5, "resigned")))


def test_two_offers_of_an_arithmetic_cube_make_three() -> None:
    game = cube_game((1, "double"), (0, "take"), terms=Terms(cube="dave arithmetic"))
    events = (*game.events, CubeEvent(0, "double"), CubeEvent(1, "take"))
    assert records.end_of(replace(game, events=events)).cube.stake == 3
    again = (
        *events,
        Decision(0, (6, 5), "24/18 13/8"),
        CubeEvent(1, "double"),
        CubeEvent(0, "pass"),
    )
    assert records.end_of(replace(game, events=again)).cube.points() == -3
    with pytest.raises(InvalidText, match="the other seat owns the cube"):
        records.replay(replace(game, events=(*events[:3], *game.events[1:])))


def test_words_of_a_result() -> None:
    assert describe(Result(0, "played out", 0.5), ("A", "B")) == "drawn, 0.5 each"
    assert describe(Result(1, "passed cube"), ("A", "B")) == "A wins 1 point (passed cube)"
    assert describe(Result(0, "unfinished"), ("A", "B")) == "unfinished"


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    """Set the value at a path of keys, the last of which is the value."""
    *where, key, value = path

    def change(game: dict[str, Any]) -> None:
        target: Any = game
        for step in where:
            target = target[step]
        target[key] = value

    return change


STRUCTURAL = {
    "no result": (lambda g: g.pop("result"), "'result' is missing; its fields are format"),
    "unknown field": (_set("colour", "red"), "'colour' is unknown"),
    "other format": (_set("format", "pgn"), "format 'pgn' version 1 is not read here"),
    "version true": (_set("version", True), "version True is not read here"),
    "newer version": (_set("version", 2), "version 2 is not read here"),
    "variant a number": (_set("variant", 7), "variant=7 is not allowed"),
    "option a number": (_set("options", "koks", 3), "names and values, all texts"),
    "three players": (_set("players", ["a", "b", "c"]), "a list of two, by seat"),
    "empty name": (_set("players", ["", "b"]), "a name of 1 to 200"),
    "name a number": (_set("players", [1, "b"]), "a name of 1 to 200"),
    "starter 2": (_set("starter", 2), "starter=2 is not allowed; whole numbers 0..1"),
    "seat 2": (_set("moves", 0, "seat", 2), "seat=2 is not allowed"),
    "die 7": (_set("moves", 0, "roll", [7, 1]), "two dice of 1..6"),
    "one die": (_set("moves", 0, "roll", [3]), "two dice of 1..6"),
    "half a die": (_set("moves", 0, "roll", [3.5, 1]), "two dice of 1..6"),
    "play a list": (_set("moves", 0, "play", []), "a text such as 24/13"),
    "no play": (lambda g: g["moves"][0].pop("play"), "entry 1: 'play' is missing"),
    "rung and roll": (_set("moves", 0, "rung", [1, 2]), "'roll' is unknown"),
    "moves a text": (_set("moves", "24/13"), "a list"),
    "move a text": (_set("moves", 0, "24/13"), "moves, entry 1: '24/13' is not allowed"),
    "cube word": (_set("moves", 0, {"seat": 0, "cube": "redouble"}), "double, take, pass, beaver"),
    "cube kind": (_set("terms", "cube", "golden"), "none, standard, dave"),
    "length 0": (_set("terms", "length", 0), "length=0 is not allowed"),
    "jacoby 1": (_set("terms", "jacoby", 1), "true or false"),
    "reason": (_set("result", "reason", "lost"), "played out, passed cube"),
    "score text": (_set("result", "score", "2"), "whole numbers"),
    "score inf": (_set("score", [1e999, 0]), "no JSON: Infinity is no number"),
    "negative seed": (_set("seed", -1), "seed=-1 is not allowed"),
    "seed text": (_set("seed", "x"), "seed='x' is not allowed"),
    "game 0": (_set("game", 0), "game=0 is not allowed"),
}


@pytest.mark.parametrize("name", STRUCTURAL)
def test_wrong_fields_are_refused_by_reader_and_schema(name: str, short: dict[str, Any]) -> None:
    change, said = STRUCTURAL[name]
    game = copy.deepcopy(short)
    change(game)
    with pytest.raises(InvalidText) as caught:
        json_lines.read(json.dumps(game))
    assert said in str(caught.value)
    assert str(caught.value).startswith("line 1: ")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(game, SCHEMA)


BY_THE_RULES = {
    "unknown variant": (_set("variant", "long_nardi"), "did you mean long_nardy"),
    "six-one": (_set("variant", "six_one"), "six-one"),
    "unknown option": (_set("options", "kok", "none"), "has no option 'kok'"),
    "illegal play": (_set("moves", 0, "play", "24/1"), "move 1 (seat"),
    "no play text": (_set("moves", 0, "play", "hello"), "cannot read 'hello'"),
    "wrong dice": (_set("moves", 1, "roll", [1, 1]), "move 2 (seat"),
    "double at first": (_set("moves", 0, "roll", [2, 2]), "a double cannot begin here"),
    "wrong seat": (lambda g: g["moves"].insert(0, g["moves"].pop(1)), "it is the turn of seat"),
    "other starter": (lambda g: g.update(starter=1 - g["starter"]), "it is the turn of seat"),
    "cut short": (lambda g: g["moves"].pop(), "does not fit the moves; resigned or unfinished"),
    "goes on": (lambda g: g["moves"].append(g["moves"][0]), "the game is over"),
    "wrong score": (_set("result", "score", -3), "does not fit the moves"),
    "rung": (
        lambda g: g["moves"].insert(0, {"seat": g["starter"], "rung": [1, 2], "play": "pass"}),
        "no rung is left to be played",
    ),
}


@pytest.mark.parametrize("name", BY_THE_RULES)
def test_what_the_rules_refuse_names_the_move(name: str, short: dict[str, Any]) -> None:
    change, said = BY_THE_RULES[name]
    game = copy.deepcopy(short)
    if name == "wrong score":
        assert game["result"]["score"] != -3
    change(game)
    with pytest.raises(InvalidText) as caught:
        json_lines.read("\n" + json.dumps(game))
    assert said in str(caught.value)
    assert str(caught.value).startswith("line 2: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no games in it"),
        (b"\xff\xfe\x00", "not UTF-8 text, at byte 0"),
        (b"{", "line 1: no JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b"[" + b"9" * 10_000 + b"]", "line 1: "),
        (b"null", "line 1: a game: None is not allowed"),
        (b'{"format": 1, "format": 2}', "a name is there twice"),
    ],
)
def test_files_that_are_none(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_bytes(content)
    with pytest.raises(InvalidText) as caught:
        records.read_games(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)
    assert len(str(caught.value)) < 600


def test_long_rubbish_is_refused_at_once(tmp_path: Path) -> None:
    for suffix, text in (
        (".mat", " 1 point match\n Game 1\n" + "a : 1  " * 10**5),
        (".mat", " 1 point match\n" * 10**5),
        (".sgf", "(;GM[" + "6\\]" * 10**6),
        (".sgf", "(" * 10**6),
        (".sgf", "(;GM[6]" + ";B[31qtst]" * 10**4 + ")"),
        (".jsonl", "{" * 10**6),
    ):
        file = tmp_path / f"long{suffix}"
        file.write_text(text)
        with pytest.raises(InvalidText):
            records.read_games(file)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "huge.mat"
    with open(file, "wb") as content:
        content.truncate(2**30)
    with pytest.raises(InvalidText, match="1,073,741,824 bytes"):
        records.read_games(file)


def test_names_of_files(tmp_path: Path, short: dict[str, Any]) -> None:
    games = json_lines.read(json.dumps(short))
    with pytest.raises(ConfigError, match=r"ends in \.jsonl, \.mat, \.sgf"):
        records.write_games(tmp_path / "games.pgn", games)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        records.write_games(tmp_path / "nowhere" / "games.mat", games)
    file = tmp_path / "games.jsonl"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=true"):
        records.write_games(file, games)
    assert file.read_text() == "mine"
    records.write_games(file, games, overwrite=True)
    assert records.read_games(file) == games
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]


def test_a_match_is_of_one_kind(short: dict[str, Any]) -> None:
    (game,) = json_lines.read(json.dumps(short))
    with pytest.raises(ConfigError, match="game 2 begins at 0:0"):
        MatchRecord((game, replace(game, number=2)))
    with pytest.raises(ConfigError, match="other players"):
        MatchRecord((game, replace(game, number=2, players=("C", "D"))))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), suffix=st.sampled_from([".jsonl", ".mat", ".sgf"]))
def test_damage_is_an_error_of_ours_or_still_legal(
    data: st.DataObject, suffix: str, short: dict[str, Any]
) -> None:
    games = json_lines.read(json.dumps(short))
    form = records.FORMATS[suffix]
    text = form.write(games)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 20))
    put = data.draw(
        st.text(st.sampled_from('0123456789/*:;()[]{}", \nabzWBGame\\\x00ё'), max_size=6)
    )
    try:
        found = form.read(text[:at] + put + text[at + cut :])
    except (InvalidText, ConfigError):
        return
    for game in found:
        records.replay(game)

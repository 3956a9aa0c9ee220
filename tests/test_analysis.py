"""Analysis: plays, rolls and recorded games, against values worked out the slow way."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import nardy_rl
from nardy_rl import cli
from nardy_rl.analysis import (
    analyse,
    analyse_decisions,
    error_rates,
    preroll,
    read_decisions,
    valuer_for,
)
from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError, InvalidPosition
from nardy_rl.inference import make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.notation import parse_points, to_id
from nardy_rl.rollout import Rollout
from nardy_rl.rules import Position, Rules, set_threads, variant
from nardy_rl.search import (
    Filter,
    Lookahead,
    NetValuer,
    Valuer,
    decisions_at,
    preroll_equities,
    turned,
)
from tests.pip_values import PipValuer

SHIPPED = Path(__file__).parents[1] / "checkpoints"
BACKGAMMON, NARDY = variant("backgammon"), variant("long_nardy")
START = Position.start(BACKGAMMON)
MIDDLE = parse_points(BACKGAMMON, "24:1 13:4 10:1 8:3 6:4 5:2 | 24:2 13:4 8:3 6:5 4:1")
"""Somewhere in the middle, with many plays and hits."""
CLEARING = parse_points(BACKGAMMON, "6:1 2:1 | 3:2 1:1")
"""One roll from the end, whether by 6-2 or a double."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


def net_valuer(rules: Rules = BACKGAMMON) -> NetValuer:
    net = ValueNet(Encoding.of(rules).size, (8,), rules.outcomes, torch.Generator().manual_seed(3))
    with torch.no_grad():
        # Fresh nets are nearly indifferent.
        list(net.parameters())[-2].mul_(10.0)
    return NetValuer(rules, make_evaluator(net, Encoding.of(rules)), "small")


def equities(valuer: Valuer, position: Position, roll: tuple[int, int]) -> np.ndarray:
    """By the valuer itself, in the order of the plays."""
    rolls = np.array([roll], np.int8)
    flags = np.array([position.flags], np.uint8)
    return valuer.equities(decisions_at(position.rules, position.points[None].copy(), flags, rolls))


# The plays of a roll.


def test_the_shipped_net_makes_its_point() -> None:
    frame = nardy_rl.analyse(START, (3, 1), str(SHIPPED / "backgammon"))
    shares = ["P(-3)", "P(-2)", "P(-1)", "P(+1)", "P(+2)", "P(+3)"]
    assert list(frame.columns) == ["play", "equity", "loss", "se", "method", *shares]
    assert len(frame) == len(START.plays((3, 1)))
    assert frame["play"].iloc[0] == "8/5 6/5"
    assert frame["method"].unique().tolist() == ["0-ply net"]


@pytest.mark.parametrize("position", [START, MIDDLE, CLEARING])
def test_plays_are_worth_what_the_net_says(position: Position) -> None:
    valuer = net_valuer()
    frame = analyse(position, (6, 2), valuer)
    assert frame["loss"].is_monotonic_increasing
    assert frame["loss"].iloc[0] == 0.0
    assert (frame["loss"] == frame["equity"].iloc[0] - frame["equity"]).all()
    by_place = frame.sort_index()
    assert by_place["play"].tolist() == [str(play) for play in position.plays((6, 2))]
    np.testing.assert_array_equal(by_place["equity"], equities(valuer, position, (6, 2)))
    shares = by_place.filter(like="P(").to_numpy()
    np.testing.assert_allclose(shares.sum(1), 1.0, atol=1e-5)
    np.testing.assert_allclose(shares @ BACKGAMMON.outcomes, by_place["equity"], atol=1e-5)


def test_points_are_named_as_asked() -> None:
    frame = analyse(Position.start(NARDY), (6, 5), net_valuer(NARDY), numbering="hole")
    assert frame["play"].tolist() == ["1/12"]


def test_one_ply_is_the_mean_over_the_replies() -> None:
    valuer = net_valuer()
    frame = analyse(MIDDLE, (3, 1), valuer, 1)
    seen = frame[frame["method"] == "1-ply"]
    others = frame[frame["method"] != "1-ply"]
    assert 1 < len(seen) <= 5
    assert len(others) > 1
    for place, equity in seen["equity"].items():
        his = MIDDLE.plays((3, 1))[place].after.flip()
        mean = 0.0
        for die1 in range(1, 7):
            for die2 in range(1, 7):
                mean -= equities(valuer, his, (die1, die2)).max() / 36
        assert equity == pytest.approx(mean, abs=1e-5)
    # What the filter stopped is said to be shallow, and stands below.
    assert (others["method"] == "0-ply net").all()
    assert others["equity"].max() < seen["equity"].min()


@pytest.mark.parametrize("plies", [1, 2])
def test_plies_are_those_of_the_search(plies: int) -> None:
    valuer = net_valuer()
    filters = [Filter(4, 0.5), Filter(2, 0.5)][:plies]
    deeper = Lookahead(BACKGAMMON, valuer, plies, filters)
    frame = analyse(CLEARING, (2, 1), deeper).sort_index()
    np.testing.assert_array_equal(frame["equity"], equities(deeper, CLEARING, (2, 1)))
    kept = [4, 2][:plies]
    for ply, count in enumerate(kept, start=1):
        deep = frame["method"].isin([f"{p}-ply" for p in range(ply, plies + 1)])
        assert deep.sum() == min(count, len(frame))
    same = analyse(MIDDLE, (6, 6), valuer, plies)
    by_hand = equities(Lookahead(BACKGAMMON, valuer, plies), MIDDLE, (6, 6))
    np.testing.assert_array_equal(same.sort_index()["equity"], by_hand)


def test_rollouts_say_their_error() -> None:
    rollout = Rollout(BACKGAMMON, net_valuer(), 36, 2, keep=Filter(2, 9.0))
    frame = analyse(MIDDLE, (3, 1), rollout)
    rolls, flags = np.array([[3, 1]], np.int8), np.zeros(1, np.uint8)
    found = rollout.rollout(decisions_at(BACKGAMMON, MIDDLE.points[None].copy(), flags, rolls))
    by_place = frame.sort_index()
    np.testing.assert_array_equal(by_place["equity"], found.equities)
    np.testing.assert_array_equal(by_place["se"], found.se)
    assert frame["method"].tolist()[:3] == ["rollout 36x2"] * 2 + ["0-ply net"]
    assert (frame["se"].iloc[:2] > 0).all()
    assert frame["se"].iloc[2:].isna().all()


@pytest.mark.parametrize("how", ["net", "plies", "rollout"])
def test_a_final_result_is_certain(how: str) -> None:
    valuer: Valuer = net_valuer()
    if how == "rollout":
        valuer = Rollout(BACKGAMMON, valuer, 36, 1)
    frame = analyse(CLEARING, (6, 2), valuer, 1 if how == "plies" else 0)
    best = frame.iloc[0]
    assert (best["play"], best["method"]) == ("6/off 2/off", "final result")
    assert (best["equity"], best["se"], best["P(+1)"], best["P(-1)"]) == (1.0, 0.0, 1.0, 0.0)


def test_values_without_shares() -> None:
    frame = analyse(MIDDLE, (3, 1), PipValuer(BACKGAMMON))
    assert frame.filter(like="P(").isna().all(axis=None)
    assert set(frame["method"]) == {"pip count"}
    # No two plays differ in pips but by what they hit.
    assert "*" in frame["play"].iloc[0]


def test_a_pass_is_one_play() -> None:
    shut = parse_points(BACKGAMMON, "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:2 24:3")
    frame = analyse(shut, (3, 1), net_valuer())
    assert frame["play"].tolist() == ["pass"]
    assert frame["loss"].tolist() == [0.0]


# Before the roll.


@pytest.mark.parametrize("plies", [0, 1])
def test_preroll_is_the_mean_of_the_best(plies: int) -> None:
    position = CLEARING if plies else MIDDLE
    valuer = valuer_for(net_valuer(), BACKGAMMON, plies)
    found = preroll(position, net_valuer(), plies)
    assert len(found.rolls) == 21
    total = 0.0
    for _, row in found.rolls.iterrows():
        die1, die2 = map(int, row["roll"].split("-"))
        best = analyse(position, (die1, die2), valuer).iloc[0]
        assert (row["play"], row["equity"]) == (best["play"], pytest.approx(best["equity"]))
        assert row["luck"] == pytest.approx(row["equity"] - found.equity)
        total += best["equity"] * (1 if die1 == die2 else 2)
    assert found.equity == pytest.approx(total / 36)
    assert found.rolls["equity"].is_monotonic_decreasing
    flags = np.array([position.flags], np.uint8)
    mean = preroll_equities(BACKGAMMON, valuer, position.points[None].copy(), flags)
    assert found.equity == pytest.approx(mean[0], abs=1e-5)


# Recorded games.


def written(file: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return file


def line(position: Position, roll: list[int], play: str, **more: str) -> dict[str, object]:
    return {"id": to_id(position), "roll": roll, "play": play, **more}


def test_a_record_loses_what_its_plays_lose(tmp_path: Path) -> None:
    file = written(
        tmp_path / "game.jsonl",
        line(START, [3, 1], "24/23 6/3", player="Anna"),
        line(CLEARING, [2, 6], "6/off 2/off", player="Bert"),
        "",
        line(MIDDLE, [1, 3], "13/10 6/5", player="Anna"),
    )
    valuer = net_valuer()
    frame = analyse_decisions(read_decisions(file), valuer)
    assert frame["line"].tolist() == [1, 2, 4]
    assert frame["player"].tolist() == ["Anna", "Bert", "Anna"]
    cases = [(START, (3, 1)), (CLEARING, (6, 2)), (MIDDLE, (3, 1))]
    for (_, row), (position, roll) in zip(frame.iterrows(), cases, strict=True):
        plays = analyse(position, roll, valuer).set_index("play")
        assert row["loss"] == pytest.approx(plays["loss"][row["play"]], abs=1e-6)
        assert row["best"] == plays.index[0]
        assert row["equity"] == pytest.approx(plays["equity"][row["play"]])
        assert row["choices"] == len(plays)
        before = 0.0 if position is START else preroll(position, valuer).equity
        assert row["luck"] == pytest.approx(plays["equity"].iloc[0] - before, abs=1e-5)
    rates = error_rates(frame)
    assert rates.loc["Anna", "loss"] == pytest.approx(frame["loss"][[0, 2]].sum())
    assert rates.loc["Anna", "error_rate"] == pytest.approx(1000 * frame["loss"][[0, 2]].mean())
    assert rates.loc["Anna", "luck"] == pytest.approx(frame["luck"][[0, 2]].sum())


def test_forced_plays_are_no_part_of_the_error_rate(tmp_path: Path) -> None:
    start = Position.start(NARDY)
    file = written(tmp_path / "game.jsonl", line(start, [6, 5], "24/13"))
    rates = error_rates(analyse_decisions(read_decisions(file), net_valuer(NARDY)))
    assert rates.loc["", ["decisions", "unforced", "loss"]].tolist() == [1, 0, 0]
    assert np.isnan(rates.loc["", "error_rate"])


def test_what_was_played_is_looked_at_as_deep_as_the_best(tmp_path: Path) -> None:
    valuer = net_valuer()
    narrow = Lookahead(BACKGAMMON, valuer, 1, [Filter(1, 0.0)])
    worst = analyse(MIDDLE, (3, 1), valuer)["play"].iloc[-1]
    file = written(tmp_path / "game.jsonl", line(MIDDLE, [3, 1], worst))
    row = analyse_decisions(read_decisions(file), narrow).iloc[0]
    place = [str(play) for play in MIDDLE.plays((3, 1))].index(worst)
    after = MIDDLE.plays((3, 1))[place].after
    seen = turned(BACKGAMMON, after.points[None].copy(), np.zeros(1, np.uint8))
    assert row["equity"] == pytest.approx(-preroll_equities(BACKGAMMON, valuer, *seen)[0])
    assert row["method"] == "1-ply"


# What is refused.


def test_wrong_arguments_are_refused() -> None:
    valuer = net_valuer()
    with pytest.raises(InvalidPosition, match="flip"):
        analyse(START.flip(), (3, 1), valuer)
    over = parse_points(BACKGAMMON, "off:15 | 1:15")
    with pytest.raises(InvalidPosition, match="over"):
        analyse(over, (3, 1), valuer)
    with pytest.raises(InvalidPosition, match="over"):
        preroll(over, valuer)
    with pytest.raises(ConfigError, match="two dice"):
        analyse(START, (3, 7), valuer)
    with pytest.raises(ConfigError, match=r"plies=4 .*0\.\.3"):
        analyse(START, (3, 1), valuer, 4)
    with pytest.raises(ConfigError, match="looks ahead already"):
        analyse(START, (3, 1), Lookahead(BACKGAMMON, valuer, 1), 1)
    with pytest.raises(ConfigError, match="no equities"):
        analyse(START, (3, 1), "pips")
    with pytest.raises(ConfigError, match="a valuer"):
        analyse(START, (3, 1), 5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="numbering"):
        analyse(START, (3, 1), valuer, numbering="holes")
    with pytest.raises(ConfigError, match="long_nardy"):
        analyse(START, (3, 1), net_valuer(NARDY))
    with pytest.raises(CheckpointError, match="long_nardy"):
        analyse(START, (3, 1), SHIPPED / "long_nardy")
    with pytest.raises(ConfigError, match="no decisions"):
        analyse_decisions([], valuer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", "expected"),
        ("{", "line 2"),
        (json.dumps(line(START, [3, 7], "24/20")), "two dice"),
        (json.dumps(line(START, [3], "24/20")), "two dice"),
        (json.dumps(line(START, [3, 1], "24/18")), "24/18 is 6 pips"),
        (json.dumps({"id": to_id(START), "roll": [3, 1]}), "play=None"),
        (json.dumps({"id": to_id(START), "play": "24/20"}), "roll=None"),
        (json.dumps(line(START.flip(), [3, 1], "24/20")), "flip"),
        (json.dumps(line(Position.start(NARDY), [3, 1], "24/20")), "another game than line 1"),
        (json.dumps(line(START, [3, 1], "24/20") | {"player": 1}), "player=1"),
    ],
)
def test_a_wrong_line_is_named(text: str, expected: str, tmp_path: Path) -> None:
    file = written(tmp_path / "game.jsonl", line(START, [3, 1], "8/5 6/5"), text)
    with pytest.raises(ConfigError, match="line 2") as raised:
        read_decisions(file)
    assert expected in str(raised.value)


def test_importing_the_package_stays_quick() -> None:
    script = (
        "import sys, nardy_rl; assert 'analyse' in nardy_rl.__all__;"
        "sys.exit(any(m in sys.modules for m in ('torch', 'pandas', 'numba')))"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


# The command.

NET = f"player={SHIPPED / 'backgammon'}"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["analyse", "threads=1", *words]) == 0
    return capsys.readouterr().out


def test_the_command_shows_plays_and_writes_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    text = said(capsys, f"position={to_id(START)}", "roll=1-3", NET, "top=4", f"out={out}")
    assert str(START) in text
    assert "1  8/5 6/5" in text
    assert "and 12 more" in text
    rows = (out / "analysis.csv").read_text().splitlines()
    assert len(rows) == 17
    assert rows[1].split(",")[1] == "8/5 6/5"
    assert "8/5 6/5" in (out / "play_01.svg").read_text()
    assert len(list(out.glob("*.svg"))) == 3
    said(capsys, f"position={to_id(CLEARING)}", "roll=62", NET, f"out={out}")
    assert len(list(out.glob("*.svg"))) == len(CLEARING.plays((6, 2)))


def test_the_command_shows_the_rolls(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, "position=start", NET, "numbering=hole", f"out={tmp_path}")
    found = preroll(START, SHIPPED / "backgammon", numbering="hole")
    assert f"equity {found.equity:+.4f}" in text
    assert all(play in text for play in found.rolls["play"])
    assert len((tmp_path / "rolls.csv").read_text().splitlines()) == 22


def test_the_command_shows_the_worst_plays(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = written(
        tmp_path / "game.jsonl",
        line(START, [3, 1], "8/5 6/5", player="Anna"),
        line(MIDDLE, [3, 1], "6/5 6/3", player="Anna"),
        line(START, [3, 1], "8/7 6/3", player="Bert"),
    )
    out = tmp_path / "out"
    text = said(capsys, f"game={file}", NET, "worst=1", f"out={out}")
    frame = analyse_decisions(read_decisions(file), SHIPPED / "backgammon")
    worst = frame.loc[frame["loss"].idxmax()]
    assert f"1. line {worst['line']}: {worst['player']}, 3-1: played {worst['play']}" in text
    assert "\n2. " not in text
    assert f"{error_rates(frame).loc['Bert', 'error_rate']:.1f}" in text
    assert len((out / "decisions.csv").read_text().splitlines()) == 4
    pictures = sorted(path.name for path in out.glob("*.svg"))
    assert pictures == ["worst_01_best.svg", "worst_01_played.svg"]
    assert worst["best"] in (out / "worst_01_best.svg").read_text()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["position=start", "roll=31"], "player is missing"),
        ([NET], "position=ID (or start) or game=FILE"),
        ([NET, "position=start", "game=x"], "one of them"),
        ([NET, "position=start", "roll=37"], "roll: '37'"),
        ([NET, "position=start", "roll=31", "plies=4"], "plies: '4'"),
        ([NET, "position=start", "numbering=holes"], "point, hole (did you mean hole?)"),
        ([NET, "position=nothing"], "no position id"),
        ([NET, f"position={to_id(START.flip())}", "roll=31"], "flip"),
        ([NET, f"position={to_id(START)}", "variant=tavla"], "variant goes with position=start"),
        ([NET, f"position={to_id(Position.start(NARDY))}"], "player: "),
        ([NET, "position=start", "worst=2"], "worst goes with game="),
        ([NET, "game=nowhere.jsonl"], "nowhere.jsonl: No such file"),
        ([NET, "game=nowhere.jsonl", "roll=31"], "roll goes with position="),
        (["player=pips", "position=start"], "player: pips has no equities"),
        (["player=pisp", "position=start"], "did you mean pips"),
        ([NET + "@1ply", "position=start", "plies=1"], "looks ahead already"),
        ([NET, "positon=start"], "did you mean position?"),
    ],
)
def test_wrong_words_are_one_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["analyse", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert expected in err

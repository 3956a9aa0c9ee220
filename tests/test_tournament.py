"""Tournaments: no more than their matches, resumed as if never stopped, shown as they are."""

from __future__ import annotations

import dataclasses
import io
import math
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from nardy_rl import cli
from nardy_rl.arena import crosstable, pictures, play_match
from nardy_rl.arena import tournament as module
from nardy_rl.arena.entrants import Entrant, entrants, luck_judge, short_names
from nardy_rl.arena.ratings import pair_wins, rate
from nardy_rl.arena.result import Estimate, Games, Interval, match_result
from nardy_rl.arena.tournament import Anchor, Tournament, play_tournament
from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.players import RandomPlayer
from nardy_rl.rules import set_threads, variant
from nardy_rl.train.checkpoint import save_checkpoint

RULES = variant("hypergammon")
GAMES = 60
DASH = (Estimate(math.nan, math.nan), Interval(math.nan, math.nan))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two checkpoints of hypergammon."""
    folders = []
    for seed in (1, 2):
        generator = torch.Generator().manual_seed(seed)
        net = ValueNet(Encoding.of(RULES).size, (8,), RULES.outcomes, generator)
        parent = tmp_path_factory.mktemp("runs") / f"run{seed}" / "checkpoints"
        folders.append(str(save_checkpoint(parent, net=net, rules=RULES, config={}, card={})))
    return folders


def made(*texts: str) -> tuple[Entrant, ...]:
    return entrants(texts, RULES)


def test_a_tournament_is_its_matches(nets: list[str]) -> None:
    players = made("random", "pips", nets[0])
    told: list[int] = []
    found = play_tournament(RULES, players, GAMES - 1, seed=5, progress=told.append)
    assert found.complete
    assert list(found.matches) == [(0, 1), (0, 2), (1, 2)]
    for (a, b), result in found.matches.items():
        match = play_match(RULES, players[a].player, players[b].player, GAMES, seed=5)
        assert result == dataclasses.replace(match, a=players[a].label, b=players[b].label)
        assert found.ppg(a, b) == (match.ppg, match.intervals["ppg"])
        value, interval = found.ppg(b, a) or DASH
        assert value == (-match.ppg.value, match.ppg.se)
        assert interval == (-match.intervals["ppg"].high, -match.intervals["ppg"].low)
    assert (told[0], told[-1]) == (0, 3 * GAMES)
    assert told == sorted(told)
    mean = np.mean([found.matches[0, 1].ppg.value, found.matches[0, 2].ppg.value])
    assert found.total[0] == pytest.approx(mean)
    assert found.order_by_ppg == tuple(np.argsort(-found.total))
    wins = {match: pair_wins(result) for match, result in found.matches.items()}
    assert found.ratings.elo.tolist() == rate(3, wins).elo.tolist()
    assert found.order == tuple(np.argsort(-found.ratings.elo))


def test_pair_wins_count_draws_as_halves_and_leave_truncated_pairs_out() -> None:
    score = np.array([[1, -2], [0, 3], [0, 0], [1, 0]], np.int8)
    cut = np.array([[0, 0], [0, 0], [0, 0], [0, 1]], bool)
    games = Games(score, cut, np.ones((4, 2), np.int32))
    wins = pair_wins(match_result(games, a="a", b="b", rules=variant("long_nardy_draw")))
    assert wins[:3].tolist() == [1.0, 1.5, 1.0]
    assert math.isnan(wins[3])


def test_what_the_store_holds_is_not_played_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = play_tournament(RULES, made("random", "pips"), GAMES, store=tmp_path)
    played: list[tuple[str, str]] = []

    def watched(rules, a, b, *args, **how):
        played.append((a.name, b.name))
        return play_match(rules, a, b, *args, **how)

    monkeypatch.setattr(module, "play_match", watched)
    again = play_tournament(RULES, made("pips", "random"), GAMES, store=tmp_path)
    assert (played, again.reused) == ([], 1)
    (turned, (low, high)), (there, ends) = again.ppg(1, 0) or DASH, first.ppg(0, 1) or DASH
    assert turned == there
    assert (low, high) == pytest.approx(ends, abs=0.05), "but for the draws of the bootstrap"
    for how in ({"seed": 2}, {"ply_cap": 90}, {"fresh": True}):
        play_tournament(RULES, made("random", "pips"), GAMES, store=tmp_path, **how)
    play_tournament(RULES, made("random", "pips"), GAMES + 2, store=tmp_path)
    assert len(played) == 4


def test_stopped_and_gone_on_is_as_if_never_stopped(tmp_path: Path, nets: list[str]) -> None:
    players = made("random", "pips", nets[0], nets[1])
    whole = play_tournament(RULES, players, GAMES)
    ended: list[str] = []
    for finished in range(1, 6):
        ended.clear()
        part = play_tournament(
            RULES,
            players,
            GAMES,
            store=tmp_path,
            finished=lambda result: ended.append(result.a),
            should_stop=lambda: bool(ended),
        )
        assert (len(part.matches), part.reused) == (finished, finished - 1)
        assert not part.complete
        assert np.isfinite(part.ratings.elo[:2]).all()
    rest = play_tournament(RULES, players, GAMES, store=tmp_path)
    assert rest.reused == 5
    assert rest.matches == whole.matches
    assert rest.ratings.low.tolist() == whole.ratings.low.tolist()


def test_luck_is_measured_stored_and_shown(tmp_path: Path, nets: list[str]) -> None:
    judge = luck_judge(nets[0], RULES)
    players = made("random", "pips")
    plain = play_tournament(RULES, players, GAMES, store=tmp_path)
    found = play_tournament(RULES, players, GAMES, store=tmp_path, luck=judge)
    again = play_tournament(RULES, players, GAMES, store=tmp_path, luck=judge)
    assert (found.reused, again.reused) == (0, 1)
    result = found.matches[0, 1]
    assert result.ppg == plain.matches[0, 1].ppg
    assert found.ppg(0, 1) == again.ppg(0, 1)
    assert found.ppg(0, 1) == (result.adjusted_ppg, result.intervals["adjusted_ppg"])
    assert any("less the luck of the dice by games-" in line for line in crosstable.remarks(found))
    with pytest.raises(ConfigError, match="luck: pips has no equities"):
        luck_judge("pips", RULES)


def test_entrants_know_what_they_are(nets: list[str], tmp_path: Path) -> None:
    run = str(Path(nets[0]).parents[1])
    random, first, second = made("random", run, nets[1])
    assert (random.source, random.sha256, random.identity) == ("", "", "random")
    assert first.source == nets[0]
    assert first.label == "run1"
    assert first.sha256 != second.sha256
    assert first.sha256 in first.identity
    with pytest.raises(ConfigError, match=f"{re.escape(nets[0])} plays as {re.escape(run)} does"):
        made("random", run, nets[0])
    with pytest.raises(ConfigError, match="plays as"):
        made(nets[0], f"{nets[0]}@0ply")
    ahead = made(nets[0], f"{nets[0]}@1ply")[1]
    assert (ahead.source, ahead.sha256) == (nets[0], first.sha256)
    assert ahead.identity != first.identity
    assert ahead.label.endswith("@1ply")
    with pytest.raises(ConfigError, match="players: pips is there twice"):
        made("pips", "random", "pips")
    with pytest.raises(ConfigError, match="players: 1 given; a tournament takes two or more"):
        made("pips")
    with pytest.raises(ConfigError, match=r"players: unknown player 'pisp' \(did you mean pips"):
        made("random", "pisp")
    with pytest.raises(CheckpointError, match=r"players: .*none: there is no such folder"):
        made("random", str(tmp_path / "none"))
    with pytest.raises(CheckpointError, match=r"players: .*: a net for hypergammon, not tavla"):
        entrants(["random", run], variant("tavla"))


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["pips", "random"], ["pips", "random"]),
        (["runs/a/x", "runs/b/x", "x"], ["a/x", "b/x", "x"]),
        (["runs/a/checkpoints/games-1", "runs/b/checkpoints/games-1"], ["a/games-1", "b/games-1"]),
        (["/r/a/", "/r/b@2ply", "gnubg@1ply"], ["a", "b@2ply", "gnubg@1ply"]),
        (["checkpoints/long_nardy", "checkpoints"], ["long_nardy", "checkpoints"]),
    ],
)
def test_short_names_tell_apart(texts: list[str], labels: list[str]) -> None:
    assert short_names(texts) == labels


def shown(names: list[str], shares: dict[tuple[int, int], float], truncated: int = 0) -> Tournament:
    """A tournament in which the first player of each match wins that share of 400 games."""
    players = tuple(Entrant(name, name, "", "", name, RandomPlayer()) for name in names)
    rng = np.random.default_rng(3)
    matches = {}
    for (a, b), share in shares.items():
        score = np.where(rng.random((200, 2)) < share, 1, -1).astype(np.int8)
        cut = np.zeros((200, 2), bool)
        cut[:truncated] = True
        games = Games(np.where(cut, 0, score).astype(np.int8), cut, np.full((200, 2), 9, np.int32))
        matches[a, b] = match_result(
            games, a=names[a], b=names[b], rules=RULES, seconds=1.0, ply_cap=9
        )
    return Tournament(RULES, players, 400, 1, 9, Anchor(1, 500.0), 0.5, 200, matches)


ROCK = shown(["rock", "pap|er", "<b>scissors"], {(0, 1): 0.3, (1, 2): 0.3, (0, 2): 0.7})
PLAIN = shown(["a", "b", "c"], {(0, 1): 0.6, (1, 2): 0.6, (0, 2): 0.69})


def test_a_circle_is_said_and_so_is_an_order() -> None:
    (line,) = [line for line in crosstable.remarks(ROCK) if "no order" in line]
    assert "rock beats <b>scissors, <b>scissors beats pap|er, pap|er beats rock" in line
    assert any(line.startswith("ratings alone do not explain") for line in crosstable.remarks(ROCK))
    said = crosstable.remarks(PLAIN)
    assert any(line.startswith("ratings alone explain") for line in said)
    assert "no three players beat each other in a circle beyond chance" in said
    assert any("b fixed at 500" in line for line in said)


def test_residuals_are_measured_less_predicted() -> None:
    frame = crosstable.residuals(ROCK)
    assert (frame["won"] - frame["predicted"]).tolist() == pytest.approx(frame["residual"].tolist())
    assert frame["z"].abs().tolist() == sorted(frame["z"].abs(), reverse=True)
    row = frame.iloc[0]
    match = ROCK.matches[(0, 1)]
    first = frame[(frame[["player", "against"]] == ["rock", "pap|er"]).all(axis=1)]
    turned = frame[(frame[["player", "against"]] == ["pap|er", "rock"]).all(axis=1)]
    won = first["won"].item() if len(first) else 100 - turned["won"].item()
    assert won == pytest.approx(100 * (400 * match.win.value + 0.5) / 401)
    assert row["se"] > 0


def test_tables_are_in_the_order_of_the_ratings() -> None:
    found = crosstable.standings(PLAIN)
    assert found["player"].tolist() == ["a", "b", "c"]
    assert found["elo"].is_monotonic_decreasing
    assert found.loc[2, ["elo", "low", "high"]].tolist() == [500.0] * 3
    assert found["games"].tolist() == [800] * 3
    grid = crosstable.points(PLAIN)
    assert grid.loc["a", "b"] == -grid.loc["b", "a"] == PLAIN.matches[0, 1].ppg.value
    assert math.isnan(grid.loc["a", "a"])


def test_an_unfinished_tournament_has_dashes_and_says_so() -> None:
    part = shown(["a", "b", "c", "d"], {(0, 1): 0.6}, truncated=2)
    assert crosstable.cells(part).loc["a", "d"] == "-"
    said = crosstable.remarks(part)
    assert "not finished: 5 of 6 matches missing" in said
    assert any("4 games reached ply_cap=9" in line for line in said)
    for text in (
        crosstable.to_markdown(part, "t"),
        crosstable.to_html(part, "t"),
        printed(part, 300),
    ):
        assert "-" in text
    assert pictures.crosstable_png(part, "t").startswith(b"\x89PNG")


def printed(tournament: Tournament, width: int, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal)
    crosstable.print_tournament(console, tournament, "title")
    return file.getvalue()


def test_a_narrow_terminal_leaves_the_errors_out() -> None:
    assert "±" in printed(PLAIN, 60).splitlines()[2]
    assert "\x1b" not in printed(PLAIN, 60)
    head = printed(PLAIN, 90, terminal=True).splitlines()[2]
    assert "±" not in head
    assert f"{PLAIN.matches[0, 1].ppg.value:+.3f}" in head
    assert "±" in printed(PLAIN, 120, terminal=True).splitlines()[2]


def test_reports_are_whole_and_safe(tmp_path: Path) -> None:
    files = crosstable.write_reports(ROCK, tmp_path / "deep" / "out", "rules & <dice>")
    markdown, page, picture = (file.read_bytes() for file in files)
    text = markdown.decode()
    assert "pap\\|er" in text
    widths = {line.count("|") - line.count("\\|") for line in text.splitlines() if line[:1] == "|"}
    assert widths == {8, 6}
    html = page.decode()
    assert "<b>" not in html
    assert "&lt;b&gt;scissors" in html
    assert "rules &amp; &lt;dice&gt;" in html
    assert "background-color" in html
    assert picture.startswith(b"\x89PNG")
    assert pictures.crosstable_png(ROCK, "rules & <dice>") == picture


@pytest.mark.parametrize("count", [2, 12])
def test_names_in_the_picture_do_not_overlap(count: int) -> None:
    names = [
        f"2026-11-30_21-31-5{i % 10}-a-rather-long-name/games-000100000@1ply" for i in range(count)
    ]
    rng = np.random.default_rng(1)
    values = rng.normal(size=(count, count))
    elo = np.stack([values[0], values[0] - 1, values[0] + 1])
    figure = pictures.table_figure(names, values, 0.1 * abs(values), elo, "title", "note " * 30)
    figure.draw_without_rendering()
    left = figure.axes[0]
    boxes = [label.get_window_extent() for label in left.get_yticklabels()]
    assert all(box.x0 >= 0 and box.x1 <= left.get_window_extent().x0 for box in boxes)
    texts = boxes + [text.get_window_extent() for text in left.texts]
    texts += [label.get_window_extent() for label in left.get_xticklabels()]
    texts += [text.get_window_extent() for text in figure.axes[1].texts]
    for index, one in enumerate(texts):
        assert not any(one.overlaps(other) for other in texts[index + 1 :])


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


WORDS = ["tournament", "players=[random,pips]", "variant=hypergammon", f"games={GAMES}"]


def test_the_verb_plays_stores_writes_and_teaches(
    nowhere: Path, nets: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*WORDS, "anchor=pips:100"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].strip() == "hypergammon, seed 1"
    assert "pips fixed at 100" in out
    assert f"random against pips: {play_ppg()}" in err
    (folder,) = (nowhere / "results" / "tournaments").iterdir()
    assert sorted(f.name for f in folder.iterdir()) == [
        "crosstable.html", "crosstable.md", "crosstable.png",
    ]  # fmt: skip
    words = [f"players=random,pips,{nets[0]}", f"games={GAMES}", "out=here", "threads=1"]
    assert cli.main(["tournament", *words]) == 0
    out, err = capsys.readouterr()
    assert "1 of 3 matches were in results/hypergammon.parquet" in err
    assert re.search(r"games-0+: .*games-0+, sha256 [0-9a-f]{12}", err)
    assert (nowhere / "here" / "crosstable.png").is_file()
    assert len(list((nowhere / "results" / "hypergammon.parquet").iterdir())) == 3
    assert cli.main(["tournament", "--help"]) == 0
    assert "examples:" in capsys.readouterr().out


def play_ppg() -> str:
    players = made("random", "pips")
    result = play_match(RULES, players[0].player, players[1].player, GAMES, seed=1)
    return f"{result.ppg.value:+.3f}"


def test_ctrl_c_keeps_what_is_finished(
    nowhere: Path, nets: list[str], capsys: pytest.CaptureFixture[str], monkeypatch
) -> None:
    append = module.append

    def interrupted(*args, **how):
        append(*args, **how)
        os.kill(os.getpid(), signal.SIGINT)

    words = ["tournament", f"players=[random,pips,{nets[0]}]", f"games={GAMES}", "out=here"]
    with monkeypatch.context() as patch:
        patch.setattr(module, "append", interrupted)
        assert cli.main(words) == 130
    out = capsys.readouterr().out
    assert "not finished: 2 of 3 matches missing" in out
    assert "the same command goes on" in out
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    assert "1 of 3 matches were in" in err
    assert "not finished" not in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("", "players is missing: players=[random,pips,PATH], two or more"),
        ("players=", "players: '' is not allowed; allowed: names or paths with commas"),
        ("players=[random,,pips]", "players: '[random,,pips]' is not allowed"),
        ("players=[random]", "players: 1 given"),
        ("players=[random,pips,random]", "random is there twice"),
        ("players=[random,pisp]", "players: unknown player 'pisp' (did you mean pips?)"),
        ("players=[random,runs/none]", "players: runs/none: there is no such folder"),
        ("players=[random,pips] games=0", "games: '0' is not allowed; allowed: whole numbers >= 2"),
        ("players=[random,pips] anchor=pisp:5", "anchor: 'pisp' is not among the players (did you"),
        ("players=[random,pips] anchor=pips:high", "anchor: 'high' is not allowed"),
        ("players=[random,pips] anchor=pips:inf", "anchor: 'inf' is not allowed"),
        ("players=[random,pips] alpha=0", "alpha: '0' is not allowed; allowed: numbers > 0"),
        ("players=[random,pips] games=2 alpha=5000", "alpha: 5000.0 is not allowed"),
        ("players=[random,pips] draws=1", "draws: '1' is not allowed"),
        ("players=[random,pips] luck=pips", "luck: pips has no equities"),
        ("players=[random,pips] luck=none/here", "luck: none/here: there is no such folder"),
        ("players=[random,pips] store=mine", "store: mine is a file"),
        ("players=[random,pips] store=foreign", "theirs.parquet cannot be read"),
        ("players=[random,pips] out=mine", "out: mine cannot be written"),
        ("players=[random,pips] out=/proc/x", "out: /proc/x cannot be written"),
        ("players=[random,pips] fresh=maybe", "fresh: 'maybe' is not allowed; allowed: true, fals"),
        ("players=[random,pips] variant=chess", "unknown variant 'chess'"),
        ("players=[random,pips] game=5", "unknown setting 'game' (did you mean games?)"),
    ],
)
def test_the_verb_refuses_in_one_line(
    words: str, line: str, nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nowhere / "mine").write_text("precious")
    (nowhere / "foreign").mkdir()
    (nowhere / "foreign" / "theirs.parquet").write_bytes(b"nothing")
    before = sorted(nowhere.rglob("*"))
    assert cli.main(["tournament", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert line in err
    assert err.count("\n") == 1
    left = [p for p in nowhere.rglob("*") if p not in before and p.name not in LEFT]
    assert left == []


LEFT = ("results", "tournaments", "hypergammon.parquet", "long_nardy.parquet")
"""Empty folders that a tournament may leave which was refused late."""

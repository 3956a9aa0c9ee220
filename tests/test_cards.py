"""The cards of trained nets: figures with intervals and commands, and the table of the README."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.arena import cards
from nardy_rl.arena.cards import BEGIN, END, add_figure, results_table, ship, with_results
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export.card import card_text
from nardy_rl.train.checkpoint import load_checkpoint
from nardy_rl.train.figures import Figure, figures_of, with_figure
from tests.test_checkpoint import save

ROOT = Path(__file__).parents[1]
SHIPPED = sorted(card.parent for card in (ROOT / "checkpoints").glob("*/card.json"))


def figure(**changes: Any) -> Figure:
    values: dict[str, Any] = {
        "what": "against pips",
        "unit": "points a game",
        "value": 0.49,
        "low": 0.46,
        "high": 0.51,
        "games": 1000,
        "command": "nardy-rl arena a=x b=pips games=1000 seed=1",
        "machine": "2 cores",
        "commit": None,
        "date": "2026-12-01",
        "win": 0.672,
    }
    return Figure(**{**values, **changes})


def test_a_figure_reads_as_one_line() -> None:
    assert str(figure()) == "+0.490 ± 0.025 points a game, 67.2 % won"
    loss = figure(unit="points lost a decision", value=0.0029, low=0.0028, high=0.003, win=None)
    assert str(loss) == "0.0029 ± 0.0001 points lost a decision"


def test_a_figure_takes_the_place_of_an_older_one_of_the_same() -> None:
    kept = with_figure([figure(), figure(what="against random")], figure(value=0.1, win=None))
    assert [(item["what"], item["value"]) for item in kept] == [
        ("against pips", 0.1),
        ("against random", 0.49),
    ]
    assert figures_of({"figures": kept})[0] == figure(value=0.1, win=None)


@pytest.mark.parametrize("figures", [[{}], [3], [{"colour": "red"}], 3])
def test_damaged_figures_are_refused(figures: Any) -> None:
    with pytest.raises(CheckpointError, match=r"card\.json: figures: allowed in each: what, unit"):
        figures_of({"figures": figures})


def test_a_shipped_net_is_the_net_without_the_trainer(tmp_path: Path) -> None:
    source = load_checkpoint(save(tmp_path / "run"))
    folder = ship(source, tmp_path / "nets" / "mine", "back games")
    assert sorted(file.name for file in folder.iterdir()) == [
        "card.json",
        "config.yaml",
        "model.safetensors",
    ]
    assert [path.name for path in folder.parent.iterdir()] == ["mine"]
    loaded = load_checkpoint(folder)
    assert loaded.card["weaknesses"] == "back games"
    assert "cores" in loaded.card["machine"]
    assert loaded.card["games"] == 100
    for ours, theirs in zip(source.net.parameters(), loaded.net.parameters(), strict=True):
        np.testing.assert_array_equal(ours.detach().numpy(), theirs.detach().numpy())
    add_figure(folder, figure())
    assert "Known weaknesses: back games" in (page := card_text(load_checkpoint(folder), "x.npz"))
    assert "| against pips | +0.490 ± 0.025 points a game, 67.2 % won | 1,000 | `nardy-rl" in page


def test_nothing_is_overwritten_unasked_nor_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = ship(load_checkpoint(save(tmp_path / "run", 100)), tmp_path / "mine", "much")
    before = (old / "model.safetensors").read_bytes()
    other = load_checkpoint(save(tmp_path / "run", 200))
    with pytest.raises(ConfigError, match="is there already"):
        ship(other, old, "much")
    (tmp_path / "papers").mkdir()
    with pytest.raises(ConfigError, match="is there already"):
        ship(other, tmp_path / "papers", "much", overwrite=True)
    with pytest.raises(ConfigError, match="weaknesses"):
        ship(other, old, " ", overwrite=True)

    def full(*_: Any, **__: Any) -> None:
        raise CheckpointError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(cards, "save_checkpoint", full)
        with pytest.raises(CheckpointError, match="no room"):
            ship(other, old, "much", overwrite=True)
    assert (old / "model.safetensors").read_bytes() == before
    ship(other, old, "much", overwrite=True)
    assert load_checkpoint(old).card["games"] == 200
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "papers", "run"]


def test_the_verb_measures_and_writes_the_command_that_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = tmp_path / "nets" / "tavla"
    shutil.copytree(ROOT / "checkpoints" / "tavla", net)
    words = ["cards", f"measure={net}", "against=random", "games=200", "seed=4"]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    found = {figure.what: figure for figure in figures_of(load_checkpoint(net).card)}
    mine = found["against random"]
    assert str(mine) in said
    assert cli.main(mine.command.removeprefix("nardy-rl ").split()) == 0
    assert f"{mine.value:+.3f}" in capsys.readouterr().out

    page = tmp_path / "README.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    assert cli.main(["cards", f"folder={net.parent}", f"readme={page}"]) == 0
    assert "old" not in page.read_text()
    assert page.read_text().startswith(f"before\n{BEGIN}\n| net |")
    assert page.read_text().endswith(f"\n{END}\nafter\n")
    assert mine.command in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["measure=checkpoints/tavla"], "against is missing: it goes with measure"),
        (["against=pips"], "measure is missing: it goes with against"),
        (["ship=checkpoints/tavla", "to=x"], "weaknesses is missing"),
        (["readme=README.md", "seed=3"], "seed: does not go with folder"),
        (["folder=docs"], "folder: there is no net in docs"),
        (["measure=docs", "against=pips"], "measure: docs is no checkpoint's folder"),
        (["measure=checkpoints/tavla", "against=pipps"], "against: "),
        (["measure=checkpoints/tavla", "against=pips", "games=2"], "games: '2'"),
        (["measure=checkpoints/tavla", "against=pips", "to=x"], "to: does not go with"),
        (["ship=docs", "to=x", "weaknesses=none"], "ship: "),
        (["readme=LICENSE"], "readme: the lines"),
    ],
)
def test_what_the_verb_refuses(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.main(["cards", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_page_without_the_marks_is_left_alone() -> None:
    with pytest.raises(ConfigError, match="are to stand in it"):
        with_results(f"{END} {BEGIN}", "table")


def test_the_readme_shows_what_the_cards_say() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_results(readme, results_table(SHIPPED)) == readme, (
        "run `nardy-rl cards readme=README.md`"
    )


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_every_shipped_card_says_how_strong_how_made_and_how_weak(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    figures = figures_of(card)
    assert figures
    for one in figures:
        assert one.low <= one.value <= one.high
        assert one.low < one.high
        assert f"checkpoints/{folder.name}" in one.command
        assert re.match(r"\d+ cores, ", one.machine)
    assert len(card["weaknesses"]) > 20
    assert {"games", "seconds", "commit", "versions"} <= set(card)
    files = {file.name: file.stat().st_size for file in folder.iterdir()}
    assert set(files) == {"card.json", "config.yaml", "model.safetensors"}
    assert sum(files.values()) < 2_000_000

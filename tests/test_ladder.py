"""The ladder of a run: who is crowned, champions that cannot change, and exact resuming."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
    EventAccumulator,
)

from nardy_rl.arena import ladder as module
from nardy_rl.arena import play_match
from nardy_rl.arena.ladder import Ladder
from nardy_rl.arena.ratings import rate_counts
from nardy_rl.arena.rungs import Rungs
from nardy_rl.arena.standing import Champion, Met, Standing
from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer
from nardy_rl.rules import set_threads, variant
from nardy_rl.train import loop
from nardy_rl.train.checkpoint import load_trainer, newest_checkpoint
from nardy_rl.train.measuring import Measured, measuring_by
from nardy_rl.train.settings import TrainSettings

RULES = variant("hypergammon")
BATCH = 24
EVAL: dict[str, Any] = {
    "every_games": BATCH,
    "games": 64,
    "final_games": 0,
    "opponents": ["random"],
    "ladder": {"games": 256, "ppg": 0.3, "champions": 1, "share": 100.0},
}


def settings(games: int = 5 * BATCH, ladder: dict[str, Any] | None = None, **more: Any) -> Any:
    values = {
        "variant": {"name": "hypergammon"},
        "net": {"hidden": [8]},
        "seed": 3,
        "selfplay": {"games_per_batch": BATCH, "threads": 1},
        "targets": {"lam": 1.0},
        "learner": {"learning_rate": 0.03, "minibatch": 128},
        "budget": {"games": games},
        "checkpoint": {"every_seconds": 0.0, "every_games": BATCH},
        "eval": {**EVAL, "ladder": {**EVAL["ladder"], **(ladder or {})}},
    }
    return TrainSettings.from_dict({**values, **more})


@pytest.fixture(autouse=True)
def no_pictures_unless_wanted(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawing takes longer than all the games; one test looks at the pictures."""
    set_threads(1)
    if "pictures" not in request.node.name:
        monkeypatch.setattr(Rungs, "pictures", lambda *_: {})


def net(seed: int, sign: float = 1.0) -> ValueNet:
    generator = torch.Generator().manual_seed(seed)
    made = ValueNet(Encoding.of(RULES).size, (8,), RULES.outcomes, generator)
    with torch.no_grad():
        list(made.parameters())[-2].mul_(10.0 * sign)
    return made


@pytest.fixture(scope="module")
def weak_and_strong() -> tuple[ValueNet, ValueNet]:
    """Two nets of which the second beats the first by far: one plays for what the other shuns."""
    nets = [net(2), net(2, -1.0)]
    players = [NetPlayer(RULES, one) for one in nets]
    ppg = play_match(RULES, players[0], players[1], 400).ppg
    assert abs(ppg.value) > 0.3 + 3 * ppg.se
    return (nets[1], nets[0]) if ppg.value > 0 else (nets[0], nets[1])


def climb(ladder: Ladder, one: ValueNet, given: TrainSettings, trained: int) -> Measured:
    measured = ladder.measure(one, given, trained, False)
    return dataclasses.replace(measured, ladder=ladder.settle(one, measured))


def begun(folder: Path, given: TrainSettings, stored: dict[str, Any] | None = None) -> Ladder:
    ladder = Ladder(RULES, given.eval)
    ladder.begin(folder, stored or {})
    return ladder


def test_the_better_net_is_crowned_and_no_other(
    tmp_path: Path, weak_and_strong: tuple[ValueNet, ValueNet]
) -> None:
    weak, strong = weak_and_strong
    given = settings()
    ladder = begun(tmp_path, given)
    first = climb(ladder, weak, given, 100)
    assert first.champion
    assert first.said == ("the first champion, 000001",)
    assert "champion/ppg" not in first.figures
    again = climb(ladder, weak, given, 200)
    assert not again.champion
    assert again.figures["champion/ppg"] == 0.0, "a net against itself"
    better = climb(ladder, strong, given, 300)
    assert better.champion
    assert better.figures["champion/ppg_low"] > 0
    assert better.said[0].startswith("champion 000002, better than 000001: H1 (ppg 0.3, not 0)")
    worse = climb(ladder, weak, given, 400)
    assert not worse.champion
    assert worse.figures["champion/ppg"] < 0
    assert worse.figures["champions/000001/ppg"] == 0.0
    assert [one.name for one in Standing.from_dict(worse.ladder).champions] == ["000001", "000002"]
    for name, made in (("000001", weak), ("000002", strong)):
        model = torch.cat([p.flatten() for p in made.parameters()])
        loaded = module.load_checkpoint(tmp_path / "champions" / name).net
        assert torch.equal(torch.cat([p.flatten() for p in loaded.parameters()]), model)
        assert os.stat(tmp_path / "champions" / name / "model.safetensors").st_mode & 0o222 == 0
    # On one scale: the strong one above the weak one, who is twice there.
    assert better.figures["ladder/elo"] > worse.figures["ladder/elo"]
    assert [row[0] for row in Standing.from_dict(worse.ladder).course] == [100, 200, 300, 400]


def test_tests_throw_fresh_dice_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weak_and_strong: tuple[ValueNet, ValueNet]
) -> None:
    given, begins = settings(), []
    play_until = module.play_until

    def watched(*args: Any, **how: Any) -> Any:
        begins.append(how["first_pair"])
        return play_until(*args, **how)

    monkeypatch.setattr(module, "play_until", watched)
    ladder = begun(tmp_path, given)
    for trained in (100, 101, 102):
        climb(ladder, weak_and_strong[0], given, trained)
    assert np.diff(begins).tolist() == [1 << 18]


def test_measuring_keeps_to_its_share(
    tmp_path: Path, weak_and_strong: tuple[ValueNet, ValueNet]
) -> None:
    weak = weak_and_strong[0]
    given = settings(ladder={"share": 0.5})
    ladder = begun(tmp_path, given)
    spent = []
    for trained in range(200, 2001, 200):
        figures = climb(ladder, weak, given, trained).figures
        spent.append(figures["ladder/games"])
        assert spent[-1] <= max(0.5 * trained, 64 * len(spent))
    assert spent[-1] > 64 * len(spent) + 128, "the ladder has had games"
    before = spent[-1]
    final = ladder.measure(weak, dataclasses.replace(given, eval=dataclasses.replace(
        given.eval, final_games=100)), 2000, True)  # fmt: skip
    assert final.figures["ladder/games"] == before, "nothing left, and the last match is apart"
    nothing = settings(ladder={"share": 0.0})
    ladder = begun(tmp_path / "other", nothing)
    climb(ladder, weak, nothing, 1000)
    assert "champion/ppg" not in climb(ladder, weak, nothing, 2000).figures


def test_champions_that_changed_are_refused(
    tmp_path: Path, weak_and_strong: tuple[ValueNet, ValueNet]
) -> None:
    given = settings()
    ladder = begun(tmp_path, given)
    for trained, one in enumerate(weak_and_strong, 1):
        stored = climb(ladder, one, given, trained).ladder
    stored = json.loads(json.dumps(stored))
    first, second = (tmp_path / "champions" / name for name in ("000001", "000002"))
    begun(tmp_path, given, stored)
    aside = tmp_path / "aside"
    first.rename(aside)
    with pytest.raises(CheckpointError, match=r"champion 000001: .*no such folder.*; put it back"):
        begun(tmp_path, given, stored)
    shutil.copytree(second, first)  # a whole champion, but not that one
    with pytest.raises(CheckpointError, match=r"000001 holds another net than the one that was cr"):
        begun(tmp_path, given, stored)
    shutil.copy(aside / "card.json", tmp_path / "card.json")
    os.replace(tmp_path / "card.json", first / "card.json")
    with pytest.raises(CheckpointError, match=r"champion 000001: .*sha256.*eval.ladder.games=0"):
        begun(tmp_path, given, stored)
    # Without a ladder the run goes on, and still remembers.
    off = settings(ladder={"games": 0})
    ladder = begun(tmp_path, off, stored)
    assert climb(ladder, weak_and_strong[0], off, 100).ladder == stored


def test_champions_of_a_later_time_are_dropped(
    tmp_path: Path, weak_and_strong: tuple[ValueNet, ValueNet]
) -> None:
    given = settings()
    ladder = begun(tmp_path, given)
    stored = climb(ladder, weak_and_strong[0], given, 1).ladder
    later = climb(ladder, weak_and_strong[1], given, 2)
    (tmp_path / "champions" / "000003.tmp" / "games-000000003.tmp").mkdir(parents=True)
    ladder = begun(tmp_path, given, stored)
    assert [p.name for p in (tmp_path / "champions").iterdir()] == ["000001"]
    assert climb(ladder, weak_and_strong[1], given, 2) == later


EAGER = {"alpha": 0.45, "beta": 0.45, "ppg": 0.05}
"""Terms on which nets of a few games are crowned, whether better or not."""


def run(given: TrainSettings, folder: Path, **more: Any) -> loop.TrainResult:
    ladder = Ladder(RULES, given.eval)
    return loop.train(given, folder, evaluate=ladder, console=Console(file=io.StringIO()), **more)


def remembered(folder: Path) -> dict[str, Any]:
    """Champions, counters and weights; not how long it took."""
    newest = newest_checkpoint(folder)
    assert newest is not None
    counters = dict(load_trainer(newest).counters["counters"])
    del counters["seconds"], counters["measuring_seconds"]
    champions = {
        path.parent.name: path.read_bytes()
        for path in (folder / "champions").glob("*/model.safetensors")
    }
    return {"c": counters, "net": (newest / "model.safetensors").read_bytes(), **champions}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "unbroken"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rungs, "pictures", lambda *_: {})
        run(settings(ladder=EAGER), folder)
    assert len(remembered(folder)["c"]["ladder"]["champions"]) >= 2
    return folder


def test_a_run_in_parts_has_the_same_champions(tmp_path: Path, unbroken: Path) -> None:
    for games in (2 * BATCH, 3 * BATCH, 5 * BATCH):
        run(settings(games, EAGER), tmp_path, resume=games > 2 * BATCH)
    assert remembered(tmp_path) == remembered(unbroken)


def test_a_run_killed_after_a_crowning_comes_to_the_same(tmp_path: Path, unbroken: Path) -> None:
    run(
        settings(ladder=EAGER, checkpoint={"every_games": BATCH, "every_seconds": 0.0, "keep": 9}),
        tmp_path,
    )
    for games in range(2, 6):  # as if the last checkpoint was that of the first batch
        shutil.rmtree(tmp_path / "checkpoints" / f"games-{games * BATCH:09d}")
    assert len(list((tmp_path / "champions").iterdir())) >= 2
    run(settings(ladder=EAGER), tmp_path, resume=True)
    assert remembered(tmp_path) == remembered(unbroken)


def test_ctrl_c_in_a_test_leaves_no_trace(
    tmp_path: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            module, "play_until", lambda *_args, **_how: os.kill(os.getpid(), signal.SIGINT)
        )
        result = run(settings(ladder=EAGER), tmp_path)
    assert (result.stopped_by, result.games) == ("SIGINT", 2 * BATCH)
    assert [p.name for p in (tmp_path / "champions").iterdir()] == ["000001"]
    run(settings(ladder=EAGER), tmp_path, resume=True)
    assert remembered(tmp_path) == remembered(unbroken)


def test_a_resumed_run_refuses_a_champion_that_changed(tmp_path: Path, unbroken: Path) -> None:
    shutil.copytree(unbroken, tmp_path / "run")
    file = tmp_path / "run" / "champions" / "000001" / "model.safetensors"
    content = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(CheckpointError, match=r"champion 000001: .*sha256"):
        run(settings(6 * BATCH, EAGER), tmp_path / "run", resume=True)


def test_tensorboard_has_errors_ratings_and_pictures(tmp_path: Path) -> None:
    run(settings(3 * BATCH, EAGER), tmp_path)
    events = EventAccumulator(str(tmp_path), size_guidance={"scalars": 0, "images": 0})
    events.Reload()
    tags = set(events.Tags()["scalars"])
    for name in ("random/ppg", "random/win", "champion/ppg", "ladder/elo"):
        values = [[e.value for e in events.Scalars(f"arena/{name}{end}")] for end in ENDS]
        assert all(low <= value <= high for value, low, high in zip(*values, strict=True))
    assert {"arena/ladder/champions", "speed/measuring_share", "arena/champion/llr"} <= tags
    assert set(events.Tags()["images"]) == {"arena/ladder/crosstable", "arena/ladder/rating"}
    image = events.Images("arena/ladder/crosstable")[-1]
    assert image.encoded_image_string.startswith(b"\x89PNG")
    assert image.width > image.height > 100
    assert "custom_scalars__config__" in events.summary_metadata


ENDS = ("", "_low", "_high")


def test_rungs_are_rated_by_what_each_of_them_scored() -> None:
    one = Champion("000001", 10, "x", {"random": Met((1, 0, 4, 0, 15), 0.9, 0.1)})
    met = {"random": Met((0, 0, 2, 0, 18), 1.0, 0.1), "000001": Met((3, 1, 6, 0, 10), 0.2, 0.1)}
    rungs = Rungs(Standing(9, (one,)), ("random",), met)
    assert rungs.names == ["random", "000001", "net"]
    counts = {(0, 1): [15, 0, 4, 0, 1], (0, 2): [18, 0, 2, 0, 0], (1, 2): [10, 0, 6, 1, 3]}
    assert rungs.of_net[0] == pytest.approx(rate_counts(3, counts).elo[2])
    alone = Rungs(Standing(), (), {})
    assert (alone.names, alone.of_net) == (["net"], (0.0, 0.0, 0.0))
    apart = Rungs(Standing(9, (one,)), ("random",), {})
    assert np.isnan(apart.of_net).all()


def test_what_is_remembered_survives_json_and_damage_is_named() -> None:
    one = Champion("000001", 10, "x", {"random": Met((1, 0, 4, 0, 15), 0.9, 0.1)})
    standing = Standing(7, (one,), ((10.0, 1.0, 0.0, 2.0),))
    assert Standing.from_dict(json.loads(json.dumps(standing.to_dict()))) == standing
    assert Standing.from_dict({}) == Standing()
    damage: list[dict[str, Any]] = [
        {"champions": [{}]},
        {"champions": 1},
        {"spent": "x"},
        {"course": [3]},
    ]
    for damaged in damage:
        with pytest.raises(CheckpointError, match=r"trainer.json: counters.ladder: "):
            Standing.from_dict(damaged)


def test_a_plain_function_measures_and_keeps_what_is_remembered(tmp_path: Path) -> None:
    plain = measuring_by(lambda _net, games: {"pips/ppg": float(games)})
    plain.begin(tmp_path, {"spent": 3})
    measured = plain.measure(net(1), settings(), 5, False)
    assert measured.figures == {"pips/ppg": 64.0}
    assert plain.settle(net(1), measured) == {"spent": 3}
    ladder = Ladder(RULES, settings().eval)
    assert measuring_by(ladder) is ladder


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("games", -1),
        ("games", 200_001),
        ("games", 2.5),
        ("ppg", 0.0),
        ("ppg", "much"),
        ("alpha", 0.5),
        ("beta", 0.0),
        ("champions", -1),
        ("share", -0.1),
        ("share", float("nan")),
    ],
)
def test_terms_out_of_range_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"eval\.ladder\.{name}: .* is not allowed; allowed: "):
        settings(ladder={name: value})
    with pytest.raises(ConfigError, match=r"eval\.ladder\.gmaes: there is no such setting"):
        settings(ladder={"gmaes": 1})

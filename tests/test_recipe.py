"""A recipe: stages that end by a rule, go on where they stopped, and end in the same bits."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from nardy_rl import cli
from nardy_rl.cli.configs import compose
from nardy_rl.cli.settings import stages_from
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.train import loop, recipe
from nardy_rl.train.checkpoint import complete_checkpoints, load_checkpoint, newest_checkpoint
from nardy_rl.train.loop import TrainResult
from nardy_rl.train.measuring import measuring_by
from nardy_rl.train.recipe import Stage, read_recipe, run_recipe, staged
from nardy_rl.train.settings import TrainSettings

BATCH = 10
BASE: dict[str, Any] = {
    "variant": {"name": "long_nardy_2"},
    "seed": 7,
    "net": {"hidden": [6]},
    # `auto` would time float32 against bfloat16, and choose one way or the other.
    "selfplay": {"games_per_batch": BATCH, "threads": 1, "evaluator": "float32"},
    "budget": {"games": 2 * BATCH},
    "checkpoint": {"every_games": BATCH, "every_seconds": 0.0},
    "eval": {"every_games": 0, "final_games": 0},
}
STAGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("wins", {"selfplay": {**BASE["selfplay"], "aim": "wins"}}),
    ("grown", {"net": {"hidden": [9, 6]}, "selfplay": BASE["selfplay"]}),
    ("every_roll", {"net": {"hidden": [9, 9]}, "targets": {"every_roll": True}}),
    (
        "labels",
        {"net": {"hidden": [9, 9]}, "targets": {"every_roll": True, "plies": 2, "share": 0.3}},
    ),
)


def stages(**more: Any) -> tuple[Stage, ...]:
    return staged(
        [Stage(name, TrainSettings.from_dict({**BASE, **own, **more})) for name, own in STAGES]
    )


def run(given: tuple[Stage, ...], folder: Path, out: io.StringIO | None = None) -> TrainResult:
    console = Console(file=out or io.StringIO(), width=200)
    return run_recipe(given, folder, evaluate=lambda _: None, console=console)


def weights(folder: Path) -> dict[str, bytes]:
    """Of every stage's end, and what the recipe kept."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("model.safetensors"))
        if file.parent in (newest_checkpoint(file.parent.parent.parent), file.parent)
    }


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recipes") / "unbroken"
    run(stages(), folder)
    return folder


def test_each_stage_begins_with_the_net_of_the_one_before(unbroken: Path) -> None:
    kept = complete_checkpoints(unbroken / "checkpoints")
    assert [load_checkpoint(path).card["games"] for path in kept] == [20, 40, 60, 80]
    assert [load_checkpoint(path).card["stage"] for path in kept] == [name for name, _ in STAGES]
    assert [load_checkpoint(path).net.hidden for path in kept] == [(6,), (9, 6), (9, 9), (9, 9)]
    folders = sorted((unbroken / "stages").iterdir())
    assert [path.name for path in folders] == ["01-wins", "02-grown", "03-every_roll", "04-labels"]
    for before, after, net in zip(folders, folders[1:], kept[1:], strict=False):
        begun = load_checkpoint(net).config["net"]["warm_start"]
        assert Path(begun).resolve() == newest_checkpoint(before)
        newest = newest_checkpoint(after)
        assert newest is not None
        assert (newest / "model.safetensors").read_bytes() == (
            net / "model.safetensors"
        ).read_bytes()
    for folder in folders:
        done = json.loads((folder / "done.json").read_text())
        assert (done["games"], done["ended_by"]) == (20, "budget.games=20")
    seeds = [load_checkpoint(net).config["seed"] for net in kept]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("call", [2, 3, 6, 8])
def test_ctrl_c_in_any_stage_and_on_again_ends_in_the_same_bits(
    tmp_path: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    collect, calls = loop.collect, []

    def interrupted(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return collect(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "collect", interrupted)
        result = run(stages(), tmp_path)
    assert result.stopped_by == "SIGINT"
    read = read_recipe(tmp_path)
    assert read == stages()
    result = run(read, tmp_path)
    assert (result.games, result.stopped_by) == (80, None)
    assert result.checkpoint == newest_checkpoint(tmp_path)
    assert weights(tmp_path) == weights(unbroken)


@pytest.mark.parametrize("at", ["_keep", "_write"])
def test_the_end_of_a_stage_can_be_cut_off_anywhere(
    tmp_path: Path, unbroken: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    inner, calls = getattr(recipe, at), []

    def cut(*args: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise InterruptedError
        inner(*args)

    with monkeypatch.context() as patch:
        patch.setattr(recipe, at, cut)
        with pytest.raises(InterruptedError):
            run(stages(), tmp_path)
    run(stages(), tmp_path)
    assert weights(tmp_path) == weights(unbroken)


def test_kill_9_and_resume_end_in_the_same_bits(tmp_path: Path, unbroken: Path) -> None:
    program = "from tests.test_recipe import run, stages; import pathlib, sys; " + (
        "run(stages(), pathlib.Path(sys.argv[1]))"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "run")])
    second = tmp_path / "run" / "stages" / "02-grown" / "checkpoints"
    until = time.monotonic() + 120
    while not (second.is_dir() and any(second.glob("games-*"))):
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.005)
    process.kill()
    process.wait()
    run(stages(), tmp_path / "run")
    assert weights(tmp_path / "run") == weights(unbroken)


def test_a_stage_ends_where_the_ladder_stands_still(tmp_path: Path) -> None:
    given = stages(
        budget={"games": 100 * BATCH, "plateau": 3},
        eval={"every_games": BATCH, "games": 10, "final_games": 0},
    )[:2]
    still = measuring_by(lambda *_: {})  # crowns no net
    run_recipe(given, tmp_path, evaluate=lambda _: still, console=Console(file=io.StringIO()))
    for folder in (tmp_path / "stages").iterdir():
        done = json.loads((folder / "done.json").read_text())
        assert (done["games"], done["ended_by"]) == (3 * BATCH, "budget.plateau=3")


def test_minutes_are_those_of_all_stages(tmp_path: Path) -> None:
    given = stages(budget={"games": None, "minutes": 1e-9})
    result = run(given, tmp_path)
    assert result.games == len(STAGES) * BATCH  # a batch each


def test_a_complete_recipe_is_not_run_again(unbroken: Path) -> None:
    before = weights(unbroken)
    with pytest.raises(ConfigError, match="the run is complete: every stage"):
        run(stages(), unbroken)
    assert weights(unbroken) == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"stages": 3}', '{"stages": [{"name": "a"}]}'])
def test_a_damaged_recipe_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "recipe.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"recipe\.json: cannot be read"):
        read_recipe(tmp_path)


@pytest.mark.parametrize("content", ["", "null", '{"games": "many"}'])
def test_a_damaged_end_of_a_stage_is_refused(tmp_path: Path, content: str) -> None:
    run(stages()[:1], tmp_path)
    (tmp_path / "stages" / "01-wins" / "done.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"done\.json: cannot be read.*delete it to go on"):
        run(stages()[:1], tmp_path)
    (tmp_path / "stages" / "01-wins" / "done.json").unlink()
    run(stages()[:1], tmp_path)


@pytest.mark.parametrize("names", [[], ["a", "a"], ["../a"], [""], ["a b"]])
def test_names_that_are_no_words(names: list[str]) -> None:
    settings = TrainSettings.from_dict(BASE)
    with pytest.raises(ConfigError, match=r"recipe\.stages: "):
        staged([Stage(name, settings) for name in names])


TINY = [
    "train",
    "variant=long_nardy_2",
    "experiment=strong_wide",
    "recipe.scale=0.0001",
    "train.selfplay.games_per_batch=10",
    "eval.ladder.champions=0",
    "eval.every_games=0",
    "eval.final_games=10",
    "eval.opponents=[pips]",
]


def test_the_whole_recipe_runs_from_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main([*TINY, "run_dir=here"]) == 0
    out = capsys.readouterr().out
    assert "stage 1 of 6: wins" in out
    assert "stage 6 of 6: labels" in out
    newest = newest_checkpoint(Path("here"))
    assert newest is not None
    assert load_checkpoint(newest).net.hidden == (256,)
    stored = yaml.safe_load((newest / "config.yaml").read_text())
    assert stored["targets"]["plies"] == 2

    for words, message in (
        ([], "the run is complete: every stage of its recipe is done"),
        (["seed=3"], "seed: here is a run in stages, which keeps its settings; only"),
        (["recipe.scale=2"], "recipe.scale: here is a run in stages"),
        (["budget.games=900"], "budget.games: here is a run in stages"),
    ):
        assert cli.main(["train", "resume=here", *words]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["recipe.scale=0"], "recipe.scale: 0"),
        (["recipe.scale=nan"], "recipe.scale: nan"),
        (["recipe.scale=many"], "recipe.scale"),
        (["+recipe.stages.wins.nett.hidden=[3]"], "recipe.stages.wins"),
        (["+recipe.stages.wins.net.hiden=[3]"], "recipe.stages.wins.net.hiden"),
        (["recipe.stages.wins.budget.games=-1"], "recipe.stages.wins: budget.games: -1"),
        (["recipe.stages.wins.budget.games=many"], "recipe.stages.wins: budget.games: 'many'"),
        (["recipe.stages.wins.budget.games=inf"], "recipe.stages.wins: budget.games: inf"),
        (["recipe=steep"], "recipe"),
    ],
)
def test_stages_that_there_are_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "experiment=strong", *words]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("experiment", ["strong", "strong_wide"])
def test_scale_stretches_games_and_nothing_else(experiment: str) -> None:
    def composed(scale: float) -> list[dict[str, Any]]:
        config = compose([f"experiment={experiment}"])
        config["recipe"]["scale"] = scale
        return [stage.settings.to_dict() for stage in stages_from(config)]

    for one, half in zip(composed(1.0), composed(0.5), strict=True):
        for section, name in (
            ("budget", "games"),
            ("targets", "lam_games"),
            ("eval", "every_games"),
        ):
            assert half[section].pop(name) == one[section].pop(name) // 2
        assert half == one

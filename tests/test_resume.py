"""A run that is stopped, killed or split ends in the same bits as one that was left alone."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]
    EventAccumulator,
)

from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.train import gradient as gradient_module
from nardy_rl.train import loop
from nardy_rl.train.checkpoint import complete_checkpoints, load_trainer, newest_checkpoint
from nardy_rl.train.learner import Learner
from nardy_rl.train.loop import TrainResult
from nardy_rl.train.settings import TrainSettings

BATCH = 12
PLAIN: dict[str, Any] = {"net": {"hidden": [8]}}
EVERYTHING: dict[str, Any] = {
    "variant": {"name": "backgammon"},
    "net": {"hidden": [8, 6]},
    "selfplay": {"evaluator": "float32", "threads": 1},
    "targets": {"lam": 0.6},
    "learner": {
        "minibatch": 300,
        "epochs": 2,
        "ema": 0.9,
        "schedule": "cosine",
        "horizon_games": 4 * BATCH,
        "warmup_games": BATCH,
        "weight_decay": 0.01,
        "clip_norm": 0.05,
    },
}

EVERY_ROLL: dict[str, Any] = {
    "variant": {"name": "hypergammon"},
    "net": {"hidden": [8]},
    "targets": {"every_roll": True},
}


def settings(recipe: dict[str, Any] = PLAIN, games: int = 4 * BATCH, **more: Any) -> TrainSettings:
    values = {
        **recipe,
        "seed": 11,
        "selfplay": {"games_per_batch": BATCH, **recipe.get("selfplay", {})},
        "budget": {"games": games},
        "checkpoint": {"every_seconds": 0.0},
        "eval": {"every_games": 0, "final_games": 0},
    }
    return TrainSettings.from_dict({**values, **more})


def run(given: TrainSettings, folder: Path, **more: Any) -> TrainResult:
    return loop.train(given, folder, console=Console(file=io.StringIO()), **more)


def content(folder: Path) -> dict[str, Any]:
    """All that a checkpoint says of weights, optimizer and counters; not how long it took."""
    newest = newest_checkpoint(folder)
    assert newest is not None
    counters = dict(load_trainer(newest).counters["counters"])
    del counters["seconds"]
    tensors = {
        name: (newest / name).read_bytes() for name in ("model.safetensors", "trainer.safetensors")
    }
    return {**tensors, "counters": counters}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    events.Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
        if not tag.startswith("speed/")
    }


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "unbroken"
    run(settings(), folder)
    return folder


@pytest.mark.parametrize(
    "recipe", [PLAIN, EVERYTHING, EVERY_ROLL], ids=["plain", "everything", "every_roll"]
)
def test_twice_n_is_n_and_resume(tmp_path, recipe):
    whole = run(settings(recipe), tmp_path / "whole")
    half = run(settings(recipe, games=2 * BATCH), tmp_path / "parts")
    rest = run(settings(recipe), tmp_path / "parts", resume=True)
    assert (half.games, rest.games, whole.games) == (2 * BATCH, 4 * BATCH, 4 * BATCH)
    assert rest.positions == whole.positions
    assert content(tmp_path / "parts") == content(tmp_path / "whole")
    assert scalars(tmp_path / "parts") == scalars(tmp_path / "whole")


def test_a_longer_budget_leaves_the_schedule_as_it_was(tmp_path):
    falling: dict[str, Any] = {"net": {"hidden": [8]}, "learner": {"schedule": "linear"}}
    run(settings(falling, games=BATCH), tmp_path / "parts")
    out = io.StringIO()
    for games in (2 * BATCH, 3 * BATCH):  # the second time it is two budgets ago
        longer, console = settings(falling, games=games), Console(file=out)
        loop.train(longer, tmp_path / "parts", resume=True, console=console)
        assert f"still ends at {BATCH} games" in out.getvalue().replace("\n", " ")
    falling["learner"]["horizon_games"] = BATCH
    run(settings(falling, games=3 * BATCH), tmp_path / "whole")
    assert content(tmp_path / "parts") == content(tmp_path / "whole")
    assert scalars(tmp_path / "parts") == scalars(tmp_path / "whole")


def test_another_seed_is_another_run(tmp_path, unbroken):
    run(settings(seed=12), tmp_path)
    assert content(tmp_path)["model.safetensors"] != content(unbroken)["model.safetensors"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_playing_saves_and_returns(tmp_path, unbroken, monkeypatch, number):
    collect = loop.collect

    def interrupted(*args, **options):
        if options["first_game"] == 2 * BATCH:
            os.kill(os.getpid(), number)
        return collect(*args, **options)

    before = signal.getsignal(number)
    out = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(loop, "collect", interrupted)
        result = loop.train(settings(), tmp_path, console=Console(file=out, width=200))
    assert f"{2 * BATCH}/{4 * BATCH} games" in out.getvalue().splitlines()[-1]
    assert result.stopped_by == number.name
    assert result.games == 2 * BATCH
    assert signal.getsignal(number) is before
    run(settings(), tmp_path, resume=True)
    assert content(tmp_path) == content(unbroken)
    assert scalars(tmp_path) == scalars(unbroken)


def test_a_signal_while_learning_leaves_no_half_batch(tmp_path, monkeypatch):
    recipe = {**EVERYTHING, "learner": {**EVERYTHING["learner"], "minibatch": 64}}
    run(settings(recipe), tmp_path / "whole")
    learn, write, batches, calls = Learner.learn, gradient_module.encode_chosen, [], []

    def counted(*args, **options):
        batches.append(options["batch"])
        return learn(*args, **options)

    def interrupted(*args):
        if batches[-1] == 1:
            calls.append(1)
            if len(calls) == 3:  # some minibatches of the second batch are learned from already
                os.kill(os.getpid(), signal.SIGTERM)
        write(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "learn", counted)
        patch.setattr(gradient_module, "encode_chosen", interrupted)
        result = run(settings(recipe), tmp_path / "parts")
    assert result.stopped_by == "SIGTERM"
    assert len(calls) == 3
    assert result.games == BATCH
    run(settings(recipe), tmp_path / "parts", resume=True)
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_a_signal_while_measuring_measures_again_after_resume(tmp_path):
    wanted = settings(eval={"every_games": 2 * BATCH, "games": 10, "final_games": 20})
    asked: list[int] = []

    def interrupted(net, games):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
        return {}

    def evaluate(net, games):
        asked.append(games)
        return {"pips/ppg": 0.25}

    started = time.perf_counter()
    result = run(wanted, tmp_path, evaluate=interrupted)
    assert time.perf_counter() - started < 20
    assert (result.games, result.stopped_by, result.measured) == (2 * BATCH, "SIGINT", {})
    result = run(wanted, tmp_path, resume=True, evaluate=evaluate)
    assert asked == [10, 20]
    assert result.measured == {"pips/ppg": 0.25}
    run(wanted, tmp_path, resume=True, evaluate=evaluate)
    assert asked == [10, 20]
    assert [step for step, _ in scalars(tmp_path)["arena/pips/ppg"]] == [2 * BATCH, 4 * BATCH]


def test_the_second_signal_interrupts_at_once(tmp_path, monkeypatch):
    def twice(*_args, **_options):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)

    monkeypatch.setattr(loop, "collect", twice)
    with pytest.raises(KeyboardInterrupt):
        run(settings(), tmp_path)
    assert newest_checkpoint(tmp_path) is not None


SCRIPT = """
import sys
from nardy_rl.train.loop import train
from nardy_rl.train.settings import TrainSettings
import json
train(TrainSettings.from_dict(json.loads(sys.argv[1])), sys.argv[2])
"""


def test_kill_9_and_resume(tmp_path, unbroken):
    """Killed at any moment, the run goes on from its last checkpoint as if nothing had been."""
    wanted = settings(checkpoint={"every_games": BATCH, "every_seconds": 0.0})
    endless = wanted.to_dict() | {"budget": {"games": 10**9, "minutes": None}}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(endless), str(tmp_path)],
        stdout=subprocess.DEVNULL,
        cwd=Path(__file__).parents[1],
    )
    try:
        deadline = time.monotonic() + 300
        while (newest_checkpoint(tmp_path) or Path("games-0")).name < f"games-{2 * BATCH:09d}":
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    newest = newest_checkpoint(tmp_path)
    assert newest is not None
    games = int(newest.name.removeprefix("games-"))
    goal = max(4 * BATCH, games + BATCH)
    run(settings(games=goal), tmp_path, resume=True)
    other = unbroken
    if goal > 4 * BATCH:  # it was quicker than the test that watched it
        other = tmp_path / "other"
        run(settings(games=goal), other)
    assert content(tmp_path) == content(other)
    assert scalars(tmp_path) == scalars(other)


def test_events_after_the_checkpoint_are_replaced(tmp_path, unbroken):
    run(settings(checkpoint={"every_games": 2 * BATCH, "every_seconds": 0.0}), tmp_path)
    newest = newest_checkpoint(tmp_path)
    assert newest is not None
    shutil.rmtree(newest)  # as if killed just before it was complete
    run(settings(), tmp_path, resume=True)
    assert content(tmp_path) == content(unbroken)
    assert scalars(tmp_path) == scalars(unbroken)


def test_one_event_directory_with_hparams(unbroken):
    found = {path.parent for path in unbroken.rglob("events.out.tfevents*")}
    assert found == {unbroken}
    assert scalars(unbroken)["learn/loss"][-1][0] == 4 * BATCH
    events = EventAccumulator(str(unbroken))
    events.Reload()
    assert "games/value" in events.Tags()["histograms"]
    assert {"_hparams_/experiment", "_hparams_/session_start_info"} <= set(events.summary_metadata)


def test_a_run_is_not_overwritten(tmp_path, unbroken):
    before = complete_checkpoints(unbroken / "checkpoints")
    with pytest.raises(CheckpointError, match=r"holds a run already; resume it"):
        run(settings(), unbroken)
    assert complete_checkpoints(unbroken / "checkpoints") == before
    with pytest.raises(CheckpointError, match="there is no such run to resume"):
        run(settings(), tmp_path / "nowhere", resume=True)
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match="holds no checkpoint to resume from"):
        run(settings(), tmp_path / "empty", resume=True)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigError, match=r"run_dir: .*file cannot be written"):
        run(settings(), tmp_path / "file")


def test_two_processes_do_not_share_a_folder(tmp_path):
    def evaluate(_net, _games):
        with pytest.raises(CheckpointError, match="another process is training here"):
            run(settings(), tmp_path, resume=True)
        return {"met/ppg": 1.0}

    result = run(settings(eval={"every_games": BATCH}), tmp_path, evaluate=evaluate)
    assert result.measured == {"met/ppg": 1.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": {"lam": 0.5}}, r"targets\.lam: 0\.5, but .* was trained with 0\.0"),
        ({"seed": 3}, "seed: 3, but .* was trained with 11"),
        ({"net": {"hidden": [9]}}, r"net\.hidden: \[9\], but"),
        ({"variant": {"name": "backgammon"}}, r"variant\.name: 'backgammon', but"),
    ],
)
def test_a_resumed_run_keeps_its_settings(unbroken, change, message):
    before = content(unbroken)
    with pytest.raises(ConfigError, match=message):
        run(settings(**change), unbroken, resume=True)
    assert content(unbroken) == before


def test_what_may_change_in_a_resumed_run(tmp_path):
    run(settings(games=BATCH), tmp_path)
    changed = settings(
        games=2 * BATCH,
        name="other",
        eval={"every_games": 5},
        checkpoint={"keep": 5},
        selfplay={"games_per_batch": BATCH, "threads": 1},
    )
    assert run(changed, tmp_path, resume=True).games == 2 * BATCH


def test_damaged_trainer_is_refused(tmp_path):
    run(settings(games=BATCH), tmp_path)
    newest = newest_checkpoint(tmp_path)
    assert newest is not None
    file = newest / "trainer.json"
    file.write_text(file.read_text().replace('"games"', '"gamse"'))
    with pytest.raises(CheckpointError, match=r"trainer\.json: counters: .*gamse"):
        run(settings(), tmp_path, resume=True)


def test_budget_in_minutes_ends_the_run(tmp_path):
    wanted = settings(budget={"games": None, "minutes": 1e-9})
    result = run(wanted, tmp_path)
    assert result.games == BATCH
    assert result.stopped_by is None
    result = run(settings(budget={"games": None, "minutes": 0.005}), tmp_path, resume=True)
    assert result.games > BATCH
    assert result.games % BATCH == 0
    assert result.seconds >= 0.3


def test_warm_start_takes_the_weights(tmp_path, unbroken):
    wanted = settings(net={"hidden": [8], "warm_start": str(unbroken)}, budget={"games": 1})
    run(wanted, tmp_path / "warm")
    first = complete_checkpoints(tmp_path / "warm" / "checkpoints")[0]
    newest = newest_checkpoint(unbroken)
    assert newest is not None
    assert (first / "model.safetensors").read_bytes() == (newest / "model.safetensors").read_bytes()
    for change, message in (
        (
            {"net": {"hidden": [7], "warm_start": str(unbroken)}},
            r"hidden: \[7\], but .* has \[8\]; allowed: the same, or as many layers or more",
        ),
        (long_nardy_with(koks="none_home"), r"outcomes: \[-2, -1, 1, 2\], not \[-3"),
        (long_nardy_with(head_rule="free"), "input units: other ones"),
    ):
        with pytest.raises(ConfigError, match=message) as refused:
            run(TrainSettings.from_dict({**wanted.to_dict(), **change}), tmp_path / "no")
        assert "net.warm_start" in str(refused.value)


def long_nardy_with(**options: str) -> dict[str, Any]:
    return {"variant": {"name": "long_nardy", "options": options}}


def test_plain_lines_where_there_is_no_terminal(tmp_path):
    out = io.StringIO()
    wanted = settings(eval={"every_games": 2 * BATCH, "final_games": 0})
    loop.train(wanted, tmp_path, console=Console(file=out), evaluate=lambda *_: {"pips/ppg": 0.5})
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("12/48 games  ")
    assert "24 games: points a game against pips +0.500" in lines
    assert lines[-1].startswith("48/48 games  ")
    for part in ("games/s", "loss ", "pips +0.500", "0:00 left"):
        assert part in lines[-1]
    assert "\x1b" not in out.getvalue()


def test_live_line_on_a_terminal(tmp_path):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    loop.train(settings(), tmp_path, console=console)
    assert "\x1b[" in out.getvalue()
    assert "48/48 games" in out.getvalue()

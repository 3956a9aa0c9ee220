"""`nardy-rl train` for real, on a handful of games."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from nardy_rl import cli
from nardy_rl.errors import CheckpointError

TINY = ["debug=fast", "variant=hypergammon", "checkpoint.every_seconds=0"]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model(run: Path, games: int) -> bytes:
    """The stored weights of a run after so many games."""
    return (run / "checkpoints" / f"games-{games:09d}" / "model.safetensors").read_bytes()


def test_a_run_makes_its_own_folder_with_net_config_and_events(nowhere: Path) -> None:
    assert cli.main(["train", *TINY]) == 0
    (run,) = (nowhere / "runs" / "hypergammon").iterdir()
    assert run.name.endswith("-debug")
    assert [p.name for p in run.glob("events.out.tfevents.*")] != []
    checkpoint = run / "checkpoints" / "games-000000040"
    stored = yaml.safe_load((checkpoint / "config.yaml").read_text())
    assert stored["variant"]["options"]["koks"] == "backgammon"
    assert stored["net"]["hidden"] == [40]
    assert json.loads((checkpoint / "card.json").read_text())["variant"]["name"] == "hypergammon"
    assert (run / ".hydra" / "overrides.yaml").read_text().startswith("- debug=fast")


def test_twice_as_long_is_once_and_resumed_to_the_bit(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The schedule's length is said, else it is the budget's, which differs.
    tiny = [*TINY, "train.learner.horizon_games=80"]
    assert cli.main(["train", *tiny, "run_dir=whole", "budget.games=80"]) == 0
    assert cli.main(["train", *tiny, "run_dir=parts"]) == 0
    assert cli.main(["train", "resume=parts", "budget.games=80"]) == 0
    assert model(nowhere / "whole", 80) == model(nowhere / "parts", 80)
    capsys.readouterr()

    # What a resumed run cannot be told, each in one line, and it stays as it was.
    for words, expected in (
        (["net=h80"], "net: a resumed run keeps its net"),
        (["train.learner.learning_rate=0.1"], "train.learner.learning_rate: 0.1"),
        (["budget.gmaes=100"], "did you mean budget.games"),
        (["-m"], "resume continues one run"),
        ([], "budget.games=80 is used up"),
        (
            ["budget.games=500", "budget.minutes=1e-9"],
            "the run is complete: budget.minutes=1e-09 is used up; to go on give more",
        ),
    ):
        assert cli.main(["train", "resume=parts", *words]) == 2
        err = capsys.readouterr().err
        assert expected in err
        assert err.count("\n") == 1
    assert len(list((nowhere / "parts" / "checkpoints").iterdir())) == 2


def test_a_sweep_trains_every_job(nowhere: Path) -> None:
    assert cli.main(["train", "-m", *TINY, "seed=1,2"]) == 0
    (sweep,) = (nowhere / "runs" / "sweeps").iterdir()
    assert model(sweep / "0", 40) != model(sweep / "1", 40)


def test_a_net_of_another_shape_is_refused_before_a_folder_is_made(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", *TINY, "net.warm_start=nothing"]) == 2
    assert "nothing: there is no such folder" in capsys.readouterr().err
    assert list(nowhere.iterdir()) == []


def test_ctrl_c_saves_and_ends_well(nowhere: Path) -> None:
    words = [*TINY, "budget.games=10_000_000", "checkpoint.every_games=20", "run_dir=stopped"]
    command = [sys.executable, "-m", "nardy_rl", "train", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    saved = nowhere / "stopped" / "checkpoints"
    try:
        started = time.monotonic()
        while not any(saved.glob("games-*[1-9]*/card.json")):  # the first ones may wait to compile
            assert process.poll() is None
            assert time.monotonic() - started < 120
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()
    assert cli.main(["train", "resume=stopped", "budget.games=1"]) == 2  # nothing left to do


def test_a_job_that_fails_is_one_line(
    nowhere: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        assert len(list(nowhere.rglob(".lock"))) == 1
        raise CheckpointError("x/checkpoints: cannot save the checkpoint: No space left on device")

    monkeypatch.setattr("nardy_rl.train.loop.train", full)
    for words in ([], ["-m", "seed=1,2"]):
        assert cli.main(["train", *TINY, *words]) == 2
        err = capsys.readouterr().err
        assert err.startswith("error: x/checkpoints: cannot save")
        assert err.count("\n") == 1
        # Nothing was begun, so nothing stands in the way of the next try.
        assert not [path for path in nowhere.rglob("*") if path.is_file()]


def test_a_damaged_newest_checkpoint_is_no_dead_end(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", *TINY, "run_dir=run", "checkpoint.every_games=20"]) == 0
    folder = Path("run/checkpoints/games-000000040")
    assert (nowhere / folder.parent / "games-000000020").is_dir()
    for name in ("model.safetensors", "trainer.safetensors", "card.json"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-9])
        capsys.readouterr()
        assert cli.main(["train", "resume=run"]) == 2
        assert f"delete or move {folder} and resume again" in capsys.readouterr().err
    assert cli.main(["train", "resume=run/checkpoints/games-000000020"]) == 2
    assert f"goes on from {folder}" in capsys.readouterr().err
    folder.rename(nowhere / "away")
    assert cli.main(["train", "resume=run"]) == 0
    assert folder.is_dir()

"""Checkpoints: exact round trips, one clear line for every kind of damage, and sudden death."""

import errno
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import safetensors.torch
import torch

from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError
from nardy_rl.net import ValueNet
from nardy_rl.rules import variant
from nardy_rl.train import checkpoint as checkpoint_module
from nardy_rl.train.checkpoint import (
    TrainerState,
    complete_checkpoints,
    load_checkpoint,
    load_trainer,
    newest_checkpoint,
    prune,
    save_checkpoint,
)

RULES = variant("long_nardy", head_rule="strict")


def new_net(seed: int = 0) -> ValueNet:
    generator = torch.Generator().manual_seed(seed)
    return ValueNet(Encoding.of(RULES).size, (6,), RULES.outcomes, generator)


def save(parent: Path, games: int = 100, net: ValueNet | None = None, trainer: bool = True) -> Path:
    state = TrainerState({"step": torch.tensor(3.0)}, {"counters": {"games": games}})
    return save_checkpoint(
        parent,
        net=net or new_net(games),
        rules=RULES,
        config={"seed": 4, "net": {"hidden": [6]}},
        card={"measured": {"pips/ppg": 0.5}},
        trainer=state if trainer else None,
        games=games,
    )


def test_round_trip(tmp_path):
    folder = save(tmp_path)
    assert sorted(entry.name for entry in folder.iterdir()) == [
        "card.json",
        "config.yaml",
        "model.safetensors",
        "trainer.json",
        "trainer.safetensors",
    ]
    loaded = load_checkpoint(folder)
    assert loaded.path == folder
    assert loaded.rules == RULES
    assert loaded.config == {"seed": 4, "net": {"hidden": [6]}}
    assert loaded.card["games"] == 100
    assert loaded.card["measured"] == {"pips/ppg": 0.5}
    for ours, theirs in zip(new_net(100).parameters(), loaded.net.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    trainer = load_trainer(folder)
    assert trainer.counters["counters"] == {"games": 100}
    assert torch.equal(trainer.tensors["step"], torch.tensor(3.0))


def test_same_content_gives_the_same_bytes(tmp_path):
    one, other = save(tmp_path / "a"), save(tmp_path / "b")
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()


def test_a_run_folder_gives_its_newest(tmp_path):
    for games in (5, 90, 1000):
        save(tmp_path / "checkpoints", games)
    again = save(tmp_path / "checkpoints", 1000)
    assert again.name == "games-000001000-2"
    (tmp_path / "checkpoints" / "games-000009999.tmp").mkdir()
    assert newest_checkpoint(tmp_path) == again
    assert load_checkpoint(tmp_path).path == again


def test_prune_keeps_the_newest_and_clears_what_was_left(tmp_path):
    folders = [save(tmp_path, games) for games in (5, 90, 1000)]
    (tmp_path / "games-000002000.tmp").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    prune(tmp_path, keep=2)
    assert complete_checkpoints(tmp_path) == folders[1:]
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "notes.txt",
        *(folder.name for folder in folders[1:]),
    }


def test_a_net_alone_cannot_be_resumed(tmp_path):
    folder = save(tmp_path, trainer=False)
    assert load_checkpoint(folder).card["games"] == 100
    with pytest.raises(CheckpointError, match=r"no trainer\.json.*net\.warm_start="):
        load_trainer(folder)


def card_with(**changes):
    def damage(folder):
        card = json.loads((folder / "card.json").read_text())
        card.update(changes)
        (folder / "card.json").write_text(json.dumps(card))

    return damage


def model_with(**changes):
    """Other tensors, with the hash that belongs to them."""

    def damage(folder):
        tensors = safetensors.torch.load_file(folder / "model.safetensors")
        tensors.update({name.replace("__", "."): value for name, value in changes.items()})
        content = safetensors.torch.save({k: v for k, v in tensors.items() if v is not None})
        (folder / "model.safetensors").write_bytes(content)
        digest = checkpoint_module.hashlib.sha256(content).hexdigest()
        card_with(sha256={"model.safetensors": digest})(folder)

    return damage


def written(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def truncated(name, keep):
    def damage(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * keep)])

    return damage


def flipped(folder):
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-3] ^= 1
    (folder / "model.safetensors").write_bytes(content)


def missing(name):
    return lambda folder: (folder / name).unlink()


NAN = torch.full((6,), float("nan"))
DAMAGE = [
    (missing("model.safetensors"), "model.safetensors: No such file"),
    (missing("config.yaml"), "config.yaml: No such file"),
    (truncated("model.safetensors", 0.5), "model.safetensors: truncated"),
    (truncated("model.safetensors", 0.0), "model.safetensors: truncated"),
    (truncated("card.json", 0.5), "card.json: not JSON"),
    (written("card.json", b"\xff\xfe\x00"), "card.json: not JSON"),
    (written("card.json", b"[]"), "card.json: not a JSON object"),
    (written("card.json", b"{}"), "card.json: checkpoint_format: None, expected int"),
    (written("config.yaml", b"a: [1"), "config.yaml: not YAML"),
    (written("config.yaml", b"!!python/object/apply:os.getcwd []"), "config.yaml: not YAML"),
    (written("config.yaml", b"7"), "config.yaml: not a mapping"),
    (written("model.safetensors", b"\x80\x04K\x01." * 40), "model.safetensors: truncated or no"),
    (flipped, "model.safetensors: sha256: not the recorded one"),
    (card_with(checkpoint_format=99), "card.json: checkpoint_format: 99, but this version reads"),
    (card_with(rules_version=0), "card.json: rules_version: 0, but this version reads"),
    (card_with(encoder_version=7), "card.json: encoder_version: 7, but this version reads"),
    (card_with(encoder_version=True), "card.json: encoder_version: True, expected int"),
    (card_with(variant={"name": "chess", "options": {}}), "card.json: variant: unknown variant"),
    (card_with(variant={"name": "long_nardy", "options": {"cube": "dave"}}), "variant: long_nardy"),
    (card_with(variant=3), "card.json: variant: 3, expected dict"),
    (card_with(outcomes=[-1, 1]), "card.json: outcomes: [-1, 1], but long_nardy ends in"),
    (card_with(inputs=5), "card.json: inputs: 5, but long_nardy is encoded in 194 units"),
    (card_with(hidden=[7]), "layers.0.bias: torch.float32 [6], expected torch.float32 [7]"),
    (card_with(hidden=[65536] * 30), "layers.0.bias: torch.float32 [6], expected torch.float32"),
    (card_with(hidden=[0]), "card.json: hidden: [0], expected whole numbers"),
    (card_with(hidden=[]), "layers.0.bias: torch.float32 [6], expected torch.float32 [4]"),
    (model_with(layers__0__weight=torch.zeros(6, 9)), "layers.0.weight: torch.float32 [6, 9]"),
    (card_with(sha256={}), "model.safetensors: sha256: not the recorded one"),
    (model_with(layers__0__bias=NAN), "model.safetensors: layers.0.bias: not all finite"),
    (model_with(layers__0__bias=None), "model.safetensors: layers.0.bias: missing"),
    (model_with(layers__9__bias=NAN), "model.safetensors: layers.9.bias: not of the net"),
    (model_with(layers__0__bias=torch.zeros(6, dtype=torch.float16)), "torch.float16 [6]"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGE)
def test_damage_is_one_clear_line(tmp_path, damage, message):
    folder = save(tmp_path)
    damage(folder)
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder)
    text = str(caught.value)
    assert message in text
    assert str(folder) in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncated("trainer.safetensors", 0.9), "trainer.safetensors: truncated"),
        (missing("trainer.safetensors"), "trainer.safetensors: No such file"),
        (written("trainer.json", b"{}"), "trainer.json: sha256: None, expected dict"),
        (written("trainer.json", b"nonsense"), "trainer.json: not JSON"),
    ],
)
def test_damaged_trainer_is_one_clear_line(tmp_path, damage, message):
    folder = save(tmp_path)
    damage(folder)
    with pytest.raises(CheckpointError, match=message):
        load_trainer(folder)


def test_paths_that_are_no_checkpoint(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CheckpointError, match="there is no such folder"):
        load_checkpoint(tmp_path / "nowhere")
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(CheckpointError, match="neither a checkpoint"):
            load_checkpoint(path)


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    net = new_net()
    with torch.no_grad():
        net.layers[0].bias[0] = float("inf")  # type: ignore[index, operator]
    with pytest.raises(CheckpointError, match=r"layers\.0\.bias: not all finite"):
        save(tmp_path, net=net)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing", ["card.json", "model.safetensors", "trainer.json"])
def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch, failing):
    old = save(tmp_path, 100)
    write = checkpoint_module._write_file

    def full(path, content):
        if path.name == failing:
            write(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, content)

    monkeypatch.setattr(checkpoint_module, "_write_file", full)
    with pytest.raises(CheckpointError) as caught:
        save(tmp_path, 200)
    assert "No space left on device" in str(caught.value)
    assert f"{old} is intact" in str(caught.value)
    assert list(tmp_path.iterdir()) == [old]
    assert load_checkpoint(old).card["games"] == 100


def test_a_really_full_disk(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        saved: list[Path] = []

        def fill() -> None:
            for games in range(100, 2000, 100):
                saved.append(save(small, games))

        with pytest.raises(CheckpointError, match=r"No space left on device.*is intact") as caught:
            fill()
        assert saved
        assert str(saved[-1]) in str(caught.value)
        assert complete_checkpoints(small) == saved
        assert load_checkpoint(saved[-1]).card["games"] == 100 * len(saved)
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_kill_9_while_saving_loses_no_complete_checkpoint(tmp_path):
    """A process that does nothing but save is killed at fifteen different moments."""
    for attempt in range(15):
        parent = tmp_path / str(attempt)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                for games in range(1, 100_000):
                    save(parent, games)
                    prune(parent, keep=1)
                    os.write(writer, games.to_bytes(4, "little"))
            finally:
                os._exit(1)
        os.close(writer)
        first = os.read(reader, 4)
        time.sleep(0.0017 * attempt)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        told = first
        while more := os.read(reader, 4):
            told = more
        os.close(reader)
        newest = complete_checkpoints(parent)[-1]
        assert load_checkpoint(newest).card["games"] >= int.from_bytes(told, "little")
        load_trainer(newest)
        prune(parent, keep=1)
        assert list(parent.iterdir()) == [newest]
        shutil.rmtree(parent)


@pytest.mark.parametrize("name", ["config.yaml", "model.safetensors"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    folder = save(tmp_path)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(CheckpointError, match=f"{name}: not a regular file"):
        load_checkpoint(folder)

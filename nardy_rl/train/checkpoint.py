"""A checkpoint is a folder, complete or not there at all.

    card.json            what the net is: variant, versions, shape, how it was made and measured
    config.yaml          the settings of the run
    model.safetensors    the weights to play with
    trainer.safetensors  what a run needs to go on: weights, Adam's moments, averages
    trainer.json         and its counters

The last two are absent from a net that was only passed on. A folder is written under a temporary
name, every file flushed to the disk, and renamed as the last act; nothing is ever overwritten.
Loading runs no code from the files, and checks each thing that the card says.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import shutil
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import safetensors.torch
import torch
import yaml  # type: ignore[import-untyped]
from safetensors import SafetensorError
from torch import Tensor

from nardy_rl.encoding import ENCODER_VERSION, Encoding
from nardy_rl.errors import CheckpointError, ConfigError, regular
from nardy_rl.net import ValueNet
from nardy_rl.rules.record import RULES_VERSION, Rules, variant

CHECKPOINT_FORMAT = 1
"""Changes when an older checkpoint can no longer be read. 1: the first."""

FOLDER = "checkpoints"
_NAME = re.compile(r"games-(\d+)(?:-(\d+))?")
_UNFINISHED = ".tmp"


@dataclass(frozen=True)
class Checkpoint:
    """A net that was read and checked: the folder, the game, what it says of itself, its config."""

    path: Path
    net: ValueNet
    rules: Rules
    card: dict[str, Any]
    config: dict[str, Any]


@dataclass(frozen=True)
class TrainerState:
    """What a run goes on from: the learner's tensors and the run's counters."""

    tensors: dict[str, Tensor]
    counters: dict[str, Any]


def save_checkpoint(
    parent: Path,
    *,
    net: ValueNet,
    rules: Rules,
    config: Mapping[str, Any],
    card: Mapping[str, Any],
    trainer: TrainerState | None = None,
    games: int = 0,
) -> Path:
    """Write a complete new folder `games-N` into `parent`.

    Args:
        parent: where checkpoints of the run lie; made if it is not there.
        net: what plays.
        rules: of its game.
        config: plain nested settings.
        card: what to say of it besides what follows from `net` and `rules`.
        trainer: to go on from.
        games: gives the folder its name, with a count after it where the name is taken.

    Raises:
        CheckpointError: the disk is full or will not take it, or a weight is not finite. Every
            older checkpoint is as it was.
    """
    tensors = {name: value.detach().contiguous() for name, value in net.state_dict().items()}
    _check_finite(tensors, f"checkpoint of {games} games")
    model = safetensors.torch.save(tensors)
    encoding = Encoding.of(rules)
    identity = {
        "checkpoint_format": CHECKPOINT_FORMAT,
        "rules_version": RULES_VERSION,
        "encoder_version": ENCODER_VERSION,
        "variant": {"name": rules.name, "options": {o.name: o.value for o in rules.options()}},
        "outcomes": list(net.outcomes),
        "inputs": encoding.size,
        "hidden": list(net.hidden),
        "games": games,
        "sha256": {"model.safetensors": hashlib.sha256(model).hexdigest()},
    }
    files = {
        "model.safetensors": model,
        "config.yaml": yaml.safe_dump(dict(config), sort_keys=False).encode(),
    }
    if trainer is not None:
        files["trainer.safetensors"] = safetensors.torch.save(trainer.tensors)
        sha256 = hashlib.sha256(files["trainer.safetensors"]).hexdigest()
        counters = {**trainer.counters, "sha256": {"trainer.safetensors": sha256}}
        files["trainer.json"] = _json(counters)
    files["card.json"] = _json({**identity, **card})
    name, count = f"games-{games:09d}", 1
    while (parent / name).exists():
        count += 1
        name = f"games-{games:09d}-{count}"
    _write_folder(parent / name, files)
    return parent / name


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a net from a checkpoint folder, or the newest one from the folder of a run.

    Raises:
        CheckpointError: one line that names the file, what is wrong with it and what to do.
    """
    folder = checkpoint_at(Path(path))
    card = _read_json(folder / "card.json")
    _check_version(folder, card, "checkpoint_format", CHECKPOINT_FORMAT)
    _check_version(folder, card, "rules_version", RULES_VERSION)
    _check_version(folder, card, "encoder_version", ENCODER_VERSION)
    where = folder / "card.json"
    named = _field(where, card, "variant", dict)
    name, options = _field(where, named, "name", str), _field(where, named, "options", dict)
    try:
        rules = variant(name, **options)
    except (ConfigError, TypeError) as error:
        _refuse(where, "variant", str(error))
    outcomes = _whole_numbers(where, card, "outcomes", lowest=-99)
    if outcomes != rules.outcomes:
        _refuse(where, "outcomes", f"{list(outcomes)}, but {name} ends in {list(rules.outcomes)}")
    encoding = Encoding.of(rules)
    inputs = _field(where, card, "inputs", int)
    if inputs != encoding.size:
        _refuse(where, "inputs", f"{inputs}, but {name} is encoded in {encoding.size} units")
    hidden = _whole_numbers(where, card, "hidden", lowest=1)
    file = folder / "model.safetensors"
    tensors = _read_tensors(file, _field(where, card, "sha256", dict).get(file.name))
    # Before the net is made: a card can claim one that no memory would hold.
    _check_tensors(file, tensors, _shapes((encoding.size, *hidden, len(rules.outcomes))))
    net = ValueNet(encoding.size, hidden, rules.outcomes)
    net.load_state_dict(tensors)
    return Checkpoint(folder, net, rules, card, _read_config(folder / "config.yaml"))


def load_trainer(folder: Path) -> TrainerState:
    """What a run goes on from, of a checkpoint folder.

    Raises:
        CheckpointError: it holds only a net, or a file is damaged.
    """
    if not (folder / "trainer.json").is_file():
        raise CheckpointError(
            f"{folder}: holds a net but no trainer.json, so no run can go on from it; "
            f"begin a new run with net.warm_start={folder}"
        )
    counters = _read_json(folder / "trainer.json")
    file = folder / "trainer.safetensors"
    sha256 = _field(folder / "trainer.json", counters, "sha256", dict).get(file.name)
    tensors = _read_tensors(file, sha256)
    _check_finite(tensors, str(file))
    return TrainerState(tensors, counters)


def load_newest(run: Path) -> tuple[Checkpoint, TrainerState]:
    """The newest checkpoint of a run, to go on from.

    Raises:
        CheckpointError: there is none, or it is damaged; says how to go on from an older one.
    """
    folders = complete_checkpoints(run / FOLDER)
    if not folders:
        raise CheckpointError(f"{run}: holds no checkpoint to resume from; begin a new run")
    try:
        return load_checkpoint(folders[-1]), load_trainer(folders[-1])
    except CheckpointError as error:
        for index in reversed(range(len(folders) - 1)):
            try:
                load_checkpoint(folders[index])
                load_trainer(folders[index])
            except CheckpointError:
                continue
            newer = " and ".join(str(folder) for folder in folders[index + 1 :])
            raise CheckpointError(
                f"{error}; to go on from {folders[index].name}, "
                f"delete or move {newer} and resume again"
            ) from error
        raise


def newest_checkpoint(run: Path) -> Path | None:
    """The newest complete checkpoint folder of a run, or None."""
    found = complete_checkpoints(run / FOLDER)
    return found[-1] if found else None


def complete_checkpoints(parent: Path) -> list[Path]:
    """Every complete checkpoint folder in `parent`, oldest first."""
    if not parent.is_dir():
        return []
    named = [(_NAME.fullmatch(entry.name), entry) for entry in parent.iterdir() if entry.is_dir()]
    found = [(int(m[1]), int(m[2] or 1), entry) for m, entry in named if m]
    return [entry for _, _, entry in sorted(found)]


def prune(parent: Path, keep: int) -> None:
    """Delete what an interrupted save left behind, and all but the `keep` newest checkpoints."""
    for entry in parent.iterdir():
        if entry.name.endswith(_UNFINISHED):
            shutil.rmtree(entry, ignore_errors=True)
    for folder in complete_checkpoints(parent)[:-keep]:
        # Renamed first: a half-deleted folder must not look like a checkpoint.
        doomed = folder.with_name(folder.name + _UNFINISHED)
        folder.rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    unfinished = folder.with_name(folder.name + _UNFINISHED)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if unfinished.exists():
            shutil.rmtree(unfinished)
        unfinished.mkdir()
        for name, content in files.items():
            _write_file(unfinished / name, content)
        _flush_folder(unfinished)
        unfinished.rename(folder)
        _flush_folder(folder.parent)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        older = complete_checkpoints(folder.parent)
        kept = f"{older[-1]} is intact" if older else "there is no older one"
        raise CheckpointError(
            f"{folder}: cannot save the checkpoint: {error.strerror or error}; {kept}; "
            "make room or mend the path, then resume"
        ) from error


def _write_file(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def checkpoint_at(path: Path) -> Path:
    """The checkpoint folder that `path` is, or the newest one of the run that it is."""
    if not path.exists():
        raise CheckpointError(f"{path}: there is no such folder; a checkpoint or a run is expected")
    if (path / "card.json").is_file():
        return path
    newest = newest_checkpoint(path) if path.is_dir() else None
    if newest is None:
        raise CheckpointError(
            f"{path}: neither a checkpoint (no card.json) nor a run "
            f"(no {FOLDER}/games-N); name a folder that `nardy-rl train` wrote"
        )
    return newest


def _refuse(file: Path, field: str, problem: str) -> NoReturn:
    raise CheckpointError(f"{file}: {field}: {problem}")


def _read_bytes(file: Path) -> bytes:
    try:
        return regular(file).read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{file}: {error.strerror or error}; the checkpoint is incomplete, take another"
        ) from error


def _read_json(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(_read_bytes(file))
    except ValueError as error:  # not JSON, or not UTF-8
        raise CheckpointError(f"{file}: not JSON ({error}); take another checkpoint") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{file}: not a JSON object; take another checkpoint")
    return value


def _read_config(file: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(_read_bytes(file))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        raise CheckpointError(f"{file}: not YAML ({text}); take another checkpoint") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{file}: not a mapping of settings; take another checkpoint")
    return value


def _field(file: Path, values: Mapping[str, Any], name: str, kind: type) -> Any:
    value = values.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        _refuse(file, name, f"{value!r}, expected {kind.__name__}; the file is not of this program")
    return value


def _whole_numbers(
    file: Path, values: Mapping[str, Any], name: str, lowest: int
) -> tuple[int, ...]:
    numbers = _field(file, values, name, list)
    if not all(isinstance(n, int) and lowest <= n <= 65536 for n in numbers):
        _refuse(file, name, f"{numbers!r}, expected whole numbers from {lowest} to 65536")
    return tuple(numbers)


def _check_version(folder: Path, card: Mapping[str, Any], name: str, ours: int) -> None:
    theirs = _field(folder / "card.json", card, name, int)
    if theirs != ours:
        advice = "train again, or use the" if theirs < ours else "use the newer"
        _refuse(
            folder / "card.json",
            name,
            f"{theirs}, but this version reads {ours}; {advice} nardy_rl that wrote it",
        )


def _read_tensors(file: Path, sha256: str | None) -> dict[str, Tensor]:
    content = _read_bytes(file)
    try:
        tensors = safetensors.torch.load(content)
    except (SafetensorError, ValueError, KeyError, struct.error) as error:
        raise CheckpointError(
            f"{file}: truncated or no safetensors file ({error}); take another checkpoint"
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        _refuse(file, "sha256", "not the recorded one; the file was changed or swapped, "
                "take another checkpoint")  # fmt: skip
    return tensors


def _shapes(sizes: Sequence[int]) -> dict[str, list[int]]:
    """The shape of each tensor of a `ValueNet` with these layers."""
    shapes = {}
    for index, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
        shapes[f"layers.{2 * index}.weight"] = [fan_out, fan_in]
        shapes[f"layers.{2 * index}.bias"] = [fan_out]
    return shapes


def _check_tensors(
    file: Path, tensors: Mapping[str, Tensor], expected: Mapping[str, list[int]]
) -> None:
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors or name not in expected:
            problem = "missing" if name in expected else "not of the net in card.json"
            _refuse(file, name, f"{problem}; take another checkpoint")
        theirs, ours = tensors[name], expected[name]
        if list(theirs.shape) != ours or theirs.dtype != torch.float32:
            _refuse(
                file,
                name,
                f"{theirs.dtype} {list(theirs.shape)}, expected {torch.float32} {ours} "
                "from card.json; take another checkpoint",
            )
    _check_finite(tensors, str(file))


def _check_finite(tensors: Mapping[str, Tensor], where: str) -> None:
    for name, tensor in tensors.items():
        if not math.isfinite(float(tensor.abs().sum(dtype=torch.float64))):
            raise CheckpointError(f"{where}: {name}: not all finite; take an older checkpoint")

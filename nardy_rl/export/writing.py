"""Writing an export: whole or not at all, and nothing overwritten unasked."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch

from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export.card import card_text
from nardy_rl.export.identity import as_texts, identity_of
from nardy_rl.export.module import module_bytes, verify_module
from nardy_rl.export.onnx import onnx_bytes, verify_onnx, weights_of
from nardy_rl.export.table import description
from nardy_rl.train.checkpoint import Checkpoint

FORMATS = ("onnx", "safetensors", "npz", "js")
"""Formats by name, which is also how their files end."""


def export(
    checkpoint: Checkpoint, out: str | Path, format: str | None = None, *, overwrite: bool = False
) -> tuple[Path, Path, Path]:
    """Write a checkpoint's net to the file `out`, and beside it `out`.json and `out`.md.

    The JSON file holds the encoding as a table, the outcome support, a test vector and the card;
    the Markdown file says the same to people. Each file is written under a temporary name,
    flushed to the disk and renamed, the weights last. An ONNX file, and a JavaScript module where
    there is node, is read back and compared with torch before it gets its name: one that differs
    is deleted.

    Args:
        checkpoint: from `load_checkpoint`.
        out: ends in the format's name.
        format: one of `FORMATS`; by default what `out` ends in.
        overwrite: whether files that are there may be replaced.

    Returns:
        The three paths, the weights first.

    Raises:
        ConfigError: an unknown format, a path that does not fit it, a file that is there already,
            or a package that the format needs is missing.
        CheckpointError: the file cannot be written, or does not compute what torch computes.
    """
    path = Path(out)
    kind = _format_of(path, format)
    table, page = path.with_name(path.name + ".json"), path.with_name(path.name + ".md")
    if not overwrite:
        for file in (path, table, page):
            if file.exists():
                raise ConfigError(f"{file} is there already; name another, or overwrite=true")
    content = _content(checkpoint, kind, path.name)
    told = description(checkpoint, path.name, hashlib.sha256(content).hexdigest())
    files = {
        table: (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode(),
        page: card_text(checkpoint, path.name).encode(),
        path: content,
    }

    def check(written: Path) -> None:
        if kind == "onnx":
            verify_onnx(written.read_bytes(), checkpoint.net, checkpoint.rules, str(path))
        if kind == "js":
            verify_module(written.read_bytes(), checkpoint, str(path))

    _write(files, check)
    return path, table, page


def _format_of(path: Path, format: str | None) -> str:
    ending = path.suffix.removeprefix(".")
    ending = "js" if ending == "mjs" else ending  # node reads .js as a module only if told so
    kind = ending if format is None else format
    if kind not in FORMATS:
        named = f"format={kind!r}" if format is not None else f"out={path}: its ending"
        raise ConfigError(f"{named} is not allowed; choose from {', '.join(FORMATS)}")
    if ending != kind:
        raise ConfigError(f"out={path} does not end in .{kind}, the format asked for")
    return kind


def _content(checkpoint: Checkpoint, kind: str, name: str) -> bytes:
    if kind == "onnx":
        return onnx_bytes(checkpoint)
    if kind == "js":
        return module_bytes(checkpoint, name)
    if kind == "safetensors":
        tensors = {name: value.contiguous() for name, value in checkpoint.net.state_dict().items()}
        return safetensors.torch.save(tensors, as_texts(identity_of(checkpoint)))
    # Texts as arrays of one string each: nothing in the file needs pickle.
    texts = {name: np.array(text) for name, text in as_texts(identity_of(checkpoint)).items()}
    arrays: dict[str, Any] = {**weights_of(checkpoint.net), **texts}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _write(files: Mapping[Path, bytes], check: Callable[[Path], None]) -> None:
    """Write all files or none: under temporary names, then `check` the last, then rename."""
    unfinished = {path: path.with_name(path.name + ".tmp") for path in files}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(unfinished[path], "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        check(unfinished[path])
        for path, temporary in unfinished.items():
            temporary.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be written: {error.strerror or error}; make room or name another place"
        ) from error
    finally:
        for temporary in unfinished.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

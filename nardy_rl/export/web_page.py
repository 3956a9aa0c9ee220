"""A net as a page: one folder in which a person plays it in a browser, without a network.

`index.html` carries everything in itself: style, modules, runtime, net. A browser loads no module
from `file://`, but it takes modules from `data:` addresses of an import map, so the page works
where it is opened from a disk and where it is served. What lies beside it is for phones that keep
a page they once visited: a manifest, an icon, a service worker.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export.card import LICENCE
from nardy_rl.export.identity import identity_of
from nardy_rl.export.onnx import onnx_bytes, verify_onnx
from nardy_rl.export.table import vectors_of
from nardy_rl.export.web_rules import rules_json
from nardy_rl.export.web_runtime import PACKAGE, VERSION, Runtime, runtime_files
from nardy_rl.train.checkpoint import Checkpoint
from nardy_rl.viz import board_measures

PAGE = "index.html"
LARGEST = 15_000_000
"""Bytes that an exported folder may weigh."""

_MARK = "nardy-rl-page"
_SOURCES = "web"
_RUNTIME, _GLUE, _NET = "onnxruntime", "onnxruntime-glue", "net"
_RUNTIME_LICENCE = f"""\
{PACKAGE} {VERSION}, which computes the net
https://www.npmjs.com/package/{PACKAGE}/v/{VERSION}

MIT License

Copyright (c) Microsoft Corporation

"""


def export_page(
    checkpoint: Checkpoint,
    out: str | Path,
    runtime: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write a folder `out` with a page that plays a checkpoint's net.

    The net is compared with torch before anything is written; the folder is made under a
    temporary name beside `out` and renamed.

    Args:
        checkpoint: from `load_checkpoint`.
        out: the folder; its parents are made.
        runtime: onnxruntime-web's tarball; by default from the cache or the npm registry.
        overwrite: whether an earlier export in `out` may be replaced. Nothing else is.

    Returns:
        The files written, the page first.

    Raises:
        ConfigError: `out` is there already, or no runtime can be had.
        CheckpointError: the folder cannot be written, the net does not compute what torch
            computes, or the page would be too large.
    """
    folder = Path(out)
    _check_free(folder, overwrite)
    files = page_files(checkpoint, runtime_files(runtime), str(folder))
    _write(folder, files)
    return tuple(folder / name for name in files)


def page_files(checkpoint: Checkpoint, runtime: Runtime, where: str = PAGE) -> dict[str, bytes]:
    """Name and content of every file of the folder, the page first.

    Args:
        checkpoint: from `load_checkpoint`.
        runtime: from `runtime_files`.
        where: named in errors.

    Raises:
        CheckpointError: as `export_page`.
    """
    net = onnx_bytes(checkpoint)
    verify_onnx(net, checkpoint.net, checkpoint.rules, where)
    page = _page(checkpoint, runtime, net)
    title = _title(checkpoint)
    manifest = {
        "name": f"{title} against a net",
        "short_name": title,
        "start_url": PAGE,
        "scope": "./",
        "display": "standalone",
        "background_color": "#37474f",
        "theme_color": "#37474f",
        "icons": [{"src": "icon.svg", "sizes": "any", "type": "image/svg+xml"}],
    }
    files = {
        PAGE: page,
        "manifest.webmanifest": json.dumps(manifest, indent=1).encode(),
        "icon.svg": _source("icon.svg").encode(),
        "LICENCES.txt": _licences().encode(),
    }
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    worker = _filled(_source("worker.js"), {"VERSION": version, "FILES": json.dumps(list(files))})
    files["worker.js"] = worker.encode()
    weight = sum(map(len, files.values()))
    if weight > LARGEST:
        raise CheckpointError(
            f"{where}: the page would weigh {weight:,} bytes, allowed are {LARGEST:,}; "
            "export a smaller net"
        )
    return files


def _page(checkpoint: Checkpoint, runtime: Runtime, net: bytes) -> bytes:
    modules = {f"nardy/{name}": text.encode() for name, text in _modules().items()}
    modules |= {_RUNTIME: runtime.script, _GLUE: runtime.glue}
    imports = {name: _data_address(content) for name, content in modules.items()}
    text = _filled(
        _source("index.html"),
        {
            "MARK": _MARK,
            "TITLE": _title(checkpoint),
            "STYLE": _source("page.css"),
            "IMPORTS": _for_script(json.dumps({"imports": imports})),
            "TOLD": _for_script(json.dumps(_told(checkpoint), ensure_ascii=False)),
            "NET": _packed(net),
            "WASM": _packed(runtime.wasm),
        },
    )
    return text.encode()


def _told(checkpoint: Checkpoint) -> dict[str, Any]:
    """All that the page knows of the game and the net, but for the weights."""
    start, *_ = vectors_of(checkpoint)
    return {
        "title": _title(checkpoint),
        "rules": rules_json(checkpoint.rules),
        "net": identity_of(checkpoint),
        "what": str(checkpoint.card.get("what", "")),
        "check": {name: start[name] for name in ("points", "flags", "probabilities")},
        "board": board_measures(checkpoint.rules),
    }


def _title(checkpoint: Checkpoint) -> str:
    return checkpoint.rules.name.replace("_", " ").capitalize()


def _modules() -> dict[str, str]:
    """The JavaScript modules, which import each other by `nardy/NAME` instead of `./NAME`."""
    folder = resources.files("nardy_rl.export") / _SOURCES
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".js"))
    texts = {name: _source(name) for name in names if name != "worker.js"}
    return {name: text.replace('from "./', 'from "nardy/') for name, text in texts.items()}


def _source(name: str) -> str:
    file = resources.files("nardy_rl.export") / _SOURCES / name
    return file.read_text(encoding="utf-8")


def _filled(text: str, values: dict[str, str]) -> str:
    """`text` with every `{{NAME}}` replaced."""
    for name, value in values.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def _for_script(text: str) -> str:
    """JSON that cannot end the script element around it."""
    return text.replace("<", "\\u003c")


def _data_address(script: bytes) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(script).decode()}"


def _packed(content: bytes) -> str:
    """As the page unpacks it; the same bytes for the same content."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _licences() -> str:
    mit = LICENCE.split("\n\n", 2)[2]
    return f"nardy_rl: this page, its rules and its net\n\n{LICENCE}\n\n{_RUNTIME_LICENCE}{mit}"


def _check_free(folder: Path, overwrite: bool) -> None:
    try:
        taken = folder.is_symlink() or folder.exists()
        if not taken or (folder.is_dir() and not any(folder.iterdir())):
            return
        ours = (folder / PAGE).is_file() and _MARK in (folder / PAGE).read_text("utf-8")[:2000]
    except (OSError, UnicodeDecodeError):
        ours = False
    if not ours:
        raise ConfigError(f"out={folder} is there already and is no exported page; name another")
    if not overwrite:
        raise ConfigError(f"out={folder} is there already; name another, or overwrite=true")


def _write(folder: Path, files: dict[str, bytes]) -> None:
    """Write the whole folder or nothing; an earlier export goes only when the new one is there."""
    unfinished: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        new, old = unfinished / "new", unfinished / "old"
        new.mkdir()
        for name, content in files.items():
            with open(new / name, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        if folder.exists():
            folder.replace(old)
        try:
            new.replace(folder)
        except OSError:
            if old.exists():
                old.replace(folder)
            raise
    except OSError as error:
        raise CheckpointError(
            f"out={folder}: cannot be written: {error.strerror or error}; "
            "make room or name another place"
        ) from error
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)

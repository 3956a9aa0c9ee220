"""onnxruntime-web, which computes the net in a browser: fetched once from npm, checked, kept."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import tempfile
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from nardy_rl.errors import ConfigError

PACKAGE, VERSION = "onnxruntime-web", "1.22.0"
TARBALL = f"{PACKAGE}-{VERSION}.tgz"
INTEGRITY = (
    "sha512-Ud/+EBo6mhuaQWt/OjaOk0iNWjXqJoeeMFr6xQEERZdI"
    "ZH2OWpGzuujz7lfuOBjUa6TEE/sc4nb7Da5dNL34fg=="
)
"""Of the tarball, as npm states it; anything else is refused."""

REGISTRY = "https://registry.npmjs.org"
REGISTRY_NAMES = ("NARDY_RL_NPM", "npm_config_registry")
"""Environment variables that name another registry, the first that is set."""

_SCRIPT, _GLUE, _WASM = (
    "package/dist/ort.wasm.min.mjs",
    "package/dist/ort-wasm-simd-threaded.mjs",
    "package/dist/ort-wasm-simd-threaded.wasm",
)
_SECONDS = 60


class Runtime(NamedTuple):
    """The three files of the package that a page needs."""

    script: bytes
    glue: bytes
    wasm: bytes


def runtime_files(tarball: str | Path | None = None) -> Runtime:
    """The runtime, from `tarball`, the user's cache or the npm registry, in this order.

    Raises:
        ConfigError: the file cannot be read, is not this version of the package, or there is no
            network; the message says how to hand it in.
    """
    if tarball is not None:
        return _unpacked(_checked(_read(Path(tarball)), f"runtime={tarball}"))
    kept = cache_folder() / TARBALL
    with suppress(OSError, ConfigError):
        return _unpacked(_checked(kept.read_bytes(), str(kept)))
    url = f"{_registry()}/{PACKAGE}/-/{TARBALL}"
    content = _checked(_fetch(url), url)
    _keep(kept, content)
    return _unpacked(content)


def cache_folder() -> Path:
    """Where the package is kept between exports."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "nardy_rl"


def _registry() -> str:
    named = next((os.environ[n] for n in REGISTRY_NAMES if os.environ.get(n)), REGISTRY)
    return named.rstrip("/")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"runtime={path}: cannot be read: {error.strerror or error}") from error


def _fetch(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            return bytes(answer.read())
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise ConfigError(
            f"runtime: {url} cannot be fetched ({reason}); get {TARBALL} where there is a network "
            f"(`npm pack {PACKAGE}@{VERSION}`) and name it: runtime=PATH. Another registry: "
            f"{REGISTRY_NAMES[0]}=URL in the environment"
        ) from error


def _checked(content: bytes, where: str) -> bytes:
    found = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != INTEGRITY:
        raise ConfigError(
            f"{where} is not {TARBALL}: its integrity is {found}, allowed is {INTEGRITY}"
        )
    return content


def _keep(path: Path, content: bytes) -> None:
    """Store the tarball; a cache that cannot be written is no reason to stop."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)


def _unpacked(content: bytes) -> Runtime:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
        files = [tar.extractfile(name) for name in (_SCRIPT, _GLUE, _WASM)]
        return Runtime(*(file.read() for file in files if file is not None))

"""Which program made a checkpoint: commit and versions."""

from __future__ import annotations

import platform
import subprocess
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("nardy-rl", "torch", "numpy", "numba")


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """The commit of the checkout (None outside one; marked where files differ) and versions."""
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"commit": _commit(), "versions": versions}


def _commit() -> str | None:
    folder = str(Path(__file__).parent)
    try:
        found = subprocess.run(
            ["git", "-C", folder, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None

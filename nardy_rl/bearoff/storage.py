"""Bear-off tables on disk: made once, then mapped into memory.

A file is a plain `.npy` of float32[N, 2, R] (`numpy.load` reads it) with 32 bytes after it: the
SHA-256 of what the table is and of its numbers. A file that is cut short, damaged or of another
version is made anew; where the folder takes no file, the table stays in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bearoff.table import (
    TABLE_VERSION,
    BearoffTable,
    build_table,
    kind_of_play,
    table_shape,
)
from nardy_rl.errors import ConfigError
from nardy_rl.rules.record import RULES_VERSION, Rules

CACHE_VARIABLE = "NARDY_RL_CACHE"
"""Environment variable that names the cache folder."""

_DIGEST_BYTES = 32

_loaded: dict[tuple[Path | None, str], BearoffTable] = {}
_lock = threading.Lock()


def cache_folder() -> Path | None:
    """`$NARDY_RL_CACHE`, else `$XDG_CACHE_HOME/nardy_rl`, else `~/.cache/nardy_rl`.

    None where there is no home. Relative paths in XDG_CACHE_HOME do not count (XDG Base Directory
    Specification).
    """
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE]).absolute()
    if os.path.isabs(os.environ.get("XDG_CACHE_HOME", "")):
        return Path(os.environ["XDG_CACHE_HOME"]) / "nardy_rl"
    try:
        return Path.home() / ".cache" / "nardy_rl"
    except RuntimeError:
        return None


def load_table(
    rules: Rules,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BearoffTable:
    """The bear-off table of a variant: from memory, from the cache folder, or made and kept there.

    Args:
        rules: the variant; variants of one kind of play share a table.
        folder: instead of `cache_folder()`.
        progress: of making it, see `build_table`.

    Raises:
        ConfigError: a variant that has no bear-off table.
    """
    name = file_name(rules)
    folder = cache_folder() if folder is None else folder.absolute()
    with _lock:
        key = (folder, name)
        if key not in _loaded:
            _loaded[key] = _load_or_build(rules, folder, name, progress)
        return _loaded[key]


def file_name(rules: Rules) -> str:
    """The name of a variant's table: kind of play, checkers, version, digest of all that.

    Raises ConfigError for a variant that has none.
    """
    kind = kind_of_play(rules)
    if kind is None:
        raise ConfigError(f"{rules.name}: there is no bear-off table for contact={rules.contact!r}")
    identity = _identity(kind, rules.checkers)
    digest = hashlib.sha256(identity).hexdigest()[:8]
    return f"bearoff-{kind}-{rules.checkers}-v{TABLE_VERSION}-{digest}.npy"


def _identity(kind: str, checkers: int) -> bytes:
    shape = table_shape(checkers)
    return f"{TABLE_VERSION} {RULES_VERSION} {kind} {checkers} {shape}".encode()


def _load_or_build(
    rules: Rules,
    folder: Path | None,
    name: str,
    progress: Callable[[int, int], None] | None,
) -> BearoffTable:
    kind = kind_of_play(rules)
    assert kind is not None
    path = None if folder is None else folder / name
    if path is not None:
        try:
            return _read(path, kind, rules.checkers)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError) as error:
            warnings.warn(f"{path}: {error}; the table is made anew", RuntimeWarning, stacklevel=4)
    table = build_table(rules, progress)
    if path is not None:
        try:
            _write(path, table)
            return _read(path, kind, rules.checkers)
        except (OSError, ValueError) as error:
            warnings.warn(
                f"{path}: {error}; the bear-off table stays in memory, and is made again by the "
                f"next program ({CACHE_VARIABLE} names another folder)",
                RuntimeWarning,
                stacklevel=4,
            )
    return table


def _head(shape: tuple[int, ...]) -> bytes:
    """The first bytes of the `.npy` of float32 of that shape."""
    head = io.BytesIO()
    described = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, described)
    return head.getvalue()


def _digest(chances: NDArray[np.float32], kind: str, checkers: int) -> bytes:
    digest = hashlib.sha256(_identity(kind, checkers))
    digest.update(chances.data)
    return digest.digest()


def _read(path: Path, kind: str, checkers: int) -> BearoffTable:
    """Map a table; ValueError for a file that is not exactly what `_write` wrote."""
    shape = table_shape(checkers)
    with path.open("rb") as file:
        head = _head(shape)
        size = len(head) + 4 * int(np.prod(shape)) + _DIGEST_BYTES
        if os.fstat(file.fileno()).st_size != size or file.read(len(head)) != head:
            raise ValueError("not a whole bear-off table")
        file.seek(-_DIGEST_BYTES, os.SEEK_END)
        digest = file.read(_DIGEST_BYTES)
        mapped = np.memmap(file, np.float32, "r", len(head), shape)
    chances = np.asarray(mapped)
    if _digest(chances, kind, checkers) != digest:
        raise ValueError("damaged, its checksum is wrong")
    return BearoffTable(checkers, kind, chances)


def _write(path: Path, table: BearoffTable) -> None:
    """Write a table under another name, flush it to the disk, then give it its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(".tmp", path.name, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_head(table.chances.shape))
            file.write(table.chances.data)
            file.write(_digest(table.chances, table.kind, table.checkers))
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def show_progress(done: int, total: int) -> None:
    """Progress of a table that was needed in the midst of something else: a line on a terminal."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(
            f"\rbear-off table, made once: {100 * done // total} %",
            end=end,
            file=sys.stderr,
            flush=True,
        )

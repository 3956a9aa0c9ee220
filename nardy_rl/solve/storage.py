"""Where an unfinished solve lives on the disk, so that it goes on wherever it was killed.

    NAME.work/state.json       how far it is; replaced in one act, after all that it speaks of
    NAME.work/values-K.npy     the values that it names
    NAME.work/choices.int32    of the pass that is going on, and
    NAME.work/gaps.uint8       how clear each is (games with hits)
    NAME.work/lock             held while a solve runs

The finished table is a folder NAME, written under another name and renamed as the last act.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import CheckpointError, ConfigError

WORK = ".work"
WORK_FORMAT = 1


@dataclass(frozen=True)
class State:
    """How far a solve is.

    Attributes:
        stage: `sweep`, `check` or `follow`, see `solver`.
        checks: passes of `check` completed.
        follows: sweeps of `follow` completed, all together.
        done: of the stage: levels (`sweep`), positions (`check`) or sweeps (`follow`).
        residual: largest of the stage `check` so far.
        last: residual of the last complete check, infinity before it.
        patience: most sweeps of `follow` in a row.
        seconds, cpu_seconds: spent so far.
    """

    stage: str = "sweep"
    checks: int = 0
    follows: int = 0
    done: int = 0
    residual: float = 0.0
    last: float = float("inf")
    patience: int = 500
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Workspace:
    """The folder NAME.work of a solve that writes the table NAME.

    Args:
        out: NAME.
        identity: what must agree for the work to be gone on with, as JSON.

    Raises:
        ConfigError: the work in the folder is another game's.
        CheckpointError: it cannot be read.
    """

    def __init__(self, out: Path, identity: Mapping[str, Any]) -> None:
        self.folder = out.with_name(out.name + WORK)
        self.identity = json.loads(json.dumps({"work_format": WORK_FORMAT, **identity}))
        self._serial = 0
        self._stored: Path | None = None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep any other solve away from the folder; ConfigError where one is at work."""
        import fcntl

        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise ConfigError(
                    f"{self.folder}: another solve is at work on this table; "
                    "wait for it, or give another out=FOLDER"
                ) from error
            yield

    def load(self, count: int) -> tuple[State, NDArray[np.float64]] | None:
        """The state that was saved and its values float64[count]; None where there is none."""
        file = self.folder / "state.json"
        if not file.is_file():
            return None
        damaged = f"{self.folder}: the unfinished solve is damaged ({{}}); delete the folder"
        try:
            stored = json.loads(file.read_text())
            theirs, state = stored["identity"], State(**stored["state"])
            self._stored = self.folder / str(stored["values"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(damaged.format(f"{file.name}: {error}")) from error
        if theirs != self.identity:
            raise ConfigError(
                f"{self.folder}: holds the unfinished solve of another game or version; "
                "give another out=FOLDER, or delete it"
            )
        values = read_values(self._stored, count, damaged)
        self._serial = int(stored["serial"])
        return state, np.array(values)

    def save(self, state: State, values: NDArray[np.float64] | None = None) -> None:
        """Remember the state, and the values where they are not the ones remembered already."""
        previous = self._stored
        if values is not None or previous is None:
            assert values is not None
            self._serial += 1
            self._stored = self.folder / f"values-{self._serial}.npy"
            write_file(self._stored, values)
        stored = {
            "identity": self.identity,
            "state": asdict(state),
            "values": self._stored.name if self._stored else "",
            "serial": self._serial,
        }
        unfinished = self.folder / "state.json.tmp"
        write_file(unfinished, (json.dumps(stored, indent=1) + "\n").encode())
        unfinished.replace(self.folder / "state.json")
        flush_folder(self.folder)
        if previous is not None and previous != self._stored:
            previous.unlink(missing_ok=True)

    def room(
        self, name: str, dtype: type[np.generic], rows: int, columns: int
    ) -> tuple[np.memmap[Any, Any], bool]:
        """An array of the folder, and whether what was flushed to it is still there."""
        file = self.folder / name
        size = rows * columns * np.dtype(dtype).itemsize
        kept = file.is_file() and file.stat().st_size == size
        if not kept:
            with open(file, "wb") as handle:
                # Taken now: a full disk would otherwise kill the process when it is written to.
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(handle.fileno(), 0, size)
                else:
                    handle.truncate(size)
        return np.memmap(file, dtype, "r+", shape=(rows, columns)), kept

    def remove(self) -> None:
        """Delete the folder: the table is written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def read_values(file: Path, count: int, message: str) -> NDArray[np.float64]:
    """The values float64[count] of a file, memory-mapped; CheckpointError by `message.format`."""
    try:
        values = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        text = f"{file.name}: {' '.join(str(error).split())}"
        raise CheckpointError(message.format(text)) from error
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.shape != (count,):
        shape = getattr(values, "shape", None)
        raise CheckpointError(message.format(f"{file.name}: shape {shape}, expected ({count},)"))
    return values


def write_file(path: Path, content: bytes | NDArray[np.float64]) -> None:
    """Write a new file, down to the disk."""
    with open(path, "wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            np.save(file, content, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Make renames in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

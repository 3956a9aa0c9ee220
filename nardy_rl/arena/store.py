"""Results of matches on disk, with all that is needed to repeat them: a folder of Parquet files.

Each match is one file of one row, written under a hidden name, flushed and renamed: it is there
whole or not at all, whatever is killed, and any number of processes may add to a folder at once.
`pandas.read_parquet(FOLDER)` reads them all as one table; `record.columns` explains its columns.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nardy_rl.arena.record import (
    MARK,
    RESULTS_FORMAT,
    Question,
    program,
    result_of,
    row_of,
    schema,
)
from nardy_rl.arena.result import MatchResult
from nardy_rl.errors import CheckpointError, ConfigError


@dataclass(frozen=True)
class Found:
    """What a store knows of some questions.

    Attributes:
        results: by key, as this program played them; the newest of each.
        others: how many more keys were played by another commit or version of it.
    """

    results: dict[str, MatchResult]
    others: int


def append(
    store: Path,
    question: Question,
    result: MatchResult,
    *,
    config: Mapping[str, Any],
    tournament: str = "",
) -> Path:
    """Add a finished match; returns the file that holds it.

    Args:
        store: the folder; made if it is not there.
        question: that the match answers, its a and b those of `result`.
        result: the whole match.
        config: settings to store with it, plain nested data.
        tournament: name of what it is a part of.

    Raises:
        OSError: the disk is full, or the folder cannot be written; nothing is left of the file.
    """
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    row = row_of(question, result, config, tournament)
    table = pyarrow.Table.from_pylist([row], schema=schema())
    name = f"{row['finished']:%Y%m%dT%H%M%S%f}-{row['key'][:12]}-{uuid.uuid4().hex[:8]}.parquet"
    hidden = store / f".{name}.unfinished"  # what begins with a dot is no part of a dataset
    store.mkdir(parents=True, exist_ok=True)
    try:
        with open(hidden, "xb") as file:
            pyarrow.parquet.write_table(table, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        hidden.rename(store / name)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    _flush_folder(store)
    return store / name


def check_writable(store: Path) -> None:
    """Make the folder, and see that it holds results or nothing and can be added to.

    Raises:
        ConfigError: it is a file, or cannot be written.
        CheckpointError: it holds Parquet files of another kind.
    """
    if store.exists() and not store.is_dir():
        raise ConfigError(f"store: {store} is a file; results go to a folder of Parquet files")
    try:
        store.mkdir(parents=True, exist_ok=True)
        probe = store / f".{uuid.uuid4().hex}.unfinished"
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        raise ConfigError(
            f"store: {store} cannot be written ({error.strerror}); name another folder"
        ) from error
    _files(store)


def find(store: Path, questions: Collection[Question]) -> Found:
    """The results that are there already, each in the view of its question's a.

    Raises:
        CheckpointError: a file there is damaged, or no results file.
    """
    import pyarrow.parquet

    wanted = {question.key: question for question in questions}
    ours = program()
    results: dict[str, MatchResult] = {}
    others = set()
    for file in _files(store):
        # One row, and its key stands in the name: others need not be read.
        if not any(f"-{key[:12]}-" in file.name for key in wanted):
            continue
        try:
            row = pyarrow.parquet.read_table(file).to_pylist()[0]
        except (OSError, pyarrow.ArrowException, IndexError) as error:
            raise _damaged(file, error) from error
        if row["key"] not in wanted:
            continue
        if (row["version"], row["commit"]) != (ours["version"], ours["commit"]):
            others.add(row["key"])
            continue
        results[row["key"]] = result_of(row, wanted[row["key"]])
    return Found(results, len(others - set(results)))


def _files(store: Path) -> list[Path]:
    """The files of results, oldest first; refuses a folder with Parquet files of another kind."""
    import pyarrow
    import pyarrow.parquet

    if not store.is_dir():
        return []
    files = sorted(path for path in store.glob("*.parquet") if not path.name.startswith("."))
    for file in files:
        try:
            there = pyarrow.parquet.read_schema(file)
        except (OSError, pyarrow.ArrowException) as error:
            raise _damaged(file, error) from error
        mark = (there.metadata or {}).get(MARK)
        if mark is None:
            raise CheckpointError(
                f"store: {file} is no file of results (it has the columns "
                f"{', '.join(there.names[:4])}, ..); name another store, or move it away"
            )
        if mark != str(RESULTS_FORMAT).encode():
            raise CheckpointError(
                f"store: {file} has format {mark.decode(errors='replace')}, this version reads "
                f"{RESULTS_FORMAT}; name another store"
            )
    return files


def _damaged(file: Path, error: Exception) -> CheckpointError:
    text = " ".join(str(error).split())
    return CheckpointError(f"store: {file} cannot be read ({text}); move it away")


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Files of games: which format a name means, reading, and writing whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.records import json_lines, mat, sgf, short_games
from nardy_rl.records.game import GameRecord
from nardy_rl.rules.record import Rules

MOST_BYTES = 256 * 2**20
"""Larger files are refused before they fill the memory."""


class Format(NamedTuple):
    """A format: how its text is read and written."""

    read: Callable[[str], tuple[GameRecord, ...]]
    write: Callable[[Sequence[GameRecord]], str]


FORMATS = {
    ".jsonl": Format(json_lines.read, json_lines.write),
    ".mat": Format(mat.read, mat.write),
    ".sgf": Format(sgf.read, sgf.write),
}
"""By the ending of a file's name."""


def read_games(path: str | Path) -> tuple[GameRecord, ...]:
    """The games of a file, each replayed by the rules.

    Raises:
        ConfigError: its name has none of the known endings.
        InvalidText: it is no file of games; the message names file, game and move.
        FileNotFoundError: there is no such file.
    """
    file = Path(path)
    form = _format(file)
    text = text_of(file)
    try:
        return form.read(text)
    except InvalidText as error:
        raise InvalidText(f"{file}: {error}") from error


def write_games(path: str | Path, games: Sequence[GameRecord], *, overwrite: bool = False) -> None:
    """Write games to a file, whole or not at all.

    Raises:
        ConfigError: an unknown ending, no games, or games that the format cannot hold.
        FileExistsError: the file is there, and `overwrite` is False.
        OSError: it cannot be written; nothing is left of it.
    """
    file = Path(path)
    form = _format(file)
    if not games:
        raise ConfigError("games: none to write")
    check_writable(file, overwrite=overwrite)
    text = form.write(games)
    hidden = file.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        with open(hidden, "x", encoding="utf-8", newline="\n") as content:
            content.write(text)
            content.flush()
            os.fsync(content.fileno())
        hidden.replace(file)
    finally:
        hidden.unlink(missing_ok=True)


def check_writable(
    path: str | Path, *, overwrite: bool = False, rules: Rules | None = None
) -> None:
    """Refuse what `write_games` would refuse, before any work is done: a name, or other rules."""
    file = Path(path)
    _format(file)
    if rules is not None and file.suffix.lower() != ".jsonl":
        short_games.named(rules)
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder; a file is written")
    if file.exists() and not overwrite:
        raise FileExistsError(f"{file} is there already; another name, or overwrite=true")
    if not file.absolute().parent.is_dir():
        raise FileNotFoundError(f"{file}: there is no folder {file.parent}")


def text_of(file: Path) -> str:
    """The text of a file, without a mark of its byte order.

    Raises:
        InvalidText: too large, or not UTF-8.
    """
    if file.exists() and not file.is_file():
        raise InvalidText(f"{file}: not a regular file; a file of games is needed")
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise InvalidText(
            f"{file}: {size:,} bytes; files of up to {MOST_BYTES:,} are read, split it"
        )
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidText(f"{file}: not UTF-8 text, at byte {error.start}") from error


def _format(file: Path) -> Format:
    found = FORMATS.get(file.suffix.lower())
    if found is None:
        raise ConfigError(f"{file}: the name of a file of games ends in {', '.join(FORMATS)}")
    return found

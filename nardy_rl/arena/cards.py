"""The nets that we ship: how one gets its folder, its figures, and their table."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nardy_rl.arena.result import MatchResult
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.train.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.train.figures import Figure, figures_of, machine, with_figure
from nardy_rl.train.provenance import provenance

BEGIN = "<!-- results: written by `nardy-rl cards readme=README.md` -->"
END = "<!-- end of results -->"


def ship(checkpoint: Checkpoint, folder: Path, weaknesses: str, *, overwrite: bool = False) -> Path:
    """Write a net into a folder of its own, without what resuming needs.

    Args:
        checkpoint: from `load_checkpoint`.
        folder: that it gets; its parent is made where it is not there.
        weaknesses: what is known that the net does badly, for its card.
        overwrite: whether a checkpoint that is there may be replaced.

    Raises:
        ConfigError: `folder` is there, or `weaknesses` says nothing.
        CheckpointError: it cannot be written; what was there stays.
    """
    if not weaknesses.strip():
        raise ConfigError("weaknesses: is empty; say what the net is known to do badly")
    if folder.exists() and not (overwrite and (folder / "card.json").exists()):
        raise ConfigError(f"to: {folder} is there already; name another, or overwrite=true")
    rest = {k: v for k, v in checkpoint.card.items() if k not in ("sha256", "figures")}
    rest |= {"weaknesses": weaknesses.strip(), "machine": machine()}
    aside = folder.parent / f".{folder.name}.new"
    try:
        shutil.rmtree(aside, ignore_errors=True)
        written = save_checkpoint(
            aside,
            net=checkpoint.net,
            rules=checkpoint.rules,
            config=checkpoint.config,
            card=rest,
            games=int(checkpoint.card["games"]),
        )
        if folder.exists():
            os.replace(folder, aside / "old")
        os.replace(written, folder)
    except OSError as error:
        raise CheckpointError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def match_figure(result: MatchResult, against: str, command: str) -> Figure:
    """A match of a net as a figure of its card; the net is a."""
    interval = result.intervals["ppg"]
    return Figure(
        what=f"against {against}",
        unit="points a game",
        value=round(result.ppg.value, 5),
        low=round(interval.low, 5),
        high=round(interval.high, 5),
        games=result.games,
        command=command,
        machine=machine(),
        commit=provenance()["commit"],
        date=datetime.date.today().isoformat(),
        win=round(result.win.value, 5),
    )


def add_figure(folder: Path, figure: Figure) -> None:
    """Write a figure into the card of the net in `folder`, whole or not at all.

    Raises:
        CheckpointError: the folder holds no checkpoint, or cannot be written.
    """
    card = load_checkpoint(folder).card
    card["figures"] = with_figure(figures_of(card, str(folder / "card.json")), figure)
    unfinished = folder / "card.json.tmp"
    try:
        with unfinished.open("w", encoding="utf-8") as out:
            out.write(json.dumps(card, indent=2) + "\n")
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(folder / "card.json")
    except OSError as error:
        raise CheckpointError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def results_table(folders: Sequence[Path]) -> str:
    """The figures of the nets in `folders` as a Markdown table.

    Raises:
        CheckpointError: one of them holds no checkpoint.
    """
    lines = [
        "| net | trained | figure | games or positions | command |",
        "| --- | --- | --- | --- | --- |",
    ]
    for folder in folders:
        card = load_checkpoint(folder).card
        made = f"{'-'.join(map(str, card['hidden'])) or 'no'} hidden, {_trained(card)}"
        figures = figures_of(card, str(folder / "card.json"))
        lines += [
            f"| {folder.name if first else ''} | {made if first else ''} "
            f"| {figure.what}: {figure} | {figure.games:,} | `{figure.command}` |"
            for first, figure in ((place == 0, figure) for place, figure in enumerate(figures))
        ]
    machines = sorted(
        {
            figure.machine
            for folder in folders
            for figure in figures_of(load_checkpoint(folder).card)
        }
    )
    lines += [
        "",
        f"± is half a 95 % interval. Measured on: {'; '.join(machines) or 'nothing yet'}.",
    ]
    return "\n".join(lines)


def with_results(text: str, table: str) -> str:
    """A page with the table between its two marks.

    Raises:
        ConfigError: the page lacks a mark.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ConfigError(f"readme: the lines {BEGIN} and {END} are to stand in it, in this order")
    return f"{head}{BEGIN}\n{table}\n{END}{tail}"


def _trained(card: dict[str, Any]) -> str:
    games = f"{int(card['games']):,} games"
    seconds = card.get("seconds")
    return games if not isinstance(seconds, int | float) else f"{games}, {seconds / 60:.0f} min"

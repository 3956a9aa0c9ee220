"""A judgement on the screen."""

from __future__ import annotations

import typing
from typing import Any

from nardy_rl.judge.judgement import ERRORS, Judgement, sections
from nardy_rl.judge.report import said_of

if typing.TYPE_CHECKING:
    from rich.console import Console

_PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}


def print_judgement(console: Console, judgement: Judgement, worst: int) -> None:
    """Print every table with its notes, and the `worst` largest blunders with their boards."""
    from rich.table import Table

    console.print(judgement.title, **_PLAIN)
    for section in sections(judgement):
        table = Table(title=section.title, title_justify="left", title_style="bold")
        for place, name in enumerate(section.header):
            table.add_column(name, justify="left" if place == 0 else "right", no_wrap=True)
        for row in section.rows:
            table.add_row(*row)
        console.print(table)
        for note in section.notes:
            console.print(note, **_PLAIN)
    for number, blunder in enumerate(judgement.blunders[:worst], start=1):
        console.print(f"\nBlunder {number}, {blunder.id}", **_PLAIN)
        console.print(blunder.board, **_PLAIN)
        console.print(said_of(blunder), **_PLAIN)
    console.print(ERRORS, **_PLAIN)
    for part in judgement.interrupted:
        console.print(f"ended early: {part}", **_PLAIN)

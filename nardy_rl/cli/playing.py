"""Players and games as the verbs that play them read and describe them."""

from __future__ import annotations

import time
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nardy_rl.errors import CheckpointError, ConfigError, InvalidPosition, InvalidText

if typing.TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.rules import Rules

OPTIONS = "variant.options."
EVALUATORS = ("auto", "kernel", "float32", "bfloat16")

LINE_SECONDS = 10.0
"""Time between two lines of progress where there is no terminal."""

INTERRUPTED = 130

PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}
"""For `Console.print`: the words as they are."""


def rules_for(settings: Mapping[str, Any], players: Iterable[tuple[str, str]]) -> Rules:
    """The game asked for, or the first that a player learned; with the options asked for.

    Args:
        settings: as `words.read` gives them: `variant`, and `variant.options.X`.
        players: (setting, text) of each, the setting for messages.
    """
    from nardy_rl.players import rules_of
    from nardy_rl.rules import variant

    options = {
        name.removeprefix(OPTIONS): value
        for name, value in settings.items()
        if name.startswith(OPTIONS)
    }
    if "variant" in settings:
        return variant(settings["variant"], **options)
    for setting, text in players:
        with naming(setting):
            learned = rules_of(text)
        if learned is not None:
            known = {option.name: option.value for option in learned.options()}
            return variant(learned.name, **{**known, **options})
    return variant("long_nardy", **options)


@contextmanager
def naming(setting: str) -> Iterator[None]:
    """Errors of a player, a position or a file say which setting it was to be."""
    try:
        yield
    except (CheckpointError, ConfigError, InvalidPosition, InvalidText) as error:
        raise type(error)(f"{setting}: {error}") from error
    except OSError as error:
        if error.errno is not None:  # from the system, which names the file
            raise
        raise type(error)(f"{setting}: {error}") from error


def described(rules: Rules) -> str:
    """The variant, and the options in which it is not what its name says."""
    from nardy_rl.rules import variant

    usual = {option.name: option.value for option in variant(rules.name).options()}
    changed = [f"{o.name}={o.value}" for o in rules.options() if usual[o.name] != o.value]
    return f"{rules.name} with {', '.join(changed)}" if changed else rules.name


@contextmanager
def progress_of(console: Console, total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, now and then a line elsewhere; yields what to tell the count done to.

    Args:
        console: where to; stderr, so that the result alone is the output.
        total: what the count goes to.
        what: is counted, such as "games".
    """
    if not console.is_terminal:
        due = time.perf_counter() + LINE_SECONDS

        def say(done: int) -> None:
            nonlocal due
            if time.perf_counter() >= due and done < total:
                due = time.perf_counter() + LINE_SECONDS
                console.print(f"{done:,} of {total:,} {what}", **PLAIN)

        yield say
        return

    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)

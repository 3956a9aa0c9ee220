"""Results of matches as a table; the line of one match is its `str`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from nardy_rl.arena.result import MatchResult, as_number, as_percent, as_points

_WIDE = 10_000


def result_table(results: Sequence[MatchResult], title: str | None = None) -> Table:
    """Two lines for each match; print it with `print_results`, or with any rich console.

    The first line is a's, with what a won; the second b's, with what b won. Columns that no game
    of the list can fill are left out.
    """
    outcomes = {score for result in results for score in result.rules.outcomes}
    columns = ["player", "points a game", "won %", "mars %"]
    columns += ["koks %"] if 3 in outcomes else []
    columns += ["drawn %"] if 0 in outcomes else []
    columns += ["plies", "games"]
    # Without lines it fits 80 columns where the players' names are short.
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(
            name, justify="left" if index == 0 else "right", overflow="fold", no_wrap=index > 0
        )
    for result in results:
        table.add_row(*(_cell(result, name) for name in columns))
        table.add_row(*(_cell_of_b(result, name) for name in columns))
    return table


def print_results(
    console: Console, results: Sequence[MatchResult], title: str | None = None
) -> None:
    """The table, then what has to be said of it; plain text off a terminal."""
    # There as wide as it needs to be: there is no window, whatever rich takes for its width.
    wide = console if console.is_terminal else Console(file=console.file, width=_WIDE)
    wide.print(result_table(results, title), highlight=False)
    console.print(
        "± and [low, high]: 95 % intervals, by pairs of games on the same dice; "
        "mars: won by two points exactly",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
    for result in results:
        if result.luck is not None:
            console.print(luck_line(result), soft_wrap=True, highlight=False, markup=False)
    played = sum(result.played.score.size for result in results)
    seconds = sum(result.seconds for result in results)
    console.print(
        f"{played:,} games in {seconds:,.1f} s, {played / max(seconds, 1e-9):,.0f} games/s",
        soft_wrap=True,
        highlight=False,
    )
    for note in dict.fromkeys(note for result in results for note in notes(result)):
        console.print(note, soft_wrap=True, highlight=False, markup=False)


def notes(result: MatchResult) -> list[str]:
    """What a reader must know of the games: rounded numbers, truncated games, an early end."""
    found = []
    played = result.played.score.size
    if played == result.asked + 1:
        found.append(f"games={result.asked:,} made {played:,}: games come in pairs")
    elif played < result.asked:
        found.append(f"stopped after {played:,} of {result.asked:,} games")
    if result.truncated:
        found.append(
            f"{result.a} against {result.b}: {result.truncated:,} games reached "
            f"ply_cap={result.ply_cap:,} and have no score; with the other games of their pairs "
            f"{result.excluded:,} games are left out of every figure"
        )
    return found


def luck_line(result: MatchResult) -> str:
    """Points a game without the luck of the dice, and what that is worth."""
    who = f"{result.a} against {result.b}"
    if result.games == 0:
        return f"{who}: no game was scored"
    worth = ""
    if not math.isnan(result.worth):
        times = result.worth / result.games
        worth = f", an error bar worth {result.worth:,.0f} plain games ({times:.1f} times as many)"
    return (
        f"{who}, luck-adjusted by the values of {result.luck_by}: "
        f"{as_points(result, 'adjusted_ppg')} points a game{worth}; "
        f"luck itself {as_points(result, 'luck_ppg')}"
    )


def _cell(result: MatchResult, column: str) -> str:
    """The text of one cell of a's line."""
    match column:
        case "player":
            return result.a
        case "points a game":
            return as_points(result, "ppg")
        case "won %":
            return as_percent(result, "win")
        case "mars %":
            return as_percent(result, "mars")
        case "koks %":
            return as_percent(result, "koks")
        case "drawn %":
            return as_percent(result, "draw")
        case "plies":
            return as_number(result.plies, ".1f")
        case _:
            return f"{result.games:,}"


def _cell_of_b(result: MatchResult, column: str) -> str:
    """The text of one cell of b's line; empty where it would say a's again."""
    match column:
        case "player":
            return result.b
        case "won %":
            return as_percent(result, "loss")
        case "mars %":
            return as_percent(result, "lost_mars")
        case "koks %":
            return as_percent(result, "lost_koks")
        case _:
            return ""

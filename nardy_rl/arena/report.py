"""Results of matches as a table; the line of one match is its `str`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from nardy_rl.arena.result import MatchResult, as_number, as_percent, as_points

_WIDE = 10_000


def result_table(results: Sequence[MatchResult], title: str | None = None) -> Table:
    """A row for each match; print it with `print_results`, or with any rich console.

    `mars` and `koks` are shares won:lost. Columns that no game of the list can fill are left
    out.
    """
    outcomes = {score for result in results for score in result.rules.outcomes}
    columns = ["player", "against", "points a game", "won %", "mars %"]
    columns += ["koks %"] if 3 in outcomes else []
    columns += ["drawn %"] if 0 in outcomes else []
    columns += ["plies", "games"]
    # Without lines it fits 80 columns where the players' names are short.
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(
            name, justify="left" if index < 2 else "right", overflow="fold", no_wrap=index > 1
        )
    for result in results:
        table.add_row(*(_cell(result, name) for name in columns))
    return table


def print_results(
    console: Console, results: Sequence[MatchResult], title: str | None = None
) -> None:
    """The table, then what has to be said of it; plain text off a terminal."""
    # There as wide as it needs to be: there is no window, whatever rich takes for its width.
    wide = console if console.is_terminal else Console(file=console.file, width=_WIDE)
    wide.print(result_table(results, title), highlight=False)
    console.print(
        "± one standard error, by pairs of games on the same dice; mars and koks: won:lost",
        soft_wrap=True,
        highlight=False,
    )
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


def _cell(result: MatchResult, column: str) -> str:
    """The text of one cell of a table."""
    match column:
        case "player":
            return result.a
        case "against":
            return result.b
        case "points a game":
            return as_points(result.ppg)
        case "won %":
            return as_percent(result.win)
        case "mars %":
            return f"{as_percent(result.mars, False)}:{as_percent(result.lost_mars, False)}"
        case "koks %":
            return f"{as_percent(result.koks, False)}:{as_percent(result.lost_koks, False)}"
        case "drawn %":
            return as_percent(result.draw)
        case "plies":
            return as_number(result.plies, ".1f")
        case _:
            return f"{result.games:,}"

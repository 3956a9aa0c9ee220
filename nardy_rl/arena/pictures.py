"""Pictures of ratings and cross-tables, as PNG."""

from __future__ import annotations

import io
import math
import typing
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.crosstable import DIVERGING, points
from nardy_rl.arena.tournament import Tournament

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 150
_INK, _FAINT = "#222222", "#999999"
_LONGEST = 40
"""Letters of a name; the middle of a longer one is left out."""


def crosstable_png(tournament: Tournament, title: str) -> bytes:
    """Every pair's points a game, coloured, beside the ratings with their intervals."""
    order, ratings = tournament.order, tournament.ratings
    names = [tournament.labels[i] for i in order]
    values = points(tournament).to_numpy()
    halves = np.full(values.shape, math.nan)
    for row, a in enumerate(order):
        for column, b in enumerate(order):
            there = tournament.ppg(a, b) if a != b else None
            if there is not None:
                halves[row, column] = (there[1].high - there[1].low) / 2
    elo = np.stack([ratings.elo, ratings.low, ratings.high])[:, list(order)]
    luck = any(result.luck is not None for result in tournament.matches.values())
    note = (
        f"Points a game of the row against the column{', luck-adjusted' if luck else ''}, "
        f"± half the 95 % interval; {tournament.games:,} games a match. "
        f"Elo by games won, {tournament.labels[ratings.anchor]} = {tournament.anchor.elo:g}."
    )
    return table_png(names, values, halves, elo, title, note)


def table_png(
    names: Sequence[str],
    values: NDArray[np.float64],
    halves: NDArray[np.float64],
    elo: NDArray[np.float64],
    title: str,
    note: str,
) -> bytes:
    """A cross-table beside ratings, as PNG; see `table_figure`."""
    return _png(table_figure(names, values, halves, elo, title, note))


def table_figure(
    names: Sequence[str],
    values: NDArray[np.float64],
    halves: NDArray[np.float64],
    elo: NDArray[np.float64],
    title: str,
    note: str,
) -> Figure:
    """A cross-table beside ratings.

    Args:
        names: of the players, top to bottom; columns have their numbers.
        values, halves: float64[N, N], of each cell and half its interval; NaN for none.
        elo: float64[3, N], rating, lower and upper end; NaN for none.
        title: above.
        note: below, in words.
    """
    from matplotlib.figure import Figure

    count = len(names)
    cell = 1.0 if count <= 8 else 0.82
    width = max(7.5, 2.9 + cell * count + 3.4)
    height = max(2.9, 0.62 * count + 1.7)
    figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained", facecolor="white")
    left, right = figure.subplots(1, 2, width_ratios=[cell * count, 2.8], sharey=True)
    _draw_cells(left, names, values, halves)
    _draw_ratings(right, elo)
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", color=_INK)
    figure.supxlabel(_folded(note, int(width * 13)), x=0.01, ha="left", fontsize=8.5, color=_INK)
    return figure


def ratings_png(
    games: Sequence[int], elo: NDArray[np.float64], others: dict[str, float], title: str
) -> bytes:
    """Ratings over the games of a run.

    Args:
        games: when each was measured.
        elo: float64[3, len(games)], rating, lower and upper end.
        others: ratings of fixed opponents by name, drawn as level lines.
        title: above.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.2), dpi=_DPI, layout="constrained", facecolor="white")
    axes = figure.subplots()
    for name, level in others.items():
        axes.axhline(level, color=_FAINT, lw=1, zorder=0)
        axes.annotate(
            _shortened(name), (1.0, level), xycoords=("axes fraction", "data"), color=_INK,
            xytext=(4, 0), textcoords="offset points", va="center", fontsize=9,
        )  # fmt: skip
    errors = np.abs(elo[1:] - elo[0])
    axes.errorbar(
        games, elo[0], errors, fmt="o-", ms=4, lw=1.5, capsize=3, color="#5e3c99", zorder=2
    )
    axes.set_xlabel("games of training", color=_INK)
    axes.set_ylabel("elo by games won, 95 % interval", color=_INK)
    axes.set_title(title, loc="left", fontsize=12, color=_INK)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="y", color="#eeeeee", zorder=-1)
    axes.spines[["top", "right"]].set_visible(False)
    return _png(figure)


def _draw_cells(
    axes: Axes, names: Sequence[str], values: NDArray[np.float64], halves: NDArray[np.float64]
) -> None:
    from matplotlib import colormaps

    count = len(names)
    most = max(float(np.nanmax(np.abs(values), initial=0.1)), 0.1)
    colours = colormaps[DIVERGING].with_extremes(bad="#f2f2f2")
    axes.imshow(values, cmap=colours, vmin=-most, vmax=most, aspect="auto")
    for row in range(count):
        for column in range(count):
            value = values[row, column]
            if math.isnan(value):
                axes.text(column, row, "" if row == column else "–", ha="center", va="center")
                continue
            ink = _ink_on(colours((value + most) / (2 * most)))
            error = "" if math.isnan(halves[row, column]) else f"±{halves[row, column]:.3f}"
            axes.text(column, row - 0.14, f"{value:+.3f}", ha="center", va="center", fontsize=10,
                      color=ink, fontweight="bold")  # fmt: skip
            axes.text(column, row + 0.24, error, ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xticks(range(count), [str(rank) for rank in range(1, count + 1)])
    ranked = [f"{_shortened(name)}  {rank}" for rank, name in enumerate(names, 1)]
    axes.set_yticks(range(count), ranked)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=10, labelcolor=_INK)
    edges = np.arange(count - 1) + 0.5
    axes.hlines(edges, -0.5, count - 0.5, color="white", lw=2)
    axes.vlines(edges, -0.5, count - 0.5, color="white", lw=2)
    axes.spines[:].set_visible(False)


def _draw_ratings(axes: Axes, elo: NDArray[np.float64]) -> None:
    rated = np.flatnonzero(~np.isnan(elo[0]))
    errors = np.abs(elo[1:] - elo[0])[:, rated]
    axes.errorbar(
        elo[0, rated], rated, xerr=errors, fmt="o", ms=5, lw=1.5, capsize=3, color="#5e3c99"
    )
    for row in rated:
        axes.annotate(
            f"{elo[0, row]:.0f}", (elo[0, row], row), xytext=(0, 7), textcoords="offset points",
            ha="center", fontsize=8.5, color=_INK,
        )  # fmt: skip
    axes.set_xlabel("elo, 95 % interval", fontsize=9, color=_INK)
    axes.tick_params(axis="y", left=False, labelleft=False)
    axes.tick_params(axis="x", labelsize=8.5, labelcolor=_INK)
    axes.margins(x=0.12)
    axes.grid(axis="x", color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _ink_on(colour: tuple[float, ...]) -> str:
    """White or black, whichever stands out more (WCAG 2's relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.179 else _INK


def _shortened(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    half = (_LONGEST - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def _folded(text: str, width: int) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, width))


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    # No date or version: the same figures give the same bytes.
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()

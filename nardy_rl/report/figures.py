"""Figures of the frames, with their error bars."""

from __future__ import annotations

import typing

if typing.TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame  # type: ignore[import-untyped]

_SAID = {
    "first": "going first, points a game",
    "mars": "share of mars",
    "plies": "decisions a game",
}


def house_rule_figure(frame: DataFrame) -> Figure:
    """A panel for each figure of `compare_house_rules`, a point with its interval a table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 1.2 + 0.5 * frame["table"].nunique()), layout="constrained")
    for axes, (name, said) in zip(
        figure.subplots(1, len(_SAID), sharey=True), _SAID.items(), strict=True
    ):
        rows = frame[frame["figure"] == name]
        _points(axes, rows["value"], rows)
        axes.set_yticks(range(len(rows)), list(rows["table"]))
        axes.set_xlabel(said)
    figure.axes[0].invert_yaxis()  # shared: the first table on top
    return figure


def opening_figure(frame: DataFrame) -> Figure:
    """The best play of each roll of `opening_book`, the luckiest roll on top."""
    from matplotlib.figure import Figure

    best = frame[frame["rank"] == 1].sort_values("equity", ascending=False)
    figure = Figure(figsize=(7, 0.8 + 0.26 * len(best)), layout="constrained")
    axes = figure.subplots()
    _points(axes, best["equity"], best)
    axes.set_yticks(
        range(len(best)),
        [f"{roll}  {play}" for roll, play in zip(best["roll"], best["play"], strict=True)],
    )
    axes.set_xlabel("equity after the best play, 95 % intervals")
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.invert_yaxis()
    return figure


def training_figure(frame: DataFrame) -> Figure:
    """Points a game against each opponent of `watch_training` by games of self-play."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for marker, (opponent, rows) in zip(
        "osD^v<>", frame.groupby("opponent", sort=False), strict=False
    ):
        half = [rows["ppg"] - rows["low"], rows["high"] - rows["ppg"]]
        axes.errorbar(
            rows["games"],
            rows["ppg"],
            yerr=half,
            marker=marker,
            capsize=3,
            label=f"against {opponent}",
        )
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("games of self-play")
    axes.set_ylabel("points a game, 95 % intervals")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _points(axes: typing.Any, values: typing.Any, rows: DataFrame) -> None:
    # A bootstrap interval may, by rounding, begin a hair beyond its value.
    below, above = (values - rows["low"]).clip(lower=0), (rows["high"] - values).clip(lower=0)
    axes.errorbar(values, range(len(rows)), xerr=[below, above], fmt="o", capsize=3)
    axes.grid(axis="x", alpha=0.3)

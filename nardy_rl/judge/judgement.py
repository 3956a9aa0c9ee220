"""All that was found about a player, as sections of plain words and numbers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nardy_rl.arena import Estimate, MatchResult
from nardy_rl.judge.bellman import Bellman
from nardy_rl.judge.blunders import Blunder
from nardy_rl.judge.calibration import Reliability
from nardy_rl.judge.losses import BEST_WITHIN, STEPS, Losses

JUDGEMENT_FORMAT = 1
"""Changes when older JSON files mean something else. 1: the first."""

ERRORS = "± is one standard error, by games."


@dataclass(frozen=True)
class Judgement:
    """What was found; a part that was not asked for is None or empty.

    Attributes:
        title: who was judged, in which game, by whom.
        facts: all that is needed to repeat it: settings, seeds, hashes, versions.
        losses: of the choices.
        blunders: the worst of them.
        reliability: of the net's outcome shares.
        bellman: residuals of its values.
        plies: its own 1 ply against its own 0 plies.
        interrupted: parts that were ended early.
    """

    title: str
    facts: Mapping[str, Any]
    losses: Losses | None = None
    blunders: tuple[Blunder, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    bellman: Bellman | None = None
    plies: MatchResult | None = None
    interrupted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A table with what is to be said of it; every cell a text."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: list[str] = field(default_factory=list)


def sections(judgement: Judgement) -> list[Section]:
    """The parts that there are, in order."""
    found = []
    if judgement.losses is not None:
        found.append(_losses(judgement.losses))
    found += [_reliability(part) for part in judgement.reliability]
    if judgement.bellman is not None:
        found.append(_bellman(judgement.bellman))
    if judgement.plies is not None:
        found.append(_plies(judgement.plies))
    return found


def _number(value: float, digits: int, sign: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:{sign}.{digits}f}"


def with_error(estimate: Estimate, digits: int = 2, scale: float = 1.0, sign: str = "") -> str:
    """An estimate as `value ± error`; `-` for one that is not known.

    >>> with_error(Estimate(0.00123, 0.0001), 2, 1000)
    '1.23 ± 0.10'
    """
    if math.isnan(estimate.value):
        return "-"
    value = _number(scale * estimate.value, digits, sign)
    return value if math.isnan(estimate.se) else f"{value} ± {scale * estimate.se:.{digits}f}"


def _losses(losses: Losses) -> Section:
    figures = losses.figures
    rows: list[tuple[str, ...]] = [
        ("decisions", f"{figures.decisions:,} of {figures.games:,} games"),
        ("with a choice", f"{figures.contested:,}"),
        ("loss a decision, 1/1000 point", with_error(figures.loss, 3, 1000)),
        ("loss a decision with a choice, 1/1000", with_error(figures.contested_loss, 3, 1000)),
        ("best plays, % of choices", with_error(figures.best_share, 2, 100)),
        (f"lost {STEPS[0]:g} or more, %", with_error(figures.mistakes, 2, 100)),
        (f"lost {STEPS[1]:g} or more, %", with_error(figures.blunders, 2, 100)),
        ("largest loss, points", _number(figures.largest, 4)),
    ]
    notes = [f"A best play loses less than {BEST_WITHIN:g} points; a decision without a choice 0."]
    if not math.isnan(figures.sure_share.value):
        share = with_error(figures.sure_share, 2, 100)
        rows.append(("lost more than 2 errors of the judge, %", share))
        notes.append(
            "The judge's values have errors, and the best of several is too high: the mean loss "
            "is no lower than it seems."
        )
    if not math.isnan(figures.bias.value):
        rows += [
            ("own equity less the judge's, mean", with_error(figures.bias, 4, sign="+")),
            ("root mean square of that", with_error(figures.rms, 4)),
        ]
        notes.append("Own equity: of the chosen play, where there was a choice, in points.")
    return Section("What its choices lose", ("figure", "value"), rows, notes)


def _reliability(part: Reliability) -> Section:
    rows: list[tuple[str, ...]] = [
        (
            f"{count:,}",
            f"{100 * predicted:.2f}",
            f"{100 * observed:.2f}",
            f"{100 * (predicted - observed):+.2f}"
            + ("" if math.isnan(se) else f" ± {100 * se:.2f}"),
        )
        for count, predicted, observed, se in zip(
            part.count, part.predicted, part.observed, part.se, strict=True
        )
    ]
    total = int(part.count.sum())
    if total:
        means = [float(part.count @ x) / total for x in (part.predicted, part.observed)]
        bias = with_error(part.bias, 2, 100, "+")
        rows.append((f"all {total:,}", f"{100 * means[0]:.2f}", f"{100 * means[1]:.2f}", bias))
    notes = [
        f"Brier score {with_error(part.brier, 4)}; distance between the columns in the mean "
        f"{_number(100 * part.error, 2)} %.",
        "Plays of self-play games at 0 plies, sorted by what the net said; the last is left out.",
    ]
    header = ("plays", "predicted %", "came %", "too much by")
    return Section(f"Reliability: {part.event}", header, rows, notes)


def _bellman(found: Bellman) -> Section:
    rows: list[tuple[str, ...]] = [
        ("plays", f"{len(found.residuals):,}"),
        ("root mean square, points", with_error(found.rms, 5)),
        ("mean", with_error(found.mean, 5, sign="+")),
        ("largest", _number(found.largest, 4)),
    ]
    notes = ["A play's value less the mean over 21 rolls after the other side's best replies."]
    return Section("Bellman residual on self-play", ("figure", "value"), rows, notes)


def _plies(result: MatchResult) -> Section:
    rows: list[tuple[str, ...]] = [
        ("games, in pairs on the same dice", f"{result.games:,}"),
        ("points a game", with_error(result.ppg, 4, sign="+")),
    ]
    if result.luck is not None:
        rows.append(("luck-adjusted", with_error(result.adjusted_ppg, 4, sign="+")))
    rows.append(("won %", with_error(result.win, 2, 100)))
    notes = ["Of 1 ply, against the same values at 0 plies; errors by pairs of games."]
    return Section("Own 1 ply against own 0 plies", ("figure", "value"), rows, notes)


def as_data(judgement: Judgement) -> dict[str, Any]:
    """All figures and facts as plain nested data for JSON; not known is None."""
    data: dict[str, Any] = {
        "judgement_format": JUDGEMENT_FORMAT,
        "title": judgement.title,
        **judgement.facts,
        "interrupted": list(judgement.interrupted),
    }
    if judgement.losses is not None:
        data["losses"] = _plain(dataclasses.asdict(judgement.losses.figures))
        data["losses"]["best_within"] = BEST_WITHIN
        data["blunders"] = [
            {
                name: _plain(value)
                for name, value in dataclasses.asdict(blunder).items()
                if not name.endswith(("_svg", "board"))
            }
            for blunder in judgement.blunders
        ]
    if judgement.reliability:
        data["reliability"] = [_plain(dataclasses.asdict(part)) for part in judgement.reliability]
    if judgement.bellman is not None:
        figures = {f.name: getattr(judgement.bellman, f.name) for f in _FIELDS}
        data["bellman"] = {**_plain(figures), "plays": len(judgement.bellman.residuals)}
    if judgement.plies is not None:
        match = judgement.plies
        names = ("ppg", "win", "mars", *(("adjusted_ppg",) if match.luck is not None else ()))
        figures = {name: getattr(match, name) for name in names}
        data["plies"] = {**_plain(figures), "games": match.games, "seed": match.seed}
    return data


_FIELDS = [f for f in dataclasses.fields(Bellman) if f.name != "residuals"]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, Estimate):
        return {"value": _plain(value.value), "se": _plain(value.se)}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

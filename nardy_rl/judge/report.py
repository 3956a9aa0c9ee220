"""A judgement as files: JSON, Markdown, HTML, and pictures."""

from __future__ import annotations

import base64
import io
import json
import math
import typing
from collections.abc import Sequence
from html import escape
from pathlib import Path

from nardy_rl.judge.blunders import Blunder
from nardy_rl.judge.calibration import Reliability
from nardy_rl.judge.judgement import ERRORS, Judgement, Section, as_data, sections

if typing.TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em;
       color: #222; background: #fff }
table { border-collapse: collapse; margin: 0.5em 0 }
th, td { border-bottom: 1px solid #ccc; padding: 0.2em 0.8em; text-align: right }
th:first-child, td:first-child { text-align: left }
figure { display: inline-block; margin: 0.5em; vertical-align: top; max-width: 100% }
svg, img { max-width: 100%; height: auto }
code { overflow-wrap: anywhere }"""


def write_report(folder: Path, judgement: Judgement) -> list[Path]:
    """Write all files of a judgement into `folder`, over those of an earlier one.

    judgement.json, report.md, report.html; reliability.png where there is a reliability;
    blunder_01_played.svg and blunder_01_best.svg, and so on.

    Returns what was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Pictures of an earlier judgement would be taken for this one's.
    for old in (*folder.glob("blunder_*_*.svg"), folder / "reliability.png"):
        old.unlink(missing_ok=True)
    files: dict[str, bytes] = {}
    for number, blunder in enumerate(judgement.blunders, start=1):
        files[f"blunder_{number:02d}_played.svg"] = blunder.chosen_svg.encode()
        files[f"blunder_{number:02d}_best.svg"] = blunder.best_svg.encode()
    drawn = [part for part in judgement.reliability if len(part.count)]
    if drawn:
        files["reliability.png"] = reliability_png(drawn, judgement.title)
    data = json.dumps(as_data(judgement), indent=2, ensure_ascii=False, allow_nan=False)
    files["judgement.json"] = f"{data}\n".encode()
    files["report.md"] = _markdown(judgement, bool(drawn)).encode()
    files["report.html"] = _html(judgement, files.get("reliability.png")).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def said_of(blunder: Blunder) -> str:
    """One line: what was played, what was better, by how much.

    The error of the judge is said where there is one.
    """
    error = "" if math.isnan(blunder.error) else f" ± {blunder.error:.4f}"
    own = "" if math.isnan(blunder.own_equity) else f"; it thought {blunder.own_equity:+.4f}"
    return (
        f"{blunder.roll[0]}-{blunder.roll[1]}: played {blunder.chosen}, best {blunder.best}; "
        f"lost {blunder.loss:.4f}{error}, left with {blunder.equity:+.4f}{own}"
    )


def _remarks(judgement: Judgement) -> list[str]:
    short = [f"Ended early: {part}." for part in judgement.interrupted]
    return [ERRORS, *short]


def _markdown(judgement: Judgement, drawn: bool) -> str:
    lines = [f"# {judgement.title}", "", *_remarks(judgement), ""]
    for section in sections(judgement):
        lines += [f"## {section.title}", "", _row(section.header)]
        lines += ["|" + " --- |" * len(section.header), *map(_row, section.rows), ""]
        lines += [*section.notes, ""]
    if drawn:
        lines += ["![Predicted against what came](reliability.png)", ""]
    for number, blunder in enumerate(judgement.blunders, start=1):
        lines += [
            f"## Blunder {number}",
            "",
            said_of(blunder),
            "",
            f"`{blunder.id}`",
            "",
            f"![played](blunder_{number:02d}_played.svg) ![best](blunder_{number:02d}_best.svg)",
            "",
            "```",
            blunder.board,
            "```",
            "",
        ]
    facts = json.dumps(judgement.facts, indent=2, ensure_ascii=False)
    return "\n".join([*lines, "## To repeat it", "", "```json", facts, "```", ""])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _html(judgement: Judgement, png: bytes | None) -> str:
    title = escape(judgement.title)
    parts = [
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>',
        f"<style>\n{_STYLE}\n</style>\n<h1>{title}</h1>",
        *(f"<p>{escape(remark)}</p>" for remark in _remarks(judgement)),
        *map(_section_html, sections(judgement)),
    ]
    if png is not None:
        code = base64.b64encode(png).decode()
        source = f"data:image/png;base64,{code}"
        parts.append(f'<p><img alt="Predicted against what came" src="{source}"></p>')
    for number, blunder in enumerate(judgement.blunders, start=1):
        parts += [
            f"<h2>Blunder {number}</h2>\n<p>{escape(said_of(blunder))}</p>",
            f"<p><code>{escape(blunder.id)}</code></p>",
            f"<figure>{blunder.chosen_svg}<figcaption>played</figcaption></figure>",
            f"<figure>{blunder.best_svg}<figcaption>best</figcaption></figure>",
        ]
    facts = escape(json.dumps(judgement.facts, indent=2, ensure_ascii=False))
    return "\n".join([*parts, f"<h2>To repeat it</h2>\n<pre>{facts}</pre>\n</html>\n"])


def _section_html(section: Section) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in section.header)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in section.rows
    )
    notes = "\n".join(f"<p>{escape(note)}</p>" for note in section.notes)
    return f"<h2>{escape(section.title)}</h2>\n<table>\n<tr>{head}</tr>\n{body}\n</table>\n{notes}"


def reliability_png(parts: Sequence[Reliability], title: str) -> bytes:
    """Reliability diagrams side by side: bins with bars of two errors, against the diagonal."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * len(parts), 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=10, wrap=True)
    for axes, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        _diagram(axes, part)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    return out.getvalue()


def _diagram(axes: Axes, part: Reliability) -> None:
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    axes.errorbar(part.predicted, part.observed, 2 * part.se, fmt="o", capsize=3, color="#0072b2")
    axes.set(
        title=f"{part.event}: too much by {100 * part.bias.value:+.2f} % on average",
        xlabel="predicted share",
        ylabel="share that came (bars: 2 standard errors)",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
    )
    axes.grid(alpha=0.3)

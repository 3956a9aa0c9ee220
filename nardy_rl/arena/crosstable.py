"""A tournament as tables: on a terminal, as Markdown, as a web page."""

from __future__ import annotations

import html
import math
import typing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from nardy_rl.arena.entrants import short_names
from nardy_rl.arena.report import notes
from nardy_rl.arena.result import as_number
from nardy_rl.arena.tournament import Tournament

if typing.TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_PLAIN: dict[str, typing.Any] = {"highlight": False, "markup": False, "soft_wrap": True}

_WIDE = 10_000

_NAME_AND_RATING, _COLUMN = 50, 16
"""Letters wide; on a terminal too narrow for the whole table, cells go without their errors."""

DIVERGING = "PuOr"
"""Orange to violet, which every kind of colour blindness tells apart; matplotlib's name."""


def standings(tournament: Tournament) -> pd.DataFrame:
    """A row for each player, the highest rating first.

    Columns: `player`, `elo`, `low`, `high` (the 95 % interval), `ppg` (mean over opponents),
    `ppg_rank` and `games`.
    """
    import pandas as pd

    ratings, total = tournament.ratings, tournament.total
    rows = [
        {
            "player": tournament.labels[i],
            "elo": ratings.elo[i],
            "low": ratings.low[i],
            "high": ratings.high[i],
            "ppg": total[i],
            "ppg_rank": tournament.order_by_ppg.index(i) + 1,
            "games": sum(r.games for match, r in tournament.matches.items() if i in match),
        }
        for i in tournament.order
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="rank"))


def points(tournament: Tournament) -> pd.DataFrame:
    """Points a game of the row's player against the column's, both in the order of the ratings.

    NaN on the diagonal and where two have not met.
    """
    import pandas as pd

    values = []
    for a in tournament.order:
        met = [tournament.ppg(a, b) if a != b else None for b in tournament.order]
        values.append([there[0].value if there else math.nan for there in met])
    labels = [tournament.labels[i] for i in tournament.order]
    return pd.DataFrame(values, index=labels, columns=labels)


def cells(tournament: Tournament) -> pd.DataFrame:
    """The texts of the cross-table: points a game and half its 95 % interval."""
    import pandas as pd

    rows = []
    for a in tournament.order:
        rows.append([_cell(tournament, a, b) for b in tournament.order])
    labels = [tournament.labels[i] for i in tournament.order]
    return pd.DataFrame(rows, index=labels, columns=labels)


def residuals(tournament: Tournament) -> pd.DataFrame:
    """A row for each match: games won in per cent, measured and predicted, the worst fit first.

    Columns: `player`, `against`, `won`, `predicted`, `residual`, `se` and `z` (residual / se).
    """
    import pandas as pd

    ratings = tournament.ratings
    rows = []
    for match in ratings.matches:
        a, b = match if ratings.elo[match[0]] >= ratings.elo[match[1]] else match[::-1]
        sign = 1.0 if (a, b) == match else -1.0
        predicted = ratings.predicted[match] if sign > 0 else 1.0 - ratings.predicted[match]
        residual, se = sign * ratings.residual[match], ratings.residual_se[match]
        rows.append(
            {
                "player": tournament.labels[a],
                "against": tournament.labels[b],
                "won": 100.0 * (predicted + residual),
                "predicted": 100.0 * predicted,
                "residual": 100.0 * residual,
                "se": 100.0 * se,
                "z": residual / se if se > 0 else 0.0,
            }
        )
    names = ["player", "against", "won", "predicted", "residual", "se", "z"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.sort_values("z", key=abs, ascending=False, ignore_index=True)


def remarks(tournament: Tournament) -> list[str]:
    """What a reader must know of the tables, a line each."""
    ratings, labels = tournament.ratings, tournament.labels
    luck = sorted({r.luck_by for r in tournament.matches.values() if r.luck is not None})
    adjusted = f", less the luck of the dice by {short_names(luck)[0]}" if luck else ""
    said = [
        f"points a game of the row against the column{adjusted}; ± half the 95 % interval, by "
        f"pairs of games on the same dice; {tournament.games:,} games a match, "
        f"seed {tournament.seed}",
        f"elo by games won (Bradley-Terry), {labels[ratings.anchor]} fixed at "
        f"{tournament.anchor.elo:g}; {tournament.alpha:g} wins added either way to each match; "
        "95 % intervals",
    ]
    by_rating = list(tournament.order)
    by_ppg = sorted(
        by_rating, key=lambda i: (math.isnan(tournament.total[i]), -tournament.total[i])
    )
    if by_ppg != by_rating:
        said.append(f"by mean points a game: {', '.join(labels[i] for i in by_ppg)}")
    for cycle in tournament.cycles:
        a, b, c = (labels[i] for i in cycle.players)
        said.append(
            f"no order in points a game: {a} beats {b}, {b} beats {c}, {c} beats {a} "
            f"(all three beyond chance, p {_chance(cycle.p)} for the least of them)"
        )
    if not tournament.cycles and len(tournament.matches) > 2:
        said.append("no three players beat each other in a circle beyond chance")
    if not math.isnan(ratings.misfit_p):
        how = "explain" if ratings.misfit_p >= 0.05 else "do not explain"
        said.append(
            f"ratings alone {how} the games won: p {_chance(ratings.misfit_p)} for differences "
            "as large as there are"
        )
    players = len(labels)
    missing = players * (players - 1) // 2 - len(tournament.matches)
    if missing:
        said.append(f"not finished: {missing} of {players * (players - 1) // 2} matches missing")
    for result in tournament.matches.values():
        said += notes(result)
    return list(dict.fromkeys(said))


def print_tournament(console: Console, tournament: Tournament, title: str) -> None:
    """The standings with the cross-table, then what has to be said of it."""
    wide = console if console.is_terminal else Console(file=console.file, width=_WIDE)
    texts = cells(tournament).to_numpy()
    if _NAME_AND_RATING + _COLUMN * len(texts) > wide.width:
        texts = [[text.split(" ")[0] for text in row] for row in texts]
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("", justify="right")
    table.add_column("player", overflow="fold")
    for name in ("elo", "ppg"):
        table.add_column(name, justify="right", no_wrap=True)
    for rank in range(1, len(tournament.order) + 1):
        table.add_column(f"({rank})", justify="right", no_wrap=True)
    for index, row in enumerate(standings(tournament).itertuples()):
        table.add_row(
            f"({row.Index})",
            str(row.player),
            _elo(row.elo, row.low, row.high),
            as_number(row.ppg, "+.3f"),
            *texts[index],
        )
    wide.print(table, highlight=False, markup=False)
    for line in remarks(tournament):
        console.print(line, **_PLAIN)


def to_markdown(tournament: Tournament, title: str) -> str:
    """Standings, cross-table, remarks and residuals."""
    numbered = cells(tournament)
    ranks = [f"({rank})" for rank in range(1, len(numbered) + 1)]
    escaped = [_md(name) for name in numbered.index]
    numbered.columns = ranks
    numbered.insert(0, "player", escaped)
    numbered.index = ranks
    table = _shown_standings(tournament)
    table["player"] = escaped
    worst = _shown_residuals(tournament)
    for name in ("player", "against"):
        worst[name] = worst[name].map(_md)
    right = {"disable_numparse": True}
    parts = [
        f"# {title}",
        table.to_markdown(colalign=("right", "left", *["right"] * 5), **right),
        "## Points a game",
        numbered.to_markdown(colalign=("right", "left", *["right"] * len(ranks)), **right),
        "\n".join(f"- {_md(line)}" for line in remarks(tournament)),
    ]
    if len(worst):
        parts += [
            "## Games won, measured and by the ratings",
            worst.to_markdown(index=False, colalign=("left", "left", *["right"] * 5), **right),
        ]
    return "\n\n".join(parts) + "\n"


def to_html(tournament: Tournament, title: str) -> str:
    """A page of its own: the same as `to_markdown`, the cross-table coloured."""
    frame = points(tournament)
    texts = cells(tournament)
    most = max(float(frame.abs().max().max()), 0.1) if len(tournament.matches) else 1.0
    ranks = [f"({rank})" for rank in range(1, len(frame) + 1)]
    names = [
        f"{rank} {html.escape(str(name))}" for rank, name in zip(ranks, frame.index, strict=True)
    ]
    texts.index = frame.index = names
    texts.columns = frame.columns = ranks
    texts = texts.map(html.escape)
    crosstable = (
        texts.style.background_gradient(
            cmap=DIVERGING, axis=None, gmap=frame.fillna(0.0), vmin=-most, vmax=most
        )
        .set_table_attributes('class="crosstable"')
        .to_html()
    )
    lines = "\n".join(f"<li>{html.escape(line)}</li>" for line in remarks(tournament))
    worst = _shown_residuals(tournament)
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        _shown_standings(tournament).to_html(border=0),
        "<h2>Points a game</h2>",
        crosstable,
        f"<ul>{lines}</ul>",
    ]
    if len(worst):
        parts += [
            "<h2>Games won, measured and by the ratings</h2>",
            worst.to_html(border=0, index=False),
        ]
    return _PAGE.format(title=html.escape(title), body="\n".join(parts))


def write_reports(tournament: Tournament, folder: Path, title: str) -> list[Path]:
    """Write `crosstable.md`, `.html` and `.png` into `folder`, made if it is not there."""
    from nardy_rl.arena.pictures import crosstable_png

    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "crosstable.md": to_markdown(tournament, title).encode(),
        "crosstable.html": to_html(tournament, title).encode(),
        "crosstable.png": crosstable_png(tournament, title),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def _cell(tournament: Tournament, a: int, b: int) -> str:
    """The text of a cell; empty on the diagonal, a dash where two have not met."""
    if a == b:
        return ""
    there = tournament.ppg(a, b)
    if there is None:
        return "-"
    estimate, (low, high) = there
    return f"{estimate.value:+.3f} ± {as_number((high - low) / 2, '.3f')}"


def _elo(elo: float, low: float, high: float) -> str:
    if math.isnan(elo):
        return "-"
    return f"{elo:.0f}" if low == high else f"{elo:.0f} [{low:.0f}, {high:.0f}]"


def _chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _shown_standings(tournament: Tournament) -> pd.DataFrame:
    """`standings` as texts."""
    frame = standings(tournament)
    interval = [
        "fixed" if low == high else "-" if math.isnan(low) else f"{low:.0f} to {high:.0f}"
        for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    shown = frame[["player"]].copy()
    shown["elo"] = [as_number(value, ".0f") for value in frame["elo"]]
    shown["95 %"] = interval
    shown["points a game"] = [as_number(value, "+.3f") for value in frame["ppg"]]
    shown["by points"] = frame["ppg_rank"].astype(str)
    shown["games"] = [f"{games:,}" for games in frame["games"]]
    return shown


def _shown_residuals(tournament: Tournament) -> pd.DataFrame:
    """`residuals` as texts; none where the ratings fit exactly because they must."""
    frame = residuals(tournament)
    if math.isnan(tournament.ratings.misfit_p):
        frame = frame.iloc[:0]
    shown = frame[["player", "against"]].copy()
    shown["won %"] = [f"{value:.1f}" for value in frame["won"]]
    shown["predicted %"] = [f"{value:.1f}" for value in frame["predicted"]]
    shown["difference"] = [f"{value:+.1f}" for value in frame["residual"]]
    shown["standard error"] = [f"{value:.1f}" for value in frame["se"]]
    shown["in errors"] = [f"{value:+.1f}" for value in frame["z"]]
    return shown


def _md(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem;
  color: #222; background: #fff; }}
h1 {{ font-size: 1.4rem; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.3rem 0.7rem; text-align: right; white-space: nowrap; }}
th {{ font-weight: 600; }} tbody th {{ text-align: left; }}
thead th {{ border-bottom: 1px solid #999; }}
table.dataframe td:first-of-type, table.dataframe td:nth-of-type(1) {{ text-align: left; }}
ul {{ padding-left: 1.2rem; color: #444; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""

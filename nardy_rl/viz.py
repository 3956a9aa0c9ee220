"""Pictures of boards as SVG: any variant, point or hole numbers, arrows for a play.

The picture shows what `notation.board_text` prints: X, the light checkers, sits below and bears
off at the bottom right. The sides differ in lightness, not in hue alone, and arrows have a
white rim, so that nothing depends on seeing colours.

`python -m nardy_rl.viz docs/` writes the pictures of the README.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nardy_rl.notation import from_xgid, move_text, parse_play, parse_points
from nardy_rl.notation.boards import BOTTOM, ROWS, TOP, Side, rows_by_seat
from nardy_rl.notation.moves import movements
from nardy_rl.notation.numbering import Numbering, across, checked, point_name
from nardy_rl.rules import Play, Position, Rules, variant
from nardy_rl.rules.pins import PINNED
from nardy_rl.rules.position import BAR, OFF

_RADIUS = 20
_POINT_WIDTH = 44
_HALF_HEIGHT = 2 * _RADIUS * ROWS
_GAP = 56
_EDGE = 26
_FOOTER = 38
_TRAY_WIDTH = 50
_SLAB = 11

_FRAME, _BOARD, _GROOVE = "#37474f", "#f5eee1", "#28343a"
_POINT_COLOURS = ("#dcc7a1", "#a5bab4")
_LABEL, _ARROW = "#eceff1", "#d55e00"
_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class _Colours:
    name: str
    fill: str
    rim: str
    ring: str
    ink: str


_SIDES: dict[Side, _Colours] = {
    "X": _Colours("light", "#fffdf7", "#4a4036", "#d5cab8", "#2b241c"),
    "O": _Colours("dark", "#28324d", "#0c111e", "#66749c", "#ffffff"),
}
_Place = tuple[float, float]
_OTHER: dict[Side, Side] = {"X": "O", "O": "X"}
_SPOTS = ("4", "08", "048", "0268", "02468", "023568")
"""For each die the places of its spots, in a square of three by three."""


@dataclass(frozen=True)
class _Layout:
    """Where things are, in user units. Sides are asked for in their own numbering."""

    rules: Rules

    @property
    def bar(self) -> int:
        return _POINT_WIDTH + 8 if self.rules.contact == "hit" else 16

    @property
    def left(self) -> int:
        # Travelling the same way, O bears off at the top left.
        return 2 * _EDGE + _TRAY_WIDTH if self.rules.direction == "same" else _EDGE

    @property
    def right(self) -> int:
        return self.left + 12 * _POINT_WIDTH + self.bar

    @property
    def width(self) -> int:
        return self.right + 2 * _EDGE + _TRAY_WIDTH

    @property
    def bottom(self) -> int:
        return _EDGE + 2 * _HALF_HEIGHT + _GAP

    @property
    def height(self) -> int:
        return self.bottom + _EDGE + _FOOTER

    @property
    def middle(self) -> float:
        return (_EDGE + self.bottom) / 2

    def column(self, place: int) -> float:
        """The middle of the `place`-th column from the left, 0 to 11."""
        return self.left + (place + 0.5) * _POINT_WIDTH + self.bar * (place >= 6)

    def tray(self, side: Side) -> tuple[int, int]:
        """The top left corner of the tray where a side's checkers end."""
        at_left = side == "O" and self.rules.direction == "same"
        x = _EDGE if at_left else self.right + _EDGE
        return x, _EDGE if side == "O" else self.bottom - _HALF_HEIGHT

    def checker(self, side: Side, point: int, slot: int) -> _Place:
        """The centre of the `slot`-th checker on a point (0 at the edge), the bar, or off."""
        slot = min(slot, ROWS - 1)
        if point == OFF:
            corner = self.tray(side)
            return corner[0] + _TRAY_WIDTH / 2, corner[1] + _HALF_HEIGHT / 2
        if point == BAR:
            away = _RADIUS * (2 * slot + 1) + 8
            x = self.left + 6 * _POINT_WIDTH + self.bar / 2
            return x, self.middle - away if side == "X" else self.middle + away
        place = point if side == "X" else across(self.rules, point)
        depth = (2 * slot + 1) * _RADIUS + 1
        if place in TOP:
            return self.column(TOP.index(place)), _EDGE + depth
        return self.column(BOTTOM.index(place)), self.bottom - depth


def board_measures(rules: Rules) -> dict[str, Any]:
    """Sizes, places and colours of a variant's pictures, for whoever draws the same board.

    Lengths are in user units; X sits below, and each side counts its own points. `top` and
    `bottom_points` list X's points from left to right, `columns` where they stand, `trays` the top
    left corners, `spots` for each die its places in a square of three by three.

    >>> board_measures(variant("backgammon"))["columns"][0]
    48.0
    """
    layout = _Layout(rules)
    own = {n: getattr(layout, n) for n in ("width", "left", "right", "bar", "bottom", "middle")}
    colours = {"frame": _FRAME, "board": _BOARD, "groove": _GROOVE, "points": list(_POINT_COLOURS)}
    sizes = {"edge": _EDGE, "half_height": _HALF_HEIGHT, "radius": _RADIUS, "rows": ROWS}
    return {
        **own,
        **sizes,
        "point_width": _POINT_WIDTH,
        "tray_width": _TRAY_WIDTH,
        "slab": _SLAB,
        "top": list(TOP),
        "bottom_points": list(BOTTOM),
        "columns": [layout.column(place) for place in range(12)],
        "trays": {side: list(layout.tray(side)) for side in _SIDES},
        "spots": list(_SPOTS),
        "colours": colours
        | {"label": _LABEL, "arrow": _ARROW}
        | {"light": asdict(_SIDES["X"]), "dark": asdict(_SIDES["O"])},
    }


def board_svg(
    position: Position,
    play: Play | None = None,
    *,
    numbering: str = "distance",
    size: int = 640,
    me: Side = "X",
) -> str:
    """The position as an SVG document, `size` pixels wide.

    `play`, one of the player in row 0, adds its dice, its text, and arrows with a ring where a
    checker ends. `me` is the side of row 0: X (light, below) or O (dark); the points have his
    numbers, by distance or as holes.

    Raises `ConfigError` for an unknown numbering or side.

    >>> svg = board_svg(Position.start(variant("backgammon")))
    >>> svg.startswith("<svg") and "light to play" in svg
    True
    """
    names = checked(numbering)
    layout = _Layout(position.rules)
    width, height = layout.width, layout.height
    x_row, o_row = rows_by_seat(position, me)
    title = _title(position, play, names, me)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{size}" height="{round(size * height / width)}" role="img" '
        f'aria-label={quoteattr(title)} font-family="{_FONT}">',
        f"<title>{escape(title)}</title>",
        *_table(layout, names, me),
    ]
    rows: dict[Side, list[int]] = {"X": x_row.tolist(), "O": o_row.tolist()}
    for side, row in rows.items():
        for point in range(1, BAR + 1):
            if row[point] == PINNED:
                parts += _pinned(side, layout.checker(side, point, 0), names, point)
                continue
            below = _held_below(layout, rows[_OTHER[side]], point)
            for slot in range(below, min(below + row[point], ROWS)):
                counted = below + row[point] > ROWS and slot == ROWS - 1
                centre = layout.checker(side, point, slot)
                parts += _checker(side, centre, str(row[point]) if counted else "")
        parts += _tray(layout, side, row[OFF])
    if play is not None:
        parts += [*_dice(layout, play.roll, me), *_arrows(layout, play, me)]
    parts += _footer(layout, position, me, move_text(play, names) if play else "")
    return "\n".join([*parts, "</svg>"])


def _title(position: Position, play: Play | None, numbering: Numbering, me: Side) -> str:
    mine, his = position.pips
    text = (
        f"{position.rules.name}: {_SIDES[_to_play(position, me)].name} to play; "
        f"pips {_SIDES[me].name} {mine}, {_SIDES[_OTHER[me]].name} {his}"
    )
    if play is None:
        return text
    return f"{text}; {play.roll[0]}-{play.roll[1]}: {move_text(play, numbering)}"


def _to_play(position: Position, me: Side) -> Side:
    return _OTHER[me] if position.moved else me


def _rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{more}/>'


def _circle(x: float, y: float, radius: float, fill: str, more: str = "") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"{more}/>'


def _text(x: float, y: float, text: str, size: int, fill: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="600" fill="{fill}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _table(layout: _Layout, numbering: Numbering, me: Side) -> list[str]:
    """Frame, board, points, and the numbers of the player in row 0."""
    parts = [_rect(0, 0, layout.width, layout.height, _FRAME, ' rx="10"')]
    half = 6 * _POINT_WIDTH
    for corner in (layout.left, layout.left + half + layout.bar):
        parts.append(_rect(corner, _EDGE, half, layout.bottom - _EDGE, _BOARD))
    for edge, points, down, label in ((_EDGE, TOP, 1, -8), (layout.bottom, BOTTOM, -1, 18)):
        for place, point in enumerate(points):
            x = layout.column(place)
            tip = edge + down * (_HALF_HEIGHT - 6)
            colour = _POINT_COLOURS[(place + (down > 0)) % 2]
            parts.append(
                f'<path d="M{x - _POINT_WIDTH / 2:g} {edge}h{_POINT_WIDTH}L{x:g} {tip}z" '
                f'fill="{colour}"/>'
            )
            own = point if me == "X" else across(layout.rules, point)
            parts.append(_text(x, edge + label, point_name(own, numbering), 13, _LABEL))
    return parts


def _checker(side: Side, centre: _Place, count: str = "") -> list[str]:
    """A checker, with the size of its stack where not all of it is drawn."""
    colours = _SIDES[side]
    parts = [
        _circle(*centre, _RADIUS - 1, colours.fill, f' stroke="{colours.rim}" stroke-width="1.6"'),
        _circle(*centre, _RADIUS - 6, "none", f' stroke="{colours.ring}" stroke-width="1.6"'),
    ]
    if count:
        parts.append(_text(centre[0], centre[1] + 6, count, 17, colours.ink))
    return parts


def _held_below(layout: _Layout, other: list[int], point: int) -> int:
    """How many checkers lie pinned under those of the other side on a point: 0 or 1."""
    return int(0 < point < BAR and other[across(layout.rules, point)] == PINNED)


def _pinned(side: Side, centre: _Place, numbering: Numbering, point: int) -> list[str]:
    """A pinned checker: crossed out, and with words for whoever points at it."""
    (x, y), arm = centre, _RADIUS * 0.5
    words = f"{_SIDES[side].name} checker pinned on its {point_name(point, numbering)}"
    return [
        f"<g><title>{escape(words)}</title>",
        *_checker(side, centre),
        f'<path d="M{x - arm:g} {y - arm:g}l{2 * arm:g} {2 * arm:g}m0 {-2 * arm:g}'
        f'l{-2 * arm:g} {2 * arm:g}" stroke="{_SIDES[side].ink}" stroke-width="3" '
        'stroke-linecap="round" fill="none"/></g>',
    ]


def _tray(layout: _Layout, side: Side, count: int) -> list[str]:
    """A tray with the checkers borne off, lying on edge, and their number."""
    x, y = layout.tray(side)
    colours = _SIDES[side]
    parts = [_rect(x, y, _TRAY_WIDTH, _HALF_HEIGHT, _GROOVE, ' rx="4"')]
    line = colours.rim if side == "X" else colours.ring
    for slot in range(count):
        step = slot * (_SLAB + 1.6) + 6
        top = y + step if side == "O" else y + _HALF_HEIGHT - step - _SLAB
        more = f' rx="2" stroke="{line}" stroke-width="0.8"'
        parts.append(_rect(x + 5, top, _TRAY_WIDTH - 10, _SLAB, colours.fill, more))
    if count:
        below = y + _HALF_HEIGHT + 19 if side == "O" else y - 9
        parts.append(_text(x + _TRAY_WIDTH / 2, below, str(count), 15, _LABEL))
    return parts


def _dice(layout: _Layout, roll: tuple[int, int], side: Side) -> list[str]:
    """The dice between the rows, in the half at the mover's right hand."""
    colours = _SIDES[side]
    half = 3 * _POINT_WIDTH
    middle = layout.right - half if side == "X" else layout.left + half
    parts = []
    for die, x in zip(roll, (middle - 23, middle + 23), strict=True):
        more = f' rx="6" stroke="{colours.rim}" stroke-width="1.6"'
        parts.append(_rect(x - 17, layout.middle - 17, 34, 34, colours.fill, more))
        for spot in map(int, _SPOTS[die - 1]):
            right, down = 9 * (spot % 3 - 1), 9 * (spot // 3 - 1)
            parts.append(_circle(x + right, layout.middle + down, 3.3, colours.ink))
    return parts


def _arrows(layout: _Layout, play: Play, me: Side) -> list[str]:
    """An arrow for each checker that moves, and rings where they end."""
    before, other = play.before.points.tolist()
    routes: list[tuple[_Place, tuple[int, ...]]] = []
    free = Counter({point: max(before[point], 0) for point in range(BAR + 1)})
    if play.before.rules.contact == "pin":  # whoever is or will be pinned lies at the edge
        for point in range(1, BAR):
            free[point] += abs(other[across(layout.rules, point)]) == 1
    for path, count in movements(play).items():
        top = min(free[path[0]], ROWS) - 1
        routes += [(layout.checker(me, path[0], top - k), path[1:]) for k in range(count)]
        free[path[0]] -= count

    def order(route: tuple[_Place, tuple[int, ...]]) -> float:
        above = layout.checker(me, route[1][-1], 0)[1] < layout.middle
        return route[0][1] if above else -route[0][1]

    # Checkers that end on one point keep their order from top to bottom: fewer arrows cross.
    routes.sort(key=order)
    arrows: list[str] = []
    rings: list[str] = []
    for start, path in routes:
        here = start
        for point in path:
            there = layout.checker(me, point, free[point])
            arrows += _arrow(layout, here, there)
            if point != OFF:
                more = f' stroke="{_ARROW}" stroke-width="3" stroke-dasharray="5 4"'
                rings.append(_circle(*there, _RADIUS - 1.5, "none", more))
            here = there
        free[path[-1]] += 1
    return rings + arrows


def _arrow(layout: _Layout, start: _Place, end: _Place) -> list[str]:
    """A curve that bends towards the middle of the board, with a head and a white rim."""
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    # Along an edge the curve swings out over the stacks between; across the board hardly.
    swing = min(0.35 * length + 20, 150) if abs(y1 - y2) < _HALF_HEIGHT else 0
    y += math.copysign(swing, layout.middle - y)
    away = math.hypot(x2 - x, y2 - y) or 1.0
    out = math.hypot(x - x1, y - y1) or 1.0
    x1, y1 = x1 + (x - x1) / out * (_RADIUS - 5), y1 + (y - y1) / out * (_RADIUS - 5)
    along, across_ = (x2 - x) / away, (y2 - y) / away
    tip = x2 - along * 5, y2 - across_ * 5
    neck = tip[0] - along * 15, tip[1] - across_ * 15
    head = (
        f"M{tip[0]:.1f} {tip[1]:.1f}L{neck[0] - across_ * 9:.1f} {neck[1] + along * 9:.1f}"
        f"L{neck[0] + across_ * 9:.1f} {neck[1] - along * 9:.1f}z"
    )
    line = f"M{x1:.1f} {y1:.1f}Q{x:.1f} {y:.1f} {neck[0]:.1f} {neck[1]:.1f}"
    return [
        f'<path d="{line}" fill="none" stroke="#ffffff" stroke-width="8" stroke-linecap="round"/>',
        f'<path d="{head}" fill="#ffffff" stroke="#ffffff" stroke-width="4" '
        'stroke-linejoin="round"/>',
        f'<path d="{line}" fill="none" stroke="{_ARROW}" stroke-width="4.5" '
        'stroke-linecap="round"/>',
        f'<path d="{head}" fill="{_ARROW}"/>',
    ]


def _footer(layout: _Layout, position: Position, me: Side, text: str) -> list[str]:
    """Pips of both sides, who is to play, the play or the variant."""
    y = layout.bottom + _EDGE + 22
    parts: list[str] = []
    x: float = _EDGE
    for side, pips in sorted(zip((me, _OTHER[me]), position.pips, strict=True), reverse=True):
        colours = _SIDES[side]
        words = f"{pips} pips" + (", to play" if side == _to_play(position, me) else "")
        rim = f' stroke="{colours.ring}" stroke-width="1.6"'
        parts.append(_circle(x + 9, y - 5, 9, colours.fill, rim))
        parts.append(_text(x + 26, y, words, 15, _LABEL, "start"))
        x += 60 + 8.5 * len(words)
    right = text or position.rules.name.replace("_", " ")
    return [*parts, _text(layout.width - _EDGE, y, right, 15, _LABEL, "end")]


def write_examples(folder: Path) -> list[Path]:
    """Write the pictures of the README into `folder`; returns what was written."""
    nardy = parse_points(
        variant("long_nardy"),
        "24:6 22:1 20:2 17:1 16:1 15:1 11:1 9:1 8:1 | 24:7 22:1 19:2 18:1 17:1 14:1 13:1 11:1",
    )
    backgammon = from_xgid("-b----E-C---eE---c-e----B-")
    examples = {
        "board_long_nardy.svg": board_svg(nardy, parse_play(nardy, (6, 4), "24/18 22/18")),
        "board_backgammon.svg": board_svg(backgammon, parse_play(backgammon, (3, 1), "8/5 6/5")),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in examples.items():
        (folder / name).write_text(svg + "\n", encoding="utf-8")
    return [folder / name for name in examples]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m nardy_rl.viz FOLDER")
    for written in write_examples(Path(sys.argv[1])):
        print(written)

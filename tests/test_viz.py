"""Pictures are well-formed, say what they show, and draw every checker."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl.errors import ConfigError
from nardy_rl.notation import move_text, parse_play, parse_points
from nardy_rl.notation.boards import Side
from nardy_rl.rules import Position, variant, variants
from nardy_rl.viz import board_svg, write_examples
from tests.situations import NUMBERINGS, SIDES, situations, views

SVG = "{http://www.w3.org/2000/svg}"
LIGHT, DARK = "#fffdf7", "#28324d"


def read(svg: str) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def texts(root: ElementTree.Element) -> list[str]:
    return [str(element.text) for element in root.iter(f"{SVG}text")]


@settings(max_examples=100, deadline=None)
@given(views(), st.sampled_from(NUMBERINGS), st.sampled_from(SIDES))
def test_every_position_draws(position: Position, numbering: str, me: Side) -> None:
    root = read(board_svg(position, numbering=numbering, me=me))
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == root.get("aria-label")
    assert root.get("role") == "img"
    drawn = Counter(c.get("fill") for c in root.iter(f"{SVG}circle") if c.get("r") == "19")
    mine, his = (LIGHT, DARK) if me == "X" else (DARK, LIGHT)
    rows = position.points.tolist()
    for row, other, colour in zip(rows, rows[::-1], (mine, his), strict=True):
        below = [0, *(int(other[25 - p] < 0) for p in range(1, 25)), 0]
        under_me = zip(row, below, strict=True)
        fits = [min(max(count, 0) + under, 5) - under for count, under in under_me]
        assert drawn[colour] == sum(fits[1:]) + sum(count < 0 for count in row)
        slabs = [r for r in root.iter(f"{SVG}rect") if r.get("height") == "11"]
        assert sum(r.get("fill") == colour for r in slabs) == row[0]
        for count in row[1:]:
            assert count <= 5 or str(count) in texts(root)


@settings(max_examples=100, deadline=None)
@given(situations(), st.sampled_from(SIDES))
def test_every_play_draws(situation: tuple[Position, tuple[int, int]], me: Side) -> None:
    position, roll = situation
    for play in position.plays(roll)[:5]:
        root = read(board_svg(position, play, me=me))
        assert move_text(play) in texts(root)
        arrows = [p for p in root.iter(f"{SVG}path") if p.get("fill") == "#d55e00"]
        assert bool(arrows) == bool(play.moves)
        assert len(arrows) <= play.dice_used


def test_numbers_are_those_of_the_player() -> None:
    start = Position.start(variant("long_nardy"))
    assert texts(read(board_svg(start)))[0] == "13"
    assert texts(read(board_svg(start, numbering="hole")))[0] == "12"
    assert texts(read(board_svg(start, me="O")))[0] == "1"


def test_size_scales_and_keeps_the_shape() -> None:
    for name in variants():
        small, large = (
            read(board_svg(Position.start(variant(name)), size=size)) for size in (300, 900)
        )
        assert (small.get("width"), large.get("width")) == ("300", "900")
        assert small.get("viewBox") == large.get("viewBox")
        assert abs(3 * int(small.get("height", 0)) - int(large.get("height", 0))) <= 3


def test_notebooks_show_positions_and_plays() -> None:
    position = parse_points(variant("backgammon"), "24:2 6:13 | 7:1 3:14")
    play = parse_play(position, (6, 5), "24/18*/13")
    assert position._repr_svg_() == board_svg(position)
    assert play._repr_svg_() == board_svg(position, play)


def test_wrong_arguments_are_refused() -> None:
    start = Position.start(variant("backgammon"))
    with pytest.raises(ConfigError, match="numbering='points'"):
        board_svg(start, numbering="points")
    with pytest.raises(ConfigError, match="me='W'"):
        board_svg(start, me="W")  # type: ignore[arg-type]


def test_the_pictures_of_the_readme_are_up_to_date(tmp_path: Path) -> None:
    docs = Path(__file__).parents[1] / "docs"
    for written in write_examples(tmp_path):
        assert written.read_text() == (docs / written.name).read_text(), (
            "run python -m nardy_rl.viz docs/"
        )

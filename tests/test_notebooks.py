"""What is committed of the notebooks: no outputs, no logic, all of them told of.

That they run, `pytest` shows by nbmake: they are among its paths.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from nardy_rl.errors import ConfigError
from nardy_rl.report import budget

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LOGIC = (
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.For,
    ast.While,
    ast.If,
    ast.IfExp,
    ast.Try,
    ast.With,
    ast.ListComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def test_there_are_five() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05"]
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(path.name in page for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_they_compute_stands_in_the_report_room(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"]).replace("%matplotlib inline", "")
            assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, LOGIC)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_figures_are_computed_and_not_told(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            assert "\u00b1" not in "".join(cell["source"])


def test_another_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARDY_RL_NOTEBOOK_BUDGET", "huge")
    with pytest.raises(ConfigError, match=r"NARDY_RL_NOTEBOOK_BUDGET='huge'.*small, full"):
        budget()
    monkeypatch.delenv("NARDY_RL_NOTEBOOK_BUDGET")
    assert budget() == budget("full")

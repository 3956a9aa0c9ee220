"""The cells of every notebook run from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cells_run(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)  # whatever runs there are here must not matter
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not committed"
            exec(compile("".join(cell["source"]), path.name, "exec"), names)

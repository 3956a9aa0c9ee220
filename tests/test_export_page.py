"""What docs/export.md shows works as written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import cli

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")


def test_the_page_is_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    commands = re.findall(r"^\.venv/bin/nardy-rl (export .*)$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert cli.main(command.split()) == 0
    position, reader = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-I", "-c", reader], capture_output=True, text=True, check=True
    )
    numbers = np.array(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", done.stdout), float)
    assert len(numbers) == 22
    np.testing.assert_allclose(numbers[:11], numbers[11:], atol=1e-5)
    names: dict[str, list[list[int]]] = {}
    exec(position, {}, names)
    assert [sum(side) for side in names["points"]] == [15, 15]


def test_the_formats_are_those_there_are() -> None:
    from nardy_rl.export import FORMATS

    rows = re.findall(r"^\| `(\w+)` \| `NAME\.", PAGE, re.MULTILINE)
    assert tuple(rows) == FORMATS

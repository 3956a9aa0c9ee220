"""What the README shows works as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 2
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert "24/18" in capsys.readouterr().out


def test_the_tree_names_what_there_is() -> None:
    tree = README.split("## The tree")[1].split("```")[1]
    named = {line.split()[0].rstrip("/") for line in tree.splitlines() if line.strip()}
    folder = ROOT / "nardy_rl"
    there = {path.name for path in folder.iterdir() if path.name[0] not in "_."}
    there |= {path.name for path in (folder / "rules").glob("[!_]*.py")}
    there |= {
        "configs",
        "checkpoints",
        "tests",
        "benchmarks",
        "examples",
        "notebooks",
        "docs",
        "nardy_rl",
    }
    assert named == there


def test_what_it_links_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target

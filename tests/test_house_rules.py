"""House rules that no linter knows."""

from __future__ import annotations

from pathlib import Path

import nardy_rl

PACKAGE = Path(nardy_rl.__file__).parent


def test_a_file_is_read_in_one_sitting() -> None:
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text().split("\n"))) > 420}
    assert long == {}


def test_the_public_names_are_sorted_and_there() -> None:
    assert nardy_rl.__all__ == sorted(nardy_rl.__all__)
    assert all(hasattr(nardy_rl, name) for name in nardy_rl.__all__)

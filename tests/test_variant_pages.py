"""The page of each variant says what there is, and what it says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nardy_rl.rules import variant, variants

PAGES = Path(__file__).parents[1] / "docs" / "variants"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", re.M)
PLAIN = ("long_nardy", "mad_gyulbar", "gul_bara", "fevga", "moultezim", "backgammon", "plakoto")
"""Games with a table of all their options; the others name the game that they are a form of."""


@pytest.mark.parametrize("name", variants())
def test_every_variant_has_a_page(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert any(link.endswith(".svg") for link in links)
    for link in links:
        assert (PAGES / link).is_file(), link
    options = {option.name: option for option in variant(name).options()}
    table = {option: (value, said) for option, value, said in ROW.findall(text)}
    rules_only = {option: row for option, row in table.items() if option in options}
    for option, (value, _) in rules_only.items():
        assert value == options[option].value, option
    if name in PLAIN:
        assert rules_only.keys() == options.keys()
        for option, (_, said) in rules_only.items():
            for value in options[option].allowed:
                if not value.isdigit():
                    assert f"`{value}`" in said, (option, value)
    assert re.search(r"[Tt]ables disagree|not disputed|no tables to disagree", text)
    nets = re.findall(r"player=(checkpoints/\w+)", text)
    assert nets
    assert all((PAGES.parents[1] / net / "card.json").is_file() for net in nets)

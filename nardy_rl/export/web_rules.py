"""A variant's rules as JSON, as the modules in `export/web` read them."""

from __future__ import annotations

from typing import Any

from nardy_rl.encoding import ENCODER_VERSION
from nardy_rl.rules.record import RULES_VERSION, Rules


def rules_json(rules: Rules) -> dict[str, Any]:
    """What `loadRules` of `rules.js` takes: plain lists, numbers, texts and None."""
    return {
        "rules_version": RULES_VERSION,
        "encoder_version": ENCODER_VERSION,
        "name": rules.name,
        "checkers": rules.checkers,
        "start": [list(place) for place in rules.start],
        "direction": rules.direction,
        "contact": rules.contact,
        "kernel": rules.kernel._asdict(),
        "options": {option.name: option.value for option in rules.options()},
        "outcomes": list(rules.outcomes),
        "draw_points": rules.draw_points,
    }

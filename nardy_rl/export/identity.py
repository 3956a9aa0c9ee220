"""What an exported net says of itself, the same in every format."""

from __future__ import annotations

import json
from typing import Any

from nardy_rl.encoding import ENCODER_VERSION
from nardy_rl.rules.record import RULES_VERSION
from nardy_rl.train.checkpoint import Checkpoint

PROJECT = "nardy_rl"

EXPORT_FORMAT = 1
"""Changes when an older file can no longer be read. 1: the first."""


def identity_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """Project and versions, the game, the net's shape, and which checkpoint it was."""
    rules, net = checkpoint.rules, checkpoint.net
    return {
        "project": PROJECT,
        "export_format": EXPORT_FORMAT,
        "rules_version": RULES_VERSION,
        "encoder_version": ENCODER_VERSION,
        "variant": rules.name,
        "options": {option.name: option.value for option in rules.options()},
        "outcomes": list(net.outcomes),
        "inputs": net.inputs,
        "hidden": list(net.hidden),
        "checkpoint_sha256": checkpoint.card["sha256"]["model.safetensors"],
        "games": checkpoint.card.get("games"),
    }


def as_texts(identity: dict[str, Any]) -> dict[str, str]:
    """The same with every value as text, JSON but for plain words: file metadata are texts."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in identity.items()
    }

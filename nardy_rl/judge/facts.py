"""What it takes to repeat a judgement."""

from __future__ import annotations

import os
import platform
from typing import Any

from nardy_rl.encoding import ENCODER_VERSION
from nardy_rl.env import ENV_VERSION
from nardy_rl.judge.judged import Judged
from nardy_rl.rules import Rules
from nardy_rl.rules.parallel import get_threads
from nardy_rl.rules.record import RULES_VERSION
from nardy_rl.train.provenance import provenance


def facts_of(rules: Rules, who: Judged) -> dict[str, Any]:
    """Game, player, versions and machine, plain nested data."""
    return {
        "variant": rules.name,
        "options": {option.name: option.value for option in rules.options()},
        "player": {
            "text": who.text,
            "name": who.player.name,
            "source": who.source,
            "sha256": who.sha256,
            "computed_by": getattr(who.evaluator, "name", ""),
        },
        "rules_version": RULES_VERSION,
        "encoder_version": ENCODER_VERSION,
        "env_version": ENV_VERSION,
        **provenance(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": get_threads(),
    }

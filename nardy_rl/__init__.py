"""Self-play training of long nardy, backgammon and their relatives.

>>> import nardy_rl
>>> position = nardy_rl.Position.start(nardy_rl.variant("long_nardy"))
>>> [str(play) for play in position.plays((6, 5))]
['24/13']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from nardy_rl.kernel_cache import drop_stale_kernels

if TYPE_CHECKING:
    from nardy_rl.analysis import analyse, preroll
    from nardy_rl.encoding import Encoding
    from nardy_rl.env import Env
    from nardy_rl.errors import (
        AmbiguousPlay,
        CheckpointError,
        ConfigError,
        IllegalPlay,
        InvalidPosition,
        InvalidText,
    )
    from nardy_rl.net import ValueNet
    from nardy_rl.rules import (
        LegalAfterstates,
        Outcome,
        Play,
        Plays,
        Position,
        Rules,
        Status,
        legal_afterstates,
        variant,
        variants,
    )
    from nardy_rl.train.checkpoint import Checkpoint, load_checkpoint

__all__ = [
    "AmbiguousPlay",
    "Checkpoint",
    "CheckpointError",
    "ConfigError",
    "Encoding",
    "Env",
    "IllegalPlay",
    "InvalidPosition",
    "InvalidText",
    "LegalAfterstates",
    "Outcome",
    "Play",
    "Plays",
    "Position",
    "Rules",
    "Status",
    "ValueNet",
    "analyse",
    "legal_afterstates",
    "load_checkpoint",
    "preroll",
    "variant",
    "variants",
]

drop_stale_kernels()

_HOMES = {
    "analysis": ("analyse", "preroll"),
    "encoding": ("Encoding",),
    "env": ("Env",),
    "errors": (
        "AmbiguousPlay",
        "CheckpointError",
        "ConfigError",
        "IllegalPlay",
        "InvalidPosition",
        "InvalidText",
    ),
    "net": ("ValueNet",),
    "train.checkpoint": ("Checkpoint", "load_checkpoint"),
}
_MODULE = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: the command line's help needs no numba."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE.get(name, 'rules')}"), name)
    globals()[name] = value
    return value

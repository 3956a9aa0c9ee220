"""What can be wrong with what a caller hands in; every one of them is a `ValueError`."""

from __future__ import annotations

__all__ = [
    "AmbiguousPlay",
    "CheckpointError",
    "ConfigError",
    "IllegalPlay",
    "InvalidPosition",
    "InvalidText",
]


class ConfigError(ValueError):
    """A setting has an unknown name or a value that is not allowed."""


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or was made for other rules, encoding or format."""


class InvalidPosition(ValueError):
    """A position that no game can reach; the message lists every reason."""


class InvalidText(ValueError):
    """A text that is no move, board or position id; the message says where reading stopped."""


class IllegalPlay(ValueError):
    """A readable play that the rules do not allow here; the message says why."""


class AmbiguousPlay(ValueError):
    """A readable play that fits several legal results; the message lists them."""

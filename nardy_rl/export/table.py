"""The encoding as a table, and a test vector: all that a reader in any language needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nardy_rl.encoding import PINNED_UNIT, UNARY, Encoding, encode
from nardy_rl.export.identity import identity_of
from nardy_rl.export.samples import sample_positions
from nardy_rl.train.checkpoint import Checkpoint

VECTORS = 11

HOW = {
    "position": (
        "after a move, seen by the player who made it. points[0] are his checkers, points[1] the "
        "other's, each counted in its owner's numbering by the distance to go: place 0 borne off, "
        "1..24 the points (24 the farthest from home), 25 the bar; a pinned checker is -1, and "
        "counts as one checker in `at_least` and `beyond`"
    ),
    "unit": (
        "with `at_least`: 1 if points[side][place] >= at_least, else 0. With `beyond`: "
        "factor * max(0, points[side][place] - beyond). With `flag`: 1 if that bit of flags is "
        "set. With `pending`: 1 if that is among the values listed. With `pinned`: 1 if "
        "points[side][place] is -1"
    ),
    "flags": (
        "bit 0: his own first turn is still to come; bit 1: the other's is; bit 2: he began the "
        "game; bits 3 and 4: turns he has taken, bits 5 and 6: turns the other has, both counted "
        "up to what the ladder waits for. Only bits with a unit in the table matter"
    ),
    "pending": (
        "of ladder games, after the move: 0 the other player throws the dice, 217 he himself does. "
        "Else 1 + ((whose * 3 + head) * 4 + steps - 1) * 6 + die - 1 is a rung of a ladder: its "
        "die, steps left of it, whose 0 his own, 1 handed over to him, 2 handed over by him"
    ),
    "net": (
        "x = units; for each layer x = W x + b, followed by relu but for the last; then softmax. "
        "The result is the probability of each outcome, for the player whose view it is"
    ),
    "equity": "sum of outcome * probability, in points a game",
    "play": "of all legal results of a roll, the one of the highest equity",
}
"""How to read the fields of a description."""


def encoding_table(encoding: Encoding) -> list[dict[str, Any]]:
    """Every unit: its index, name, and what it is a function of (see `HOW`)."""
    table: list[dict[str, Any]] = [
        {"index": index, "name": name} for index, name in enumerate(encoding.names)
    ]
    for side in range(2):
        for place in range(26):
            first = int(encoding.base[side, place])
            if first < 0:
                continue
            if encoding.kind[side, place] == UNARY:
                for step in range(3):
                    table[first + step] |= {"side": side, "place": place, "at_least": step + 1}
                if table[first + PINNED_UNIT]["name"].endswith(" pinned"):
                    table[first + PINNED_UNIT] |= {"side": side, "place": place, "pinned": True}
                first, beyond, factor = first + 3, 3, 0.5
            else:
                beyond, factor = 0, float(encoding.scale[side, place])
            table[first] |= {"side": side, "place": place, "beyond": beyond, "factor": factor}
    for bit, unit in enumerate(encoding.flag_units.tolist()):
        if unit >= 0:
            table[unit]["flag"] = bit
    for unit in np.unique(encoding.pending_units[encoding.pending_units >= 0]).tolist():
        table[unit]["pending"] = np.flatnonzero((encoding.pending_units == unit).any(1)).tolist()
    return table


def vectors_of(checkpoint: Checkpoint) -> list[dict[str, Any]]:
    """The start and ten other positions: checkers, flags, inputs, outputs, equity."""
    points, flags = sample_positions(checkpoint.rules, VECTORS)
    rows = encode(checkpoint.rules, points, flags)
    with torch.inference_mode():
        shares = checkpoint.net.distribution(torch.from_numpy(rows)).numpy().astype(np.float64)
    equities = shares @ np.array(checkpoint.net.outcomes)
    return [
        {
            "points": points[i].tolist(),
            "flags": int(flags[i]),
            "units": rows[i].tolist(),
            "probabilities": shares[i].tolist(),
            "equity": float(equities[i]),
        }
        for i in range(VECTORS)
    ]


def description(checkpoint: Checkpoint, file: str, sha256: str) -> dict[str, Any]:
    """Everything that lies beside the weights, as one JSON object.

    Args:
        checkpoint: what was exported.
        file: name of the file with the weights.
        sha256: of that file.
    """
    return {
        **identity_of(checkpoint),
        "file": file,
        "sha256": sha256,
        "licence": "MIT",
        "how_to_read": HOW,
        "encoding": encoding_table(Encoding.of(checkpoint.rules)),
        "weights": {name: list(value.shape) for name, value in checkpoint.net.state_dict().items()},
        "test_vectors": vectors_of(checkpoint),
        "card": checkpoint.card,
    }

"""Play with an exported net, by NumPy alone: FILE.npz and the FILE.npz.json beside it.

The rules are the host's: it hands in the legal results of a roll, seen by the player who moves.
"""

import json

import numpy as np


class NpzPlayer:
    """The result of the highest equity, in points a game."""

    def __init__(self, path):
        with open(f"{path}.json", encoding="utf-8") as file:
            self.told = json.load(file)
        with np.load(path) as arrays:
            names = list(self.told["weights"])
            self.layers = [
                (arrays[w], arrays[b]) for w, b in zip(names[::2], names[1::2], strict=True)
            ]

    def units(self, points, flags=0, pending=0):
        """The input row of one position; see `how_to_read` in the JSON file."""
        row = np.zeros(self.told["inputs"], np.float32)
        for unit in self.told["encoding"]:
            value = 0.0
            if "place" in unit:
                count = points[unit["side"]][unit["place"]]
                if "pinned" in unit:
                    value = count == -1
                elif "at_least" in unit:
                    value = abs(count) >= unit["at_least"]
                else:
                    value = unit["factor"] * max(0, abs(count) - unit["beyond"])
            elif "flag" in unit:
                value = flags >> unit["flag"] & 1
            elif "pending" in unit:
                value = pending in unit["pending"]
            row[unit["index"]] = value
        return row

    def equity(self, points, flags=0, pending=0):
        """What the position is worth to the player in points[0], who just moved."""
        x = self.units(points, flags, pending)
        for index, (weight, bias) in enumerate(self.layers):
            x = weight @ (x if index == 0 else np.maximum(x, 0)) + bias
        shares = np.exp(x - x.max())
        return float(shares @ np.array(self.told["outcomes"]) / shares.sum())

    def choose(self, results):
        """The index of the best of `results`: (points, flags, pending, score or None), each."""
        values = [self.equity(*state) if s is None else s for *state, s in results]
        return int(np.argmax(values))

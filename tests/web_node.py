"""The rules and the bot in JavaScript, asked through one node process, beside those in Python."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nardy_rl.encoding import encode
from nardy_rl.env import Env
from nardy_rl.export.onnx import onnx_bytes, weights_of
from nardy_rl.export.web_rules import rules_json
from nardy_rl.inference import Decisions
from nardy_rl.players.network import NetPlayer
from nardy_rl.rules import Rules
from nardy_rl.rules.batch import generate_batch, unpack_path
from nardy_rl.rules.ladder import follow, states_after
from nardy_rl.search.valuers import final_scores
from nardy_rl.train.checkpoint import Checkpoint
from tests.reachable import Turns

ROOT = Path(__file__).resolve().parent.parent
MODULES = ROOT / "nardy_rl" / "export" / "web"
WALKED = 60
"""Results at most of the decisions whose partly played turns `disagreements` goes through."""


class Node:
    """A running `tests/web_answers.mjs`.

    Args:
        modules: the folder of the modules.

    Raises:
        FileNotFoundError: there is no node.
    """

    def __init__(self, modules: Path = MODULES) -> None:
        script = ROOT / "tests" / "web_answers.mjs"
        self._process = subprocess.Popen(
            ["node", str(script), str(modules)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def ask(self, ask: str, **question: Any) -> Any:
        """The answer to one question; RuntimeError with the script's error where it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": ask, **question}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"error": "node ended"}
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def use_rules(self, rules: Rules) -> int:
        """Later questions are of this game; the number of input units of its net."""
        return int(self.ask("rules", json=rules_json(rules))["size"])

    def use_net(self, checkpoint: Checkpoint, runtime: Path | None = None) -> None:
        """`judged` asks this net from now on.

        Args:
            checkpoint: whose net.
            runtime: the folder of npm's onnxruntime-web, which then reads the exported file; else
                plain JavaScript computes the net.
        """
        if runtime is not None:
            content = base64.b64encode(onnx_bytes(checkpoint)).decode()
            self.ask("net", onnx=content, runtime=str(runtime.resolve()))
            return
        named = weights_of(checkpoint.net)
        text = {name: base64.b64encode(value.tobytes()).decode() for name, value in named.items()}
        layers = [name.removesuffix(".weight") for name in named if name.endswith(".weight")]
        self.ask(
            "net", layers=[{k: text[f"{name}.{k}"] for k in ("weight", "bias")} for name in layers]
        )


def question(points: NDArray[np.int8], flags: int, pending: int, roll: Any) -> dict[str, Any]:
    """A decision as `web_answers.mjs` reads it."""
    return {
        "board": points.reshape(-1).tolist(),
        "flags": int(flags),
        "pending": int(pending),
        "roll": [int(die) for die in roll],
    }


def disagreements(node: Node, rules: Rules, turns: Turns, walked: int = WALKED) -> Iterator[str]:
    """What JavaScript and the kernels say differently of each decision of `turns`, in words.

    Turns in progress are gone through where a decision has at most `walked` results.
    """
    state = turns.points, turns.flags, turns.pending, turns.rolls
    legal, paths = generate_batch(rules.kernel, *state)
    flags, pending = states_after(rules, turns.flags, turns.pending, turns.rolls, legal.dice_used)
    for b, asked in enumerate(map(question, *state)):
        rows = slice(legal.offsets[b], legal.offsets[b + 1])
        after = legal.after[rows]
        used = int(legal.dice_used[b])
        after_flags = np.full(len(after), flags[b], np.uint8)
        units = encode(rules, after, after_flags, np.full(len(after), pending[b], np.uint8))
        expected: dict[str, Any] = {
            "used": used,
            "after": base64.b64encode(after.tobytes()).decode(),
            "steps": [[list(s) for s in unpack_path(int(path), used)] for path in paths[rows]],
            "scores": final_scores(rules, after, after_flags).tolist(),
            "then": [int(flags[b]), int(pending[b])],
            "following": [_following(rules, turns, b, used, row) for row in after],
            "units": hashlib.sha256(units.tobytes()).hexdigest(),
            "walk": {"reached": len(after), "stuck": 0, "unexplained": 0},
        }
        walk = len(after) <= walked
        found = node.ask("decision", **asked, walk=walk)
        if not walk:
            expected["walk"] = None
        for name, value in expected.items():
            if found[name] != value:
                yield (
                    f"{rules.name} {_options(rules)} {asked}: {name}: JavaScript "
                    f"{_short(found[name])}, Python {_short(value)}"
                )


def _following(rules: Rules, turns: Turns, b: int, used: int, after: NDArray[np.int8]) -> list[int]:
    first, second = turns.rolls[b]
    state = first, second, used, turns.points[b], after
    return [int(part) for part in follow(rules.kernel, turns.flags[b], turns.pending[b], *state)]


def _options(rules: Rules) -> Mapping[str, str]:
    return {option.name: option.value for option in rules.options()}


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) < 300 else f"{text[:300]}..."


def python_series(rules: Rules, seed: int, games: int) -> list[list[int | None]]:
    """The lines that `series` of web_answers.mjs gives, by `Env`."""
    env = Env(rules, 1, seed, 10_000)
    lines: list[list[int | None]] = []
    while env.tables.game[0] < games:
        tables = env.tables
        now = (tables.mover, tables.starter, tables.rolls, tables.flags, tables.pending)
        lines.append([int(v) for part in (*now, tables.points) for v in part[0].reshape(-1)])
        state = tables.points, tables.flags, tables.pending, tables.rolls
        legal, _ = generate_batch(rules.kernel, *state)
        choice = int(tables.turn[0]) * 7919 % len(legal.after)
        for score in env.step(np.array([choice])).score.tolist():
            lines.append([None if score == 0 else int(score < 0), abs(score)])
    return lines


@dataclass(frozen=True)
class Choice:
    """What the two bots chose at one position, by place, and how the values of all plays differ.

    `lost` is what the Python bot thinks that it would give away by the other's choice.
    """

    asked: Mapping[str, Any]
    plays: int
    python: int
    javascript: int
    lost: float
    apart: float


def choices(
    node: Node, checkpoint: Checkpoint, positions: int, rng: np.random.Generator, seed: int = 0
) -> Iterator[Choice]:
    """Both bots' choices at positions of games that the net plays with itself.

    One move in ten is any legal one, so that games differ. `node` must have been told the rules
    and the net.
    """
    rules = checkpoint.rules
    player = NetPlayer(rules, checkpoint.net, evaluator="float32", bearoff=False)
    env = Env(rules, 1, seed, 10_000)
    for _ in range(positions):
        tables = env.tables
        state = tables.points.copy(), tables.flags.copy(), tables.pending.copy()
        rolls = tables.rolls.copy()
        legal, _ = generate_batch(rules.kernel, *state, rolls)
        after = states_after(rules, state[1], state[2], rolls, legal.dice_used)
        decisions = Decisions(state[0], *after, legal)
        chosen = int(player.choose(decisions, rolls, np.zeros(1, np.uint64))[0])
        values = player.valuer.equities(decisions)
        asked = question(state[0][0], state[1][0], state[2][0], rolls[0])
        found = node.ask("judged", **asked)
        theirs = np.empty(len(values))
        theirs[found["places"]] = found["equities"]
        place = int(found["places"][0])
        yield Choice(
            asked,
            len(values),
            chosen,
            place,
            float(values[chosen] - values[place]),
            float(np.abs(theirs - values).max()),
        )
        env.step(np.array([rng.integers(len(values)) if rng.random() < 0.1 else chosen]))

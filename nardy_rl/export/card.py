"""The Markdown page beside an exported net, for people."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from nardy_rl.encoding import Encoding
from nardy_rl.export.table import HOW, VECTORS
from nardy_rl.train.checkpoint import Checkpoint
from nardy_rl.train.figures import figures_of

LICENCE = """\
MIT License

Copyright (c) 2026 The nardy_rl authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

_READING = {
    ".onnx": """\
```python
import json, numpy, onnxruntime
told = json.load(open("{file}.json"))
session = onnxruntime.InferenceSession("{file}")
for vector in told["test_vectors"]:
    units = numpy.array([vector["units"]], numpy.float32)
    (probabilities,) = session.run(["probabilities"], {{"units": units}})
    print(probabilities @ told["outcomes"], vector["equity"])
```""",
    ".npz": """\
```python
import json, numpy
told, weights = json.load(open("{file}.json")), numpy.load("{file}")
layers = [n for n in told["weights"] if n.endswith("weight")]
for vector in told["test_vectors"]:
    x = numpy.array(vector["units"])
    for name in layers:
        x = weights[name] @ x + weights[name.replace("weight", "bias")]
        x = numpy.maximum(x, 0) if name != layers[-1] else numpy.exp(x - x.max())
    print(x / x.sum() @ told["outcomes"], vector["equity"])
```""",
}
_READING[".js"] = """\
```js
import {{ readFileSync }} from "node:fs";
import {{ encode, outcomes, probabilities }} from "./{file}";
const told = JSON.parse(readFileSync("{file}.json", "utf8"));
for (const vector of told.test_vectors) {{
  const shares = probabilities(encode(vector.points, vector.flags));
  console.log(shares.reduce((sum, share, i) => sum + share * outcomes[i], 0), vector.equity);
}}
```"""
_READING[".mjs"] = _READING[".js"]
_READING[".js"] += """

node takes the file for a module if its name ends in .mjs, or where a package.json beside it says
`{{"type": "module"}}`; a browser does in `<script type="module">`."""
_READING[".safetensors"] = (
    _READING[".npz"]
    .replace('numpy.load("{file}")', 'safetensors.numpy.load_file("{file}")')
    .replace("import json, numpy", "import json, numpy, safetensors.numpy")
)


def card_text(checkpoint: Checkpoint, file: str) -> str:
    """The page: what the net plays and how well, how to read it, and under which licence.

    Args:
        checkpoint: what was exported.
        file: name of the file with the weights.
    """
    rules, net, card = checkpoint.rules, checkpoint.net, checkpoint.card
    options = ", ".join(f"{option.name}={option.value}" for option in rules.options())
    outcomes = ", ".join(str(score) for score in net.outcomes)
    layers = " - ".join(str(size) for size in (net.inputs, *net.hidden, len(net.outcomes)))
    parts = [
        f"# {file}: a net that plays {rules.name}",
        str(card.get("what", "A value net.")),
        f"* game: {rules.name} ({options})\n"
        f"* outcomes, in this order: {outcomes} points, for the player who just moved\n"
        f"* net: {layers}, relu, softmax\n"
        f"* trained by nardy_rl on {_made(card)}\n"
        f"* weights of the checkpoint with SHA-256 {card['sha256']['model.safetensors']}",
        "## How strong\n\n" + _measured(card),
        "## How to read it\n\n"
        + "\n".join(f"* {name}: {text}" for name, text in HOW.items())
        + f"\n\nThe table of all {net.inputs} units is in `{file}.json` under `encoding`. "
        f"Beside it `test_vectors`: {VECTORS} positions, the start first, with inputs, outputs "
        "and equity. A reader is right when it finds those:\n\n"
        + _READING[PurePath(file).suffix].format(file=file),
        "## Units\n\n" + _units(Encoding.of(rules)),
        "## Licence\n\nOf the nets that nardy_rl ships, and of what this page says:\n\n" + LICENCE,
    ]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _made(card: dict[str, Any]) -> str:
    games = card.get("games")
    made = f"{games:,} games of self-play" if isinstance(games, int) else "games of self-play"
    return f"{made}, commit {card['commit']}" if card.get("commit") else made


def _measured(card: dict[str, Any]) -> str:
    """Every figure of the card with its interval and command; then what the net does badly."""
    weak = card.get("weaknesses")
    known = f"\n\nKnown weaknesses: {weak}" if weak else ""
    figures = figures_of(card)
    if figures:
        lines = [
            f"| {figure.what} | {figure} | {figure.games:,} | `{figure.command}` |"
            for figure in figures
        ]
        head = [
            "| what | figure (± half a 95 % interval) | games or positions | command |",
            "| - | - | - | - |",
        ]
        machines = "; ".join(sorted({figure.machine for figure in figures}))
        return "\n".join([*head, *lines]) + f"\n\nMeasured on: {machines}.{known}"
    measured = card.get("measured")
    measured = measured if isinstance(measured, dict) else {}
    lines = [
        f"| {name.removesuffix('/ppg')} | {value:+.3f} ± {measured.get(f'{name}_se', 0):.3f} |"
        for name, value in measured.items()
        if name.endswith("/ppg")
    ]
    if not lines:
        return f"Not measured.{known}"
    head = ["| against | points a game (± one standard error) |", "| --- | --- |"]
    return "\n".join([*head, *lines]) + known


def _units(encoding: Encoding) -> str:
    """Index and name of every unit."""
    lines = ["| index | unit |", "| --- | --- |"]
    lines += [f"| {index} | {name} |" for index, name in enumerate(encoding.names)]
    return "\n".join(lines)

"""A net as one JavaScript module without dependencies: weights, encoding, forward pass."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np

from nardy_rl.encoding import Encoding
from nardy_rl.errors import CheckpointError
from nardy_rl.export.identity import identity_of
from nardy_rl.export.onnx import TOLERANCE, weights_of
from nardy_rl.export.table import encoding_table, vectors_of
from nardy_rl.train.checkpoint import Checkpoint

_CHECK = """\
import { readFileSync } from "node:fs";
const net = await import(process.argv[1]);
const out = JSON.parse(readFileSync(0, "utf8")).map(({ points, flags, units }) => ({
  units: Array.from(net.encode(points, flags)),
  probabilities: net.probabilities(units),
  equity: net.equity(points, flags),
}));
console.log(JSON.stringify(out));
"""


def module_bytes(checkpoint: Checkpoint, file: str) -> bytes:
    """The module of a checkpoint's net; `file` is the name it gets."""
    weights = list(weights_of(checkpoint.net).values())
    layers = [
        [*matrix.shape, _base64(matrix), _base64(bias)]
        for matrix, bias in zip(weights[::2], weights[1::2], strict=True)
    ]
    table = [
        {name: value for name, value in unit.items() if name != "name"}
        for unit in encoding_table(Encoding.of(checkpoint.rules))
    ]
    text = resources.files("nardy_rl.export").joinpath("module.js").read_text(encoding="utf-8")
    for mark, value in (
        ("VARIANT", checkpoint.rules.name),
        ("FILE", file),
        ("ABOUT", json.dumps(identity_of(checkpoint))),
        ("ENCODING", json.dumps(table, separators=(",", ":"))),
        ("LAYERS", json.dumps(layers)),
    ):
        text = text.replace(mark, value)
    return text.encode()


def verify_module(content: bytes, checkpoint: Checkpoint, where: str) -> bool:
    """Compare a module, as node computes it, with torch; False where there is no node.

    Raises:
        CheckpointError: more than `TOLERANCE` apart in a unit, a probability or an equity of a
            test vector, or node cannot read the module.
    """
    node = shutil.which("node")
    if node is None:
        return False
    vectors = vectors_of(checkpoint)
    address = "data:text/javascript;base64," + base64.b64encode(content).decode()
    # By way of a file: a command line has room for less than a net.
    script = f"const address = {json.dumps(address)};\n" + _CHECK.replace(
        "process.argv[1]", "address"
    )
    given = json.dumps([{k: v[k] for k in ("points", "flags", "units")} for v in vectors])
    done = _run(node, script, given)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise CheckpointError(f"{where}: node cannot run the module ({said}); nothing was kept")
    found = json.loads(done.stdout)
    for name in ("units", "probabilities", "equity"):
        expected = np.array([vector[name] for vector in vectors])
        apart = float(np.abs(np.array([one[name] for one in found]) - expected).max())
        if not apart <= TOLERANCE:
            raise CheckpointError(
                f"{where}: node and torch differ by {apart:.1e} in {name}, allowed is "
                f"{TOLERANCE:.0e}; nothing was kept"
            )
    return True


def _run(node: str, script: str, given: str) -> subprocess.CompletedProcess[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "check.mjs"
        file.write_text(script, encoding="utf-8")
        return subprocess.run(
            [node, str(file)], input=given, capture_output=True, text=True, check=False, timeout=120
        )


def _base64(values: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()

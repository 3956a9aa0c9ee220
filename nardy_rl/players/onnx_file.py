"""An exported ONNX file as a player: read, checked, and computed by onnxruntime."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bearoff import with_bearoff
from nardy_rl.encoding import ENCODER_VERSION, Encoding, encode
from nardy_rl.errors import CheckpointError, ConfigError, regular
from nardy_rl.export.identity import EXPORT_FORMAT, PROJECT
from nardy_rl.export.onnx import (
    HASH,
    INPUT,
    OUTPUT,
    content_hash,
    import_or_explain,
    layer_shapes,
    new_session,
    value_graph,
)
from nardy_rl.inference import Decisions
from nardy_rl.rules.parallel import map_chunks
from nardy_rl.rules.record import RULES_VERSION, Rules, variant
from nardy_rl.search import NetValuer, best_rows

# As in `inference.FloatEvaluator`: blocks of one size, so that the last bits of a row do not
# depend on how many others were asked with it.
_BLOCK_ROWS = 384


@dataclass(frozen=True)
class OnnxFile:
    """A file that was read and checked: where, the game it plays, what it says, its bytes."""

    path: Path
    rules: Rules
    metadata: dict[str, str]
    content: bytes


def read_onnx(path: str | Path) -> OnnxFile:
    """Read and check a file that `nardy-rl export` wrote.

    Raises:
        CheckpointError: no such file, damaged, not of this program, or of another version; one
            line with the file, what is wrong and what to do.
        ConfigError: `onnx` is not installed.
    """
    path = Path(path)
    onnx = import_or_explain("onnx")
    try:
        content = regular(path).read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{path}: {error.strerror or error}; an .onnx file is expected"
        ) from error
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as error:  # protobuf's DecodeError, of a package that is not ours to import
        raise CheckpointError(f"{path}: truncated or no ONNX file; export it again") from error
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    if metadata.get("project") != PROJECT:
        _refuse(path, "project", "not an export of nardy_rl, or truncated; export it again")
    for name, ours in (
        ("export_format", EXPORT_FORMAT),
        ("rules_version", RULES_VERSION),
        ("encoder_version", ENCODER_VERSION),
    ):
        if _value(path, metadata, name) != ours:
            _refuse(path, name, f"{metadata[name]}, but this version reads {ours}; "
                    "export again with the same version of nardy_rl")  # fmt: skip
    options = _value(path, metadata, "options")
    try:
        rules = variant(metadata.get("variant", ""), **options)
    except (ConfigError, TypeError) as error:
        _refuse(path, "variant", str(error))
    if _value(path, metadata, "outcomes") != list(rules.outcomes):
        _refuse(path, "outcomes", f"not those of {rules.name}, {list(rules.outcomes)}")
    _check_graph(path, model, metadata, rules)
    return OnnxFile(path, rules, metadata, content)


def _check_graph(path: Path, model: Any, metadata: dict[str, str], rules: Rules) -> None:
    """The graph is the one that `export` makes of these weights, and they are as written."""
    onnx = import_or_explain("onnx")
    hidden = _value(path, metadata, "hidden")
    if not isinstance(hidden, list) or not all(isinstance(n, int) and n > 0 for n in hidden):
        _refuse(path, "hidden", f"{hidden!r}, expected a list of widths; export it again")
    shapes = layer_shapes((Encoding.of(rules).size, *hidden, len(rules.outcomes)))
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    found = {name: tuple(tensor.dims) for name, tensor in tensors.items()}
    if found != shapes:
        _refuse(path, "weights", "not of the shapes that the file names; export it again")
    try:
        weights = {name: onnx.numpy_helper.to_array(tensors[name]) for name in shapes}
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{path}: weights: {error}; export it again") from error
    if content_hash(metadata, weights) != metadata.get(HASH):
        _refuse(path, HASH, "not the recorded one; the file was changed, export it again")
    if model.graph != value_graph(weights, len(rules.outcomes)):
        _refuse(path, "graph", "not the one that nardy_rl writes; export it again")


def _value(path: Path, metadata: dict[str, str], name: str) -> Any:
    try:
        return json.loads(metadata[name])
    except (KeyError, ValueError):
        _refuse(path, name, f"{metadata.get(name)!r} is no value; export it again")


def _refuse(path: Path, field: str, problem: str) -> NoReturn:
    raise CheckpointError(f"{path}: {field}: {problem}")


class OnnxEvaluator:
    """The distributions of an exported net, by onnxruntime, one thread a block.

    Args:
        file: from `read_onnx`.

    Raises:
        ConfigError: `onnxruntime` is not installed.
    """

    name = "onnx"

    def __init__(self, file: OnnxFile) -> None:
        self.encoding = Encoding.of(file.rules)
        self.outcomes = len(file.rules.outcomes)
        self._session = new_session(file.content)

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `inference.Evaluator`."""
        points = decisions.legal.after
        counts = np.diff(decisions.legal.offsets)
        flags, pending = (
            np.repeat(state, counts) for state in (decisions.flags, decisions.pending)
        )
        out = np.empty((len(points), self.outcomes), np.float32)
        starts = range(0, len(points), _BLOCK_ROWS)

        def work(first: int, stop: int) -> None:
            units = np.zeros((_BLOCK_ROWS, self.encoding.size), np.float32)
            for low in starts[first:stop]:
                part = slice(low, low + _BLOCK_ROWS)
                rows = encode(self.encoding, points[part], flags[part], pending[part])
                units[: len(rows)] = rows
                (shares,) = self._session.run([OUTPUT], {INPUT: units})
                out[part] = shares[: len(rows)]

        map_chunks(work, len(starts), min_chunk=1)
        return out


class OnnxPlayer:
    """An exported net at 0 plies: the highest equity, the first of equals.

    Args, raises: as `onnx_valuer`; the file's path is the player's name.
    """

    def __init__(self, rules: Rules, path: str | Path) -> None:
        self.valuer = onnx_valuer(rules, path)
        self.name = self.valuer.name
        self.rules = rules
        self.evaluator = self.valuer.evaluator

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        return best_rows(self.valuer.equities(decisions), decisions.legal.offsets)


def onnx_valuer(rules: Rules, path: str | Path) -> NetValuer:
    """The equities of an exported net; exact tables value pure bear-offs, as for every net.

    Args:
        rules: the variant to be played.
        path: of the file.

    Raises:
        CheckpointError: a file that is not there, damaged, foreign, or of another game.
        ConfigError: `onnx` or `onnxruntime` is not installed.
    """
    file = read_onnx(path)
    if replace(file.rules, name=rules.name) != rules:
        raise CheckpointError(
            f"{path}: a net for {_described(file.rules)}, not {_described(rules)}; "
            "play the game that it learned, or take a net of this one"
        )
    return NetValuer(rules, with_bearoff(OnnxEvaluator(file), rules), str(path))


def _described(rules: Rules) -> str:
    """The game, and the options in which it is not what its name says."""
    usual = {option.name: option.value for option in variant(rules.name).options()}
    changed = [f"{o.name}={o.value}" for o in rules.options() if usual.get(o.name) != o.value]
    return f"{rules.name} with {', '.join(changed)}" if changed else rules.name

"""A net as an ONNX file: units of a position in, the probability of each outcome out.

The graph is made node by node with the library's own functions, `Gemm` and `Relu` for each
hidden layer, then `Gemm` and `Softmax`; a reader can make the same graph again and compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_rl.encoding import encode
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.export.identity import PROJECT, as_texts, identity_of
from nardy_rl.export.samples import sample_positions
from nardy_rl.net import ValueNet
from nardy_rl.rules.record import Rules
from nardy_rl.train.checkpoint import Checkpoint

INPUT, OUTPUT = "units", "probabilities"
INSTALL = "pip install 'nardy-rl[onnx]'"
HASH = "content_sha256"
"""Under this name the metadata hold `content_hash`."""

BATCHES = (1, 2, 7, 256)
TOLERANCE = 1e-5

# The oldest that has everything the graph needs, so that old runtimes read it too.
_OPSET, _IR_VERSION = 13, 8


def onnx_bytes(checkpoint: Checkpoint) -> bytes:
    """The file of a checkpoint's net.

    Raises ConfigError where `onnx` is not installed, naming the install line.
    """
    onnx = import_or_explain("onnx")
    weights = weights_of(checkpoint.net)
    model = onnx.helper.make_model(
        value_graph(weights, len(checkpoint.net.outcomes)),
        producer_name=PROJECT,
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        doc_string=str(checkpoint.card.get("what", "")),
    )
    texts = as_texts(identity_of(checkpoint))
    onnx.helper.set_model_props(model, texts | {HASH: content_hash(texts, weights)})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def value_graph(weights: Mapping[str, NDArray[np.float32]], outcomes: int) -> Any:
    """The `GraphProto` of these weights, float32[batch, F] -> float32[batch, K].

    Args:
        weights: `layers.0.weight` [out, in], `layers.0.bias` [out], `layers.2.weight`, ...
        outcomes: K.
    """
    onnx = import_or_explain("onnx")
    layers = [name.removesuffix(".weight") for name in weights if name.endswith(".weight")]
    nodes, at = [], INPUT
    for number, layer in enumerate(layers):
        last = number == len(layers) - 1
        summed = "logits" if last else f"sums_{number}"
        inputs = [at, f"{layer}.weight", f"{layer}.bias"]
        nodes.append(onnx.helper.make_node("Gemm", inputs, [summed], name=layer, transB=1))
        at = OUTPUT if last else f"active_{number}"
        kind, extra = ("Softmax", {"axis": 1}) if last else ("Relu", {})
        nodes.append(onnx.helper.make_node(kind, [summed], [at], name=f"{layer}.{kind}", **extra))
    number_type = onnx.TensorProto.FLOAT
    units = weights[f"{layers[0]}.weight"].shape[1]
    return onnx.helper.make_graph(
        nodes,
        PROJECT,
        [onnx.helper.make_tensor_value_info(INPUT, number_type, ["batch", units])],
        [onnx.helper.make_tensor_value_info(OUTPUT, number_type, ["batch", outcomes])],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )


def weights_of(net: ValueNet) -> dict[str, NDArray[np.float32]]:
    """The weights by name, in the order of the layers."""
    return {name: value.numpy(force=True).copy() for name, value in net.state_dict().items()}


def content_hash(texts: Mapping[str, str], weights: Mapping[str, NDArray[np.float32]]) -> str:
    """SHA-256 over the metadata but for itself, and names, shapes and values of the weights."""
    digest = hashlib.sha256()
    for name in sorted(texts.keys() - {HASH}):
        digest.update(f"{name}={texts[name]}\n".encode())
    for name, value in weights.items():
        digest.update(f"{name} {list(value.shape)}\n".encode())
        digest.update(np.ascontiguousarray(value, "<f4").tobytes())
    return digest.hexdigest()


def verify_onnx(content: bytes, net: ValueNet, rules: Rules, where: str) -> float:
    """Compare a file, as onnxruntime computes it, with torch; returns the largest difference.

    Raises:
        CheckpointError: more than `TOLERANCE` apart in any probability, for any of `BATCHES`.
        ConfigError: `onnxruntime` is not installed.
    """
    session = new_session(content)
    points, flags = sample_positions(rules, max(BATCHES))
    rows = encode(rules, points, flags)
    largest = 0.0
    for size in BATCHES:
        with torch.inference_mode():
            expected = net.distribution(torch.from_numpy(rows[:size])).numpy()
        (found,) = session.run([OUTPUT], {INPUT: rows[:size]})
        apart = float(np.abs(found - expected).max()) if found.shape == expected.shape else np.inf
        if not apart <= TOLERANCE:
            raise CheckpointError(
                f"{where}: onnxruntime and torch differ by {apart:.1e} at batch {size}, allowed is "
                f"{TOLERANCE:.0e}; nothing was kept, try another version of onnxruntime"
            )
        largest = max(largest, apart)
    return largest


def new_session(content: bytes) -> Any:
    """An onnxruntime session of one thread, on the processor."""
    onnxruntime = import_or_explain("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def import_or_explain(name: str) -> Any:
    """The module `onnx` or `onnxruntime`; ConfigError with the install line without it."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(f"ONNX files need the package {name}: {INSTALL}") from error


def layer_shapes(sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Name and shape of each weight of a net with layers of these sizes, inputs to outcomes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for index in range(len(sizes) - 1):
        shapes[f"layers.{2 * index}.weight"] = (sizes[index + 1], sizes[index])
        shapes[f"layers.{2 * index}.bias"] = (sizes[index + 1],)
    return shapes

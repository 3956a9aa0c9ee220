"""An exported net as somebody reads it who has nothing of ours: onnxruntime and NumPy."""

from __future__ import annotations

import json
import typing
from pathlib import Path

import numpy as np

from nardy_rl.export.onnx import import_or_explain

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


def encoding_frame(file: str | Path) -> DataFrame:
    """The table of input units beside an exported file: index, name and what it looks at."""
    from pandas import DataFrame

    told = json.loads(Path(f"{file}.json").read_text(encoding="utf-8"))
    return DataFrame(told["encoding"])


def check_vectors(file: str | Path) -> DataFrame:
    """The test vectors of an ONNX file, by onnxruntime.

    Returns:
        A frame, a row a position: equity (as exported), computed (by onnxruntime) and apart.

    Raises:
        ConfigError: onnxruntime is not installed.
    """
    from pandas import DataFrame

    told = json.loads(Path(f"{file}.json").read_text(encoding="utf-8"))
    session = import_or_explain("onnxruntime").InferenceSession(str(file))
    units = np.array([vector["units"] for vector in told["test_vectors"]], np.float32)
    (found,) = session.run(["probabilities"], {"units": units})
    equity = np.array([vector["equity"] for vector in told["test_vectors"]])
    computed = found @ np.array(told["outcomes"])
    return DataFrame({"equity": equity, "computed": computed, "apart": abs(computed - equity)})

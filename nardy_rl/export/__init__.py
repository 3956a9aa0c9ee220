"""Nets as portable files: ONNX, safetensors or npz, and beside each what a stranger needs."""

from nardy_rl.export.identity import EXPORT_FORMAT, PROJECT
from nardy_rl.export.writing import FORMATS, export

__all__ = ["EXPORT_FORMAT", "FORMATS", "PROJECT", "export"]

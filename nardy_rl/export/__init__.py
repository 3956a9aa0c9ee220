"""Nets as portable files, and beside each what a stranger needs; or as a page to play on."""

from nardy_rl.export.identity import EXPORT_FORMAT, PROJECT
from nardy_rl.export.web_page import export_page
from nardy_rl.export.writing import FORMATS, export

__all__ = ["EXPORT_FORMAT", "FORMATS", "PROJECT", "export", "export_page"]

"""Bear-off tables: exact outcome shares once both sides have all checkers home or off."""

from nardy_rl.bearoff.evaluator import BearoffEvaluator, with_bearoff
from nardy_rl.bearoff.storage import cache_folder, load_table
from nardy_rl.bearoff.table import TABLE_VERSION, BearoffTable, build_table, kind_of_play

__all__ = [
    "TABLE_VERSION",
    "BearoffEvaluator",
    "BearoffTable",
    "build_table",
    "cache_folder",
    "kind_of_play",
    "load_table",
    "with_bearoff",
]

"""What the notebooks call: tidy data frames, and matplotlib figures of them."""

from nardy_rl.report.disagreements import disagreements
from nardy_rl.report.figures import house_rule_figure, opening_figure
from nardy_rl.report.house_rules import compare_house_rules
from nardy_rl.report.openings import opening_book
from nardy_rl.report.tour import rules_tour

__all__ = [
    "compare_house_rules",
    "disagreements",
    "house_rule_figure",
    "opening_book",
    "opening_figure",
    "rules_tour",
]

"""What the notebooks call: tidy data frames, and matplotlib figures of them."""

from nardy_rl.report.budget import budget
from nardy_rl.report.disagreements import disagreements
from nardy_rl.report.disputes import disputed
from nardy_rl.report.exports import check_vectors, encoding_frame
from nardy_rl.report.figures import house_rule_figure, opening_figure, training_figure
from nardy_rl.report.house_rules import compare_house_rules
from nardy_rl.report.openings import opening_book
from nardy_rl.report.published import PUBLISHED, SOURCE, beside_published
from nardy_rl.report.strategies import compare_players
from nardy_rl.report.tour import rules_tour
from nardy_rl.report.training import watch_training

__all__ = [
    "PUBLISHED",
    "SOURCE",
    "beside_published",
    "budget",
    "check_vectors",
    "compare_house_rules",
    "compare_players",
    "disagreements",
    "disputed",
    "encoding_frame",
    "house_rule_figure",
    "opening_book",
    "opening_figure",
    "rules_tour",
    "training_figure",
    "watch_training",
]

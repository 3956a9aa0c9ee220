"""Matches on duplicate dice, their statistics, and the measuring of a net in training."""

from nardy_rl.arena.evaluation import Evaluation, evaluation
from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.report import print_results, result_table
from nardy_rl.arena.result import Estimate, Games, MatchResult, by_pair, match_result

__all__ = [
    "PLY_CAP",
    "Estimate",
    "Evaluation",
    "Games",
    "MatchResult",
    "by_pair",
    "evaluation",
    "match_result",
    "play_match",
    "print_results",
    "result_table",
]

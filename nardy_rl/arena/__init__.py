"""Matches on duplicate dice, their statistics, and the measuring of a net in training."""

from nardy_rl.arena.evaluation import Evaluation, evaluation
from nardy_rl.arena.intervals import Interval, bootstrap_interval
from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.report import print_results, result_table
from nardy_rl.arena.result import Estimate, Games, MatchResult, by_pair, joined, match_result
from nardy_rl.arena.sequential import MAX_GAMES, SequentialTest, Verdict, play_until

__all__ = [
    "MAX_GAMES",
    "PLY_CAP",
    "Estimate",
    "Evaluation",
    "Games",
    "Interval",
    "MatchResult",
    "SequentialTest",
    "Verdict",
    "bootstrap_interval",
    "by_pair",
    "evaluation",
    "joined",
    "match_result",
    "play_match",
    "play_until",
    "print_results",
    "result_table",
]

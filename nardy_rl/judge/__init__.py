"""What choices and values are worth, against whoever knows better: what `nardy-rl judge` does."""

from nardy_rl.judge.bellman import Bellman, bellman
from nardy_rl.judge.blunders import Blunder, blunders
from nardy_rl.judge.calibration import Reliability, calibration, reliability
from nardy_rl.judge.estimates import clustered, root_mean_square
from nardy_rl.judge.judged import Judged, judged
from nardy_rl.judge.judgement import Judgement, Section, as_data, sections
from nardy_rl.judge.losses import Judge, Losses, LossFigures, Sieve, judge_losses
from nardy_rl.judge.positions import Sample, read_sample, self_play_sample, write_sample
from nardy_rl.judge.report import said_of, write_report
from nardy_rl.judge.screen import print_judgement

__all__ = [
    "Bellman",
    "Blunder",
    "Judge",
    "Judged",
    "Judgement",
    "LossFigures",
    "Losses",
    "Reliability",
    "Sample",
    "Section",
    "Sieve",
    "as_data",
    "bellman",
    "blunders",
    "calibration",
    "clustered",
    "judge_losses",
    "judged",
    "print_judgement",
    "read_sample",
    "reliability",
    "root_mean_square",
    "said_of",
    "sections",
    "self_play_sample",
    "write_report",
    "write_sample",
]

"""Rules of the games: the record, play generation, positions and scores."""

from nardy_rl.rules.batch import LegalAfterstates, legal_afterstates
from nardy_rl.rules.parallel import get_threads, set_threads
from nardy_rl.rules.plays import Play, Plays
from nardy_rl.rules.position import Outcome, Position, Status
from nardy_rl.rules.record import RULES_VERSION, KernelRules, Option, Rules, variant, variants

__all__ = [
    "RULES_VERSION",
    "KernelRules",
    "LegalAfterstates",
    "Option",
    "Outcome",
    "Play",
    "Plays",
    "Position",
    "Rules",
    "Status",
    "get_threads",
    "legal_afterstates",
    "set_threads",
    "variant",
    "variants",
]

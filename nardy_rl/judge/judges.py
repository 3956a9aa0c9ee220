"""Judges by name, and what is put before those who are slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nardy_rl.errors import ConfigError
from nardy_rl.judge.judged import Judged
from nardy_rl.judge.losses import Judge, Sieve
from nardy_rl.players import GnubgValuer
from nardy_rl.rollout import ROLLED, Rollout
from nardy_rl.rules import Rules
from nardy_rl.search import Filter, Lookahead, Valuer
from nardy_rl.solve.table import ExactTable

JUDGES = ("exact", "gnubg", "rollout", "lookahead")

KEEP = 8
MARGIN = 0.3


@dataclass(frozen=True)
class Appointed:
    """A judge for `judge_losses`.

    Attributes:
        judge: whose values count.
        sieve: what he is asked about; None: everything.
        facts: of him, for a report.
    """

    judge: Judge
    sieve: Sieve | None
    facts: dict[str, Any]


def exact_judge(table: str, rules: Rules) -> Appointed:
    """A solved table, the truth. Raises as `ExactTable.load`."""
    found = ExactTable.load(table, rules)
    return Appointed(found, None, {"by": "exact", "table": table, "card": found.card})


def gnubg_judge(
    rules: Rules, plies: int = 1, *, keep: int = KEEP, margin: float = MARGIN
) -> Appointed:
    """GNU Backgammon at `plies` plies. Raises as `GnubgValuer`."""
    cheap = GnubgValuer(rules, 0)
    judge = cheap if plies == 0 else GnubgValuer(rules, plies)
    facts = {"by": "gnubg", "plies": plies, "version": judge.version}
    return _sieved(judge, cheap, keep, margin, facts)


def lookahead_judge(
    rules: Rules, base: Judged, plies: int = 2, *, keep: int = KEEP, margin: float = MARGIN
) -> Appointed:
    """The values of `base` looked up `plies` plies further, all rolls and all best replies.

    Raises ConfigError where `base` has no values, or the plies are too many.
    """
    cheap = _values_of("lookahead", base)
    facts = {"by": "lookahead", "plies": plies, **_facts_of(base)}
    if plies == 0:
        return _sieved(cheap, cheap, keep, margin, facts)
    # What is put before it has been through a sieve; it must not leave out the chosen result.
    everything = [Filter(10**9, float("inf"))] * plies
    judge = Lookahead(rules, cheap, plies, everything)
    return _sieved(judge, cheap, keep, margin, facts)


def rollout_judge(
    rules: Rules,
    base: Judged,
    games: int = 360,
    plies: int = 7,
    *,
    seed: int = 0,
    keep: int = ROLLED.keep,
    margin: float = ROLLED.margin,
) -> Appointed:
    """Rollouts by the values of `base`, see `Rollout`; with standard errors.

    Raises ConfigError where `base` has no values, or a number is out of range.
    """
    cheap = _values_of("rollout", base)
    everything = Filter(10**9, float("inf"))
    judge = Rollout(rules, cheap, games, plies, keep=everything, seed=seed)
    facts = {"by": "rollout", "games": games, "plies": plies, "seed": seed, **_facts_of(base)}
    return _sieved(judge, cheap, keep, margin, facts)


def _values_of(by: str, base: Judged) -> Valuer:
    if base.base_valuer is None:
        raise ConfigError(f"{by} stands on values, {base.text} has none; name a net by net=PATH")
    return base.base_valuer


def _facts_of(base: Judged) -> dict[str, Any]:
    return {"net": base.text, "source": base.source, "sha256": base.sha256}


def _sieved(
    judge: Judge, cheap: Valuer, keep: int, margin: float, facts: dict[str, Any]
) -> Appointed:
    if judge is cheap:
        # At 0 plies the sieve would do all the work that it is there to save.
        return Appointed(judge, None, facts)
    sieve = Sieve(cheap, keep, margin)
    return Appointed(judge, sieve, {**facts, "keep": keep, "margin": margin, "sieve": cheap.name})

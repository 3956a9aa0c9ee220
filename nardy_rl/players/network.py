"""Players by values: the best of what a valuer says, a net's at 0 plies or looking ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bearoff import with_bearoff
from nardy_rl.encoding import Encoding
from nardy_rl.inference import Decisions, Evaluator, make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules.record import Rules
from nardy_rl.search import Filter, Lookahead, NetValuer, Valuer, best_rows
from nardy_rl.selfplay import choose


class ValuerPlayer:
    """The candidate of the highest equity, the first of equals.

    Args:
        rules: the variant.
        valuer: of the candidates.
        name: for tables of results; the valuer's own where left out.
        plies: to look further ahead than the valuer does.
        filters: see `Lookahead`.

    Attributes:
        evaluator: that a net is computed by; None where there is no net.

    Raises:
        ConfigError: plies or filters out of range.
    """

    def __init__(
        self,
        rules: Rules,
        valuer: Valuer,
        name: str | None = None,
        plies: int = 0,
        filters: list[Filter] | None = None,
    ) -> None:
        self.rules = rules
        self.plies = plies
        self.valuer = Lookahead(rules, valuer, plies, filters, forced=False) if plies else valuer
        self.name = self.valuer.name if name is None else name
        self.evaluator = valuer.evaluator if isinstance(valuer, NetValuer) else None

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        if self.evaluator is not None and not self.plies:
            # The same choice in one pass over the rows.
            return choose(self.rules, decisions, self.evaluator.distributions(decisions))
        return best_rows(self.valuer.equities(decisions), decisions.legal.offsets)


class NetPlayer(ValuerPlayer):
    """A net; a final result counts exactly.

    Args:
        rules: the variant.
        net: made for it.
        name: for tables of results.
        evaluator: how to compute the net, see `make_evaluator`.
        plies, filters: see `ValuerPlayer`.
        bearoff: whether exact tables value pure bear-offs, in variants that have them.

    Raises:
        ConfigError: an evaluator that is unknown or does not serve the net; plies or filters out
            of range.
    """

    evaluator: Evaluator

    def __init__(
        self,
        rules: Rules,
        net: ValueNet,
        name: str = "net",
        evaluator: str = "auto",
        plies: int = 0,
        filters: list[Filter] | None = None,
        *,
        bearoff: bool = True,
    ) -> None:
        computed = make_evaluator(net, Encoding.of(rules), evaluator)
        if bearoff:
            computed = with_bearoff(computed, rules)
        super().__init__(rules, NetValuer(rules, computed, name), name, plies, filters)

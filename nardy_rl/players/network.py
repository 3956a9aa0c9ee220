"""A value net as a player: the best equity among the results, without looking further ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.encoding import Encoding
from nardy_rl.inference import Decisions, make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules.record import Rules
from nardy_rl.selfplay import choose


class NetPlayer:
    """A net at 0 plies: the highest equity, the first of equals; a final result counts exactly.

    Args:
        rules: the variant.
        net: made for it.
        name: for tables of results.
        evaluator: how to compute the net, see `make_evaluator`.

    Raises:
        ConfigError: an evaluator that is unknown or does not serve the net.
    """

    def __init__(
        self, rules: Rules, net: ValueNet, name: str = "net", evaluator: str = "auto"
    ) -> None:
        self.name = name
        self.rules = rules
        self.evaluator = make_evaluator(net, Encoding.of(rules), evaluator)

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        shares = self.evaluator.distributions(decisions)
        return choose(self.rules, decisions, shares)

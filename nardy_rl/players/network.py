"""A value net as a player: the best equity among the results, without looking further ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.encoding import Encoding
from nardy_rl.inference import Decisions, FloatEvaluator, make_evaluator
from nardy_rl.net import ValueNet
from nardy_rl.rules.batch import LegalAfterstates
from nardy_rl.rules.record import Rules
from nardy_rl.selfplay import choose

_ROWS_ALIKE = 256
"""Rows of a dense evaluation are filled up to a multiple of this.

The last bits of a matrix product can depend on how many rows there are (a product of 333 rows
takes another path through MKL than one of 1,000); with whole tiles they do not, so a choice does
not depend on the other decisions of its batch.
"""


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
        rows = len(decisions.legal.after)
        if isinstance(self.evaluator, FloatEvaluator):
            shares = self.evaluator.distributions(_filled(decisions))[:rows]
        else:
            shares = self.evaluator.distributions(decisions)
        return choose(self.rules, decisions, shares)


def _filled(decisions: Decisions) -> Decisions:
    """The same decisions, and one more whose rows make their number a multiple."""
    points, flags, pending, legal = decisions
    fill = -len(legal.after) % _ROWS_ALIKE
    if fill == 0:
        return decisions
    after = np.concatenate([legal.after, np.zeros((fill, 2, 26), np.int8)])
    return Decisions(
        np.concatenate([points, after[-1:]]),
        np.append(flags, np.uint8(0)),
        np.append(pending, np.uint8(0)),
        LegalAfterstates(after, np.append(legal.offsets, len(after)), legal.dice_used),
    )

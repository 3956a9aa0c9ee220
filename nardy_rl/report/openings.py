"""An opening book: the best plays of all 21 rolls from the start, by rollout."""

from __future__ import annotations

import typing

from nardy_rl.analysis import analyse
from nardy_rl.errors import whole_number
from nardy_rl.players import make_valuer
from nardy_rl.rollout import Rollout
from nardy_rl.rules import Position, Rules
from nardy_rl.search import ROLLS, Filter, Valuer

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


def opening_book(
    rules: Rules,
    player: str | Valuer,
    *,
    top: int = 2,
    games: int = 360,
    plies: int = 7,
    seed: int = 0,
    numbering: str = "distance",
) -> DataFrame:
    """The best `top` plays of each roll, rolled out.

    Args:
        rules: the variant; its start position is asked about.
        player: whose net plays the rollouts, a text of `players.make_valuer` or a valuer.
        top: candidates of each roll that are rolled out, the best by the player's own values.
        games, plies, seed: of the rollouts, see `rollout.Rollout`.
        numbering: of the points in the texts, "distance" or "hole".

    Returns:
        A frame, rolls in the order 1-1 to 6-6, plays best first: roll, rank (from 1), play,
        equity, low and high (95 %), loss and se. A roll with fewer plays has fewer rows. Plays of
        a roll share their dice, so a loss is surer than the intervals say.

    Raises:
        ConfigError: a number out of range, a player without equities, a ladder game.
        CheckpointError: a net of another game.
    """
    from pandas import DataFrame

    whole_number("top", top, 1, 100)
    valuer = make_valuer(player, rules) if isinstance(player, str) else player
    # Wide enough to stop none of the `top`: error bars are wanted of all of them.
    keep = Filter(top, 10.0)
    rollout = Rollout(rules, valuer, games, plies, keep=keep, seed=seed)
    start = Position.start(rules)
    rows = []
    for die1, die2 in ROLLS.tolist():
        plays = analyse(start, (die1, die2), rollout, numbering=numbering).head(top)
        for rank, one in enumerate(plays.itertuples(index=False), start=1):
            half = 1.96 * one.se
            rows.append(
                {
                    "roll": f"{die2}-{die1}",
                    "rank": rank,
                    "play": one.play,
                    "equity": one.equity,
                    "low": one.equity - half,
                    "high": one.equity + half,
                    "loss": one.loss,
                    "se": one.se,
                }
            )
    return DataFrame(rows)

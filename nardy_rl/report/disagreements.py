"""Where two players play otherwise, and who is right."""

from __future__ import annotations

import typing

import numpy as np

from nardy_rl.errors import whole_number
from nardy_rl.judge.positions import self_play_sample
from nardy_rl.notation import move_text, to_id
from nardy_rl.players import Player, make_player, make_valuer
from nardy_rl.rollout import Rollout
from nardy_rl.rules import Rules
from nardy_rl.search import Filter, Valuer

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

_COLUMNS = ["id", "roll", "play_a", "play_b", "equity_a", "equity_b", "gain", "se", "right"]


def disagreements(
    rules: Rules,
    a: str | Player,
    b: str | Player,
    referee: str | Valuer,
    *,
    positions: int = 1000,
    most: int = 20,
    games: int = 360,
    plies: int = 7,
    seed: int = 0,
) -> DataFrame:
    """Decisions from games of a against itself that b would play otherwise, rolled out.

    Args:
        rules: the variant.
        a, b: the players, each a text of `players.make_player` or a player.
        referee: plays the rollouts, a text of `players.make_valuer` or a valuer.
        positions: decisions that are looked through.
        most: disagreements that are rolled out, the first ones.
        games, plies, seed: of the rollouts, see `rollout.Rollout`; seed is that of the games too.

    Returns:
        A frame, what b loses most first: id (of the position), roll, play_a, play_b, equity_a,
        equity_b, gain (of a's play over b's), se (of the gain, as if the two plays did not share
        their dice: rather too large) and right ("a" or "b" where the gain is beyond 1.96 of its
        standard errors, else "unclear").

    Raises:
        ConfigError: a number out of range, an unknown player, a referee without equities, a
            ladder game.
        CheckpointError: a net of another game.
    """
    from pandas import DataFrame

    whole_number("most", most, 1, 10**6)
    valuer = make_valuer(referee, rules) if isinstance(referee, str) else referee
    first = make_player(a, rules) if isinstance(a, str) else a
    second = make_player(b, rules) if isinstance(b, str) else b
    # The filter lets the rollout add only one play of its own to the two that are asked about.
    rollout = Rollout(rules, valuer, games, plies, keep=Filter(1, 0.0), seed=seed)
    sample = self_play_sample(rules, first, positions, seed=seed)
    every = sample.decisions()
    differ = np.flatnonzero(
        first.choose(every, sample.rolls, sample.keys)
        != second.choose(every, sample.rolls, sample.keys)
    )[:most]
    if not len(differ):
        return DataFrame(columns=_COLUMNS)
    sample = sample.part(differ)
    decisions = sample.decisions()
    by_a = first.choose(decisions, sample.rolls, sample.keys)
    by_b = second.choose(decisions, sample.rolls, sample.keys)
    found = rollout.rollout(decisions, np.concatenate([by_a, by_b]))
    rows = []
    for at, (row_a, row_b) in enumerate(zip(by_a, by_b, strict=True)):
        position, low = sample.position(at), decisions.legal.offsets[at]
        plays = position.plays(sample.roll(at))
        gain = float(found.equities[row_a]) - float(found.equities[row_b])
        se = float(np.hypot(found.se[row_a], found.se[row_b]))
        rows.append(
            {
                "id": to_id(position),
                "roll": "{}-{}".format(*sample.roll(at)),
                "play_a": move_text(plays[int(row_a - low)]),
                "play_b": move_text(plays[int(row_b - low)]),
                "equity_a": float(found.equities[row_a]),
                "equity_b": float(found.equities[row_b]),
                "gain": gain,
                "se": se,
                "right": "unclear" if abs(gain) <= 1.96 * se else "a" if gain > 0 else "b",
            }
        )
    frame = DataFrame(rows, columns=_COLUMNS)
    return frame.sort_values("gain", ascending=False, kind="stable", ignore_index=True)

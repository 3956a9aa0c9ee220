"""What a house rule changes: the value of going first, the share of mars, the length of games."""

from __future__ import annotations

import typing
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena import bootstrap_interval, play_match
from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.players import Player, make_player
from nardy_rl.rules import variant
from nardy_rl.rules.dice import opening

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


def compare_house_rules(
    name: str,
    tables: Mapping[str, Mapping[str, str]],
    players: str | Player | Mapping[str, str | Player],
    games: int = 1000,
    *,
    seed: int = 0,
) -> DataFrame:
    """Games of a player against itself at each table, on the same seeds.

    Args:
        name: of the variant.
        tables: option sets by a name of your choice, such as `{"house": {"head_rule": "free"}}`.
        players: who plays, by table, or one for all: a text of `players.make_player` or a player.
            A net is made for the options that it learned, no others.
        games: at each table. Game i has the dice of pair i of `arena.play_match`.
        seed: of the dice.

    Returns:
        A frame, a row a table and figure: table, player, figure, value, low and high (the ends of
        the 95 % interval, by bootstrap of the games) and games (scored ones). The figures are
        `first` (points a game of who goes first), `mars` (share won by two points or more) and
        `plies` (decisions a game).

    Raises:
        ConfigError: no table, a table without a player, fewer than 2 games, or see `variant` and
            `make_player`.
        CheckpointError: a net of other rules.
    """
    from pandas import DataFrame

    whole_number("games", games, 2, 10**9)
    if not tables:
        raise ConfigError("tables: none given; at least one set of options is needed")
    rows = []
    for table, options in tables.items():
        rules = variant(name, **options)
        one = _player_at(table, players)
        player = make_player(one, rules) if isinstance(one, str) else one
        # Against itself both games of a pair are one and the same, seen from either seat.
        played = play_match(rules, player, player, 2 * games, seed=seed).played
        scored = ~played.truncated.any(1)
        starters = np.array([opening(seed, game)[0] for game in range(games)])
        first = played.score[np.arange(games), starters][scored].astype(np.float64)
        figures: dict[str, NDArray[np.float64]] = {
            "first": first,
            "mars": (np.abs(first) >= 2).astype(np.float64),
            "plies": played.plies[scored, 0].astype(np.float64),
        }
        for figure, values in figures.items():
            low, high = bootstrap_interval(values, share=figure == "mars")
            rows.append(
                {
                    "table": table,
                    "player": player.name,
                    "figure": figure,
                    "value": float(values.mean()) if len(values) else float("nan"),
                    "low": low,
                    "high": high,
                    "games": len(values),
                }
            )
    return DataFrame(rows)


def _player_at(table: str, players: str | Player | Mapping[str, str | Player]) -> str | Player:
    if not isinstance(players, Mapping):
        return players
    if table not in players:
        raise ConfigError(f"players: none for {table!r}; there are: {', '.join(players)}")
    return players[table]

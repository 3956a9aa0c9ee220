"""A cross-table of players."""

from __future__ import annotations

import typing
from collections.abc import Sequence

from nardy_rl.arena.crosstable import cells, standings
from nardy_rl.arena.entrants import entrants
from nardy_rl.arena.tournament import play_tournament
from nardy_rl.rules import Rules

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


def compare_players(
    rules: Rules, players: Sequence[str], games: int, seed: int = 1
) -> tuple[DataFrame, DataFrame]:
    """Every player against every other.

    Args:
        rules: of the game.
        players: texts of `players.make_player`, two or more.
        games: of each match, seats exchanged on the same dice.
        seed: of the dice.

    Returns:
        The standings (ratings with 95 % intervals, points a game) and the cross-table (points a
        game of the row's player against the column's, ± half a 95 % interval).

    Raises:
        ConfigError, CheckpointError: as `arena.entrants.entrants` and `play_tournament`.
    """
    tournament = play_tournament(rules, entrants(players, rules), games, seed=seed)
    return standings(tournament), cells(tournament)

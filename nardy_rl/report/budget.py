"""How much the notebooks compute: full for people, small for tests."""

from __future__ import annotations

import os
from typing import NamedTuple

from nardy_rl.errors import ConfigError

VARIABLE = "NARDY_RL_NOTEBOOK_BUDGET"


class Budget(NamedTuple):
    """Numbers of games and the like; see where each is used.

    Attributes:
        training_games, measured_every: of `watch_training`.
        match_games: of each match of a cross-table.
        looked_through, rolled_out: decisions of `disagreements`.
        house_games: at each table of `compare_house_rules`.
        rollout_games, rollout_plies: of every rollout.
    """

    training_games: int
    measured_every: int
    match_games: int
    looked_through: int
    rolled_out: int
    house_games: int
    rollout_games: int
    rollout_plies: int


BUDGETS = {
    "small": Budget(200, 100, 40, 60, 2, 40, 36, 2),
    "full": Budget(20_000, 2_500, 2000, 2000, 12, 3000, 216, 5),
}


def budget(name: str | None = None) -> Budget:
    """The budget called `name`, by default by the environment variable, else `full`.

    Raises:
        ConfigError: another name.
    """
    asked = name if name is not None else os.environ.get(VARIABLE, "full")
    if asked not in BUDGETS:
        raise ConfigError(f"{VARIABLE}={asked!r} is not allowed; {', '.join(BUDGETS)}")
    return BUDGETS[asked]

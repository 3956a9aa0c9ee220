"""Hypothesis strategies of positions that play reaches, in every variant, for the text tests."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from nardy_rl.notation.boards import Side
from nardy_rl.rules import Position, Rules, variant, variants
from tests.reachable import play_turns

ALL_RULES = (
    *(variant(name) for name in variants()),
    variant("long_nardy", head_rule="strict", prime_rule="home", last_roll="draw_one"),
    variant("long_nardy_draw", head_rule="any_double_first", koks="none_home"),
    variant("backgammon", hit_run="no_hide", hit_run_zone="all", koks="none"),
)
HITTING = tuple(rules for rules in ALL_RULES if rules.contact == "hit")
NUMBERINGS = ("distance", "hole")
SIDES: tuple[Side, ...] = ("X", "O")


@cache
def reached(rules: Rules) -> tuple[tuple[Position, tuple[int, int]], ...]:
    """Positions to move in, of games played in six manners to their ends, and a roll for each."""
    rng = np.random.default_rng(20_261_130)
    return tuple(
        _situation(Position(rules, points, int(flags), int(pending)), roll)
        for turn in play_turns(rules, games=12, turns=140, rng=rng)
        for points, flags, pending, roll in zip(
            turn.points, turn.flags, turn.pending, turn.rolls, strict=True
        )
    )


def _situation(position: Position, roll: np.ndarray) -> tuple[Position, tuple[int, int]]:
    """With the roll thrown, or the die of the rung to be played twice."""
    if position.rung is not None:
        return position, (position.rung[0], position.rung[0])
    return position, (int(roll[0]), int(roll[1]))


@st.composite
def situations(
    draw: st.DrawFn, among: tuple[Rules, ...] = ALL_RULES
) -> tuple[Position, tuple[int, int]]:
    pool = reached(draw(st.sampled_from(among)))
    return pool[draw(st.integers(0, len(pool) - 1))]


@st.composite
def views(draw: st.DrawFn, among: tuple[Rules, ...] = ALL_RULES) -> Position:
    """A reached position seen by either player, as the one to move or the one who moved."""
    position, roll = draw(situations(among))
    if draw(st.booleans()):
        position = position.plays(roll)[0].after
    return position.flip() if draw(st.booleans()) else position

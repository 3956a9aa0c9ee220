"""The plays of a roll and the rolls of a position, as data frames."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, InvalidPosition, whole_number
from nardy_rl.inference import Decisions
from nardy_rl.notation import move_text
from nardy_rl.players import GnubgValuer, make_valuer
from nardy_rl.rollout import Rollout
from nardy_rl.rules import LegalAfterstates, Plays, Position, Rules
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.ladder import states_after
from nardy_rl.rules.scoring import NOT_OVER
from nardy_rl.search import (
    MOST_PLIES,
    ROLL_CHANCES,
    ROLLS,
    Lookahead,
    NetValuer,
    Valuer,
    best_rows,
    decisions_at,
    filtered,
    final_scores,
)

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

FINAL = "final result"


def analyse(
    position: Position,
    roll: tuple[int, int],
    player: str | Path | Valuer,
    plies: int = 0,
    *,
    numbering: str = "distance",
) -> DataFrame:
    """Every legal play of a roll, best first.

    Args:
        position: seen by the player to move.
        roll: the dice, in either order.
        player: whose values: a player's text (see `players.make_valuer`; `PATH@rollout` rolls
            out) or a valuer.
        plies: to look further ahead than `player` does at 0 plies, 0 to 3.
        numbering: of the points in the texts, "distance" or "hole".

    Returns:
        A frame, indexed by the place of each play in `position.plays(roll)`:

        * play: its text;
        * equity: points that the mover can expect. Plays that a filter stopped keep the value of
          the last ply that saw them, put below all that went on, as the search itself has it;
        * loss: points below the best;
        * se: standard error of the equity where it was rolled out, 0 for final results, else NaN;
        * method: `0-ply net`, `2-ply`, `rollout 360x7` (games x plies), `final result`, or the
          name of another valuer;
        * P(-2), P(-1) ...: the share of each score of the variant, at 0 plies; NaN where the
          player has only equities.

    Raises:
        ConfigError: plies, roll or numbering not allowed, a player without equities or unknown.
        CheckpointError: a net that cannot be read or is of another game.
        InvalidPosition: impossible, over, or seen by the player who just moved.
    """
    from pandas import DataFrame, Index

    rules = position.rules
    valuer = valuer_for(player, rules, plies)
    plays = legal_plays(position, roll)
    decisions = decisions_of(position, np.array([roll], np.int8))
    found = valued(rules, valuer, decisions)
    columns: dict[str, Any] = {
        "play": [move_text(play, numbering) for play in plays],
        "equity": found.equities,
        "loss": found.equities.max() - found.equities,
        "se": found.se,
        "method": found.methods,
    }
    shares = _shares(rules, base_of(valuer), decisions)
    columns |= {share_name(score): shares[:, k] for k, score in enumerate(rules.outcomes)}
    frame = DataFrame(columns, index=Index(range(len(plays)), name="choice"))
    # Stable: of equals the first one is what a player takes.
    return frame.sort_values("loss", kind="stable")


@dataclass(frozen=True)
class Preroll:
    """What a position is worth to the player about to roll.

    Attributes:
        equity: in points, the mean over all 36 rolls.
        rolls: a frame of the 21 rolls, the luckiest first: roll, chance, play (the best), equity
            (of that play), luck (equity less the mean).
    """

    equity: float
    rolls: DataFrame


def preroll(
    position: Position,
    player: str | Path | Valuer,
    plies: int = 0,
    *,
    numbering: str = "distance",
) -> Preroll:
    """What a position is worth before the roll, each roll played by its best play.

    Arguments and errors as of `analyse`; looking `plies` ahead is from the results of each roll.
    """
    from pandas import DataFrame

    valuer = valuer_for(player, position.rules, plies)
    every = [legal_plays(position, (int(die1), int(die2))) for die1, die2 in ROLLS]
    decisions = decisions_of(position, ROLLS)
    values = valuer.equities(decisions)
    offsets = decisions.legal.offsets
    rows = best_rows(values, offsets)
    best = [plays[int(row)] for plays, row in zip(every, rows - offsets[:-1], strict=True)]
    equities = values[rows].astype(np.float64)
    mean = float(equities @ ROLL_CHANCES)
    frame = DataFrame(
        {
            "roll": [f"{die2}-{die1}" for die1, die2 in ROLLS],
            "chance": ROLL_CHANCES,
            "play": [move_text(play, numbering) for play in best],
            "equity": equities,
            "luck": equities - mean,
        }
    )
    return Preroll(mean, frame.sort_values("equity", ascending=False, kind="stable"))


def share_name(score: int) -> str:
    """The column of a score's share.

    >>> share_name(2), share_name(0), share_name(-1)
    ('P(+2)', 'P(0)', 'P(-1)')
    """
    return f"P({score:+d})" if score else "P(0)"


def valuer_for(player: str | Path | Valuer, rules: Rules, plies: int = 0) -> Valuer:
    """The valuer that `player` is or names, `plies` further ahead.

    Raises:
        ConfigError: plies out of range, or of a player that looks ahead already; no valuer.
        CheckpointError: see `players.make_valuer`.
    """
    plies = whole_number("plies", plies, 0, MOST_PLIES)
    if isinstance(player, str | Path):
        valuer = make_valuer(str(player), rules)
    elif hasattr(player, "equities"):
        valuer = player
    else:
        raise ConfigError(f"player={player!r} is not allowed; a player's text, or a valuer")
    base = base_of(valuer)
    if isinstance(base, NetValuer) and base.rules.outcomes != rules.outcomes:
        raise ConfigError(f"player: {base.name} is of {base.rules.name}, not {rules.name}")
    if not plies:
        return valuer
    if valuer is not base or (isinstance(valuer, GnubgValuer) and valuer.plies):
        raise ConfigError(f"plies: {valuer.name} looks ahead already; say it one way")
    if isinstance(valuer, GnubgValuer):
        return GnubgValuer(rules, plies)
    return Lookahead(rules, valuer, plies)


def base_of(valuer: Valuer) -> Valuer:
    """What a valuer stands on at 0 plies."""
    while isinstance(valuer, Lookahead | Rollout):
        valuer = valuer.valuer
    return valuer


def legal_plays(position: Position, roll: Sequence[int]) -> Plays:
    """The legal plays, with errors of ours for what cannot be analysed."""
    if len(roll) != 2 or any(die not in range(1, 7) for die in roll):
        raise ConfigError(f"roll={roll!r} is not allowed; two dice of 1..6")
    if position.moved:
        raise InvalidPosition("the position is seen by the player who just moved; flip() it first")
    if position.outcome() is not None:
        raise InvalidPosition("the game is over: there is nothing to play")
    return position.plays((roll[0], roll[1]))


def decisions_of(position: Position, rolls: NDArray[np.int8]) -> Decisions:
    """The decisions of one position with each of the rolls int8[B, 2]."""
    points = np.repeat(position.points[None], len(rolls), axis=0)
    flags = np.full(len(rolls), position.flags, np.uint8)
    if not position.pending:
        return decisions_at(position.rules, points, flags, rolls)
    rules = position.rules
    pending = np.full(len(rolls), position.pending, np.uint8)
    legal, _ = generate_batch(rules.kernel, points, flags, pending, rolls)
    return Decisions(points, *states_after(rules, flags, pending, rolls, legal.dice_used), legal)


@dataclass(frozen=True)
class Values:
    """What a decision's results are worth: equities and errors float32[M], how each was found."""

    equities: NDArray[np.float32]
    se: NDArray[np.float32]
    methods: list[str]


def valued(rules: Rules, valuer: Valuer, decisions: Decisions, also: int | None = None) -> Values:
    """Values of one decision; the row `also` is looked at as deep as the best ones."""
    if isinstance(valuer, Rollout):
        rows = None if also is None else np.array([also], np.int64)
        result = valuer.rollout(decisions, rows)
        values, se = result.equities, result.se
        deep = f"rollout {valuer.games}x{valuer.plies or ' to the end'}"
        methods = [deep if one else _shallow(valuer.valuer) for one in result.rolled]
    else:
        values = valuer.equities(decisions)
        se = np.full(len(values), np.nan, np.float32)
        methods = [_shallow(valuer)] * len(values)
        if isinstance(valuer, Lookahead):
            depths = _depths(rules, valuer, decisions)
            if also is not None and depths[also] < valuer.plies:
                values[also] = valuer.equities(_alone(decisions, also))[0]
                depths[also] = valuer.plies
            methods = [f"{depth}-ply" if depth else _shallow(valuer.valuer) for depth in depths]
    flags = np.repeat(decisions.flags, len(values))
    for row in np.flatnonzero(final_scores(rules, decisions.legal.after, flags) != NOT_OVER):
        methods[row], se[row] = FINAL, 0.0
    return Values(values, se, methods)


def _shallow(valuer: Valuer) -> str:
    return "0-ply net" if isinstance(valuer, NetValuer) else valuer.name


def _depths(rules: Rules, valuer: Lookahead, decisions: Decisions) -> NDArray[np.int64]:
    """How many plies the search looked from each result, int64[M]: its filters, step by step."""
    depths = np.zeros(len(decisions.legal.after), np.int64)
    kept = None
    for ply, one in enumerate(valuer.filters, start=1):
        seen = Lookahead(rules, valuer.valuer, ply - 1, valuer.filters[: ply - 1])
        kept, _ = filtered(rules, decisions, seen.equities(decisions), one, True, kept)
        depths[kept] = ply
    return depths


def _alone(decisions: Decisions, row: int) -> Decisions:
    """The same decision, if the result in `row` were the only one."""
    legal = decisions.legal
    only = LegalAfterstates(legal.after[row : row + 1], np.array([0, 1]), legal.dice_used)
    return decisions._replace(legal=only)


def _shares(rules: Rules, base: Valuer, decisions: Decisions) -> NDArray[np.float32]:
    """Outcome shares float32[M, K] of one decision at 0 plies; NaN without a distribution."""
    boards = decisions.legal.after
    source = base.evaluator if isinstance(base, NetValuer) else base
    if not hasattr(source, "distributions"):
        return np.full((len(boards), len(rules.outcomes)), np.nan, np.float32)
    shares: NDArray[np.float32] = source.distributions(decisions)
    scores = final_scores(rules, boards, np.repeat(decisions.flags, len(boards)))
    over = scores != NOT_OVER
    shares[over] = scores[over, None] == np.array(rules.outcomes)
    return shares

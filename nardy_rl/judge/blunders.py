"""The worst choices, as pictures and texts."""

from __future__ import annotations

from dataclasses import dataclass

from nardy_rl.judge.losses import Losses
from nardy_rl.notation import board_text, move_text, to_id
from nardy_rl.viz import board_svg


@dataclass(frozen=True)
class Blunder:
    """One choice that lost, with all that is needed to look at it again.

    Attributes:
        id: of the position, see `notation.to_id`.
        roll: the dice.
        chosen, best: the plays as texts.
        loss: in points.
        error: its standard error; NaN where the judge states none.
        equity: of the chosen play, as the judge has it.
        own_equity: as the player has it; NaN for one without values.
        board: the position as text.
        chosen_svg, best_svg: pictures with each play.
    """

    id: str
    roll: tuple[int, int]
    chosen: str
    best: str
    loss: float
    error: float
    equity: float
    own_equity: float
    board: str
    chosen_svg: str
    best_svg: str


def blunders(losses: Losses, count: int) -> tuple[Blunder, ...]:
    """The `count` largest losses, largest first; fewer where fewer choices lost."""
    found = []
    for k in losses.worst(count):
        place = int(losses.at[k])
        position, roll = losses.sample.position(place), losses.sample.roll(place)
        plays = position.plays(roll)
        chosen, best = plays[int(losses.chosen[k])], plays[int(losses.best[k])]
        found.append(
            Blunder(
                id=to_id(position),
                roll=roll,
                chosen=move_text(chosen),
                best=move_text(best),
                loss=float(losses.loss[k]),
                error=float(losses.error[k]),
                equity=float(losses.chosen_equity[k]),
                own_equity=float(losses.own_equity[k]),
                board=board_text(position),
                chosen_svg=board_svg(position, chosen, size=440),
                best_svg=board_svg(position, best, size=440),
            )
        )
    return tuple(found)

"""The decisions of a recorded game: what each lost, and how lucky its roll was."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nardy_rl.analysis.plays import base_of, decisions_of, legal_plays, valued, valuer_for
from nardy_rl.arena.luck import opening_luck, roll_luck
from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.notation import from_id, move_text, parse_play, to_id
from nardy_rl.records import read_games, replay
from nardy_rl.records.files import text_of
from nardy_rl.records.json_lines import is_record
from nardy_rl.rules import Play, Position
from nardy_rl.search import Valuer

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


@dataclass(frozen=True)
class PlayedDecision:
    """One decision that somebody made.

    Attributes:
        position: seen by the player who moved, before the roll.
        play: what he played.
        line: of the file it came from.
        player: who he was; empty where nobody says.
        game: number of the game in its file, 0 where lines are decisions.
        move: number of the decision in that game, likewise.
    """

    position: Position
    play: Play
    line: int = 0
    player: str = ""
    game: int = 0
    move: int = 0


def read_decisions(path: str | Path) -> list[PlayedDecision]:
    """The decisions of a file of games, or of JSON lines, all of one variant.

    Files of games are .jsonl, .mat and .sgf as `records.read_games` reads them. Other JSON lines
    are a decision each: `{"id": "long_nardy.1BByYLotaNGV_vOP", "roll": [6, 5], "play": "24/13"}`,
    the id of the position (see `notation.to_id`), the dice, and the play as text, points by
    distance to go; `"player": "Anna"` says who made it.

    Raises:
        ConfigError: no decision in it, or a line that is none; the message says which and why.
        InvalidText: a file of games that cannot be read, or is not legal.
        FileNotFoundError: there is no such file.
    """
    file = Path(path)
    if file.suffix.lower() in (".mat", ".sgf"):
        return _of_records(file)
    try:
        lines = text_of(file).splitlines()
    except InvalidText as error:
        raise ConfigError(f"{error}; JSON lines are needed") from error
    if file.suffix.lower() == ".jsonl" and is_record(next(filter(str.strip, lines), "")):
        return _of_records(file)
    found: list[PlayedDecision] = []
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            one = _played(json.loads(text), number)
            if found and one.position.rules != found[0].position.rules:
                raise ConfigError(f"of another game than line {found[0].line}")
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{file}, line {number}: {error}") from error
        found.append(one)
    if not found:
        raise ConfigError(f"{file}: no decisions in it; JSON lines with id, roll and play")
    return found


def analyse_decisions(
    played: Iterable[PlayedDecision],
    player: str | Path | Valuer,
    plies: int = 0,
    *,
    numbering: str = "distance",
    progress: Callable[[int], None] | None = None,
) -> DataFrame:
    """What each of the decisions lost, and how lucky its roll was.

    A play that a filter would stop is looked at as deep as the best ones: it was played.

    Args:
        played: decisions of one game (variant and options), at least one.
        player, plies, numbering: see `analyse`.
        progress: told how many are done.

    Returns:
        A frame, a row a decision, in the order given: game and move (0 where lines are
        decisions), line, player, id, roll, play, best, equity
        (of what was played), loss, se (of the equity), choices (legal plays), luck (points: the
        roll's best result less the mean of all rolls; a starter's first roll less 0) and method.
        Luck is by 0-ply values.

    Raises:
        ConfigError: no decisions, else as `analyse`.
    """
    from pandas import DataFrame

    given = list(played)
    if not given:
        raise ConfigError("played: no decisions; at least one is needed")
    valuer = valuer_for(player, given[0].position.rules, plies)
    rows = []
    for done, one in enumerate(given, start=1):
        rows.append(_judged(one, valuer, numbering))
        if progress is not None:
            progress(done)
    return DataFrame(rows)


def error_rates(decisions: DataFrame, by: Sequence[str] = ("player",)) -> DataFrame:
    """A frame of `analyse_decisions`, summed up by player, or by `("game", "player")`.

    Columns: decisions; unforced (those with a choice); loss (points, in all); error_rate (mean
    loss of the unforced ones, in thousandths of a point; NaN without any); luck (points, in all).
    """
    unforced = decisions["choices"] > 1
    groups = decisions.assign(unforced=unforced).groupby(list(by), sort=False)
    summed = groups.agg(
        decisions=("loss", "size"),
        unforced=("unforced", "sum"),
        loss=("loss", "sum"),
        luck=("luck", "sum"),
    )
    # Forced plays lose nothing, so the sum of all is that of the unforced ones.
    rate = 1000 * summed["loss"] / summed["unforced"].where(summed["unforced"] > 0)
    summed.insert(3, "error_rate", rate)
    return summed


def _played(line: Any, number: int) -> PlayedDecision:
    """One line of a file."""
    if not isinstance(line, dict) or not isinstance(line.get("id"), str):
        raise ConfigError('expected {"id": "...", "roll": [6, 5], "play": "24/13"}')
    roll, text, player = line.get("roll"), line.get("play"), line.get("player", "")
    if not isinstance(roll, list) or any(type(die) is not int for die in roll):
        raise ConfigError(f"roll={roll!r} is not allowed; two dice of 1..6, such as [6, 5]")
    if not isinstance(text, str):
        raise ConfigError(f"play={text!r} is not allowed; a text such as 24/13")
    if not isinstance(player, str):
        raise ConfigError(f"player={player!r} is not allowed; a name")
    position = from_id(line["id"])
    plays = legal_plays(position, roll)
    return PlayedDecision(position, parse_play(position, plays.roll, text), number, player)


def _of_records(file: Path) -> list[PlayedDecision]:
    """The decisions of a file of games."""
    games = read_games(file)
    for game in games:
        if game.rules != games[0].rules:
            raise ConfigError(f"{file}: game {game.number} is of another variant than the first")
    # Numbers may repeat where files were joined; places do not.
    found = [
        PlayedDecision(one.position, one.play, 0, game.players[one.seat], place, one.number)
        for place, game in enumerate(games, start=1)
        for one in replay(game)
    ]
    if not found:
        raise ConfigError(f"{file}: no decisions in it")
    return found


def _judged(one: PlayedDecision, valuer: Valuer, numbering: str) -> dict[str, Any]:
    """The row of one decision."""
    position, play = one.position, one.play
    rules = position.rules
    plays = legal_plays(position, play.roll)
    chosen = next(i for i, other in enumerate(plays) if other.after == play.after)
    dice = np.array([play.roll], np.int8)
    decisions = decisions_of(position, dice)
    found = valued(rules, valuer, decisions, also=chosen)
    best = int(found.equities.argmax())
    base = base_of(valuer)
    if position.pending:
        luck = np.zeros(1)  # no dice are thrown for a rung
    elif position == Position.start(rules):
        luck = opening_luck(rules, base, position.flags, dice)
    else:
        flags = np.array([position.flags], np.uint8)
        luck = roll_luck(rules, base, position.points[None].copy(), flags, dice)
    return {
        "game": one.game,
        "move": one.move,
        "line": one.line,
        "player": one.player,
        "id": to_id(position),
        "roll": f"{play.roll[0]}-{play.roll[1]}",
        "play": move_text(play, numbering),
        "best": move_text(plays[best], numbering),
        "equity": float(found.equities[chosen]),
        "loss": float(found.equities[best] - found.equities[chosen]),
        "se": float(found.se[chosen]),
        "choices": len(plays),
        "luck": float(luck[0]),
        "method": found.methods[chosen],
    }

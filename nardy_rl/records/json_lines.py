"""Our own record of games of every variant: JSON lines, one game a line.

`game.schema.json` beside this file says what a line looks like; docs/games.md explains it. The
reader is stricter than the schema: it plays every game by the rules.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from nardy_rl.errors import ConfigError, InvalidText
from nardy_rl.records.game import CubeEvent, Decision, Event, GameRecord, Result, Terms
from nardy_rl.records.replay import canonical
from nardy_rl.rules.record import variant

FORMAT = "nardy_rl game"
VERSION = 1
"""Changes when older readers could not read what is written, or would read it wrongly."""

_FIELDS = (
    *("format", "version", "variant", "options", "players", "seed", "terms", "game", "score"),
    *("crawford_game", "starter", "moves", "result"),
)
_OPTIONAL = ("seed", "options", "terms", "game", "score", "crawford_game")
_TERMS = tuple(Terms.__dataclass_fields__)


def write(games: Iterable[GameRecord]) -> str:
    """The text of a file."""
    return "".join(json.dumps(as_json(game), ensure_ascii=False) + "\n" for game in games)


def read(text: str) -> tuple[GameRecord, ...]:
    """The games of a text.

    Raises:
        InvalidText: a line that is no game, or a play that is not legal; says which and why.
    """
    games = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            games.append(canonical(from_json(_loaded(line))))
        except (InvalidText, ConfigError) as error:
            raise InvalidText(f"line {number}: {error}") from error
    if not games:
        raise InvalidText("no games in it; JSON lines, one game each")
    return tuple(games)


def is_record(line: str) -> bool:
    """Whether a line of JSON means to be a game of this format."""
    try:
        found = _loaded(line)
    except InvalidText:
        return False
    return isinstance(found, dict) and "format" in found


def as_json(game: GameRecord) -> dict[str, Any]:
    """A game as plain data, as the schema has it."""
    terms = game.terms
    return {
        "format": FORMAT,
        "version": VERSION,
        "variant": game.rules.name,
        # All of them: a default that changes does not change what was played.
        "options": {option.name: option.value for option in game.rules.options()},
        "players": list(game.players),
        "seed": game.seed,
        "terms": {name: getattr(terms, name) for name in _TERMS},
        "game": game.number,
        "score": [_number(points) for points in game.score],
        "crawford_game": game.crawford_game,
        "starter": game.starter,
        "moves": [_event_json(event) for event in game.events],
        "result": {
            "score": game.result.score,
            "reason": game.result.reason,
            "each": _number(game.result.each),
        },
    }


def from_json(line: Any) -> GameRecord:
    """The game that plain data says; its plays are not looked at.

    Raises:
        InvalidText: a field that is missing, unknown or of another kind.
        ConfigError: a value that is not allowed, an unknown variant or option.
    """
    data = _object("a game", line, _FIELDS, _OPTIONAL)
    version = data["version"]
    if data["format"] != FORMAT or type(version) is not int or version != VERSION:
        raise InvalidText(
            f"format {data['format']!r:.60} version {version!r:.60} is not read here; "
            f"{FORMAT!r} version {VERSION}"
        )
    name, options = data["variant"], data.get("options", {})
    if not isinstance(name, str):
        raise InvalidText(f"variant={name!r:.60} is not allowed; a name such as long_nardy")
    if not isinstance(options, dict) or not all(isinstance(v, str) for v in options.values()):
        raise InvalidText(f"options={options!r:.60} is not allowed; names and values, all texts")
    if set(options) & {"name"}:
        raise InvalidText("options: 'name' is no option")
    players, score = data["players"], data.get("score", [0, 0])
    for field, pair in (("players", players), ("score", score)):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InvalidText(f"{field}={pair!r:.60} is not allowed; a list of two, by seat")
    moves = data["moves"]
    if not isinstance(moves, list):
        raise InvalidText(f"moves={moves!r:.60} is not allowed; a list")
    result = _object("result", data["result"], ("score", "reason", "each"), ("each",))
    return GameRecord(
        rules=variant(name, **options),
        players=(players[0], players[1]),
        starter=data["starter"],
        events=tuple(_event(number, event) for number, event in enumerate(moves, start=1)),
        result=Result(**result),
        terms=Terms(**_object("terms", data.get("terms", {}), _TERMS, _TERMS)),
        number=data.get("game", 1),
        score=(score[0], score[1]),
        crawford_game=data.get("crawford_game", False),
        seed=data.get("seed"),
    )


def _event(number: int, given: Any) -> Event:
    """One entry of `moves`."""
    where = f"moves, entry {number}"
    if isinstance(given, dict) and "cube" in given:
        return CubeEvent(**_object(where, given, ("seat", "cube"), ()))
    thrown = "rung" if isinstance(given, dict) and "rung" in given else "roll"
    event = _object(where, given, ("seat", thrown, "play"), ())
    pair, text = event[thrown], event["play"]
    most = 6 if thrown == "roll" else 4
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or any(type(number) is not int for number in pair)
        or not (1 <= pair[0] <= 6 and 1 <= pair[1] <= most)
    ):
        allowed = "two dice of 1..6" if thrown == "roll" else "its die 1..6 and its steps 1..4"
        raise InvalidText(f"{where}: {thrown}={pair!r:.60} is not allowed; {allowed}")
    if not isinstance(text, str) or len(text) > 200:
        raise InvalidText(f"{where}: play={text!r:.60} is not allowed; a text such as 24/13")
    if thrown == "rung":
        return Decision(event["seat"], (pair[0], pair[0]), text, pair[1])
    return Decision(event["seat"], (pair[0], pair[1]), text)


def _event_json(event: Event) -> dict[str, Any]:
    if isinstance(event, CubeEvent):
        return {"seat": event.seat, "cube": event.cube}
    if event.rung:
        return {"seat": event.seat, "rung": [event.roll[0], event.rung], "play": event.play}
    return {"seat": event.seat, "roll": list(event.roll), "play": event.play}


def _object(
    what: str, given: Any, fields: tuple[str, ...], optional: tuple[str, ...]
) -> dict[str, Any]:
    """`given` as an object with these fields and no other."""
    if not isinstance(given, dict):
        raise InvalidText(f"{what}: {given!r:.60} is not allowed; an object {{...}}")
    missing = [name for name in fields if name not in given and name not in optional]
    unknown = [name for name in given if name not in fields]
    if missing or unknown:
        wrong = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r:.60} is unknown"
        raise InvalidText(f"{what}: {wrong}; its fields are {', '.join(fields)}")
    return given


def _loaded(line: str) -> Any:
    try:
        return json.loads(line, parse_constant=_no_number, object_pairs_hook=_once)
    except InvalidText:
        raise
    except json.JSONDecodeError as error:
        cut = error.pos >= len(line.rstrip()) or error.msg.startswith("Unterminated")
        said = "it ends too early" if cut else f"not at character {error.pos + 1}"
        raise InvalidText(f"no JSON: {said}; a whole game stands on each line") from error
    except RecursionError as error:
        raise InvalidText("no JSON: nested too deep; a game is needed") from error
    except ValueError as error:  # Python reads no whole numbers of thousands of digits
        raise InvalidText("no JSON: a number of too many digits") from error


def _no_number(text: str) -> typing.NoReturn:
    raise InvalidText(f"no JSON: {text} is no number")


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidText("no JSON: a name is there twice")
    return found


def _number(points: float) -> float:
    """1 rather than 1.0."""
    return int(points) if float(points).is_integer() else points

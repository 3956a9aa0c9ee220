"""GNU Backgammon's files, `.sgf` with GM[6].

A game is a tree of one line. The root says MI[length:5][game:0][ws:0][bs:0] (length 0: no match),
PW and PB (seats 0 and 1), RU (Crawford, CrawfordGame, Jacoby, Nackgammon, Hypergammon3) and
RE[W+2R] (points, R for resigned). A move is W[31qtst]: dice, then from and to of every step. A
letter is a point seen by White: a..x are his 1..24 and Black's 24..1, y the bar, z off. W[double],
W[take], W[drop] turn the cube; a double that answers a double is a beaver. Analyses are skipped.

Sources: red-bean.com/sgf (FF[4]); files written by GNU Backgammon 1.07.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nardy_rl.errors import InvalidText
from nardy_rl.records.game import CubeEvent, Decision, Event, GameRecord
from nardy_rl.records.replay import replay
from nardy_rl.records.short_games import Told, as_match, named, records
from nardy_rl.rules import Play
from nardy_rl.rules.position import BAR, OFF

Node = dict[str, list[str]]

_SEATS = {"W": 0, "B": 1}
_COLOURS = "WB"
_VARIANT_WORDS = {"nackgammon": "Nackgammon", "hypergammon": "Hypergammon3"}
_FLAG_WORDS = {"crawford": "Crawford", "jacoby": "Jacoby"}
_SET_BY_HAND = ("AB", "AW", "AE", "CV", "CP", "PL", "DI")
_RESULT = re.compile(r"([WB])\+(\d{1,7})(R?)")
_MATCH = re.compile(r"(length|game|ws|bs):(\d{1,9})")
_MOVE = re.compile(r"([1-6])([1-6])((?:[a-z]{2}){0,4})")

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z]{1,32}")
_VALUE = re.compile(r"\[([^\]\\]*(?:\\.[^\]\\]*)*)\]", re.S)


def write(games: Sequence[GameRecord]) -> str:
    """The text of one match.

    Raises:
        ConfigError: games that the format cannot hold.
    """
    return "".join(_game_text(game) for game in as_match(games).games)


def read(text: str) -> tuple[GameRecord, ...]:
    """The games of a text.

    Raises:
        InvalidText: what cannot be read, or is not legal; the message says where.
    """
    told = []
    for number, nodes in enumerate(_trees(text), start=1):
        try:
            told.append(_told(nodes, number))
        except InvalidText as error:
            raise InvalidText(f"game {number}: {error}") from error
    return records(told)


def _game_text(game: GameRecord) -> str:
    terms = game.terms
    rules = [word for flag, word in _FLAG_WORDS.items() if getattr(terms, flag)]
    if game.crawford_game:
        rules.append("CrawfordGame")
    rules += [_VARIANT_WORDS[name] for name in (named(game.rules),) if name in _VARIANT_WORDS]
    white, black = map(int, game.score)
    root = (
        f"(;FF[4]GM[6]CA[UTF-8]AP[nardy-rl]MI[length:{terms.length or 0}][game:{game.number - 1}]"
        f"[ws:{white}][bs:{black}]PW[{_escaped(game.players[0])}]PB[{_escaped(game.players[1])}]"
    )
    if rules:
        root += f"RU[{':'.join(rules)}]"
    if game.result.score:
        winner = "W" if game.result.score > 0 else "B"
        resigned = "R" if game.result.reason == "resigned" else ""
        root += f"RE[{winner}+{abs(game.result.score)}{resigned}]"
    plays = iter(replay(game))
    nodes = [root]
    for event in game.events:
        colour = _COLOURS[event.seat]
        if isinstance(event, Decision):
            nodes.append(f";{colour}[{_steps(event, next(plays).play)}]")
            continue
        word = {"pass": "drop", "beaver": "double"}.get(event.cube, event.cube)
        nodes.append(f";{colour}[{word}]")
        if event.cube == "beaver":
            # The doubler cannot refuse it, but readers wait for his answer.
            nodes.append(f";{_COLOURS[1 - event.seat]}[take]")
    return "\n".join(nodes) + ")\n"


def _steps(event: Decision, play: Play) -> str:
    letters = "".join(_letter(point, event.seat) for move in play.moves for point in move)
    return f"{event.roll[0]}{event.roll[1]}{letters}"


def _letter(point: int, seat: int) -> str:
    if point in (BAR, OFF):
        return "y" if point == BAR else "z"
    return chr(ord("a") + (point - 1 if seat == 0 else 24 - point))


def _point(letter: str, seat: int) -> str:
    if letter in "yz":
        return "bar" if letter == "y" else "off"
    place = ord(letter) - ord("a")
    return str(place + 1 if seat == 0 else 24 - place)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]").replace(":", "\\:")


def _told(nodes: list[Node], number: int) -> Told:
    """What one tree tells."""
    root = nodes[0]
    if root.get("GM") != ["6"]:
        raise InvalidText(f"GM{root.get('GM', [])} is not backgammon; GM[6]")
    match = {"length": 0, "game": number - 1, "ws": 0, "bs": 0}
    for text in root.get("MI", []):
        if found := _MATCH.fullmatch(text):
            match[found[1]] = int(found[2])
        elif text.partition(":")[0] in match:
            raise InvalidText(f"MI[{text:.40}] cannot be read; such as [length:5]")
    words = [word.lower() for text in root.get("RU", []) for word in text.split(":")]
    known = {word.lower(): name for name, word in _VARIANT_WORDS.items()}
    variants = [known[word] for word in words if word in known]
    if any(word.startswith("hypergammon") and word not in known for word in words):
        raise InvalidText("RU: hypergammon of one or two checkers is not played here; Hypergammon3")
    flags = {name: word.lower() in words for name, word in _FLAG_WORDS.items()}
    events: list[Event] = []
    for node in nodes:
        for name in _SET_BY_HAND:
            if name in node:
                raise InvalidText(f"{name}: a position set by hand; games from the start are read")
        events += _events(node, events)
    names = (root.get("PW", [""])[0], root.get("PB", [""])[0])
    return Told(
        place=f"game {number}",
        variant=variants[0] if variants else "backgammon",
        players=(names[0].strip() or "White", names[1].strip() or "Black"),
        score=(match["ws"], match["bs"]),
        number=match["game"] + 1,
        crawford_game="crawfordgame" in words,
        events=tuple(events),
        length=match["length"],
        flags=flags,
        won=_winner(root.get("RE", [""])[0]),
    )


def _winner(text: str) -> tuple[int, int] | None:
    if text.strip().lower() in ("", "?", "void"):
        return None
    found = _RESULT.fullmatch(text.strip())
    if found is None:
        raise InvalidText(f"RE[{text:.40}] cannot be read; such as W+1 or B+2R")
    return _SEATS[found[1]], int(found[2])


def _events(node: Node, before: Sequence[Event]) -> list[Event]:
    """The event of a node, if it has one."""
    colours = [colour for colour in _COLOURS if colour in node]
    if not colours:
        return []
    if len(colours) > 1 or len(node[colours[0]]) != 1:
        raise InvalidText("two moves in one node; one is allowed")
    seat, text = _SEATS[colours[0]], node[colours[0]][0].strip()
    last = before[-1] if before else None
    answered = last.cube if isinstance(last, CubeEvent) else ""
    if text == "double":
        return [CubeEvent(seat, "beaver" if answered == "double" else "double")]
    if text == "take" and answered == "beaver":
        return []
    if text in ("take", "drop", "pass"):
        return [CubeEvent(seat, "take" if text == "take" else "pass")]
    found = _MOVE.fullmatch(text)
    if found is None:
        raise InvalidText(
            f"move {1 + sum(isinstance(e, Decision) for e in before)}: "
            f"{colours[0]}[{text:.40}] cannot be read; dice and letters such as 31qtst, "
            "double, take, drop"
        )
    pairs = re.findall(r"[a-z]{2}", found[3])
    moves = " ".join(f"{_point(pair[0], seat)}/{_point(pair[1], seat)}" for pair in pairs)
    return [Decision(seat, (int(found[1]), int(found[2])), moves or "pass")]


def _trees(text: str) -> list[list[Node]]:
    """The games of a collection, each as its nodes; variations are refused."""
    trees: list[list[Node]] = []
    at, open_tree = _skip(text, 0), False
    while at < len(text):
        if text[at] == "(":
            if open_tree:
                raise _unreadable(text, at, "a game without variations")
            trees.append([])
            at, open_tree = at + 1, True
        elif text[at] == ")" and open_tree and trees[-1]:
            at, open_tree = at + 1, False
        elif text[at] == ";" and open_tree:
            node, at = _node(text, at + 1)
            trees[-1].append(node)
        else:
            raise _unreadable(text, at, "';' or ')'" if open_tree else "'(;' and a game")
        at = _skip(text, at)
    if open_tree:
        raise InvalidText("the file ends within a game; ')' is missing")
    if not trees:
        raise InvalidText("no games in it; an SGF file begins with (;FF[4]GM[6]")
    return trees


def _node(text: str, at: int) -> tuple[Node, int]:
    """One node's properties, and where reading goes on."""
    node: Node = {}
    at = _skip(text, at)
    while match := _NAME.match(text, at):
        name = match[0]
        if name in node:
            raise _unreadable(text, at, f"another property; {name} is there already")
        at, values = _skip(text, match.end()), []
        while value := _VALUE.match(text, at):
            values.append(re.sub(r"\\(.)", r"\1", value[1], flags=re.S))
            at = _skip(text, value.end())
        if not values:
            raise _unreadable(text, at, f"'[' and a value of {name}")
        node[name] = values
    return node, at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _unreadable(text: str, at: int, expected: str) -> InvalidText:
    line = text.count("\n", 0, at) + 1
    found = repr(text[at : at + 12]) if at < len(text) else "the end"
    return InvalidText(f"line {line}: expected {expected}, found {found}")

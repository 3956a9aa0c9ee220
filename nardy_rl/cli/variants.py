"""`nardy-rl variants [NAME]`: the games there are, or every option of one."""

from __future__ import annotations

import json
import typing
from dataclasses import replace
from pathlib import Path

import nardy_rl
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.rules import Rules

HELP = """\
usage: nardy-rl variants           the games there are, and the trained nets that come with them
       nardy-rl variants NAME      the options of one, as variant.options.X=.. takes them, its
                                   sources, what it can be played for, and its nets

The rules of each as we play them, with a picture: docs/variants/NAME.md.
"""


def run(words: list[str]) -> int:
    """Print the list, or the options of the variant named."""
    if any(word in ("-h", "--help") for word in words):
        print(HELP, end="")
        return 0
    if len(words) > 1:
        raise ConfigError(f"variants takes one name, got {' '.join(words)!r}")
    from nardy_rl.cube import terms
    from nardy_rl.rules.record import variant, variants

    if not words:
        nets = shipped_nets()
        for name in variants():
            mine = ", ".join(_shown(path) for path in _serving(variant(name), nets))
            print(f"{name:<24}{_differs(name)}")
            print(f"{'':<24}net: {mine or 'none shipped'}")
        return 0
    rules = variant(words[0].removeprefix("variant="))
    start = " ".join(f"{point}:{count}" for point, count in rules.start)
    print(f"{rules.name}: {rules.checkers} checkers, start {start}, scores {rules.outcomes}")
    for option in rules.options():
        values = " | ".join(f"[{v}]" if v == option.value else v for v in option.allowed)
        print(f"  variant.options.{option.name:<20}{values:<64}{option.source}")
    print("played for, with `nardy-rl arena` (crawford is on in matches with a cube):")
    for term in terms(rules.name).options():
        values = " | ".join(f"[{v}]" if v == term.value else v for v in term.allowed)
        print(f"  {term.name:<32}{values:<64}{term.source}")
    for path in _serving(rules, shipped_nets()):
        print(f"net: {_shown(path)}, {_told(path)}")
    return 0


def shipped_nets() -> dict[Path, Rules]:
    """The checkpoints that come with the project, by their folder, and the game of each."""
    from nardy_rl.rules.record import variant

    found = {}
    for card in sorted((Path(nardy_rl.__file__).parents[1] / "checkpoints").glob("*/card.json")):
        game = json.loads(card.read_text(encoding="utf-8"))["variant"]
        found[card.parent] = variant(game["name"], **game["options"])
    return found


def _serving(rules: Rules, nets: dict[Path, Rules]) -> list[Path]:
    """The nets of a game that is played alike, whatever its name."""
    return [path for path, game in nets.items() if replace(game, name=rules.name) == rules]


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _told(path: Path) -> str:
    from nardy_rl.train.figures import figures_of

    card = json.loads((path / "card.json").read_text(encoding="utf-8"))
    hidden = "-".join(map(str, card["hidden"]))
    figures = "; ".join(f"{figure.what} {figure}" for figure in figures_of(card, str(path)))
    return f"{hidden} hidden, {card['games']:,} games" + (f"; {figures}" if figures else "")


def _differs(name: str) -> str:
    """What tells the preset `name` from the game that it is a preset of."""
    from nardy_rl.cube import terms
    from nardy_rl.rules.record import variant

    rules = variant(name)
    base = variant("long_nardy" if rules.contact == "block" else "backgammon")
    if rules.contact == "pin":
        base = variant("plakoto")
    if rules.ladder:
        base = variant("mad_gyulbar")
    if rules.runners:
        base = variant("fevga")
    if rules.name == base.name:
        ladder = ", doubles run on" if rules.ladder else ""
        ladder = ", a runner first" if rules.runners else ladder
        contact = f"contact: {rules.contact}"
        return f"{rules.checkers} checkers, {rules.direction} direction, {contact}{ladder}"
    changed = {option.name: option.value for option in rules.options()}
    unchanged = {option.name: option.value for option in base.options()}
    parts = [f"{k}={v}" for k, v in changed.items() if unchanged[k] != v]
    if rules.start != base.start:
        parts.append("start " + " ".join(f"{point}:{count}" for point, count in rules.start))
    if not parts:
        return f"{base.name}, played with {terms(name)}"
    return f"{base.name} with {', '.join(parts)}"

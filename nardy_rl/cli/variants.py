"""`nardy-rl variants [NAME]`: the games there are, or every option of one."""

from __future__ import annotations

from nardy_rl.errors import ConfigError

HELP = """\
usage: nardy-rl variants           the games there are
       nardy-rl variants NAME      the options of one, as variant.options.X=.. takes them
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
        for name in variants():
            print(f"{name:<24}{_differs(name)}")
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
    return 0


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

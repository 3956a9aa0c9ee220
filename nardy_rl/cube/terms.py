"""What a game is played for, apart from its rules: one net of a variant serves all terms."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.rules.record import Option, OptionSpec, variant

LONGEST_MATCH = 64
"""Points of a match, at most: a table of match equities grows with the square."""

TERMS: dict[str, OptionSpec] = {
    "cube": OptionSpec(("none", "standard", "dave"), "RULES.md 2, cube"),
    "cube_progression": OptionSpec(("geometric", "arithmetic"), "RULES.md 2, cube"),
    "mars_with_cube": OptionSpec(("true", "false"), "RULES.md 2, cube"),
    "jacoby": OptionSpec(("off", "on"), "RULES.md 2, jacoby"),
    "crawford": OptionSpec(("off", "on"), "RULES.md 2, crawford"),
    "beavers": OptionSpec(("off", "on"), "RULES.md 2, beavers"),
    "match_length": OptionSpec(("none", f"1..{LONGEST_MATCH}"), "RULES.md 2, match_length"),
}
"""Every term there is, with its values and its source."""

_PRESETS: dict[str, dict[str, object]] = {"backgammon_dave": {"cube": "dave"}}


@dataclass(frozen=True)
class Terms:
    """What is played for; `terms` fills in what follows from the rest.

    Attributes:
        cube: "none", "standard" or "dave".
        cube_progression: "geometric" (1, 2, 4 ..) or, only with dave, "arithmetic" (1, 2, 3 ..).
        mars_with_cube: whether mars and koks multiply the stake where there is a cube.
        jacoby: whether a win counts once until the cube has been turned; money only.
        crawford: whether one game of a match is played without the cube.
        beavers: whether a taker may double at once and keep the cube; money only.
        match_length: points that win a match; None: single games for points ("money").

    Raises:
        ConfigError: a value that is not allowed, or two that do not go together.
    """

    cube: str = "none"
    cube_progression: str = "geometric"
    mars_with_cube: bool = True
    jacoby: bool = False
    crawford: bool = False
    beavers: bool = False
    match_length: int | None = None

    def __post_init__(self) -> None:
        for name in ("cube", "cube_progression"):
            allowed = TERMS[name].allowed
            if getattr(self, name) not in allowed:
                raise ConfigError(
                    f"{name}={getattr(self, name)!r} is not allowed; "
                    f"choose from {', '.join(allowed)}"
                )
        for name in ("mars_with_cube", "jacoby", "crawford", "beavers"):
            if type(getattr(self, name)) is not bool:
                raise ConfigError(f"{name}={getattr(self, name)!r} is not allowed; a bool")
        if self.match_length is not None:
            whole_number("match_length", self.match_length, 1, LONGEST_MATCH)
        self._check_together()

    def _check_together(self) -> None:
        if self.cube_progression == "arithmetic" and self.cube != "dave":
            raise ConfigError(
                f"cube_progression=arithmetic is not allowed with cube={self.cube}; use cube=dave"
            )
        for name in ("jacoby", "beavers"):
            if getattr(self, name) and self.match_length is not None:
                raise ConfigError(
                    f"{name}=on is not allowed in a match; leave out {name} or match_length"
                )
        for name in ("jacoby", "beavers", "crawford"):
            if getattr(self, name) and self.cube == "none":
                raise ConfigError(f"{name}=on needs a cube; add cube=standard or cube=dave")
        if not self.mars_with_cube and self.cube == "none":
            raise ConfigError("mars_with_cube=false needs a cube; add cube=standard or cube=dave")
        if self.crawford and self.match_length is None:
            raise ConfigError("crawford=on is for matches; add match_length=N")

    def options(self) -> tuple[Option, ...]:
        """All terms, each with its value, the values there are and the source."""
        return tuple(
            Option(f.name, _shown(f.name, getattr(self, f.name)), *TERMS[f.name])
            for f in fields(self)
        )

    def __str__(self) -> str:
        """The terms that say something, as the command line takes them."""
        plain = Terms()
        return " ".join(
            f"{f.name}={_shown(f.name, getattr(self, f.name))}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(plain, f.name)
        )


def terms(variant_name: str = "backgammon", **options: object) -> Terms:
    """The terms of a variant, with options changed by keyword, as words or as values.

    Left out, `crawford` is on in matches with a cube, and `mars_with_cube` off with dave.

    Raises:
        ConfigError: an unknown variant, option or value.

    >>> terms("backgammon_dave", match_length=5).crawford
    True
    """
    variant(variant_name)
    unknown = [name for name in options if name not in TERMS]
    if unknown:
        raise ConfigError(f"unknown term {unknown[0]!r}; there are: {', '.join(TERMS)}")
    given = {**_PRESETS.get(variant_name, {}), **options}
    read = {name: _read(name, value) for name, value in given.items()}
    cube = read.get("cube", "none")
    read.setdefault("mars_with_cube", cube != "dave")
    read.setdefault("crawford", cube != "none" and read.get("match_length") is not None)
    result = Terms(**read)  # type: ignore[arg-type]
    if result.cube == "none":
        # Even where it says what holds anyway: who names it takes it that there is a cube.
        for name in ("cube_progression", "mars_with_cube", "jacoby", "crawford", "beavers"):
            if name in options:
                raise ConfigError(
                    f"{name}={_shown(name, options[name])} needs a cube; "
                    "add cube=standard or cube=dave"
                )
    return result


def _read(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    if name in ("cube", "cube_progression"):
        return value
    if name == "match_length":
        if value == "none":
            return None
        return int(value) if value.isascii() and value.isdigit() else value
    words = {"on": True, "true": True, "off": False, "false": False}
    if value.lower() not in words:
        raise ConfigError(
            f"{name}={value!r} is not allowed; choose from {', '.join(TERMS[name].allowed)}"
        )
    return words[value.lower()]


def _shown(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower() if name == "mars_with_cube" else ("on" if value else "off")
    return "none" if value is None else str(value)

"""What a game is played for: the cube, and the length of a match (RULES.md 2).

Apart from `Rules`, because they decide nothing about a position: the net of a variant, which
knows no cube, serves all of them.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.rules.record import Option, variant

LONGEST_MATCH = 99
"""Points; match equities are computed for every score up to it."""

CUBES = ("none", "standard", "dave")
PROGRESSIONS = ("geometric", "arithmetic")
_FLAGS = ("mars_with_cube", "jacoby", "crawford", "beavers")
_TRUTH = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


@dataclass(frozen=True)
class Terms:
    """What is played for; two equal records pay alike.

    Attributes:
        cube: `none`; `standard`; `dave`, which is the standard cube but for the progression and
            `mars_with_cube`, whose defaults `terms` knows.
        cube_progression: of the stakes, `geometric` 1, 2, 4, 8 .. or `arithmetic` 1, 2, 3, 4 ..
        mars_with_cube: False, every win of a game or match that has a cube counts the stake
            once, whether or not the cube was turned.
        jacoby: a win counts once while the cube has not been turned. Only without a match.
        crawford: when a player comes within one point of the match, one game has no cube.
        beavers: who takes may double again at once and keeps the cube. Only without a match.
        match_length: points of the match; None for games on their own ("money").

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
        _one_of("cube", self.cube, CUBES)
        _one_of("cube_progression", self.cube_progression, PROGRESSIONS)
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}={getattr(self, name)!r} is not allowed; true, false")
        if self.match_length is not None:
            whole_number("match_length", self.match_length, 1, LONGEST_MATCH)
        if self.cube == "standard" and self.cube_progression != "geometric":
            raise ConfigError(
                f"cube_progression={self.cube_progression} is not allowed with cube=standard; "
                "geometric (cube=dave has arithmetic)"
            )
        for name in ("jacoby", "crawford", "beavers"):
            if getattr(self, name) and self.cube == "none":
                raise ConfigError(f"{name}=true needs a cube: cube=standard or cube=dave")
        for name in ("jacoby", "beavers"):
            if getattr(self, name) and self.match_length is not None:
                raise ConfigError(f"{name}=true is not allowed with match_length; it is for money")
        if self.crawford and self.match_length is None:
            raise ConfigError("crawford=true needs a match: match_length=N")

    @property
    def plain(self) -> bool:
        """Whether games are played on their own and without a cube."""
        return self.cube == "none" and self.match_length is None

    @property
    def counts_mars(self) -> bool:
        """Whether a win can count more than the stake."""
        return self.cube == "none" or self.mars_with_cube

    def options(self) -> tuple[Option, ...]:
        """Every one of them, with value, allowed values and source.

        >>> [option.value for option in terms("backgammon_dave").options()][:3]
        ['dave', 'geometric', 'false']
        """
        flags = ("true", "false")
        length = "none" if self.match_length is None else str(self.match_length)
        return (
            Option("cube", self.cube, CUBES, "RULES.md 2, cube"),
            Option("cube_progression", self.cube_progression, PROGRESSIONS, "RULES.md 2, cube"),
            Option("mars_with_cube", _word(self.mars_with_cube), flags, "RULES.md 2, cube"),
            Option("jacoby", _word(self.jacoby), flags, "RULES.md 2, jacoby"),
            Option("crawford", _word(self.crawford), flags, "RULES.md 2, crawford; on in matches"),
            Option("beavers", _word(self.beavers), flags, "RULES.md 2, beavers"),
            Option("match_length", length, ("none", f"1..{LONGEST_MATCH}"), "RULES.md 2"),
        )

    def next_stake(self, stake: Any) -> Any:
        """The stake after an accepted double of `stake`, a number or an array of them.

        >>> terms("backgammon_dave", cube_progression="arithmetic").next_stake(2)
        3
        """
        return stake + 1 if self.cube_progression == "arithmetic" else 2 * stake

    def __str__(self) -> str:
        """In words, as tables of results say it.

        >>> str(terms("backgammon", cube="standard", match_length=5))
        'match to 5, cube=standard, crawford=true'
        """
        said = ["money" if self.match_length is None else f"match to {self.match_length}"]
        shown = {option.name: option.value for option in self.options()}
        said += [f"cube={self.cube}"]
        if self.cube == "dave":
            said += [f"{n}={shown[n]}" for n in ("cube_progression", "mars_with_cube")]
        elif not self.mars_with_cube:
            said += ["mars_with_cube=false"]
        said += [f"{n}=true" for n in ("jacoby", "crawford", "beavers") if shown[n] == "true"]
        return ", ".join(said)


NAMES = tuple(Terms.__dataclass_fields__)
"""The options that `terms` takes."""

_PRESETS: dict[str, dict[str, Any]] = {"backgammon_dave": {"cube": "dave"}}


def terms(variant_name: str, **options: Any) -> Terms:
    """What a variant is played for, with options changed by keyword.

    Flags may be written as text (`on`, `false` ..), the match length as digits or `none`. What is
    left out is the preset's; then `crawford` is on in matches with a cube, and `mars_with_cube`
    off with the dave.

    Raises:
        ConfigError: an unknown variant, option or value, listing what there is.

    >>> terms("backgammon", cube="standard", match_length=7).crawford
    True
    """
    variant(variant_name)
    for name in options:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise ConfigError(
                f"terms have no option {name!r}{meant}; there are: {', '.join(NAMES)}"
            )
    given = {**_PRESETS.get(variant_name, {}), **options}
    for name in _FLAGS:
        if isinstance(given.get(name), str):
            given[name] = _truth(name, given[name])
    if isinstance(given.get("match_length"), str):
        given["match_length"] = _length(given["match_length"])
    cube, length = given.get("cube", "none"), given.get("match_length")
    given.setdefault("crawford", length is not None and cube != "none")
    given.setdefault("mars_with_cube", cube != "dave")
    return Terms(**given)


def _word(flag: bool) -> str:
    return "true" if flag else "false"


def _truth(name: str, text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise ConfigError(f"{name}={text!r} is not allowed; true, false")
    return _TRUTH[text.lower()]


def _length(text: str) -> int | None:
    if text.lower() in ("none", "null"):
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ConfigError(f"match_length={text!r} is not allowed; none or 1..{LONGEST_MATCH}")
    return whole_number("match_length", int(text), 1, LONGEST_MATCH)


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        near = difflib.get_close_matches(str(value), allowed, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise ConfigError(
            f"{name}={value!r} is not allowed{meant}; choose from {', '.join(allowed)}"
        )

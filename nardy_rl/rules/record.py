"""The rules of a variant as one frozen record, and the presets that players know by name.

Every disputed rule is a field with a name, its allowed values and its source in RULES.md.
The kernels read the same record as a flat tuple of integers (`Rules.kernel`).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError

RULES_VERSION = 1
"""Changes when any variant plays differently; nets trained under another version are refused."""

HOME = 6
"""Points 6..1 are home, in every variant."""


class Option(NamedTuple):
    """One rule that tables dispute: its value here, the values there are, and where from."""

    name: str
    value: str
    allowed: tuple[str, ...]
    source: str


class OptionSpec(NamedTuple):
    """What `variant` accepts for one option."""

    allowed: tuple[str, ...]
    source: str


class KernelRules(NamedTuple):
    """A `Rules` record as integers for the kernels; a code is the value's place in its spec.

    `pin` and `runners` are None where there are none: Numba compiles such records apart, and
    what stands behind `is not None` costs the other games nothing.
    """

    checkers: int
    opposite: int
    hit: int
    pin: int | None
    runners: int | None
    ladder: int
    head_rule: int
    head_exception: int
    prime_rule: int
    prime_check: int
    prime_wrap: int
    last_roll: int
    koks: int
    opening_roll: int
    next_starter: int
    hit_run: int
    hit_run_zone: int
    ladder_repeats: int
    ladder_from_turn: int
    unplayed: int
    stall: int
    runner: int
    start_prime: int
    start_prime_points: int
    trapping_prime: int
    mother: int
    flag_mask: int


OPTIONS: dict[str, OptionSpec] = {
    "head_rule": OptionSpec(
        ("free", "classic", "any_double_first", "any_double", "strict"), "RULES.md 1, head_rule"
    ),
    "head_exception": OptionSpec(("blocked_by_head", "always"), "RULES.md 1, head_exception"),
    "prime_rule": OptionSpec(("allow", "ahead", "home", "forbid"), "RULES.md 1, prime_rule"),
    "prime_check": OptionSpec(("turn_end", "every_step"), "RULES.md 1, prime_check"),
    "prime_wrap": OptionSpec(
        ("opponent_path", "circular", "own_path"), "RULES.md 1, prime_wrap; own_path: case LN23"
    ),
    "last_roll": OptionSpec(("none", "draw_half", "draw_one"), "RULES.md 1, last_roll"),
    "koks": OptionSpec(("none", "first_quarter", "none_home", "backgammon"), "RULES.md 0-2, koks"),
    "opening_roll": OptionSpec(("reroll", "use_opening_dice"), "RULES.md 0, opening_roll"),
    "next_starter": OptionSpec(("alternate", "winner", "roll"), "RULES.md 0, next_starter"),
    "hit_run": OptionSpec(("allowed", "no_hide", "no_continue"), "RULES.md 2, hit_run"),
    "hit_run_zone": OptionSpec(("home", "all"), "RULES.md 2, hit_run_zone"),
    "ladder_repeats": OptionSpec(("2", "4"), "RULES.md 3, ladder_repeats"),
    "ladder_from_turn": OptionSpec(("1", "2", "3", "4"), "RULES.md 3, ladder_from_turn"),
    "unplayed": OptionSpec(("opponent", "lost"), "RULES.md 3, unplayed"),
    "stall": OptionSpec(("stop", "skip_rung"), "RULES.md 3, stall"),
    "runner": OptionSpec(("none", "pass_start"), "RULES.md 4, runner"),
    "start_prime": OptionSpec(("none", "own", "opponent", "both"), "RULES.md 4, start_prime"),
    "start_prime_points": OptionSpec(("5", "4"), "RULES.md 4, start_prime_points"),
    "trapping_prime": OptionSpec(("allow", "open"), "RULES.md 4, trapping_prime"),
    "mother": OptionSpec(("none", "wins", "at_once"), "RULES.md 4, mother"),
}
"""Every option there is. The first value is the neutral one, which a game without it has."""

_BLOCK_ONLY = ("head_rule", "head_exception", "prime_rule", "prime_check", "prime_wrap")
_BLOCK_OPTIONS = (*_BLOCK_ONLY, "last_roll", "koks", "opening_roll", "next_starter")
_LADDER_ONLY = ("ladder_repeats", "ladder_from_turn", "unplayed", "stall")
_LADDER_OPTIONS = (*_LADDER_ONLY, *_BLOCK_ONLY, "koks", "opening_roll", "next_starter")
_RUNNER_ONLY = ("runner", "start_prime", "start_prime_points", "trapping_prime")
_RUNNER_OPTIONS = (*_RUNNER_ONLY, "koks", "opening_roll", "next_starter")
_HIT_OPTIONS = ("hit_run", "hit_run_zone", "koks", "opening_roll", "next_starter")
_PIN_OPTIONS = ("mother", "opening_roll", "next_starter")
_KOKS_VALUES = {"block": ("none", "first_quarter", "none_home"), "hit": ("none", "backgammon")}


@dataclass(frozen=True)
class Rules:
    """Everything that decides what is legal and what it scores; two equal records play alike.

    `start` lists (point, checkers) in each player's own numbering, 24 the farthest from home.
    `direction` is "same" (both travel one way round, half a board apart) or "opposite".
    `contact` is "block" (one checker closes a point), "hit" (a lone checker goes to the bar) or
    "pin" (a lone checker is held under whoever lands on it, see `rules.pins`).
    With `ladder` doubles run on, rung by rung, up to 6-6 (only where `contact` is "block").
    With `runners` the options are those of fevga instead of long nardy's (only with "block").
    The other fields are the options of RULES.md sections 0 to 4; `options()` explains them.
    """

    name: str
    checkers: int
    start: tuple[tuple[int, int], ...]
    direction: str
    contact: str
    ladder: bool = False
    runners: bool = False
    head_rule: str = "free"
    head_exception: str = "blocked_by_head"
    prime_rule: str = "allow"
    prime_check: str = "turn_end"
    prime_wrap: str = "opponent_path"
    last_roll: str = "none"
    koks: str = "none"
    opening_roll: str = "reroll"
    next_starter: str = "alternate"
    hit_run: str = "allowed"
    hit_run_zone: str = "home"
    ladder_repeats: str = "2"
    ladder_from_turn: str = "1"
    unplayed: str = "opponent"
    stall: str = "stop"
    runner: str = "none"
    start_prime: str = "none"
    start_prime_points: str = "5"
    trapping_prime: str = "allow"
    mother: str = "none"

    def __post_init__(self) -> None:
        for option in self.options():
            if option.value not in option.allowed:
                raise ConfigError(
                    f"{self.name}: {option.name}={option.value!r} is not allowed; "
                    f"choose from {', '.join(option.allowed)}"
                )

    def options(self) -> tuple[Option, ...]:
        """The options that this game has, each with value, allowed values and source.

        >>> [option.name for option in variant("backgammon").options()]
        ['hit_run', 'hit_run_zone', 'koks', 'opening_roll', 'next_starter']
        """
        names: tuple[str, ...] = _BLOCK_OPTIONS if self.contact == "block" else _HIT_OPTIONS
        if self.ladder:
            names = _LADDER_OPTIONS
        if self.runners:
            names = _RUNNER_OPTIONS
        if self.contact == "pin":
            names = _PIN_OPTIONS
        return tuple(
            Option(
                name,
                getattr(self, name),
                _KOKS_VALUES[self.contact] if name == "koks" else OPTIONS[name].allowed,
                OPTIONS[name].source,
            )
            for name in names
        )

    @cached_property
    def outcomes(self) -> tuple[int, ...]:
        """The scores that a game can end with, ascending and symmetric (RULES.md 0, Score).

        >>> variant("long_nardy").outcomes
        (-2, -1, 1, 2)
        """
        wins = (1, 2) if self.koks == "none" else (1, 2, 3)
        draw: tuple[int, ...] = () if self.last_roll == "none" else (0,)
        if self.contact == "pin" and self.mother != "at_once":
            draw = (0,)  # both mothers pinned
        return (*(-score for score in reversed(wins)), *draw, *wins)

    @cached_property
    def flag_mask(self) -> int:
        """The flag bits that this variant reads; all others stay 0.

        First turns (bits 0 and 1) count where the head rule asks, the starter (bit 2) where the
        drawn last roll does, turns taken (bits 3 and 4 mine, 5 and 6 the opponent's) where a
        ladder has to wait for a later turn.
        """
        first_turns = 3 if self.head_rule in ("classic", "any_double_first") else 0
        turns = {"1": 0, "2": 1}.get(self.ladder_from_turn, 3) if self.ladder else 0
        return first_turns | (0 if self.last_roll == "none" else 4) | turns << 3 | turns << 5

    def start_points(self) -> NDArray[np.int8]:
        """The start position, int8[2, 26], alike for both sides in their own numbering."""
        points = np.zeros((2, 26), np.int8)
        for point, count in self.start:
            points[:, point] = count
        return points

    @property
    def draw_points(self) -> float:
        """Points that a draw gives to each side (RULES.md 1, last_roll); 0 of pinned mothers."""
        return {"none": 0.0, "draw_half": 0.5, "draw_one": 1.0}[self.last_roll]

    @cached_property
    def kernel(self) -> KernelRules:
        """The record as integers, for the kernels."""
        code = {name: spec.allowed.index(getattr(self, name)) for name, spec in OPTIONS.items()}
        return KernelRules(
            checkers=self.checkers,
            opposite=int(self.direction == "opposite"),
            hit=int(self.contact == "hit"),
            pin=1 if self.contact == "pin" else None,
            runners=1 if self.runners else None,
            ladder=int(self.ladder),
            flag_mask=self.flag_mask,
            **{name: code[name] for name in KernelRules._fields if name in code},
        )


_BACKGAMMON_START = ((24, 2), (13, 5), (8, 3), (6, 5))
_NACKGAMMON_START = ((24, 2), (23, 2), (13, 4), (8, 3), (6, 4))

_NARDY = Rules(
    name="long_nardy",
    checkers=15,
    start=((24, 15),),
    direction="same",
    contact="block",
    head_rule="classic",
    prime_rule="ahead",
)
_BACKGAMMON = Rules(
    name="backgammon",
    checkers=15,
    start=_BACKGAMMON_START,
    direction="opposite",
    contact="hit",
    koks="backgammon",
    opening_roll="use_opening_dice",
    next_starter="roll",
)

_LADDER = Rules(
    name="mad_gyulbar",
    checkers=15,
    start=((24, 15),),
    direction="same",
    contact="block",
    ladder=True,
    head_rule="classic",
    prime_rule="ahead",
)

_FEVGA = Rules(
    name="fevga",
    checkers=15,
    start=((24, 15),),
    direction="same",
    contact="block",
    runners=True,
    next_starter="winner",
    runner="pass_start",
    start_prime="own",
    trapping_prime="open",
)
_PLAKOTO = Rules(
    name="plakoto",
    checkers=15,
    start=((24, 15),),
    direction="opposite",
    contact="pin",
    mother="wins",
    next_starter="winner",
)

_TAVLA: dict[str, object] = {"opening_roll": "reroll", "hit_run": "no_continue", "koks": "none"}
_PRESETS: dict[str, tuple[Rules, dict[str, object]]] = {
    "long_nardy": (_NARDY, {}),
    "long_nardy_federation": (
        _NARDY,
        {"head_exception": "always", "opening_roll": "use_opening_dice"},
    ),
    "long_nardy_house": (_NARDY, {"head_rule": "any_double", "next_starter": "winner"}),
    "long_nardy_draw": (_NARDY, {"last_roll": "draw_half"}),
    # Small enough to be solved exactly (`nardy-rl solve`); else the same game.
    "long_nardy_2": (_NARDY, {"checkers": 2, "start": ((24, 2),)}),
    "long_nardy_3": (_NARDY, {"checkers": 3, "start": ((24, 3),)}),
    "mad_gyulbar": (_LADDER, {}),
    "gul_bara": (
        _LADDER,
        {"head_rule": "free", "ladder_repeats": "4", "ladder_from_turn": "4"},
    ),
    "fevga": (_FEVGA, {}),
    "moultezim": (_FEVGA, {"start_prime": "opponent"}),
    "backgammon": (_BACKGAMMON, {}),
    "backgammon_dave": (_BACKGAMMON, {}),  # what is played for differs: `cube.terms`
    "nackgammon": (_BACKGAMMON, {"start": _NACKGAMMON_START}),
    "hypergammon": (_BACKGAMMON, {"checkers": 3, "start": ((24, 1), (23, 1), (22, 1))}),
    "tavla": (_BACKGAMMON, _TAVLA),
    "portes": (_BACKGAMMON, _TAVLA),
    "plakoto": (_PLAKOTO, {}),
}


def variants() -> tuple[str, ...]:
    """The names that `variant` knows, presets included."""
    return tuple(_PRESETS)


def variant(name: str, **options: str | int) -> Rules:
    """The rules of the variant `name`, with options changed by keyword.

    Raises `ConfigError` for an unknown name, option or value, listing what there is, and for
    an option that the variant does not have (no head rule in backgammon).

    >>> variant("long_nardy", head_rule="strict").head_rule
    'strict'
    """
    if name in ("six_one", "six-one"):
        raise ConfigError(
            "six_one: the rule texts name three main games, long, six-one and short, and say "
            "nothing else of the second; no public page describes a game of that name. "
            f"The variants there are: {', '.join(_PRESETS)}"
        )
    if name not in _PRESETS:
        raise ConfigError(
            f"unknown variant {name!r}{_near(name, tuple(_PRESETS))}; "
            f"there are: {', '.join(_PRESETS)}"
        )
    base, preset = _PRESETS[name]
    known = {option.name for option in base.options()}
    for option in options:
        if option not in known:
            listed = ", ".join(o.name for o in base.options())
            near = _near(option, tuple(known))
            raise ConfigError(f"{name} has no option {option!r}{near}; its options are: {listed}")
    # A number may be written as one: ladder_repeats=4.
    options = {key: str(value) if type(value) is int else value for key, value in options.items()}
    fields = {f: getattr(base, f) for f in base.__dataclass_fields__}
    return Rules(**{**fields, **preset, **options, "name": name})


def _near(word: str, known: tuple[str, ...]) -> str:
    matches = difflib.get_close_matches(str(word), known, n=3)
    return f" (did you mean {' or '.join(matches)}?)" if matches else ""

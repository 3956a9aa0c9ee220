"""`nardy-rl arena`: a match of two players on duplicate dice."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import (
    EVALUATORS,
    INTERRUPTED,
    OPTIONS,
    PLAIN,
    described,
    naming,
    progress_of,
    rules_for,
)
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from rich.console import Console

    from nardy_rl.arena import MatchResult, SequentialTest
    from nardy_rl.cube import Terms
    from nardy_rl.players import Player
    from nardy_rl.rules import Rules
    from nardy_rl.search import Valuer
    from nardy_rl.train.stopping import StopSignals

HELP = """\
nardy-rl arena: a match of two players on duplicate dice

usage: nardy-rl arena a=PLAYER b=PLAYER [name=value ...]

A PLAYER is
  random          any legal result, all with the same chance
  pips            the race: most pips ahead, then the rear checkers first; hides its blots a little
  heuristic       rules of thumb of the variant
  pubeval         backgammon: Tesauro's public evaluator
  gnubg           backgammon: GNU Backgammon, an extra: pip install 'nardy-rl[gnubg]'
  PATH            a checkpoint, or a run (its newest checkpoint): the net's best result
  FILE.onnx       an exported net
  FOLDER          a table of `nardy-rl solve`: perfect play of a small game
Nets and gnubg look ahead if asked: PATH@1ply, PATH@2ply, PATH@rollout, gnubg@1ply.

settings and what they are by default:
  games=10000     games to play, in pairs: the same dice twice, the seats exchanged;
                  with stop= the most that are played, 100000 by default
  stop=P0:P1      end as soon as it is clear whether a scores P0 points a game (H0) or P1 (H1);
                  stop=0:0.05 asks whether a is 0.05 stronger than b or no stronger
  alpha=0.05      with stop=: chance of accepting H1 although a scores P0 or less
  beta=0.05       with stop=: chance of accepting H0 although a scores P1 or more
  luck=PLAYER     a net or gnubg by whose values the luck of the dice is taken out of the score: the
                  mean stays, the error shrinks, each game takes some 10 times as long
  variant=NAME    the game; by default the one that a or b learned, long_nardy where neither did
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  match_length=N  play matches to N points: games= then counts matches, 1000 by default
  cube=standard   play with the cube, or cube=dave; also cube_progression, mars_with_cube, jacoby,
                  crawford, beavers: `nardy-rl variants NAME` lists them. games= is 1000 by default
  cube_life=0.68  of the nets' cube decisions: 0 a dead cube, 1 a live one
  seed=1          of the dice: the same seed repeats the match exactly
  ply_cap=2000    turns after which a game is broken off and not scored
  threads=0       processor threads, 0 for all there are; results do not depend on them
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

Figures have 95 % intervals, by pairs of games: ± where both sides are alike, else [low, high].
A player against itself scores exactly 0. Ctrl-C ends the match and shows what was played so far.

stop= is a sequential test (GSPRT) on the scores of pairs, luck-adjusted ones with luck=. Between
P0 and P1 either verdict is right. It ends a match because of how the match stands, so points a
game of a match that ended early lean to the verdict's side: quote the verdict.

examples:
  nardy-rl arena a=runs/long_nardy/2026-11-30_12-00-00-default b=pips
  nardy-rl arena a=RUN1 b=RUN2 games=100000 seed=7
  nardy-rl arena a=NEW b=OLD stop=0:0.05
  nardy-rl arena a=RUN1 b=RUN2 games=2000 luck=checkpoints/long_nardy
  nardy-rl arena a=checkpoints/backgammon b=pips match_length=5 cube=standard
  nardy-rl arena a=pips b=random variant=backgammon variant.options.hit_run=no_hide
"""


def _hypotheses(text: str) -> tuple[float, float]:
    """Read P0:P1, points a game, P0 the smaller."""
    first, _, second = text.partition(":")
    try:
        ppg0, ppg1 = float(first), float(second)
    except ValueError:
        ppg0, ppg1 = 0.0, 0.0
    if not -3 < ppg0 < ppg1 < 3:
        raise ValueError("P0:P1, such as 0:0.05, with -3 < P0 < P1 < 3")
    return ppg0, ppg1


def _error_rate(text: str) -> float:
    """Read a probability of being wrong."""
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0.0 < rate < 0.5:
        raise ValueError("numbers > 0 and < 0.5")
    return rate


_TERMS = (
    "cube",
    "cube_progression",
    "mars_with_cube",
    "jacoby",
    "crawford",
    "beavers",
    "match_length",
)


def _cube_life(text: str) -> float:
    """Read a share."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise ValueError("numbers 0..1")
    return share


SETTINGS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(_TERMS, str),
    "cube_life": _cube_life,
    "a": str,
    "b": str,
    "games": words.whole(2, 10**9),
    "stop": _hypotheses,
    "alpha": _error_rate,
    "beta": _error_rate,
    "luck": str,
    "variant": str,
    OPTIONS: str,
    "seed": words.whole(0),
    "ply_cap": words.whole(1, 65535),
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}

SHORT = 12
"""Longer names, such as paths, are `a` and `b` in the table; above it stands who is who."""


def run(given: list[str]) -> int:
    """Play the match that the words ask for and print its table."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    for side in ("a", "b"):
        if not settings.get(side):
            raise ConfigError(
                f"{side} is missing: {side}=PLAYER, such as random, pips or a checkpoint"
            )
    for rate in ("alpha", "beta"):
        if rate in settings and "stop" not in settings:
            raise ConfigError(f"{rate}: an error rate needs hypotheses; add stop=P0:P1")

    from rich.console import Console

    from nardy_rl.arena import print_results
    from nardy_rl.cube import terms
    from nardy_rl.rules import set_threads
    from nardy_rl.train.stopping import StopSignals

    named = ("a", "b", "luck") if settings.get("luck") else ("a", "b")
    rules = rules_for(settings, [(name, settings[name]) for name in named])
    set_threads(settings.get("threads", 0))
    a, b = (_player(side, settings, rules) for side in ("a", "b"))
    played_for = terms(rules.name, **{n: settings[n] for n in _TERMS if n in settings})
    with_cube = played_for.cube != "none" or played_for.match_length is not None
    if with_cube:
        _check_alone(settings)
    elif "cube_life" in settings:
        raise ConfigError("cube_life: there is no cube; add cube=standard or cube=dave")
    luck = _valuer(settings, rules) if settings.get("luck") else None
    test = _test(settings)
    console = Console()
    for side, player in (("a", a), ("b", b)):
        evaluator = getattr(player, "evaluator", None)
        computed = f", computed by {evaluator.name}" if evaluator is not None else ""
        console.print(f"{side}: {player.name}{computed}", **PLAIN)
    # What goes on is for stderr: the result alone is the output.
    if with_cube:
        with StopSignals() as signals:
            _play_cube(settings, rules, played_for, (a, b), signals, console)
        return INTERRUPTED if signals.wanted() else 0
    with StopSignals() as signals:
        result = _played(settings, rules, (a, b), test, luck, signals)
    shown = dataclasses.replace(
        result,
        a=a.name if len(a.name) <= SHORT else "a",
        b=b.name if len(b.name) <= SHORT else "b",
    )
    print_results(console, [shown], f"{described(rules)}, seed {result.seed}")
    if test is not None:
        console.print(str(test), **PLAIN)
    return INTERRUPTED if signals.wanted() else 0


def _check_alone(settings: Mapping[str, Any]) -> None:
    """Raise ConfigError for what matches and the cube do not go together with."""
    for name in ("luck", "stop"):
        if name in settings:
            raise ConfigError(f"{name} is for games without cube and match; leave out {name}")


def _play_cube(
    settings: Mapping[str, Any],
    rules: Rules,
    played_for: Terms,
    players: tuple[Player, Player],
    signals: StopSignals,
    console: Console,
) -> None:
    """Play matches, or games with the cube, and print what they came to."""
    from rich.console import Console

    from nardy_rl.arena.cube_match import PLY_CAP, play_matches
    from nardy_rl.cube import CUBE_LIFE

    games = settings.get("games", 1000)
    unit = "games" if played_for.match_length is None else "matches"
    with progress_of(Console(stderr=True), games, unit) as progress:
        result = play_matches(
            rules,
            played_for,
            *players,
            games,
            seed=settings.get("seed", 1),
            ply_cap=settings.get("ply_cap", PLY_CAP),
            cube_life=settings.get("cube_life", CUBE_LIFE),
            progress=progress,
            should_stop=signals.wanted,
        )
    names = [p.name if len(p.name) <= SHORT else s for p, s in zip(players, "ab", strict=True)]
    console.print(f"{described(rules)}, {played_for}, seed {result.seed}", **PLAIN)
    console.print(str(dataclasses.replace(result, a=names[0], b=names[1])), **PLAIN)


def _played(
    settings: Mapping[str, Any],
    rules: Rules,
    players: tuple[Player, Player],
    test: SequentialTest | None,
    luck: Valuer | None,
    signals: StopSignals,
) -> MatchResult:
    """The match, as long as it was asked to be or until the test has a verdict."""
    from rich.console import Console

    from nardy_rl.arena import MAX_GAMES, PLY_CAP, play_match, play_until

    games = settings.get("games", 10_000 if test is None else MAX_GAMES)
    with progress_of(Console(stderr=True), games, "games") as progress:
        how: dict[str, Any] = {
            "seed": settings.get("seed", 1),
            "ply_cap": settings.get("ply_cap", PLY_CAP),
            "luck": luck,
            "progress": progress,
            "should_stop": signals.wanted,
        }
        if test is None:
            return play_match(rules, *players, games, **how)
        return play_until(rules, *players, test, games, **how)


def _test(settings: Mapping[str, Any]) -> SequentialTest | None:
    """The test that `stop` asks for."""
    if "stop" not in settings:
        return None
    from nardy_rl.arena import SequentialTest

    rates = {name: settings[name] for name in ("alpha", "beta") if name in settings}
    return SequentialTest(*settings["stop"], **rates)


def _valuer(settings: Mapping[str, Any], rules: Rules) -> Valuer:
    """Whose values measure the luck."""
    from nardy_rl.players import make_valuer

    with naming("luck"):
        return make_valuer(settings["luck"], rules, evaluator=settings.get("evaluator", "auto"))


def _player(side: str, settings: Mapping[str, Any], rules: Rules) -> Player:
    from nardy_rl.players import make_player

    with naming(side):
        return make_player(settings[side], rules, evaluator=settings.get("evaluator", "auto"))

"""`nardy-rl play`: a game against any player, in the terminal or from a text of answers."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.playing import EVALUATORS, INTERRUPTED, OPTIONS, naming, rules_for
from nardy_rl.errors import ConfigError

if typing.TYPE_CHECKING:
    from nardy_rl.cli.game import Game
    from nardy_rl.players import Player
    from nardy_rl.rules import Plays, Rules
    from nardy_rl.search import Valuer

HELP = """\
nardy-rl play: play against any player, here in the terminal

usage: nardy-rl play player=PLAYER [name=value ...]

PLAYER is any of `nardy-rl arena --help`: pips, heuristic, a checkpoint or run, PATH@1ply, gnubg ...

settings and what they are by default:
  variant=NAME    the game; by default the one that PLAYER learned, long_nardy where it did not
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  side=X          your checkers: X or O; the board is drawn from X's seat
  seed=N          of the dice; by default a new one, which is shown: the same seed and the same
                  moves make the same games
  numbering=point of the points: point (24 farthest) or hole (1 farthest)
  hints=false     true shows the best plays before every move of yours
  advisor=PLAYER  whose values hints are; by default those of PLAYER, if it has any
  record=FILE     write the games there when it ends, the one you quit as unfinished: .jsonl, .mat
                  or .sgf, see `nardy-rl games --help`; a file that is there is refused
  threads=0       processor threads, 0 for all there are
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

When it is your move, type
  7               the number of a play of the list
  24/18 13/11     the move itself; if it is not legal you are told why
  24/             the beginning of moves: lists the plays that begin so
  more            the next plays of a long list; all: the whole list
  hint, board, help, quit

Every move is written in the numbers of the player who makes it. Quitting, Ctrl-D and Ctrl-C end
with the score of the games that were finished.

examples:
  nardy-rl play player=checkpoints/long_nardy hints=true
  nardy-rl play player=heuristic variant=backgammon advisor=checkpoints/backgammon seed=5
"""

COMMANDS = """\
type the number of a play, a move such as {example}, or the beginning of one to see the plays that
begin so; more or all: the list; hint: the best plays; board: the board again; quit: the end"""

NUMBERINGS = {"point": "distance", "hole": "hole"}
PAGE = 16
"""Plays that are listed at once."""
HINTS = 5


def _truth(text: str) -> bool:
    """Read true or false."""
    if text not in ("true", "false"):
        raise ValueError("true, false")
    return text == "true"


SETTINGS: dict[str, Callable[[str], Any]] = {
    "player": str,
    "variant": str,
    OPTIONS: str,
    "side": words.one_of("X", "O"),
    "seed": words.whole(0),
    "numbering": words.one_of(*NUMBERINGS),
    "hints": _truth,
    "advisor": str,
    "record": str,
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}


def run(given: list[str]) -> int:
    """Play until the person at the terminal has enough."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    if not settings.get("player"):
        raise ConfigError("player is missing: player=pips, heuristic, or a checkpoint or run")

    import secrets

    from nardy_rl.cli.game import Game
    from nardy_rl.records import check_writable, write_games
    from nardy_rl.rules import set_threads

    rules = rules_for(settings, [("player", settings["player"])])
    record = settings.get("record")
    if record:
        with naming("record"):
            check_writable(record, rules=rules)
    set_threads(settings.get("threads", 0))
    player = _player(settings, rules)
    session = _Session(settings, _advisor(settings, rules))
    seed = settings.get("seed", secrets.randbelow(10**6))
    game = Game(rules, player, seed=seed, me=settings.get("side", "X"))
    session.welcome(game)
    try:
        session.play(game)
        status = 0
    except (EOFError, _Enough):
        status = 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    print(f"\n{game.score_line()}")
    if record and (games := game.records()):
        with naming("record"):
            write_games(record, games)
        print(f"written: {record}")
    return status


class _Enough(Exception):
    """The person wants to stop."""


class _Session:
    """What is asked and said; the game itself is a `Game`."""

    def __init__(self, settings: Mapping[str, Any], advisor: Valuer | None) -> None:
        self.numbering = NUMBERINGS[settings.get("numbering", "point")]
        self.always_hint: bool = settings.get("hints", False)
        self.advisor = advisor

    def welcome(self, game: Game) -> None:
        """What is played, and how."""
        from nardy_rl.cli.playing import described

        print(f"{described(game.rules)} against {game.player.name}, seed {game.seed}")
        print(f"you are {game.me}; every move is in the numbers of the player who makes it")
        print(f"{self.commands()}\n")

    def commands(self) -> str:
        """What can be typed."""
        return COMMANDS.format(example="24/18" if self.numbering == "distance" else "1/7")

    def play(self, game: Game) -> None:
        """Game after game, until EOFError or `_Enough`."""
        while True:
            print(game.opening_line())
            while game.ended is None:
                self._turn(game)
            print(f"{game.board(self.numbering)}\n{game.ended}\n{game.score_line()}")
            if not self._again():
                raise _Enough
            game.begin_next()

    def _turn(self, game: Game) -> None:
        from nardy_rl.notation import move_text

        plays = game.plays()
        dice = f"{plays.roll[0]}-{plays.roll[1]}"
        who, rolls = ("you", "roll") if game.my_turn else (game.other, "rolls")
        if game.my_turn:
            print(f"\n{game.board(self.numbering)}")
        if not plays[0].moves:
            print(f"{who} {rolls} {dice}: {game.why_pass()}, the turn passes")
            game.make(0)
        elif game.my_turn:
            game.make(self._choice(game, plays))
        else:
            choice = game.reply()
            print(f"{who} {rolls} {dice} and plays {move_text(plays[choice], self.numbering)}")
            game.make(choice)

    def _choice(self, game: Game, plays: Plays) -> int:
        """The place of the play that the person chooses."""
        from nardy_rl.notation import move_text

        texts = [move_text(play, self.numbering) for play in plays]
        steps = 4 if plays.roll[0] == plays.roll[1] else 2
        used = plays[0].dice_used
        short = f"; only {used} of the {steps} steps can be made" if used < steps else ""
        print(f"you roll {plays.roll[0]}-{plays.roll[1]}{short}")
        shown = _list(texts, 0)
        if self.always_hint:
            self._hint(plays)
        while True:
            answer = _ask("your move: ")
            match answer.lower():
                case "quit" | "exit" | "q":
                    raise _Enough
                case "help" | "?":
                    print(self.commands())
                case "board":
                    print(game.board(self.numbering))
                case "hint":
                    self._hint(plays)
                case "more":
                    shown = _list(texts, shown if shown < len(texts) else 0)
                case "all":
                    shown = _list(texts, 0, len(texts))
                case _:
                    choice = self._read(plays, texts, answer)
                    if choice is not None:
                        return choice

    def _read(self, plays: Plays, texts: list[str], answer: str) -> int | None:
        """The place of the play that an answer means; None, having said why not."""
        from nardy_rl.errors import AmbiguousPlay, IllegalPlay, InvalidText
        from nardy_rl.notation import parse_play

        if not answer:
            return None
        if answer.isdecimal():
            if 1 <= int(answer) <= len(texts):
                return int(answer) - 1
            print(f"there is no play {answer}; the numbers go from 1 to {len(texts)}")
            return None
        try:
            play = parse_play(plays.before, plays.roll, answer, self.numbering)
        except (AmbiguousPlay, IllegalPlay, InvalidText) as error:
            begun = [at for at, text in enumerate(texts) if _begins(text, answer)]
            if isinstance(error, IllegalPlay) or not begun:
                print(f"not played: {error}")
            if begun:
                print("plays that begin so:")
                for at in begun:
                    print(_numbered(texts, at))
            return None
        return next(at for at, other in enumerate(plays) if other.after == play.after)

    def _hint(self, plays: Plays) -> None:
        """The best plays by the advisor's values, with their numbers in the list."""
        if self.advisor is None:
            print("no hints: this player has no equities; start again with advisor=PATH of a net")
            return
        from nardy_rl.analysis import analyse

        frame = analyse(plays.before, plays.roll, self.advisor, numbering=self.numbering)
        width = max(map(len, frame["play"].head(HINTS)))
        print(f"best by {self.advisor.name}:")
        for choice, row in frame.head(HINTS).iterrows():
            lost = f"  -{row['loss']:.3f}" if row["loss"] else ""
            print(f"{choice + 1:>4}  {row['play']:<{width}}  {row['equity']:+.3f}{lost}")

    def _again(self) -> bool:
        while True:
            match _ask("another game? (y/n) ").lower():
                case "y" | "yes" | "":
                    return True
                case "n" | "no" | "q" | "quit" | "exit":
                    return False
                case other:
                    print(f"{other!r} is neither y nor n")


def _ask(prompt: str) -> str:
    """A line from the person; EOFError where there are no more."""
    try:
        answer = input(prompt).strip()
    except UnicodeDecodeError:
        # Answered as any other line that means nothing.
        answer = "\N{REPLACEMENT CHARACTER}"
    if not sys.stdin.isatty():
        # Nobody has seen it typed: the text that comes out should read as a game all the same.
        print(answer)
    return answer


def _list(texts: list[str], first: int, count: int = PAGE) -> int:
    """Show plays from `first` on; returns where the list goes on."""
    stop = min(first + count, len(texts))
    for at in range(first, stop):
        print(_numbered(texts, at))
    if stop < len(texts):
        print(f"      and {len(texts) - stop} more: type more, all, or the beginning of a move")
    return stop


def _numbered(texts: list[str], at: int) -> str:
    return f"{at + 1:>4}  {texts[at]}"


def _begins(text: str, typed: str) -> bool:
    """Whether a play's text begins as typed, whatever the arrows, stars and spaces."""
    begun = " ".join(typed.lower().replace("-", "/").replace(",", " ").split())
    return text.replace("*", "").startswith(begun.replace("*", ""))


def _player(settings: Mapping[str, Any], rules: Rules) -> Player:
    from nardy_rl.players import make_player

    with naming("player"):
        return make_player(settings["player"], rules, evaluator=settings.get("evaluator", "auto"))


def _advisor(settings: Mapping[str, Any], rules: Rules) -> Valuer | None:
    """Whose values hints are; None where nobody has any."""
    from nardy_rl.players import make_valuer

    named = "advisor" if settings.get("advisor") else "player"
    try:
        with naming(named):
            return make_valuer(settings[named], rules, evaluator=settings.get("evaluator", "auto"))
    except ConfigError as error:
        if named == "advisor":
            raise
        if settings.get("hints"):
            raise ConfigError(f"hints: {error}; name one with advisor=PATH") from error
        return None

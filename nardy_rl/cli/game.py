"""A series of games of one person against a player: dice, turns, how games end, the score."""

from __future__ import annotations

import numpy as np

from nardy_rl.env import Env
from nardy_rl.inference import Decisions
from nardy_rl.notation import board_text
from nardy_rl.notation.boards import BOTTOM, TOP, Side
from nardy_rl.notation.numbering import across, checked, point_name
from nardy_rl.players import Player
from nardy_rl.records import Event, GameRecord, Result, decision_of, result_after
from nardy_rl.records.game import numbered
from nardy_rl.rules import Outcome, Plays, Position, Rules
from nardy_rl.rules.batch import generate_batch
from nardy_rl.rules.dice import PURPOSE_CHOICE, random_word
from nardy_rl.rules.ladder import states_after
from nardy_rl.rules.position import BAR

PLY_CAP = 10_000
"""Turns after which a game is broken off, far more than people play."""

_PERSON = 0
"""The person's seat; the player has the other one."""


class Game:
    """One game after the other; who begins the next is for the rules to say.

    Args:
        rules: the variant.
        player: the opponent.
        seed: of the dice.
        me: the person's letter.

    Attributes:
        position: seen by the player to move; of a game that is over, by who moved last.
        ended: how the game ended, in words; None while it goes on.
    """

    def __init__(self, rules: Rules, player: Player, *, seed: int, me: Side = "X") -> None:
        self.rules = rules
        self.player = player
        self.seed = seed
        self.me = me
        self.other: Side = "O" if me == "X" else "X"
        self._env = Env(rules, 1, seed, PLY_CAP)
        self._won = self._lost = self._drawn = 0
        self._points = 0.0
        self._recorded: list[GameRecord] = []
        self.begin_next()

    def begin_next(self) -> None:
        """Look at the next game, which the last move of the one before has dealt."""
        self.ended: str | None = None
        self._events: list[Event] = []
        self._starter = int(self._env.tables.starter[0])
        self._see()

    @property
    def my_turn(self) -> bool:
        """Whether the person is to move."""
        return self.mover == self.me

    @property
    def number(self) -> int:
        """Of the game, from 1."""
        return int(self._env.tables.game[0]) + 1

    @property
    def finished(self) -> int:
        """Games that were played to their end."""
        return self._won + self._lost + self._drawn

    def plays(self) -> Plays:
        """The legal plays of the dice just thrown, in the order that `make` counts in."""
        die1, die2 = self._env.rolls[0].tolist()
        return self.position.plays((die1, die2))

    def reply(self) -> int:
        """The place of the play that the opponent chooses now."""
        tables = self._env.tables
        points, state = tables.points, (tables.flags, tables.pending)
        legal, _ = generate_batch(self.rules.kernel, points, *state, tables.rolls)
        after = states_after(self.rules, *state, tables.rolls, legal.dice_used)
        decisions = Decisions(points, *after, legal)
        key = random_word(self.seed, tables.game[0], tables.turn[0], PURPOSE_CHOICE)
        keys = np.array([key], np.uint64)
        return int(self.player.choose(decisions, tables.rolls.copy(), keys)[0])

    def make(self, choice: int) -> None:
        """Make a play by its place in `plays()`; the dice of the next turn are thrown."""
        play = self.plays()[choice]
        seat = _PERSON if self.my_turn else 1 - _PERSON
        self._events.append(decision_of(seat, play))
        finished = self._env.step(np.array([choice]))
        if not len(finished.table):
            self._see()
            return
        self.position = play.after
        outcome = play.after.outcome()
        self.ended = (
            f"broken off after {PLY_CAP:,} turns" if outcome is None else self._end(outcome)
        )
        self._recorded.append(self._record(result_after(seat, play)))

    def records(self) -> tuple[GameRecord, ...]:
        """The games so far, the one in play as unfinished; none of it where nobody moved."""
        games = list(self._recorded)
        if self.ended is None and self._events:
            games.append(self._record(Result(0, "unfinished")))
        return numbered(games)

    def _record(self, result: Result) -> GameRecord:
        return GameRecord(
            rules=self.rules,
            players=("you", self.player.name),
            starter=self._starter,
            events=tuple(self._events),
            result=result,
            seed=self.seed,
        )

    def board(self, numbering: str = "distance") -> str:
        """The board from X's seat, its edges numbered for the person."""
        me = self.mover
        lines = board_text(self.position, numbering, me).splitlines()
        if self.ended is not None:
            lines[0] = f"{self.rules.name}: over"
        if self.me == "O":
            # Drawn from X's seat all the same: only the numbers are those of the person.
            names = checked(numbering)
            for at, points in ((1, TOP), (-2, BOTTOM)):
                cells = [point_name(across(self.rules, p), names).rjust(2, "-") for p in points]
                lines[at] = f"+{'-'.join(cells[:6])}------{'-'.join(cells[6:])}-+"
        return "\n".join(lines)

    def why_pass(self) -> str:
        """Why there is no legal play."""
        if self.position.points[0, BAR]:
            return "no checker can enter from the bar"
        return "no checker can move"

    def opening_line(self) -> str:
        """Which game this is, and who begins."""
        begins = f"you ({self.me}) begin" if self.my_turn else f"{self.other} begins"
        return f"game {self.number}: {begins}"

    def score_line(self) -> str:
        """The games and points so far."""
        if not self.finished:
            return "no game was finished"
        drawn = f", {self._drawn} drawn" if self._drawn else ""
        return (
            f"games: you won {self._won}, lost {self._lost}{drawn}; "
            f"points: {self._points:+g} for you"
        )

    def _see(self) -> None:
        tables = self._env.tables
        state = int(tables.flags[0]), int(tables.pending[0])
        self.position = Position(self.rules, tables.points[0].copy(), *state)
        self.mover: Side = self.me if tables.mover[0] == _PERSON else self.other

    def _end(self, outcome: Outcome) -> str:
        """Count a game that is over, `outcome` for who moved last; how it ended, in words."""
        score = outcome.score if self.my_turn else -outcome.score
        self._won += score > 0
        self._lost += score < 0
        self._drawn += score == 0
        self._points += score
        if score == 0:
            return "the game is drawn"
        points = "1 point" if abs(score) == 1 else f"{abs(score)} points{self._size(abs(score))}"
        return f"you win {points}" if score > 0 else f"{self.other} wins {points}"

    def _size(self, points: int) -> str:
        """What a win of 2 or 3 points is called."""
        english = self.rules.koks == "backgammon"
        names = ("gammon", "backgammon") if english else ("mars", "koks")
        return f" ({names[points - 2]})"

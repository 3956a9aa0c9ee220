"""A tournament: every player against every other, all matches on the same dice.

Two matches that share a player then share its luck as far as they can, so that players are
compared through a third as closely as the dice allow, and a match depends on nothing but its own
two players: one that a store holds from another tournament serves as well.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.arena.entrants import Entrant
from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.ratings import (
    ALPHA,
    DRAWS,
    Cycle,
    Match,
    Ratings,
    check_settings,
    cycles,
    pair_wins,
    rate,
)
from nardy_rl.arena.record import Question, sha256_of
from nardy_rl.arena.result import Estimate, Interval, MatchResult
from nardy_rl.arena.store import append, check_writable, find
from nardy_rl.errors import ConfigError
from nardy_rl.rules.record import Rules
from nardy_rl.search import Valuer


@dataclass(frozen=True)
class Anchor:
    """The player whose rating is fixed, by number, and at how much elo."""

    player: int = 0
    elo: float = 0.0


@dataclass(frozen=True)
class Tournament:
    """What a tournament found; figures of a match are in the view of its first player.

    Attributes:
        rules: of the game.
        entrants: who took part.
        games, seed, ply_cap: of every match.
        anchor, alpha, draws: of the ratings, see `ratings.rate`.
        matches: by the numbers of the players, the lower first; some are missing where it was
            interrupted.
        reused: how many of the matches the store held already.
        others: how many the store holds of another commit or version, which were not taken.
    """

    rules: Rules
    entrants: tuple[Entrant, ...]
    games: int
    seed: int
    ply_cap: int
    anchor: Anchor
    alpha: float
    draws: int
    matches: Mapping[Match, MatchResult]
    reused: int = 0
    others: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """The short names, by number."""
        return tuple(entrant.label for entrant in self.entrants)

    @property
    def complete(self) -> bool:
        """Whether every match was played."""
        players = len(self.entrants)
        return len(self.matches) == players * (players - 1) // 2

    @cached_property
    def ratings(self) -> Ratings:
        """Bradley-Terry ratings by games won."""
        return rate(
            len(self.entrants),
            {match: pair_wins(result) for match, result in self.matches.items()},
            anchor=self.anchor.player,
            anchor_elo=self.anchor.elo,
            alpha=self.alpha,
            draws=self.draws,
        )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Numbers of the players, the highest rating first, those without one last."""
        elo = np.nan_to_num(self.ratings.elo, nan=-np.inf)
        return tuple(int(player) for player in np.argsort(-elo, kind="stable"))

    def ppg(self, a: int, b: int) -> tuple[Estimate, Interval] | None:
        """Points a game of a against b with the 95 % interval, less luck where it was measured.

        None where they have not met or no game was scored.
        """
        result = self.matches.get((min(a, b), max(a, b)))
        if result is None or result.games == 0:
            return None
        name = "ppg" if result.luck is None else "adjusted_ppg"
        (value, se), (low, high) = getattr(result, name), result.intervals[name]
        if a < b:
            return Estimate(value, se), Interval(low, high)
        # 0 less it, not its negative: a drawn match is +0 for both.
        return Estimate(0.0 - value, se), Interval(0.0 - high, 0.0 - low)

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Mean points a game over all opponents met, each counted alike, float64[N]."""
        means = []
        for a in range(len(self.entrants)):
            met = [self.ppg(a, b) for b in range(len(self.entrants)) if a != b]
            means.append(np.mean([there[0].value for there in met if there] or [np.nan]))
        return np.array(means)

    @cached_property
    def order_by_ppg(self) -> tuple[int, ...]:
        """Numbers of the players, the most points a game first, ties as in `order`."""
        total = np.nan_to_num(self.total, nan=-np.inf)
        return tuple(sorted(self.order, key=lambda player: -total[player]))

    @cached_property
    def cycles(self) -> tuple[Cycle, ...]:
        """Three players each of whom beats the next in points a game, beyond chance."""
        met = {match: self.ppg(*match) for match in self.matches}
        return cycles({match: there[0] for match, there in met.items() if there})


def play_tournament(
    rules: Rules,
    entrants: Sequence[Entrant],
    games: int = 10_000,
    *,
    seed: int = 1,
    ply_cap: int = PLY_CAP,
    luck: tuple[Valuer, str] | None = None,
    anchor: Anchor = Anchor(),
    alpha: float = ALPHA,
    draws: int = DRAWS,
    store: Path | None = None,
    fresh: bool = False,
    progress: Callable[[int], None] | None = None,
    finished: Callable[[MatchResult], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Tournament:
    """Play every match that the store does not hold, and put each into it as it ends.

    Args:
        rules: of the game.
        entrants: who plays, as `entrants` makes them.
        games: of every match; an odd number is rounded up to whole pairs.
        seed: of all dice.
        ply_cap: see `play_match`.
        luck: see `play_match`, with its identity as of an `Entrant`; None for none.
        anchor, alpha, draws: of the ratings.
        store: folder of results; None for none.
        fresh: play all matches, whatever the store holds.
        progress: told how many games of all have ended, those of the store among them.
        finished: told of every match that was played to its end.
        should_stop: asked often; True ends it with the matches that are finished.

    Raises:
        ConfigError: a number out of range, a store that cannot be written.
        CheckpointError: a store with other files than results.
    """
    if games < 2:
        raise ConfigError(f"games: {games} is not allowed; allowed: whole numbers >= 2")
    even = games + games % 2
    players = tuple(entrants)
    if not 0 <= anchor.player < len(players):
        raise ConfigError(f"anchor: {anchor.player} is not allowed; allowed: 0..{len(players) - 1}")
    check_settings(alpha, draws)
    luck_by, luck_identity = luck if luck is not None else (None, "")
    questions = {
        (i, j): Question(rules, players[i], players[j], even, seed, ply_cap, 0, luck_identity)
        for i, j in itertools.combinations(range(len(players)), 2)
    }
    config = _config(rules, players, even, seed, ply_cap, luck_identity, anchor, alpha, draws)
    began = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
    name = f"{began}-{sha256_of(config)[:12]}"
    matches: dict[Match, MatchResult] = {}
    others = 0
    if store is not None:
        check_writable(store)
        if not fresh:
            known = find(store, list(questions.values()))
            others = known.others
            matches = {
                match: known.results[question.key]
                for match, question in questions.items()
                if question.key in known.results
            }
    reused = len(matches)

    def ended(of_match: int) -> None:
        if progress is not None:
            progress(even * len(matches) + of_match)

    ended(0)
    for match, question in questions.items():
        if match in matches:
            continue
        result = play_match(
            rules,
            question.a.player,
            question.b.player,
            even,
            seed=seed,
            ply_cap=ply_cap,
            luck=luck_by,
            progress=ended,
            should_stop=should_stop,
        )
        if result.played.score.size < even:
            break  # stopped: half a match is none
        result = _named(result, question)
        if store is not None:
            append(store, question, result, config=config, tournament=name)
        matches[match] = result
        if finished is not None:
            finished(result)
    return Tournament(
        rules,
        players,
        even,
        seed,
        ply_cap,
        anchor,
        alpha,
        draws,
        dict(sorted(matches.items())),
        reused,
        others,
    )


def _named(result: MatchResult, question: Question) -> MatchResult:
    return dataclasses.replace(result, a=question.a.label, b=question.b.label)


def _config(
    rules: Rules,
    players: Sequence[Entrant],
    games: int,
    seed: int,
    ply_cap: int,
    luck: str,
    anchor: Anchor,
    alpha: float,
    draws: int,
) -> dict[str, Any]:
    """The settings of a tournament as plain data."""
    return {
        "variant": {"name": rules.name, "options": {o.name: o.value for o in rules.options()}},
        "players": [player.text for player in players],
        "identities": [player.identity for player in players],
        "games": games,
        "seed": seed,
        "ply_cap": ply_cap,
        "luck": luck,
        "anchor": {"player": players[anchor.player].text, "elo": anchor.elo},
        "alpha": alpha,
        "draws": draws,
    }

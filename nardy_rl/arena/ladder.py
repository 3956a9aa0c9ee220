"""The ladder of a run: its net against fixed opponents and against its own frozen champions.

The first net measured is the first champion. A later one becomes the next if a sequential test on
fresh dice finds it better than the newest; then its weights go to `champions/000002` of the run's
folder, and nothing changes them any more: the checkpoints of the run record their sha256, and a
champion that is not as it was stops the run. What a champion scored when it was crowned is kept,
so that all of them and the net have ratings on one scale without another game.
"""

from __future__ import annotations

import dataclasses
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nardy_rl.arena.evaluation import evaluation
from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.result import MatchResult
from nardy_rl.arena.rungs import NET, Rungs
from nardy_rl.arena.sequential import SequentialTest, Verdict, play_until
from nardy_rl.arena.standing import Champion, Met, Standing, met
from nardy_rl.errors import CheckpointError
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, Player
from nardy_rl.rules.record import Rules
from nardy_rl.train.checkpoint import load_checkpoint, save_checkpoint
from nardy_rl.train.measuring import Measured
from nardy_rl.train.settings import EvalSettings, TrainSettings

FOLDER = "champions"
"""Of the run's folder; champions are numbered in it from 000001."""

LOOK_PAIRS = 64
"""Pairs between two looks of a test: a net much better is crowned after a hundred games."""

_LEAST_PAIRS = 32
"""A match that has not the games for so many pairs is not begun: it would say nothing."""

_TEST_PAIRS = 1 << 40
"""Tests throw dice from this number on, each its own, and no other match the same."""

_TEST_ROOM = 1 << 18
"""Dice between the tests of two successive games of training: more than a test can throw."""

_WAY_ON = "put it back as it was, or go on without a ladder: eval.ladder.games=0"


@dataclass
class _Round:
    """What a measurement has found so far."""

    left: int
    spent: int
    figures: dict[str, float]
    met: dict[str, Met]
    said: list[str] = field(default_factory=list)
    crowned: bool = False


class Ladder:
    """Measures the nets of a run; what `train.loop.train` takes as `evaluate`.

    Args:
        rules: of the game.
        settings: whom to play, and the terms of the ladder.
        ply_cap: see `play_match`.
        evaluator: how nets are computed.

    Attributes:
        results: of the last measurement, a match for each fixed opponent.

    Raises:
        ConfigError, CheckpointError: an opponent that is not there or plays another game.
    """

    def __init__(
        self,
        rules: Rules,
        settings: EvalSettings,
        *,
        ply_cap: int = PLY_CAP,
        evaluator: str = "auto",
    ) -> None:
        self._rules = rules
        self._ply_cap = ply_cap
        self._evaluator = evaluator
        self._evaluation = evaluation(
            rules, settings.opponents, settings.seed, ply_cap=ply_cap, evaluator=evaluator
        )
        self._on = settings.ladder.games > 0
        self._folder = Path(FOLDER)
        self._stored: dict[str, Any] = {}
        self._standing = Standing()
        self._players: dict[str, Player] = {}

    @property
    def results(self) -> tuple[MatchResult, ...]:
        """Of the last measurement, a match for each fixed opponent."""
        return self._evaluation.results

    def begin(self, run_dir: Path, ladder: Mapping[str, Any]) -> None:
        """Take up the champions that a checkpoint remembers, and drop those it does not.

        The latter were crowned after it; the run comes to them again.

        Raises:
            CheckpointError: a champion is missing, damaged, or not the net that was crowned.
        """
        self._stored = dict(ladder)
        if not self._on:
            return
        self._folder = run_dir / FOLDER
        self._standing = Standing.from_dict(ladder)
        self._players = {}
        known = {champion.name for champion in self._standing.champions}
        if self._folder.is_dir():
            for entry in self._folder.iterdir():
                if entry.is_dir() and entry.name not in known:
                    shutil.rmtree(entry)
        for champion in self._standing.champions:
            self._players[champion.name] = self._loaded(champion.name, champion.sha256)

    def measure(
        self, net: ValueNet, settings: TrainSettings, trained: int, final: bool
    ) -> Measured:
        """Play the opponents, test the net against the newest champion, rate them all.

        A pure function of the net, the settings, `trained` and what the run remembers.
        """
        wanted = settings.eval
        self._evaluation(net, wanted.final_games if final else wanted.games)
        figures: dict[str, float] = {}
        scored = {}
        for text, result in zip(wanted.opponents, self.results, strict=True):
            figures |= _figures(text, result)
            scored[text] = met(result)
        if not self._on:
            return Measured(figures, ladder=self._stored)
        # The last matches are as long as they were asked to be; they are not of the share.
        played = 0 if final else sum(result.played.score.size for result in self.results)
        spent = self._standing.spent + played
        at = _Round(int(wanted.ladder.share * trained) - spent, spent, figures, scored)
        player = NetPlayer(self._rules, net, NET, self._evaluator)
        self._test(player, settings, trained, at)
        self._meet_older(player, wanted, at)
        standing = dataclasses.replace(self._standing, spent=at.spent)
        rungs = Rungs(standing, wanted.opponents, at.met)
        elo = rungs.of_net
        if math.isfinite(elo[0]):
            row = (float(trained), *elo)
            standing = dataclasses.replace(standing, course=(*standing.course, row))
        names = ("ladder/elo", "ladder/elo_low", "ladder/elo_high")
        at.figures |= dict(zip(names, elo, strict=True))
        at.figures["ladder/champions"] = float(len(standing.champions) + at.crowned)
        at.figures["ladder/games"] = float(at.spent)
        pictures = rungs.pictures(self._rules, standing.course, trained)
        if at.crowned:
            name = f"{len(standing.champions) + 1:06d}"
            champion = Champion(name, trained, "", at.met)
            standing = dataclasses.replace(standing, champions=(*standing.champions, champion))
        figures = {name: value for name, value in at.figures.items() if math.isfinite(value)}
        return Measured(figures, pictures, tuple(at.said), standing.to_dict(), at.crowned)

    def settle(self, net: ValueNet, measured: Measured) -> dict[str, Any]:
        """Freeze a new champion; returns what checkpoints are to remember.

        Raises:
            CheckpointError: it cannot be written.
        """
        if not self._on:
            return self._stored
        standing = Standing.from_dict(measured.ladder)
        if measured.champion:
            *older, newest = standing.champions
            newest = dataclasses.replace(newest, sha256=self._freeze(net, newest))
            self._players[newest.name] = self._loaded(newest.name, newest.sha256)
            standing = dataclasses.replace(standing, champions=(*older, newest))
        self._standing = standing
        return standing.to_dict()

    def _test(self, player: Player, settings: TrainSettings, trained: int, at: _Round) -> None:
        """Whether the net becomes a champion."""
        champions, terms = self._standing.champions, settings.eval.ladder
        if not champions:
            at.crowned = True
            at.said.append("the first champion, 000001")
            return
        newest = champions[-1]
        games = min(terms.games, at.left)
        if games < 2 * _LEAST_PAIRS:
            return
        test = SequentialTest(0.0, terms.ppg, terms.alpha, terms.beta)
        result = play_until(
            self._rules,
            player,
            self._players[newest.name],
            test,
            games - games % 2,
            seed=settings.eval.seed,
            ply_cap=self._ply_cap,
            first_pair=_TEST_PAIRS + trained * _TEST_ROOM,
            look_pairs=LOOK_PAIRS,
        )
        self._count(newest.name, result, at)
        at.figures |= _figures("champion", result)
        at.figures["champion/llr"] = test.llr
        at.crowned = test.verdict == Verdict.H1
        if at.crowned:
            at.said.append(f"champion {len(champions) + 1:06d}, better than {newest.name}: {test}")

    def _meet_older(self, player: Player, wanted: EvalSettings, at: _Round) -> None:
        """Matches against champions before the newest, as far as the share goes."""
        count = wanted.ladder.champions
        for champion in self._standing.champions[-1 - count : -1]:
            games = min(wanted.games, at.left)
            if games < 2 * _LEAST_PAIRS:
                return
            result = play_match(
                self._rules,
                player,
                self._players[champion.name],
                games - games % 2,
                seed=wanted.seed,
                ply_cap=self._ply_cap,
            )
            self._count(champion.name, result, at)
            at.figures |= _figures(f"champions/{champion.name}", result)

    @staticmethod
    def _count(name: str, result: MatchResult, at: _Round) -> None:
        at.met[name] = met(result)
        at.left -= result.played.score.size
        at.spent += result.played.score.size

    def _freeze(self, net: ValueNet, champion: Champion) -> str:
        """Write the champion's folder, complete or not at all; returns the sha256 of its net."""
        unfinished = self._folder / f"{champion.name}.tmp"
        saved = save_checkpoint(
            unfinished,
            net=net,
            rules=self._rules,
            config={},
            card={"what": f"champion {champion.name} of the run", "met": _plain(champion.met)},
            games=champion.games,
        )
        for file in saved.iterdir():
            file.chmod(0o444)
        saved.rename(self._folder / champion.name)
        unfinished.rmdir()
        written = load_checkpoint(self._folder / champion.name)
        return str(written.card["sha256"]["model.safetensors"])

    def _loaded(self, name: str, sha256: str) -> Player:
        """The champion as a player, if it is the one that was crowned."""
        folder = self._folder / name
        try:
            checkpoint = load_checkpoint(folder)
        except CheckpointError as error:
            raise CheckpointError(f"champion {name}: {error}; {_WAY_ON}") from error
        found = checkpoint.card["sha256"]["model.safetensors"]
        if found != sha256:
            raise CheckpointError(
                f"champion {name}: {folder} holds another net than the one that was crowned "
                f"(sha256 {found[:12]}, recorded {sha256[:12]}); {_WAY_ON}"
            )
        return NetPlayer(self._rules, checkpoint.net, name, self._evaluator)


def _figures(name: str, result: MatchResult) -> dict[str, float]:
    """The figures of a match below `name`; intervals of points and wins, errors of the rest."""
    kept = ("ppg_low", "ppg_high", "win_low", "win_high")
    return {
        f"{name}/{figure}": value
        for figure, value in result.figures().items()
        if figure in kept or not figure.endswith(("_low", "_high"))
    }


def _plain(met: Mapping[str, Met]) -> dict[str, Any]:
    return {name: dataclasses.asdict(result) for name, result in met.items()}

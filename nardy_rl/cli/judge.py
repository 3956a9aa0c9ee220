"""`nardy-rl judge`: what a player's choices lose, and whether a net's values hold."""

from __future__ import annotations

import hashlib
import time
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nardy_rl.cli import words
from nardy_rl.cli.near import did_you_mean
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
    from nardy_rl.judge import Judged, Judgement, Sample
    from nardy_rl.judge.judges import Appointed
    from nardy_rl.rules import Rules
    from nardy_rl.train.stopping import StopSignals

HELP = """\
nardy-rl judge: what a player's choices lose, and whether a net's values hold

usage: nardy-rl judge checkpoint=PLAYER by=JUDGE [name=value ...]

PLAYER is any of `nardy-rl arena --help`: a checkpoint or run, alone or with plies (RUN@1ply),
or a baseline, who is judged by choices alone.

JUDGE says what every result is worth; the loss of a choice is how far it is below the best:
  exact           a solved table, table=PATH (of `nardy-rl solve`): the truth
  gnubg           GNU Backgammon at plies= (1); backgammon and nackgammon
  rollout         games played on to a horizon from the best few and the chosen result
  lookahead       the net= (by default the judged one) at plies= (2): cheap, and of one mind with it

settings and what they are by default:
  positions=N     decisions of fresh self-play at 0 plies; 100,000 for exact, 200 for rollout, else
                  2,000. Or positions=FILE: JSON lines with id, roll and, perhaps, game
  save=FILE       write the decisions there, to be judged again
  stray=0         share of self-play's moves made at random, so that odd positions come up
  one_in=N        keep one decision in so many, spread over more games; 1 for exact, else 4
  only=PARTS      some of losses,calibration,bellman,plies; by default all that PLAYER allows
  games=2000      calibration: self-play games whose ends are held against the net's shares
  bellman=10000   bellman: self-play decisions whose values are held against each other
  match=400       plies: games of the net's 1 ply against its 0 plies
  worst=3         blunders to show (with out=, ten at least are written)
  out=FOLDER      write judgement.json, report.md, report.html and pictures there
  keep=8 margin=0.3   judges but exact see the best so many of a decision, none so many points
                  below the best, by 0-ply values, and always the chosen one; rollout 5 and 0.16
  trials=360      rollout: games from each result
  horizon=7       rollout: plies of each, then the net's word is taken; 0: to the end
  net=PATH        whose values lookahead and rollout stand on
  variant=NAME    the game; by default the one that PLAYER learned, long_nardy where it did not
  variant.options.X=Y   a house rule; `nardy-rl variants NAME` lists them
  seed=1          of all dice: the same seed repeats everything exactly
  threads=0       processor threads, 0 for all there are; results do not depend on them
  evaluator=auto  how nets are computed: auto, kernel, float32, bfloat16

Errors are standard errors by games. Ctrl-C ends the part that runs and shows what there is.

examples:
  nardy-rl judge checkpoint=RUN by=exact table=tables/hypergammon
  nardy-rl judge checkpoint=RUN@1ply by=exact table=tables/hypergammon only=losses
  nardy-rl judge checkpoint=checkpoints/backgammon by=gnubg plies=1 out=judged
  nardy-rl judge checkpoint=RUN only=calibration,bellman games=10000
  nardy-rl judge checkpoint=pubeval by=gnubg plies=0 positions=20000 save=frozen.jsonl
"""

JUDGES = ("exact", "gnubg", "rollout", "lookahead")
PARTS = ("losses", "calibration", "bellman", "plies")
POSITIONS = {"exact": 100_000, "gnubg": 2000, "rollout": 200, "lookahead": 2000}
BLOCKS = {"exact": 2048, "gnubg": 16, "rollout": 4, "lookahead": 64}
"""Decisions judged at once: what Ctrl-C waits for."""

SHOWN, WRITTEN = 3, 10
"""Blunders on the screen, and in a report at least."""

ROLLOUT = {"trials": "games", "horizon": "plies"}

_OF_JUDGES = {
    "table": ("exact",),
    "plies": ("gnubg", "lookahead"),
    "net": ("rollout", "lookahead"),
    "trials": ("rollout",),
    "horizon": ("rollout",),
    "keep": ("gnubg", "rollout", "lookahead"),
    "margin": ("gnubg", "rollout", "lookahead"),
}
"""Settings that belong to some judges only."""


def _parts(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(","))
    for part in found:
        if part not in PARTS:
            raise ValueError(f"{', '.join(PARTS)}, with commas{did_you_mean(part, PARTS)}")
    return found


def _positions(text: str) -> int | str:
    """A number of them, or a file."""
    try:
        float(text)
    except ValueError:
        if not text:
            raise ValueError("a number of positions, or a file") from None
        return text
    return words.whole(1, 10**8)(text)


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise ValueError("shares, 0 to 1")
    return number


SETTINGS: dict[str, Callable[[str], Any]] = {
    "checkpoint": str,
    "by": words.one_of(*JUDGES),
    "table": str,
    "plies": words.whole(0, 3),
    "net": str,
    "positions": _positions,
    "save": str,
    "stray": _share,
    "one_in": words.whole(1, 10**6),
    "only": _parts,
    "games": words.whole(1, 10**7),
    "bellman": words.whole(1, 10**7),
    "match": words.whole(2, 10**7),
    "worst": words.whole(0, 1000),
    "out": str,
    "trials": words.whole(2, 10**7),
    "horizon": words.whole(0, 10_000),
    "keep": words.whole(1, 10**4),
    "margin": words.positive,
    "variant": str,
    OPTIONS: str,
    "seed": words.whole(0, 2**62),
    "threads": words.whole(0, 4096),
    "evaluator": words.one_of(*EVALUATORS),
}


def run(given: list[str]) -> int:
    """Judge as the words ask, print what was found, and write it where they say."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    _check(settings)

    from rich.console import Console

    from nardy_rl.judge import print_judgement, write_report
    from nardy_rl.rules import set_threads
    from nardy_rl.train.stopping import StopSignals

    set_threads(settings.get("threads", 0))
    work = _Work(settings)
    out = Path(settings["out"]) if settings.get("out") else None
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with StopSignals() as signals:
        judgement = work.done(signals, given)
    console = Console()
    print_judgement(console, judgement, settings.get("worst", SHOWN))
    if out is not None:
        write_report(out, judgement)
        console.print(f"written: {out / 'report.html'}, report.md, judgement.json", **PLAIN)
    return INTERRUPTED if judgement.interrupted else 0


def _check(settings: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    if not settings.get("checkpoint"):
        raise ConfigError("checkpoint is missing: checkpoint=PATH of a checkpoint or run")
    by = settings.get("by")
    if by is None and "losses" in settings.get("only", PARTS):
        raise ConfigError(
            f"by is missing: by={', '.join(JUDGES)}; without a judge there are "
            "only=calibration,bellman,plies"
        )
    for name, judges in _OF_JUDGES.items():
        if name in settings and by not in judges:
            raise ConfigError(f"{name} goes with by={' or '.join(judges)}")
    if by == "exact" and not settings.get("table"):
        raise ConfigError("table is missing: table=PATH, a folder that `nardy-rl solve` wrote")


def _judged(setting: str, settings: Mapping[str, Any], rules: Rules) -> Judged:
    from nardy_rl.judge import judged

    with naming(setting):
        return judged(settings[setting], rules, evaluator=settings.get("evaluator", "auto"))


def _possible(settings: Mapping[str, Any], who: Judged) -> tuple[str, ...]:
    """The parts asked for, or all that a player allows."""
    needs = {"calibration": who.evaluator, "bellman": who.base_valuer, "plies": who.base_valuer}
    lacking = [part for part, need in needs.items() if need is None]
    if "only" not in settings:
        return tuple(part for part in PARTS if part not in lacking)
    for part in settings["only"]:
        if part in lacking:
            raise ConfigError(f"only: {part} is about values, {who.text} has none")
    return tuple(part for part in PARTS if part in settings["only"])


def _appointed(settings: Mapping[str, Any], rules: Rules, who: Judged) -> Appointed:
    """The judge that the settings name."""
    from nardy_rl.judge import judges

    by = settings["by"]
    if by == "exact":
        with naming("table"):
            return judges.exact_judge(settings["table"], rules)
    how = {name: settings[name] for name in ("keep", "margin", "plies") if name in settings}
    base = _judged("net", settings, rules) if "net" in settings else who
    with naming("by"):
        if by == "gnubg":
            return judges.gnubg_judge(rules, **how)
        if by == "lookahead":
            return judges.lookahead_judge(rules, base, **how)
        how |= {to: settings[name] for name, to in ROLLOUT.items() if name in settings}
        return judges.rollout_judge(rules, base, seed=settings.get("seed", 1), **how)


class _Work:
    """What is to be done; whatever can be refused is made beforehand."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        from nardy_rl.judge import read_sample
        from nardy_rl.judge.judged import without_plies

        self.settings = settings
        what = without_plies(settings["checkpoint"])
        self.rules = rules_for(settings, [("checkpoint", what)])
        self.who = _judged("checkpoint", settings, self.rules)
        self.parts = _possible(settings, self.who)
        self.appointed: Appointed | None = None
        if "losses" in self.parts:
            self.appointed = _appointed(settings, self.rules, self.who)
        self.seed: int = settings.get("seed", 1)
        self.given: Sample | None = None
        positions = settings.get("positions")
        if isinstance(positions, str):
            with naming("positions"):
                self.given = read_sample(positions, self.rules, seed=self.seed)

    def done(self, signals: StopSignals, given: list[str]) -> Judgement:
        """Do it, part by part."""
        from nardy_rl.judge import Judgement

        started = time.perf_counter()
        found: dict[str, Any] = {}
        interrupted: list[str] = []
        for part in self.parts:
            if not signals.wanted():
                found |= getattr(self, f"_{part}")(signals)
            if signals.wanted():
                interrupted.append(part)
        facts = self._facts(given) | {"seconds": round(time.perf_counter() - started, 1)}
        by = f" by {self.appointed.judge.name}" if self.appointed else ""
        title = f"{self.who.player.name} judged{by}: {described(self.rules)}"
        return Judgement(title=title, facts=facts, interrupted=tuple(interrupted), **found)

    def _losses(self, signals: StopSignals) -> dict[str, Any]:
        from nardy_rl.judge import blunders, judge_losses, write_sample

        assert self.appointed is not None
        by = self.settings["by"]
        sample = self.given
        if sample is None:
            count = self.settings.get("positions", POSITIONS[by])
            one_in = self.settings.get("one_in", 1 if by == "exact" else 4)
            sample = self._fresh(count, self.seed, one_in, signals)
        if self.settings.get("save"):
            write_sample(self.settings["save"], sample)
        with _said(len(sample), "decisions judged") as progress:
            losses = judge_losses(
                sample,
                self.who.player,
                self.appointed.judge,
                valuer=self.who.valuer,
                sieve=self.appointed.sieve,
                block=BLOCKS[by],
                progress=progress,
                should_stop=signals.wanted,
            )
        shown = self.settings.get("worst", SHOWN)
        wanted = max(shown, WRITTEN) if self.settings.get("out") else shown
        return {"losses": losses, "blunders": blunders(losses, wanted)}

    def _fresh(self, count: int, seed: int, one_in: int, signals: StopSignals) -> Sample:
        from nardy_rl.judge import self_play_sample

        with _said(count, "decisions of self-play") as progress:
            return self_play_sample(
                self.rules,
                self.who.base,
                count,
                seed=seed,
                stray=self.settings.get("stray", 0.0),
                one_in=one_in,
                progress=progress,
                should_stop=signals.wanted,
            )

    def _calibration(self, signals: StopSignals) -> dict[str, Any]:
        from nardy_rl.judge import calibration

        evaluator = self.who.evaluator
        assert evaluator is not None
        games = self.settings.get("games", 2000)
        with _said(games, "games of self-play") as progress:
            how: dict[str, Any] = {"progress": progress, "should_stop": signals.wanted}
            found = calibration(self.rules, evaluator, games, seed=self.seed + 1, **how)
        return {"reliability": found}

    def _bellman(self, signals: StopSignals) -> dict[str, Any]:
        from nardy_rl.judge import bellman

        valuer = self.who.base_valuer
        assert valuer is not None
        sample = self._fresh(self.settings.get("bellman", 10_000), self.seed + 2, 1, signals)
        with _said(len(sample), "Bellman residuals") as progress:
            found = bellman(
                sample, self.who.base, valuer, progress=progress, should_stop=signals.wanted
            )
        return {"bellman": found}

    def _plies(self, signals: StopSignals) -> dict[str, Any]:
        from nardy_rl.arena import play_match
        from nardy_rl.players import ValuerPlayer

        valuer = self.who.base_valuer
        assert valuer is not None
        games = self.settings.get("match", 400)
        deeper = ValuerPlayer(self.rules, valuer, plies=1)
        how: dict[str, Any] = {"block_pairs": 50, "luck": valuer, "should_stop": signals.wanted}
        players = (deeper, self.who.base)
        with _said(games, "games, 1 ply against 0 plies") as progress:
            result = play_match(
                self.rules, *players, games, seed=self.seed + 3, progress=progress, **how
            )
        return {"plies": result}

    def _facts(self, given: list[str]) -> dict[str, Any]:
        """What it takes to repeat the judgement."""
        from nardy_rl.judge.facts import facts_of

        settings = {k: list(v) if isinstance(v, tuple) else v for k, v in self.settings.items()}
        first = self.seed
        seeds = {
            "losses": first,
            "calibration": first + 1,
            "bellman": first + 2,
            "plies": first + 3,
        }
        file = self.settings.get("positions")
        digest = hashlib.sha256(Path(file).read_bytes()) if isinstance(file, str) else None
        return {
            "command": ["nardy-rl", "judge", *given],
            "settings": settings,
            "seeds": seeds,
            "judge": self.appointed.facts if self.appointed else None,
            "positions_sha256": digest.hexdigest() if digest else None,
            **facts_of(self.rules, self.who),
        }


@contextmanager
def _said(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Progress on stderr."""
    from rich.console import Console

    with progress_of(Console(stderr=True), total, what) as progress:
        yield progress

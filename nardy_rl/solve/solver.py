"""Solving a small game: exact values of all its positions, by the kernels that play it.

Three stages, each over every position that can be:

`sweep`   once, in the order of the pips: each position by its best results. Without hits this is
          exact already; with them it is a good first guess, and its choices are kept.
`check`   every position by its best results, nothing changed: the largest difference to its value
          is the Bellman residual. At or below the tolerance the game is solved, and this is the
          proof. With hits the choices are kept, and how clear they were: a later check leaves out
          a roll whose best result is further ahead than the values can have moved since.
`follow`  sweeps by those choices, which costs no play generation, until they are valued; then
          `check` again. (Modified policy iteration: Puterman and Shin, 1978. As both sides change
          their choices at once it might circle in theory; if a check does not better the last,
          the next follows shorter, down to one sweep, which is value iteration.)

Every number is the same whatever the threads, and wherever the solve was interrupted.
"""

from __future__ import annotations

import dataclasses
import math
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError
from nardy_rl.rules.kernels import MAX_AFTERSTATES, new_rows, new_scratch
from nardy_rl.rules.parallel import get_threads, map_chunks, run_chunks
from nardy_rl.rules.record import RULES_VERSION, Rules, variant, variants
from nardy_rl.solve.index import count_positions, position_index
from nardy_rl.solve.storage import State, Workspace
from nardy_rl.solve.sweep import (
    CLOSED,
    ROLLS,
    follow_range,
    greedy_range,
    largest_rise,
    residual_of,
    settle,
    survey_range,
)
from nardy_rl.solve.table import ExactTable, playing_rules, write_table

MAX_POSITIONS = 32_000_000
"""More are refused: 8 bytes each for its value, 84 for its choices where checkers are hit."""

TOLERANCE = 1e-10
"""Largest Bellman residual of a solved game, in points."""

_BLOCK = 1 << 16  # positions of one piece of a check: about a second
_SETTLED = 1e-3  # a policy is valued when a sweep changes less than this part of the residual


@dataclass(frozen=True)
class Progress:
    """What a solve tells while it runs.

    Attributes:
        stage: see the module.
        round: passes of this stage completed before, over the whole solve.
        done, total: positions of this pass.
        residual: of the last complete check, infinity before it; in `follow`, the last change.
    """

    stage: str
    round: int
    done: int
    total: int
    residual: float


def check_size(rules: Rules) -> None:
    """Raise `ConfigError` for a game too large to be solved, naming those that can be."""
    if rules.ladder:
        raise ConfigError(f"variant={rules.name}: ladder games are not solved")
    if rules.contact == "pin":
        raise ConfigError(f"variant={rules.name}: games with pins are not solved")
    count = count_positions(rules)
    if count > MAX_POSITIONS:
        small = [name for name in variants() if count_positions(variant(name)) <= MAX_POSITIONS]
        size = f"{count:,}" if count < 10**12 else f"{count:.1e}"
        raise ConfigError(
            f"variant={rules.name}: {size} positions are too many to be solved exactly; "
            f"at most {MAX_POSITIONS:,} are possible, which have: {', '.join(small)}"
        )


def solve(
    rules: Rules,
    out: Path,
    *,
    tolerance: float = TOLERANCE,
    progress: Callable[[Progress], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    save_seconds: float = 60.0,
    notes: Mapping[str, Any] | None = None,
) -> ExactTable | None:
    """Solve a game and write its table into the new folder `out`.

    Work that was interrupted goes on from what `out`.work holds. A table of this game that is
    there already and as exact is only loaded.

    Args:
        rules: the variant.
        out: the folder of the table.
        tolerance: largest Bellman residual, in points.
        progress: told now and then.
        should_stop: asked about every second; True saves and returns.
        save_seconds: between two saves.
        notes: what else to write on the table's card.

    Returns:
        The table, or None where it was stopped.

    Raises:
        ConfigError: a game too large, a tolerance out of range, another solve at work, or the
            folder taken by something else.
        CheckpointError: a damaged table or unfinished solve is in the way.
    """
    check_size(rules)
    if not 1e-13 <= tolerance < math.inf:
        raise ConfigError(f"tolerance={tolerance} is not allowed; numbers >= 1e-13")
    if out.exists():
        return _existing(rules, out, tolerance)
    identity = {
        "rules_version": RULES_VERSION,
        "rules": dataclasses.asdict(playing_rules(rules)),
    }
    workspace = Workspace(out, identity)
    with workspace.locked():
        solver = Solver(rules, workspace, progress, should_stop, save_seconds)
        if not solver.run(tolerance):
            return None
        write_table(out, rules, solver.values, {**solver.figures(), **(notes or {})})
        workspace.remove()
    return ExactTable.load(out)


def _existing(rules: Rules, out: Path, tolerance: float) -> ExactTable:
    if not (out / "card.json").is_file():
        raise ConfigError(f"out={out}: exists and is no table; give another folder")
    table = ExactTable.load(out, rules)
    if table.residual > tolerance:
        raise ConfigError(
            f"out={out}: holds a table of this game with residual {table.residual:.1e}, above "
            f"tolerance={tolerance:g}; give another folder, or delete it"
        )
    shutil.rmtree(Workspace(out, {}).folder, ignore_errors=True)
    return table


class _Part(NamedTuple):
    """The positions order[low:high]."""

    low: int
    high: int


class Solver:
    """One solve as it goes; see the module for its stages and `solve` for the arguments."""

    def __init__(
        self,
        rules: Rules,
        workspace: Workspace,
        progress: Callable[[Progress], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
        save_seconds: float = 60.0,
    ) -> None:
        self.rules = rules
        self.index = position_index(rules)
        self.values = np.empty(count_positions(rules), np.float64)
        self.order, self.levels = self._survey()
        self._workspace = workspace
        self._progress = progress
        self._should_stop = should_stop
        self._save_seconds = save_seconds
        self._hits = rules.contact == "hit"
        self._passing = np.zeros(len(self.values), np.uint8)
        self.state = State()
        stored = workspace.load(len(self.values))
        if stored is not None:
            self.state, self.values = stored
        self._choices: NDArray[np.int32] = np.empty((0, ROLLS), np.int32)
        self._gaps: NDArray[np.uint8] = np.empty((0, ROLLS), np.uint8)
        if self._hits:
            rows = len(self.order)
            self._choices, kept = workspace.room("choices.int32", np.int32, rows, ROLLS)
            self._gaps, kept_too = workspace.room("gaps.uint8", np.uint8, rows, ROLLS)
            if not (kept and kept_too) and self.state.stage != "sweep":
                self.state = dataclasses.replace(self.state, stage="check", done=0, residual=0.0)
        # The values of the last complete check; none where it was not in this process.
        self._judged_by: NDArray[np.float64] = np.empty(0)
        self._rise = 0.0
        self._begun = time.monotonic() - self.state.seconds
        self._cpu_begun = time.process_time() - self.state.cpu_seconds
        self._saved = time.monotonic()

    def run(self, tolerance: float) -> bool:
        """Work until the residual is at most `tolerance`; False where it was stopped before."""
        while True:
            stage = self.state.stage
            if stage != "check" and self.state.done == 0 and self.state.last <= tolerance:
                return True
            following: dict[str, Any]
            if stage == "sweep":
                following = {"stage": "follow" if self._hits else "check"}
                finished = self._sweep()
            elif stage == "check":
                finished = self._check()
                following = self._judged() if finished else {}
            else:
                finished, following = self._follow(tolerance), {"stage": "check"}
            if not finished:
                return False
            self.state = dataclasses.replace(self.state, done=0, residual=0.0, **following)
            self._save(changed=stage != "check")

    def figures(self) -> dict[str, Any]:
        """How it went, for the card."""
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "residual": self.state.last,
            "positions": len(self.order),
            "checks": self.state.checks,
            "follow_sweeps": self.state.follows,
            "seconds": round(time.monotonic() - self._begun, 1),
            "cpu_seconds": round(time.process_time() - self._cpu_begun, 1),
            "peak_memory_bytes": peak * (1 if sys.platform == "darwin" else 1024),
            "threads": get_threads(),
        }

    def _survey(self) -> tuple[NDArray[np.int32], list[_Part]]:
        """The positions to be solved in the order of a sweep, and the levels they form.

        A level is all positions of the same pips: none asks for another's value, but for passes.
        """
        marks = np.empty(len(self.values), np.int16)
        run_chunks(survey_range, len(marks), self.rules.kernel, self.index, self.values, marks)
        sides = len(self.index.pips)
        places = np.arange(len(marks), dtype=np.int32)
        # Results without a hit lie in the row of the opponent's rank: those of one row together.
        squares = self.index.layers * sides * sides
        turned = places[:squares].reshape(-1, sides, sides).transpose(0, 2, 1).reshape(-1)
        places = np.concatenate([turned, places[squares:]])
        places = places[marks[places] != CLOSED]
        order = places[np.argsort(marks[places], kind="stable")]
        edges = (np.flatnonzero(np.diff(marks[order])) + 1).tolist()
        return order, [_Part(*pair) for pair in pairwise([0, *edges, len(order)])]

    def _sweep(self) -> bool:
        """The stage `sweep`; False where it was stopped."""
        for number in range(self.state.done, len(self.levels)):
            level = self.levels[number]
            self._settle(level, *self._greedy(level))
            self._tell(level.high)
            if not self._keep(changed=True, done=number + 1):
                return False
        return True

    def _check(self) -> bool:
        """The stage `check`; False where it was stopped."""
        if len(self._judged_by):
            self._rise = float(largest_rise(self._judged_by, self.values))
        for low in range(self.state.done, len(self.order), _BLOCK):
            part = _Part(low, min(low + _BLOCK, len(self.order)))
            sums, passes = self._greedy(part)
            order = self.order[part.low : part.high]
            here = residual_of(self.rules.kernel, self.index, order, sums, passes, self.values)
            if math.isnan(here):
                raise ConfigError(f"variant={self.rules.name}: some positions have no end")
            self._tell(part.high)
            if not self._keep(
                changed=False, done=part.high, residual=max(self.state.residual, here)
            ):
                return False
        if self._hits:
            self._judged_by = self.values.copy()
        return True

    def _judged(self) -> dict[str, Any]:
        """What follows from a complete check."""
        state = self.state
        # Once it is not getting better, follow shorter: one sweep is value iteration.
        worse = state.checks > 0 and state.residual > 0.5 * state.last
        return {
            "stage": "follow" if self._hits else "sweep",
            "checks": state.checks + 1,
            "last": state.residual,
            "patience": max(1, state.patience // 8) if worse else state.patience,
        }

    def _follow(self, tolerance: float) -> bool:
        """The stage `follow`; False where it was stopped."""
        enough = max(0.01 * tolerance, _SETTLED * min(self.state.last, 1.0))
        for number in range(self.state.done, self.state.patience):
            change = 0.0
            for level in self.levels:
                sums = np.empty(level.high - level.low)
                passes = np.empty(len(sums), np.uint8)
                rows = self._choices[level.low : level.high]
                run_chunks(follow_range, len(sums), self.values, rows, sums, passes)
                change = max(change, self._settle(level, sums, passes))
            self._progress(
                Progress("follow", self.state.follows, len(self.order), len(self.order), change)
            )
            follows = self.state.follows + 1
            if change <= enough:
                # Not kept as one sweep among others: who goes on must not follow once more.
                self.state = dataclasses.replace(self.state, follows=follows)
                break
            if not self._keep(changed=True, done=number + 1, follows=follows):
                return False
        return True

    def _greedy(self, part: _Part) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """See `greedy_range`; choices are kept where there can be hits."""
        order = self.order[part.low : part.high]
        choices = self._choices[part.low : part.high]  # no rows where there cannot
        gaps = self._gaps[part.low : part.high]
        before, rise = self._judged_by, self._rise
        sums = np.empty(len(order))
        passes = np.empty(len(order), np.uint8)

        def work(low: int, high: int) -> None:
            greedy_range(
                low,
                high,
                self.rules.kernel,
                self.index,
                new_scratch(),
                new_rows(MAX_AFTERSTATES),
                self.values,
                order,
                before,
                rise,
                choices,
                gaps,
                sums,
                passes,
            )

        map_chunks(work, len(order), min_chunk=512, per_thread=4)
        return sums, passes

    def _settle(self, level: _Part, sums: NDArray[np.float64], passes: NDArray[np.uint8]) -> float:
        order = self.order[level.low : level.high]
        kernel, index, passing = self.rules.kernel, self.index, self._passing
        return float(settle(kernel, index, order, sums, passes, self.values, passing))

    def _tell(self, done: int) -> None:
        state = self.state
        round_ = state.checks if state.stage == "check" else 0
        self._progress(Progress(state.stage, round_, done, len(self.order), state.last))

    def _keep(self, *, changed: bool, **what: Any) -> bool:
        """Bring the state up to date, saving it now and then; False where it is to stop."""
        self.state = dataclasses.replace(self.state, **what)
        stopping = self._should_stop()
        if stopping or time.monotonic() - self._saved >= self._save_seconds:
            self._save(changed)
        return not stopping

    def _save(self, changed: bool) -> None:
        """Save the state; the values too, if they are `changed` since they were saved last."""
        for room in (self._choices, self._gaps):
            if isinstance(room, np.memmap):
                room.flush()
        self.state = dataclasses.replace(
            self.state,
            seconds=time.monotonic() - self._begun,
            cpu_seconds=time.process_time() - self._cpu_begun,
        )
        self._workspace.save(self.state, self.values if changed else None)
        self._saved = time.monotonic()

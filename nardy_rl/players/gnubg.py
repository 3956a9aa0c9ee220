"""GNU Backgammon as a player and as a judge, through the optional package `gnubg-nn`.

The library keeps one global state and one cache, so it answers in processes of its own, one for
each thread that `set_threads` allows (`gnubg_worker`); this process never imports it. Nothing of
it ships: the package is GPL, and is installed by whoever wants it.
"""

from __future__ import annotations

import atexit
import importlib.util
import subprocess
import sys
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from nardy_rl.errors import ConfigError, whole_number
from nardy_rl.inference import Decisions
from nardy_rl.players.gnubg_worker import BEST, BOARD, HEADER, VALUES
from nardy_rl.rules.parallel import get_threads
from nardy_rl.rules.record import Rules
from nardy_rl.rules.scoring import score_after
from nardy_rl.search import best_rows, equities_of

INSTALL = "pip install 'nardy-rl[gnubg]'"
MOST_PLIES = 2
_WORKER = Path(__file__).with_name("gnubg_worker.py")
_NEEDED = {"contact": "hit", "direction": "opposite", "checkers": 15}
_NEEDED_OPTIONS = {"hit_run": "allowed", "koks": "backgammon"}


class GnubgValuer:
    """Cubeless money equities of GNU Backgammon at `plies` plies, as it counts them.

    0 plies are its nets (and bear-off tables) on the results themselves: about 90,000 rows a
    second and core; 1 ply does some 300, 2 plies some 20.

    Args:
        rules: backgammon, or nackgammon: gnubg knows no other way to hit or to score.
        plies: 0 to 2.

    Raises:
        ConfigError: another game or option, a number of plies out of range, or `gnubg-nn` is not
            installed (the message has the install line).
    """

    def __init__(self, rules: Rules, plies: int = 0) -> None:
        _check_rules(rules)
        self.plies = whole_number("plies", plies, 0, MOST_PLIES)
        self.name = f"gnubg {self.plies}-ply"
        self.rules = rules
        self.version = _workers().version()

    def distributions(self, decisions: Decisions) -> NDArray[np.float32]:
        """Share of each outcome (-3, -2, -1, 1, 2, 3) for each result, float32[M, 6]."""
        boards = decisions.legal.after
        shares = np.zeros((len(boards), 6), np.float64)
        over = (boards[:, :, 0] == self.rules.checkers).any(1)
        for row in np.flatnonzero(over):
            score = int(score_after(self.rules.kernel, boards[row], 0))
            shares[row, self.rules.outcomes.index(score)] = 1.0
        # After a play the other side is on roll: his five chances, turned round.
        asked = np.ascontiguousarray(boards[~over][:, :, 1:])
        answers = _workers().ask(VALUES, self.plies, asked.reshape(-1, BOARD), np.float32, 5)
        win, gammon, backgammon, lost_gammon, lost_backgammon = answers.astype(np.float64).T
        shares[~over] = np.stack(
            [
                backgammon,
                gammon - backgammon,
                win - gammon,
                1.0 - win - lost_gammon,
                lost_gammon - lost_backgammon,
                lost_backgammon,
            ],
            axis=1,
        )
        return np.maximum(shares, 0.0).astype(np.float32)

    def equities(self, decisions: Decisions) -> NDArray[np.float32]:
        """See `search.Valuer`."""
        return equities_of(self.rules, decisions, self.distributions(decisions))


class GnubgPlayer:
    """The best cubeless money play of GNU Backgammon at `plies` plies.

    At 0 plies the highest equity of `GnubgValuer`, the first of equals. Deeper, gnubg's own
    choice with its usual move filters: some 40 decisions a second and core at 1 ply, 5 at 2.

    Args, raises: as `GnubgValuer`.
    """

    def __init__(self, rules: Rules, plies: int = 0) -> None:
        self.valuer = GnubgValuer(rules, plies)
        self.rules = rules
        self.plies = self.valuer.plies
        self.name = self.valuer.name

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """See `Player`."""
        offsets = decisions.legal.offsets
        if self.plies == 0:
            return best_rows(self.valuer.equities(decisions), offsets)
        chosen = offsets[:-1].astype(np.int64)
        counts = np.diff(offsets)
        # Nothing is asked where there is no choice; gnubg has no answer to a pass.
        open_ones = np.flatnonzero(counts > 1)
        boards = decisions.points[open_ones][:, ::-1, 1:].reshape(-1, BOARD)
        asked = np.concatenate([boards, rolls[open_ones]], axis=1)
        answers = _workers().ask(BEST, self.plies, asked, np.int8, BOARD)
        for b, answer in zip(open_ones, answers.reshape(-1, 2, BOARD // 2), strict=True):
            rows = decisions.legal.after[offsets[b] : offsets[b + 1], :, 1:]
            found = np.flatnonzero((rows == answer).all((1, 2)))
            if len(found) != 1:
                raise RuntimeError(f"gnubg played {rolls[b]} to a position that is not legal here")
            chosen[b] += found[0]
        return chosen


def _check_rules(rules: Rules) -> None:
    wrong = [name for name, value in _NEEDED.items() if getattr(rules, name) != value]
    if wrong:
        raise ConfigError(f"gnubg does not play {rules.name}; it plays backgammon and nackgammon")
    for name, value in _NEEDED_OPTIONS.items():
        ours = getattr(rules, name)
        if ours != value:
            raise ConfigError(
                f"gnubg does not play {rules.name} with {name}={ours}; it knows {name}={value} only"
            )


class _Workers:
    """The processes in which gnubg answers; started when they are needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []
        self._version = ""
        atexit.register(self.stop)

    def version(self) -> str:
        """Name and version of the library, `gnubg-nn 1.1.0`; starts the first process."""
        with self._lock:
            self._start(1)
            return self._version

    def ask(
        self, what: int, plies: int, rows: NDArray[np.int8], dtype: type[np.generic], width: int
    ) -> NDArray[np.generic]:
        """The answers [N, width] to the rows int8[N, ...] of one request, on all processes."""
        out = np.empty((len(rows), width), dtype)
        count = min(get_threads(), len(rows))
        with self._lock:
            self._start(count)
            try:
                # A process reads its whole request before it answers, so nobody waits in a ring.
                for i, (process, _) in enumerate(self._running[:count]):
                    part = np.ascontiguousarray(rows[i::count])
                    assert process.stdin is not None
                    process.stdin.write(HEADER.pack(what, plies, len(part)) + part.tobytes())
                    process.stdin.flush()
                for i, (process, _) in enumerate(self._running[:count]):
                    _read_answer(process, out[i::count])
            except OSError as error:
                said = self._last_words()
                self.stop()
                raise RuntimeError(f"gnubg stopped while it was asked: {said}") from error
            except BaseException:
                # Interrupted in the middle: what is still to come would answer the next question.
                self.stop()
                raise
        return out

    def stop(self) -> None:
        """End all processes."""
        for process, log in self._running:
            process.kill()
            process.communicate()
            log.close()
        self._running = []

    def _start(self, count: int) -> None:
        if importlib.util.find_spec("gnubg_nn") is None:
            raise ConfigError(f"the player gnubg needs the package gnubg-nn: {INSTALL}")
        while len(self._running) < count:
            log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
            # A session of its own: Ctrl-C is for this process, which finishes what it is at.
            process = subprocess.Popen(
                [sys.executable, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
            self._running.append((process, log))
            assert process.stdout is not None
            self._version = process.stdout.readline().decode().strip()
            if not self._version:
                said = self._last_words()
                self.stop()
                raise ConfigError(f"gnubg-nn does not start ({said}); install it again: {INSTALL}")

    def _last_words(self) -> str:
        """The last line that any process left on stderr, and how it ended."""
        for process, log in self._running:
            try:
                status = process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
            log.seek(0)
            lines = log.read().decode(errors="replace").split("\n")
            said = next((line for line in reversed(lines) if line.strip()), "no message")
            return f"{said}, exit status {status}"
        return "no message"


def _read_answer(process: subprocess.Popen[bytes], out: NDArray[np.generic]) -> None:
    """Fill `out` with what the process answers; BrokenPipeError where it ends too early."""
    assert process.stdout is not None
    answer = np.empty(out.shape, out.dtype)
    if process.stdout.readinto(answer.view(np.uint8).data) != answer.nbytes:  # type: ignore[attr-defined]
        raise BrokenPipeError
    out[:] = answer


@lru_cache(maxsize=1)
def _workers() -> _Workers:
    """The processes that all players and valuers share."""
    return _Workers()

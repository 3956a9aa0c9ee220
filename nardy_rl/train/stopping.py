"""Ctrl-C and SIGTERM as a wish to stop, so that a run can save before it ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """A wish to stop reached a place where work is cut short."""


class StopSignals:
    """While entered, the first Ctrl-C or SIGTERM only sets `received`; the second one interrupts.

    Python runs signal handlers in the main thread alone; in another one, entering does nothing.
    """

    def __init__(self) -> None:
        self.received: str | None = None
        self._raising = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wanted(self) -> bool:
        """Whether the run should stop."""
        return self.received is not None

    def check(self) -> None:
        """Raise `Stopped` if the run should stop."""
        if self.received is not None:
            raise Stopped(self.received)

    @contextlib.contextmanager
    def cutting_short(self) -> Iterator[None]:
        """Let a signal raise `Stopped` wherever the block is: for work that leaves no trace."""
        self._raising = True
        try:
            self.check()
            yield
        finally:
            self._raising = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number).name
        if self._raising:
            raise Stopped(self.received)

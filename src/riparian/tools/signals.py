"""Signal handlers that wait until some work is whole."""

from __future__ import annotations

# `signal` turns every number into an enum, which takes 100 µs for all signals instead of 2.
import _signal  # type: ignore[import-not-found]
import threading
from contextlib import ExitStack
from typing import Any

NUMBERS = [int(number) for number in _signal.valid_signals()]


class HandlersWait:
    """A context in which no signal handler runs. Handlers of signals that arrive run at its end.

    A handler may raise an exception, as that of Ctrl-C does, between any two steps of a program.
    Handlers run in the main thread only, so in other threads there is nothing to do.

    >>> import signal
    >>> before = signal.signal(signal.SIGTERM, lambda *_: print("handled"))
    >>> with HandlersWait():
    ...     signal.raise_signal(signal.SIGTERM)
    ...     print("whole")
    whole
    handled
    >>> _ = signal.signal(signal.SIGTERM, before)
    """

    def __enter__(self) -> None:
        self._leave = ExitStack()  # every part of it is done, even if another one fails
        self._waiting: list[tuple[int, Any]] = []
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            for number in NUMBERS:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self._leave.callback(self._put_back, number, handler)
                    _signal.signal(number, self._wait)
        except BaseException:
            self._leave.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._leave.close()

    def _wait(self, number: int, frame: Any) -> None:
        self._waiting.append((number, frame))

    def _put_back(self, number: int, handler: Any) -> None:
        _signal.signal(number, handler)
        for waiting, frame in self._waiting:
            if waiting == number:
                handler(number, frame)

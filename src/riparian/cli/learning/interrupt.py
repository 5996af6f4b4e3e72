"""Requests to stop: obeyed between two blocks, or at once while the run waits for data."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stop(Exception):
    """A request to stop arrived while the run waited for data."""


class Interrupts:
    """Ctrl-C and SIGTERM, remembered until the loop checks. A second one acts at once."""

    SIGNALS = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.asked = False
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in self.SIGNALS:
            self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True
        self.__exit__()
        if self._waiting:
            raise Stop

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a signal interrupt the wait for data: nothing is half done there."""
        self._waiting = True
        try:
            if self.asked:
                raise Stop
            yield
        finally:
            self._waiting = False

"""The number of rows that are accepted and not yet done, which bounds the memory of a service."""

from __future__ import annotations

import threading

from riparian.serve.refused import Overloaded, Refused


class Backlog:
    def __init__(self, most: int) -> None:
        self.most = most
        self.rows = 0
        self.closed: str | None = None  # why nothing can be accepted any more
        self._lock = threading.Lock()

    def take(self, rows: int) -> None:
        """Accept rows, or refuse all of them. A request always fits if no other one waits."""
        if self.closed is not None:
            raise Refused(503, self.closed)
        with self._lock:
            if self.rows and self.rows + rows > self.most:
                raise Overloaded(
                    f"{self.rows} rows wait to be stored and learned; try again in a second"
                )
            self.rows += rows

    def done(self, rows: int) -> None:
        with self._lock:
            self.rows -= rows

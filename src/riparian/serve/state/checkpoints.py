"""One thread moves the log's pages from its WAL to its database, so that no commit waits for that."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

EVERY = 0.5  # seconds, if something was written
MOST = 16_384  # pages in the WAL; beyond that, the writer waits for once until they are moved
PASSES = 3  # while the writer adds to it, the WAL is never empty: a second pass has less to do


class Checkpoints:
    """Beside the writer, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._written = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def written(self) -> None:
        """The writer has committed something."""
        self._written.set()

    def stop(self) -> None:
        self._stopping.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        db = sqlite3.connect(self.path, isolation_level=None)
        try:
            while not self._stopping.wait(EVERY):
                self._written.wait()
                self._written.clear()
                checkpoint(db)
        finally:
            db.close()


def checkpoint(db: sqlite3.Connection, most: int = MOST) -> None:
    """Move what there is. A full disk is no reason to stop: the WAL has it all."""
    try:
        for _ in range(PASSES):
            _, pages, moved = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if moved == pages:
                return
        if pages > most:
            db.execute("PRAGMA wal_checkpoint(RESTART)")
    except sqlite3.Error:
        return

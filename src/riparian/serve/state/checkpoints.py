"""One thread moves the log's pages from its WAL to its database, so that no commit waits for that."""

from __future__ import annotations

import sqlite3
import threading

from riparian.serve.state.log import Log

EVERY = 0.5  # seconds, if something was written
MOST = 16_384  # pages in the WAL; beyond that, the writer moves them itself once
PASSES = 3  # while the writer adds to the WAL, it is never empty: a second pass has less to do


class Checkpoints:
    """Run checkpoints on a connection of their own, while the writer goes on."""

    def __init__(self, log: Log, most: int = MOST) -> None:
        self.log, self.most = log, most
        self._too_long = False  # the thread cannot keep up
        self._moving = threading.Lock()
        self._written = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def written(self) -> None:
        """Note a commit. Once all pages are moved, the WAL is written from its start again."""
        if self._too_long:
            with self._moving:
                moved(self.log.connection)
                self._too_long = False
        self._written.set()

    def stop(self) -> None:
        self._stopping.set()
        self._written.set()
        self._thread.join()

    def _run(self) -> None:
        db = sqlite3.connect(self.log.path, isolation_level=None)
        try:
            while not self._stopping.wait(EVERY):
                self._written.wait()
                self._written.clear()
                self.move(db)
        finally:
            db.close()

    def move(self, db: sqlite3.Connection) -> None:
        with self._moving:
            for _ in range(PASSES):
                left, pages = moved(db)
                if left == 0:
                    return
            self._too_long = pages > self.most


def moved(db: sqlite3.Connection) -> tuple[int, int]:
    """Move all pages that can be moved. Return how many are left, and how many there were.

    A full disk is no reason to stop: all pages are in the WAL.
    """
    try:
        _, pages, done = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error:
        return 0, 0
    return pages - done, pages

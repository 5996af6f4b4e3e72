"""The log on disk: an SQLite database in WAL mode, written by one thread.

    predictions  each id with what was asked and answered, and its label once that has come
    lessons      what is to be learned, numbered in order; those that a snapshot has are trimmed
    keys         idempotency keys and their answers
    meta         the format, and where the model came from

A commit returns when the disk has it (synchronous=FULL). A torn last record is found by SQLite's
checksums and was never acknowledged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from riparian.serve.items import Forecast, Lesson

FORMAT = "1"

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE predictions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    digest BLOB NOT NULL,  -- of the features, which go when the label has come
    features BLOB,
    forecast BLOB NOT NULL,
    label BLOB
);
CREATE INDEX waiting ON predictions (number) WHERE label IS NULL;
CREATE TABLE lessons (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    digest BLOB NOT NULL,  -- of the request
    answer BLOB NOT NULL
);
"""


class Stored(NamedTuple):
    """A row of `predictions`."""

    time: float
    digest: bytes
    features: bytes | None
    forecast: bytes
    label: bytes | None


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path
        # One thread uses it at a time, not always the one that opened it.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA wal_autocheckpoint = 0")  # see checkpoints.py
        self._db.execute("PRAGMA cache_size = -65536")  # kB
        if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            with self.transaction():
                for statement in SCHEMA.split(";\n"):
                    self._db.execute(statement)
                self.note("format", FORMAT)
        if self.noted("format") != FORMAT:
            raise ValueError(f"the log has format {self.noted('format')!r}, not {FORMAT!r}")

    def close(self) -> None:
        self._db.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """For who keeps the file in order. It is the writer's."""
        return self._db

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing; on disk when it ends."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # -- meta -------------------------------------------------------------------------------------

    def note(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    # -- lessons ----------------------------------------------------------------------------------

    def add_lesson(self, lesson: Lesson) -> int:
        cursor = self._db.execute(
            "INSERT INTO lessons (body) VALUES (?)", (orjson.dumps(values(lesson)),)
        )
        return int(cursor.lastrowid or 0)

    def lessons(self, after: int, most: int) -> list[tuple[int, Lesson]]:
        rows = self._db.execute(
            "SELECT number, body FROM lessons WHERE number > ? ORDER BY number LIMIT ?",
            (after, most),
        ).fetchall()
        return [(number, Lesson(*orjson.loads(body))) for number, body in rows]

    def last_lesson(self) -> int:
        """The number of the last lesson that was ever added."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'lessons'").fetchone()
        return 0 if row is None else int(row[0])

    def trimmed(self) -> int:
        """The number of the last lesson that is no longer here."""
        return int(self.noted("trimmed") or 0)

    def trim(self, up_to: int, most: int) -> bool:
        """Remove at most so many lessons that a snapshot has; false when there is none left."""
        row = self._db.execute(
            "SELECT max(number) FROM (SELECT number FROM lessons WHERE number <= ? "
            "ORDER BY number LIMIT ?)",
            (up_to, most),
        ).fetchone()
        if row[0] is None:
            return False
        self._db.execute("DELETE FROM lessons WHERE number <= ?", (row[0],))
        self.note("trimmed", str(row[0]))
        return True

    # -- predictions ------------------------------------------------------------------------------

    def add_prediction(
        self,
        id: str,
        time: float,
        digest: bytes,
        features: bytes | None,
        forecast: bytes,
        label: bytes | None = None,
    ) -> bool:
        """False if there is such an id already."""
        cursor = self._db.execute(
            "INSERT INTO predictions (id, time, digest, features, forecast, label) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (id, time, digest, features, forecast, label),
        )
        return cursor.rowcount == 1

    def prediction(self, id: str) -> Stored | None:
        row = self._db.execute(
            "SELECT time, digest, features, forecast, label FROM predictions WHERE id = ?", (id,)
        ).fetchone()
        return None if row is None else Stored(*row)

    def set_label(self, id: str, label: bytes) -> None:
        self._db.execute(
            "UPDATE predictions SET label = ?, features = NULL WHERE id = ?", (label, id)
        )

    def remove_prediction(self, id: str) -> None:
        self._db.execute("DELETE FROM predictions WHERE id = ?", (id,))

    def waiting(self) -> int:
        row = self._db.execute("SELECT count(*) FROM predictions WHERE label IS NULL").fetchone()
        return int(row[0])

    def remove_oldest_waiting(self, count: int) -> None:
        self._db.execute(
            "DELETE FROM predictions WHERE number IN "
            "(SELECT number FROM predictions WHERE label IS NULL ORDER BY number LIMIT ?)",
            (count,),
        )

    def remove_older(self, time: float, most: int) -> int:
        """Forget ids and keys from before; returns how many ids still waited."""
        if not self._any_older(time):
            return 0
        old = "(SELECT number FROM {} ORDER BY number LIMIT ?) AND time < ?"
        expired = self._db.execute(
            f"SELECT count(*) FROM predictions WHERE label IS NULL AND number IN "
            f"{old.format('predictions')}",
            (most, time),
        ).fetchone()
        for table in ("predictions", "keys"):
            self._db.execute(
                f"DELETE FROM {table} WHERE number IN {old.format(table)}", (most, time)
            )
        return int(expired[0])

    def _any_older(self, time: float) -> bool:
        """Whether the first of them is: the others came after it."""
        firsts = [
            self._db.execute(f"SELECT time FROM {table} ORDER BY number LIMIT 1").fetchone()
            for table in ("predictions", "keys")
        ]
        return any(first is not None and first[0] < time for first in firsts)

    # -- keys -------------------------------------------------------------------------------------

    def answer_of(self, key: str, since: float) -> tuple[bytes, bytes] | None:
        """The digest of the request that had this key, and its answer."""
        row = self._db.execute(
            "SELECT digest, answer FROM keys WHERE key = ? AND time >= ?", (key, since)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def add_key(self, key: str, time: float, digest: bytes, answer: bytes) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO keys (key, time, digest, answer) VALUES (?, ?, ?, ?)",
            (key, time, digest, answer),
        )


def values(record: Lesson | Forecast) -> list[Any]:
    """Of its fields, in their order; `astuple` would copy what they hold."""
    return [getattr(record, name) for name in NAMES[type(record)]]


NAMES = {kind: [field.name for field in fields(kind)] for kind in (Lesson, Forecast)}


def forecast_bytes(forecast: Forecast) -> bytes:
    return orjson.dumps(values(forecast))


def forecast_from(data: bytes) -> Forecast:
    label, classes, probabilities, points = orjson.loads(data)
    return Forecast(label, tuple(classes), tuple(probabilities), points)


def any_bytes(value: Any) -> bytes:
    """A value of JSON, the same bytes for the same value."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)

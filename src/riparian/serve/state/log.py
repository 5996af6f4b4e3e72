"""The log on disk: an SQLite database in WAL mode, written by one thread.

    predictions  each id with what was asked and answered, and its label once that has come
    lessons      what to learn, numbered in order, each with a checksum of itself and of all
                 before it; those that a snapshot has are trimmed
    keys         idempotency keys and their answers
    meta         the format, and the origin of the model

A commit returns when the disk has it (synchronous=FULL). SQLite's checksums detect a torn last
record, which was never acknowledged. Format 1, of riparian 0.2, had no checksums: its lessons get them
when the log is opened, and are protected from then on.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import orjson

from riparian.serve.items import Forecast, Lesson
from riparian.serve.state.wal import UNKNOWN, lost_commits

FORMAT = "2"
MOST_ROWS = 100  # in a statement: old versions of SQLite have at most 999 places for values

Row = TypeVar("Row")
Waiting = tuple[
    int, int
]  # ids without a label: of clients that may write, of those that may only read

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE predictions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    digest BLOB NOT NULL,  -- of the features, which go when the label has come
    features BLOB,
    forecast BLOB NOT NULL,
    label BLOB,
    reader INTEGER NOT NULL DEFAULT 0  -- whether a client asked that may only read
);
CREATE INDEX waiting_of ON predictions (reader, number) WHERE label IS NULL;
CREATE INDEX predictions_time ON predictions (time);
CREATE TABLE lessons (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL, chain BLOB);
CREATE TABLE keys (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    digest BLOB NOT NULL,  -- of the request
    answer BLOB NOT NULL
);
CREATE INDEX keys_time ON keys (time);
"""


UPGRADE = """
ALTER TABLE lessons ADD COLUMN chain BLOB;
ALTER TABLE predictions ADD COLUMN reader INTEGER NOT NULL DEFAULT 0;
DROP INDEX waiting;
CREATE INDEX waiting_of ON predictions (reader, number) WHERE label IS NULL;
CREATE INDEX predictions_time ON predictions (time);
CREATE INDEX keys_time ON keys (time);
"""


class Damaged(ValueError):
    """The log does not hold what was written to it."""


class Stored(NamedTuple):
    """A row of `predictions`."""

    time: float
    digest: bytes
    features: bytes | None
    forecast: bytes
    label: bytes | None
    reader: int = 0


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path
        lost = lost_commits(path.with_name(path.name + "-wal"))
        if lost > 1:
            which = "all" if lost == UNKNOWN else lost
            raise Damaged(
                f"its WAL is damaged, and {which} transactions behind the damage cannot be read; "
                "restore a backup, or give them up with: "
                f'sqlite3 {path} "PRAGMA wal_checkpoint(TRUNCATE)"'
            )
        # One thread uses it at a time, not always the one that opened it.
        self._db = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=1000
        )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA wal_autocheckpoint = 0")  # see checkpoints.py
        self._db.execute("PRAGMA cache_size = -65536")  # kB
        # What an earlier process left in the WAL is not mixed with what this one writes.
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            with self.transaction():
                self._run(SCHEMA)
                self.note("format", FORMAT)
        if self.noted("format") == "1":
            with self.transaction():
                self._run(UPGRADE)
                self._add_checksums()
                self.note("format", FORMAT)
        if self.noted("format") != FORMAT:
            raise ValueError(f"the log has format {self.noted('format')!r}, not {FORMAT!r}")

    def _run(self, statements: str) -> None:
        for statement in statements.split(";\n"):
            self._db.execute(statement)

    def _add_checksums(self) -> None:
        """Add checksums to the lessons of a log of riparian 0.2, none of which may be missing."""
        place, chain = self.trimmed(), b""
        while rows := self._rows(place, MOST_ROWS):
            for number, body, _ in rows:
                _check_next(number, place)
                place, chain = number, link(chain, number, body)
                self._db.execute("UPDATE lessons SET chain = ? WHERE number = ?", (chain, number))
        self.check_end(place)

    def close(self) -> None:
        self._db.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of the writer, for checkpoints."""
        return self._db

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a transaction: all of it or nothing is on disk when it ends."""
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

    def add_lessons(self, lessons: Sequence[Lesson]) -> list[int]:
        """Add lessons, and return their numbers, which are consecutive."""
        if not lessons:
            return []
        last = self.last_lesson()
        chain = _chain_at(self._db, last, self.trimmed())
        rows: list[tuple[int, bytes, bytes]] = []
        for number, lesson in enumerate(lessons, last + 1):
            body = orjson.dumps(values(lesson))
            chain = link(chain, number, body)
            rows.append((number, body, chain))
        for part in parts(rows):
            self._db.execute(
                f"INSERT INTO lessons (number, body, chain) VALUES {rows_of(3, len(part))}",
                [value for row in part for value in row],
            )
        return [number for number, _, _ in rows]

    def lessons(self, after: int, most: int) -> list[tuple[int, Lesson]]:
        """Return the next lessons. If one is missing or changed, raise `Damaged`."""
        trimmed = self.trimmed()
        place = max(after, trimmed)
        chain = _chain_at(self._db, place, trimmed)
        lessons: list[tuple[int, Lesson]] = []
        for number, body, stored in self._rows(place, most):
            _check_next(number, place)
            place, chain = number, link(chain, number, body)
            if chain != stored:
                raise Damaged(f"lesson {number} is not what was written; restore a backup")
            lessons.append((number, lesson_from(body)))
        return lessons

    def _rows(self, after: int, most: int) -> list[tuple[int, bytes, bytes]]:
        return self._db.execute(  # damage may have changed the type of a body
            "SELECT number, CAST(body AS BLOB), chain FROM lessons WHERE number > ? "
            "ORDER BY number LIMIT ?",
            (after, most),
        ).fetchall()

    def check_end(self, place: int) -> None:
        """Raise `Damaged` if the lessons that were read do not reach the end of the log."""
        if place != self.last_lesson():
            raise Damaged(
                f"the lessons {place + 1} to {self.last_lesson()} are missing; restore a backup"
            )

    def chain_at(self, place: int) -> str:
        """Return the checksum of all lessons up to this one; any thread may call it."""
        with closing(sqlite3.connect(self.path)) as db:
            row = db.execute("SELECT value FROM meta WHERE name = 'trimmed'").fetchone()
            return _chain_at(db, place, 0 if row is None else int(row[0])).hex()

    def last_lesson(self) -> int:
        """Return the number of the last lesson that was ever added."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'lessons'").fetchone()
        return 0 if row is None else int(row[0])

    def trimmed(self) -> int:
        """Return the number of the last lesson that was trimmed."""
        return int(self.noted("trimmed") or 0)

    def trim(self, up_to: int, most: int) -> bool:
        """Remove at most `most` lessons that a snapshot has; return whether there was one."""
        row = self._db.execute(
            "SELECT max(number) FROM (SELECT number FROM lessons WHERE number <= ? "
            "ORDER BY number LIMIT ?)",
            (up_to, most),
        ).fetchone()
        if row[0] is None:
            return False
        self.note("trimmed_chain", _chain_at(self._db, row[0], self.trimmed()).hex())
        self._db.execute("DELETE FROM lessons WHERE number <= ?", (row[0],))
        self.note("trimmed", str(row[0]))
        return True

    # -- predictions ------------------------------------------------------------------------------

    def predictions(self, ids: Iterable[str]) -> dict[str, Stored]:
        """Return the rows of those ids that exist."""
        rows_by_id: dict[str, Stored] = {}
        for part in parts(list(ids)):
            rows = self._db.execute(
                "SELECT id, time, digest, features, forecast, label, reader FROM predictions "
                f"WHERE id IN {rows_of(len(part), 1)}",
                part,
            )
            rows_by_id |= {id: Stored(*row) for id, *row in rows.fetchall()}
        return rows_by_id

    def add_predictions(self, stored: Iterable[tuple[str, Stored]]) -> None:
        """Add predictions, whose ids must be new."""
        for part in parts(list(stored)):
            self._db.execute(
                "INSERT INTO predictions (id, time, digest, features, forecast, label, reader) "
                f"VALUES {rows_of(7, len(part))}",
                [value for id, row in part for value in (id, *row)],
            )

    def set_labels(self, labels: Iterable[tuple[str, bytes]]) -> None:
        """Set labels by id, and drop the features, which the lessons have."""
        for part in parts(list(labels)):
            self._db.execute(
                f"WITH labelled (id, label) AS (VALUES {rows_of(2, len(part))}) "
                "UPDATE predictions SET label = labelled.label, features = NULL "
                "FROM labelled WHERE predictions.id = labelled.id",
                [value for pair in part for value in pair],
            )

    def remove_predictions(self, ids: Sequence[str]) -> None:
        for part in parts(ids):
            self._db.execute(f"DELETE FROM predictions WHERE id IN {rows_of(len(part), 1)}", part)

    def waiting(self) -> Waiting:
        return self._waiting_where("TRUE", ())

    def _waiting_where(self, condition: str, values: tuple[float, ...]) -> Waiting:
        rows = self._db.execute(
            "SELECT reader, count(*) FROM predictions WHERE label IS NULL "
            f"AND {condition} GROUP BY reader",
            values,
        )
        counts = dict(rows.fetchall())
        return counts.get(0, 0), counts.get(1, 0)

    def remove_oldest_waiting(self, reader: int, count: int) -> None:
        self._db.execute(
            "DELETE FROM predictions WHERE number IN (SELECT number FROM predictions "
            "WHERE label IS NULL AND reader = ? ORDER BY number LIMIT ?)",
            (reader, count),
        )

    def remove_older(self, time: float, most: int) -> Waiting:
        """Remove ids and keys from before a time, the oldest first. Return how many ids still waited.

        Their age goes by time, since a clock that was ahead may have given an early number a late time.
        """
        old = "SELECT number FROM {} WHERE time < ? ORDER BY time LIMIT ?"
        expired = self._waiting_where(f"number IN ({old.format('predictions')})", (time, most))
        for table in ("predictions", "keys"):
            self._db.execute(
                f"DELETE FROM {table} WHERE number IN ({old.format(table)})", (time, most)
            )
        return expired

    # -- keys -------------------------------------------------------------------------------------

    def answer_of(self, key: str, since: float) -> tuple[bytes, bytes] | None:
        """Return the digest of the request that had this key, and its answer."""
        row = self._db.execute(
            "SELECT digest, answer FROM keys WHERE key = ? AND time >= ?", (key, since)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def add_key(self, key: str, time: float, digest: bytes, answer: bytes) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO keys (key, time, digest, answer) VALUES (?, ?, ?, ?)",
            (key, time, digest, answer),
        )


def link(chain: bytes, number: int, body: bytes) -> bytes:
    """Return the checksum of a lesson and of all before it."""
    return hashlib.blake2b(chain + number.to_bytes(8, "big") + body, digest_size=16).digest()


def _chain_at(db: sqlite3.Connection, place: int, trimmed: int) -> bytes:
    if place == trimmed:
        row = db.execute("SELECT value FROM meta WHERE name = 'trimmed_chain'").fetchone()
        return b"" if row is None else bytes.fromhex(row[0])
    row = db.execute("SELECT chain FROM lessons WHERE number = ?", (place,)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise Damaged(f"lesson {place} or its checksum is missing; restore a backup")
    return row[0]


def _check_next(number: int, before: int) -> None:
    if number != before + 1:
        raise Damaged(f"the lessons {before + 1} to {number - 1} are missing; restore a backup")


def parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield rows in parts that fit into one statement."""
    for first in range(0, len(rows), MOST_ROWS):
        yield rows[first : first + MOST_ROWS]


def rows_of(width: int, count: int) -> str:
    """Return places for values in a statement.

    >>> rows_of(2, 3)
    '(?,?),(?,?),(?,?)'
    """
    return ",".join([f"({','.join('?' * width)})"] * count)


def values(record: Lesson | Forecast) -> list[Any]:
    """Return the values of the fields, in their order; `astuple` would copy what they hold."""
    return [getattr(record, name) for name in NAMES[type(record)]]


NAMES = {kind: [field.name for field in fields(kind)] for kind in (Lesson, Forecast)}


def lesson_from(body: bytes) -> Lesson:
    lesson = Lesson(*orjson.loads(body))  # a log of 0.2 has no shares
    return replace(lesson, shares=tuple((label, share) for label, share in lesson.shares))


def forecast_bytes(forecast: Forecast) -> bytes:
    return orjson.dumps(values(forecast))


def forecast_from(data: bytes) -> Forecast:
    label, classes, probabilities, points, *later = orjson.loads(data)
    intervals = later[0] if later else ()  # a log of 0.2 has none
    return Forecast(
        label, tuple(classes), tuple(probabilities), points, tuple(map(tuple, intervals))
    )


def any_bytes(value: Any) -> bytes:
    """Return a value as JSON, the same bytes for the same value."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)

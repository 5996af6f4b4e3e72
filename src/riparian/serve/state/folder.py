"""The folder of a service: snapshot + log = model, to the bit, after any crash.

model.riparian   a snapshot, which says how far in the log it is; replaced whole
log.sqlite       all that came after, and the ids that wait
lock             held by the process that serves
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from riparian.serve.options import ServiceOptions
from riparian.serve.state.log import Log
from riparian.serve.state.model import ServedModel
from riparian.serve.state.scores import LogScores
from riparian.tools.files import make_folder, remove_leftovers, write_whole
from riparian.tools.shapes import COUNT, shaped

MODEL, LOG = "model.riparian", "log.sqlite"
REPLAYED = 4096  # lessons that are read at a time
PRIVATE = 0o700  # other users must not read rows, labels or the model


Replayed = Callable[[int, int], None]


class BadState(Exception):
    """The folder cannot be used as it is; the message says why."""


@dataclass
class StateFolder:
    """An open folder, and what was recovered from it."""

    path: Path
    log: Log
    model: ServedModel
    scores: LogScores
    position: int  # of the model in the log
    saved: int  # of the snapshot
    _lock: Lock

    @classmethod
    def open(
        cls,
        path: Path,
        start: Callable[[], ServedModel],
        origin: str,
        options: ServiceOptions,
        replayed: Replayed = lambda done, of: None,
    ) -> StateFolder:
        """Continue with the model of the folder or, if there is none, with the one that `start` returns.

        `origin` says where that one comes from; a folder with another origin is refused. `replayed`
        is called with the number of lessons that were learned again so far, and with their total.
        """
        make_folder(path, PRIVATE)
        lock = Lock(path)
        with contextlib.ExitStack() as undo:
            undo.callback(lock.close)
            make_private(path)
            remove_leftovers(path / MODEL)
            first = None if (path / MODEL).exists() else start()
            with _damage_is_named(path / LOG):
                log = Log(path / LOG)
                undo.callback(log.close)
                if first is None:
                    _check_origin(path, log, origin)
                else:
                    _begin(path, log, first, origin)
                opened = _recovered(path, log, lock, options, replayed)
            undo.pop_all()
            return opened

    def save(self, model: ServedModel, scores: LogScores, position: int) -> None:
        chain = self.log.chain_at(position)
        write_whole(self.path / MODEL, snapshot_bytes(model, scores, position, chain))

    def open_snapshot(self) -> IO[bytes]:
        return open(self.path / MODEL, "rb")

    def close(self) -> None:
        self.log.close()
        self._lock.close()


def snapshot_bytes(model: ServedModel, scores: LogScores, position: int, chain: str) -> bytes:
    """Return the snapshot; `chain` is the log's checksum of the lessons up to the position."""
    return model.to_bytes({"position": position, "chain": chain, "scores": scores.state()})


def origin_of(model: bytes | None) -> str:
    """Return the origin of a folder: the digest of a model file, or "new" without one."""
    return "new" if model is None else hashlib.sha256(model).hexdigest()


# What a lesson that is none can lead to: a forged one, or one in a log of 0.2, which has no checksums.
DAMAGE = (sqlite3.Error, ValueError, TypeError, OverflowError, AttributeError, LookupError)


@contextlib.contextmanager
def _damage_is_named(path: Path) -> Iterator[None]:
    """Turn any error that a damaged log can lead to into one that names it."""
    try:
        yield
    except DAMAGE as error:
        raise BadState(f"{path} cannot be used: {error}") from None


def _check_origin(path: Path, log: Log, origin: str) -> None:
    known = log.noted("origin")
    if origin and known != origin:
        begun = "empty" if known == "new" else "with another model"
        raise BadState(
            f"{path} began {begun}; serve it with --state alone to go on, or use another folder"
        )


def _begin(path: Path, log: Log, model: ServedModel, origin: str) -> None:
    if log.last_lesson():
        raise BadState(f"{path / MODEL} is missing, and the log alone does not make a model")
    with log.transaction():
        log.note("origin", origin)
    scores = model.catalogue.target.log_scores()
    write_whole(path / MODEL, snapshot_bytes(model, scores, 0, ""))
    os.chmod(path / MODEL, 0o600)


def _recovered(
    path: Path, log: Log, lock: Lock, options: ServiceOptions, replayed: Replayed
) -> StateFolder:
    try:
        model, own = ServedModel.from_bytes((path / MODEL).read_bytes(), options.limits)
        shaped("serve", own, {"scores": dict, "position": COUNT})
        scores = model.catalogue.target.log_scores.from_state(own["scores"])
        saved = own["position"]
    except ValueError as error:
        raise BadState(f"{path / MODEL}: {error}") from None
    model.forest.n_jobs = options.threads
    if not log.trimmed() <= saved <= log.last_lesson():
        raise BadState(
            f"{path}: the snapshot is at lesson {saved}, the log has those from "
            f"{log.trimmed() + 1} to {log.last_lesson()}: they do not belong together"
        )
    chain = own.get("chain")  # riparian 0.2 had none
    if chain is not None and chain != log.chain_at(saved):
        raise BadState(
            f"{path}: the snapshot was made from other lessons than the log has, up to lesson {saved}: "
            "they do not belong together"
        )
    position = _replay(log, model, scores, saved, replayed)
    if not options.keep_log:
        _trim(log, saved)
    return StateFolder(path, log, model, scores, position, saved, lock)


def _replay(
    log: Log, model: ServedModel, scores: LogScores, position: int, replayed: Replayed
) -> int:
    saved, last = position, log.last_lesson()
    if saved < last:
        replayed(0, last - saved)
    while lessons := log.lessons(after=position, most=REPLAYED):
        for lesson in model.learn([lesson for _, lesson in lessons]):
            scores.add(lesson)
        position = lessons[-1][0]
        replayed(position - saved, last - saved)
    log.check_end(position)
    return position


def _trim(log: Log, saved: int) -> None:
    """Trim what a crash left in the log. A full disk is no reason not to start."""
    with contextlib.suppress(sqlite3.Error), log.transaction():
        while log.trim(saved, REPLAYED):
            pass


def make_private(folder: Path) -> None:
    """Let only the owner read the folder and its files; riparian 0.2 let all users read them.

    A new snapshot has the permissions of the one before, and SQLite's other files those of the log.
    """
    (folder / LOG).touch()
    for file in folder.iterdir():
        if file.name == MODEL or file.name.startswith(LOG):
            os.chmod(file, 0o600)
    os.chmod(folder, PRIVATE)


# -- one process per folder --------------------------------------------------------------------------


class Locked(Exception):
    """Another process uses the folder."""


class Lock:
    """A lock of a folder, until it is closed or the process ends in any way.

    The folder itself is locked where the system supports that, because a file in it can be removed.
    The file `lock` names the owner, and stops processes of riparian 0.2, which check nothing else.
    """

    def __init__(self, folder: Path) -> None:
        self._file = open(folder / "lock", "a+", encoding="ascii")  # noqa: SIM115, it is the lock
        self._folder: int | None = None
        try:
            if sys.platform != "win32":  # where an open file cannot be removed
                self._folder = os.open(folder, os.O_RDONLY)
                _lock(self._folder)
            _lock(self._file.fileno())
        except OSError:
            self._file.seek(0)
            owner = self._file.read().strip() or "unknown"
            self.close()
            raise Locked(f"{folder} is in use by another process ({owner})") from None
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def close(self) -> None:
        self._file.close()
        if self._folder is not None:
            os.close(self._folder)


def _lock(file: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

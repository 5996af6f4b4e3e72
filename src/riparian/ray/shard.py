"""A shard: the trees i to j of a forest, in a process of Ray.

Ray restarts a shard by running its constructor again, and may report an error for a call that succeeded.
So rows have numbers: a shard skips the rows that it has learned, and ignores a batch after a gap.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from riparian.engine.engine import State
from riparian.engine.native import NativeEngine, blocks
from riparian.ray.folder import Folder, file_name
from riparian.ray.journal import Batch
from riparian.ray.plan import Plan
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import Header
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.state import decode, encode, engine_of

ROWS = "rows"  # in the extra part of a checkpoint


@dataclass(frozen=True)
class Order:
    """What a shard should be."""

    number: int
    trees: range
    header: Header  # of the forest before its first row
    plan: Plan
    restored: bool  # whether it must start from a checkpoint

    @property
    def folder(self) -> Folder | None:
        return self.plan.folder


@dataclass(frozen=True)
class Ack:
    """The progress of a shard."""

    rows: int  # the number of the next row it needs
    points: int  # received
    saved: int  # rows in its last checkpoint
    trouble: str | None = None  # why a checkpoint that was due could not be written


@dataclass(frozen=True)
class Hello:
    """A shard's description of itself."""

    version: str
    node: str
    pid: int
    seen: bool  # whether it sees the checkpoints of the others
    trouble: str | None  # why it cannot write its own


class Shard:
    """The actor. It handles one call after the other, in their order."""

    def __init__(self, expected: str, order: bytes) -> None:
        self._version = version("riparian")
        if self._version != expected:  # the order cannot be read; `hello` reports the version
            return
        self._order: Order = pickle.loads(order)
        self._broken: str | None = None
        self._trouble: str | None = None
        if not self._restore():
            if self._order.restored:
                raise FileNotFoundError(f"no complete checkpoint in {self._order.folder}")
            header = replace(self._order.header, part=self._order.trees)
            self._take(engine_of(header, None), self._order.header, rows=0)

    def _take(self, engine: NativeEngine, header: Header, rows: int) -> None:
        labels = header.labels
        engine.set_classes(np.array(labels.arrived, dtype=np.intp), len(labels.classes))
        self._engine = engine
        self._header = pickle.dumps(replace(header, part=None, extra=None))
        self._tables = pickle.dumps(engine.categories)
        self._rows = self._saved = rows

    def hello(self, probe: str | None = None) -> Hello:
        """Describe the shard: whether it sees the file `probe`, and can write one next to it."""
        import ray

        node = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
        seen, trouble = True, None
        if self._version_is_right() and probe is not None:
            folder = self._order.folder
            assert folder is not None
            try:
                seen = probe in folder.names()
                folder.write(f"{probe}-{self._order.number}", b"")
            except Exception as error:
                trouble = f"{type(error).__name__}: {error}"
        return Hello(self._version, node, os.getpid(), seen, trouble)

    def _version_is_right(self) -> bool:
        return hasattr(self, "_order")

    # -- learning ---------------------------------------------------------------------------------

    def learn(self, batch: Batch) -> Ack:
        """Learn the new rows of a batch. If earlier rows are missing, do nothing."""
        self._check()
        skip = self._engine.points - batch.first_point
        if batch.start > self._rows or skip < 0:
            return self.position()
        if batch.stop > self._rows:
            self._learn(batch, skip)
            self._rows, self._header = batch.stop, batch.header
            self._tables = batch.tables or self._tables
        if (
            self._order.folder is not None
            and self._rows - self._saved >= self._order.plan.options.checkpoint_every
        ):
            return self.checkpoint()
        return self.position()

    def _learn(self, batch: Batch, skip: int) -> None:
        workers = _threads(batch.n_jobs)
        if batch.classes != self._engine.classes:
            rank, n_classes = batch.classes
            self._engine.set_classes(np.array(rank, dtype=np.intp), n_classes)
        points, arrivals = batch.points[skip:], batch.arrivals[skip:]
        weights = None if batch.weights is None else batch.weights[skip:]
        try:
            for some, block in blocks(points):
                weight = None if weights is None else weights[some]
                self._engine.learn(block, arrivals[some], weight, workers)
        except BaseException as error:  # some trees may have learned the batch, and others not
            self._broken = f"{type(error).__name__}: {error}"
            raise

    def position(self) -> Ack:
        trouble, self._trouble = self._trouble, None
        return Ack(self._rows, self._engine.points, self._saved, trouble)

    def _check(self) -> None:
        if self._broken is not None:
            raise RuntimeError(f"this shard failed in the middle of a batch: {self._broken}")

    # -- checkpoints ------------------------------------------------------------------------------

    def adopt(self, header: Header, tables: bytes, state: State, rows: int) -> Ack:
        """Continue with trees that were learned elsewhere."""
        about = replace(header, part=self._order.trees)
        self._take(engine_of(about, state, pickle.loads(tables)), header, rows)
        self._saved = -1  # no checkpoint has these trees yet
        return self.checkpoint()

    def checkpoint(self) -> Ack:
        """Write a checkpoint now, if there is a folder and anything new."""
        folder, order = self._order.folder, self._order
        if folder is None or self._saved == self._rows > 0:
            return self.position()
        self._check()
        mine = file_name(order.number, order.plan.n_shards, self._rows)
        try:
            folder.write(mine, self._snapshot())
            self._saved = self._rows
            folder.remove_older(mine)
        except Exception as error:  # a filesystem may raise anything
            self._trouble = f"{type(error).__name__}: {error}"
        return self.position()

    @gives_memory_back
    def _snapshot(self) -> bytes:
        state = self._engine.save()
        header: Header = pickle.loads(self._header)
        about = replace(
            header, points=state.points, part=self._order.trees, extra={ROWS: self._rows}
        )
        return encode(about, state, pickle.loads(self._tables))

    @gives_memory_back
    def _restore(self) -> bool:
        """Restore the newest complete checkpoint; return whether there was one."""
        folder = self._order.folder
        if folder is None:
            return False
        for name in folder.checkpoints().get(self._order.number, []):
            try:
                header, engine = decode(folder.read(name), None)
            except SnapshotError as error:
                if error.case == "size":
                    raise MemoryError(str(error)) from None
                continue  # its writer was killed: the previous one still exists
            assert header.extra is not None and header.part == self._order.trees
            self._take(engine, header, header.extra[ROWS])
            return True
        return False

    # -- answers ----------------------------------------------------------------------------------

    def about(self) -> tuple[Ack, Plan, bytes, bytes]:
        """Return the progress, the plan, and the pickled header and categories after that row."""
        return self.position(), self._order.plan, self._header, self._tables

    def ask(self, rows: int, what: str, *args: Any) -> tuple[int, Any]:
        """Return the number of learned rows, and the answer if that number is `rows`, else None."""
        self._check()
        if self._rows != rows:
            return self._rows, None
        return rows, getattr(self, f"_answer_{what}")(*args)

    def _answer_sums(self, points: Any, n_jobs: int) -> Any:
        return self._engine.predict_sums(points, _threads(n_jobs))

    def _answer_engine(self, method: str, *args: Any) -> Any:
        return getattr(self._engine, method)(*args)

    def _answer_checkpoint(self) -> Ack:
        return self.checkpoint()

    def _answer_save(self) -> State:
        state = self._engine.save()
        # The kept points are the same in every shard.
        return state if self._order.number == 0 else state._replace(kept=None)


# Shards start sooner without scikit-learn, SciPy and joblib, so imports of these are local.


def _threads(n_jobs: int) -> int:
    if n_jobs > 0:
        return n_jobs
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))

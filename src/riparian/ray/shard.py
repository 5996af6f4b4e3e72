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
from riparian.engine.trees import Arrays
from riparian.ray.folder import Folder, file_name
from riparian.ray.journal import Batch
from riparian.ray.plan import Plan
from riparian.ray.trust import Judged, Log, Mark, truths
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.header import Header
from riparian.snapshot.labels import ClassesState, NumbersState
from riparian.snapshot.memory import gives_memory_back
from riparian.snapshot.size import default_max_bytes
from riparian.snapshot.state import encode, engine_of, read, restored

ROWS = "rows"  # in the extra part of a checkpoint


@dataclass(frozen=True)
class Order:
    """The description of a shard to start."""

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
    saved_points: int  # points in it
    trouble: str | None = None  # why a checkpoint that was due could not be written
    # If trees have heads (R25): what they say of points, perhaps of some that were reported before,
    # and T before the first point that the shard has this of.
    judged: Judged | None = None
    oldest: Mark | None = None


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
            first = Mark.first(header.least_trust)
            self._take(engine_of(header, None), self._order.header, 0, first)

    def _take(self, engine: NativeEngine, header: Header, rows: int, oldest: Mark | None) -> None:
        labels = header.labels
        if isinstance(labels, ClassesState):
            engine.set_classes(np.array(labels.arrived, dtype=np.intp), len(labels.classes))
        self._numbers = isinstance(labels, NumbersState)
        self._scale = labels.scale if isinstance(labels, NumbersState) else 0  # R26
        self._engine = engine
        self._header = pickle.dumps(replace(header, part=None, extra=None))
        self._tables = pickle.dumps(engine.categories)
        self._rows = self._saved = rows
        self._saved_points = engine.points
        self._oldest = oldest if engine.trust() is not None else None
        start = engine.points if oldest is None else oldest.point
        self._log = Log(start, header.trust_width + 1)
        engine.report()

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
        known = self._engine.points
        skip = known - batch.first_point
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
            self._write()
        return self._ack(judged_from=known)

    def _learn(self, batch: Batch, skip: int) -> None:
        workers = _threads(batch.n_jobs)
        if batch.classes != self._engine.classes:
            rank, n_classes = batch.classes
            self._engine.set_classes(np.array(rank, dtype=np.intp), n_classes)
        points, arrivals = batch.points[skip:], batch.arrivals[skip:]
        weights = None if batch.weights is None else batch.weights[skip:]
        self._forget(batch.oldest)
        self._engine.set_judging(batch.judging)
        known = self._engine.points
        try:
            for some, block in blocks(points):
                weight = None if weights is None else weights[some]
                self._engine.learn(block, arrivals[some], weight, workers)
        except BaseException as error:  # some trees may have learned the batch, and others not
            self._broken = f"{type(error).__name__}: {error}"
            raise
        reported, scale = self._engine.take_reported(), self._scale
        if self._numbers:
            columns, self._scale = truths(arrivals, scale)
            reported = None if reported is None else np.hstack([reported, columns])
        if reported is not None:
            self._log.add(Judged(known, reported))

    def _forget(self, oldest: Mark | None) -> None:
        """Forget what no driver can ask for any more (R25)."""
        if oldest is not None and oldest.point > self._log.start:
            self._oldest = oldest
            self._log.forget(oldest.point)

    def position(self) -> Ack:
        return self._ack(judged_from=0)

    def _ack(self, judged_from: int) -> Ack:
        trouble, self._trouble = self._trouble, None
        return Ack(
            self._rows,
            self._engine.points,
            self._saved,
            self._saved_points,
            trouble,
            None if self._oldest is None else self._log.since(judged_from),
            self._oldest,
        )

    def _check(self) -> None:
        if self._broken is not None:
            raise RuntimeError(f"this shard failed in the middle of a batch: {self._broken}")

    # -- checkpoints ------------------------------------------------------------------------------

    def adopt(self, header: Header, tables: bytes, state: State, rows: int) -> Ack:
        """Continue with trees that were learned elsewhere."""
        about = replace(header, part=self._order.trees)
        engine = engine_of(about, state, pickle.loads(tables))
        self._take(engine, header, rows, _mark(state.points, state.kept))
        self._saved = -1  # no checkpoint has these trees yet
        return self.checkpoint()

    def checkpoint(self) -> Ack:
        """Write a checkpoint now, if there is a folder and anything new."""
        self._write()
        return self.position()

    def _write(self) -> None:
        folder, order = self._order.folder, self._order
        if folder is None or self._saved == self._rows > 0:
            return
        self._check()
        mine = file_name(order.number, order.plan.n_shards, self._rows)
        try:
            folder.write(mine, self._snapshot())
            self._saved, self._saved_points = self._rows, self._engine.points
            folder.remove_older(mine)
        except Exception as error:  # a filesystem may raise anything
            self._trouble = f"{type(error).__name__}: {error}"

    @gives_memory_back
    def _snapshot(self) -> bytes:
        state = self._engine.save()
        if self._oldest is not None:
            assert state.kept is not None
            judged = self._log.since(self._oldest.point).sums
            trust = np.array(self._oldest.evidence)
            state = state._replace(kept={**state.kept, "trust": trust, "judged": judged})
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
                contents = read(folder.read(name), default_max_bytes())
                engine = restored(contents)
            except SnapshotError as error:
                if error.case == "size":
                    raise MemoryError(str(error)) from None
                continue  # its writer was killed: the previous one still exists
            header = contents.about
            assert header.extra is not None and header.part == self._order.trees
            width = header.trust_width + 1
            judged = contents.kept.get("judged", np.zeros(0)).astype(np.int64).reshape(-1, width)
            first = header.points - len(judged)
            self._take(engine, header, header.extra[ROWS], _mark(first, contents.kept))
            self._log.add(Judged(first, judged))
            return True
        return False

    # -- answers ----------------------------------------------------------------------------------

    def about(self) -> tuple[Ack, Plan, bytes, bytes]:
        """Return the progress, the plan, and the pickled header and categories after that row."""
        return self.position(), self._order.plan, self._header, self._tables

    def ask(self, rows: int, trust: Mark | None, what: str, *args: Any) -> tuple[int, Any]:
        """Return the number of learned rows, and the answer if that number is `rows`, else None.

        Trees with heads answer with the T of the question (R25), which no shard has.
        """
        self._check()
        if self._rows != rows:
            return self._rows, None
        if trust is not None:
            self._engine.set_evidence(trust.evidence)
        return rows, getattr(self, f"_answer_{what}")(*args)

    def _answer_sums(self, points: Any, n_jobs: int) -> Any:
        """Return sums and voters (R11), and of numbers the scale (R26) and the correction (R29)."""
        sums, voters = self._engine.predict_sums(points, _threads(n_jobs))
        return sums, voters, self._scale, self._engine.correction()

    def _answer_saved_errors(self) -> Any:
        """Return what each tree of numbers has saved by its splits in each column (R26)."""
        return [self._engine.tree(i).saved_error for i in range(len(self._order.trees))]

    def _answer_engine(self, method: str, *args: Any) -> Any:
        return getattr(self._engine, method)(*args)

    def _answer_checkpoint(self) -> Ack:
        return self.checkpoint()

    def _answer_save(self) -> State:
        state = self._engine.save()
        # The kept points are the same in every shard.
        return state if self._order.number == 0 else state._replace(kept=None)


def _mark(point: int, kept: Arrays | None) -> Mark | None:
    """Return T before this point, if the trees have heads."""
    if kept is None or "trust" not in kept:
        return None
    return Mark(point, tuple(kept["trust"].tolist()))


# Shards start sooner without scikit-learn, SciPy and joblib, so imports of these are local.


def _threads(n_jobs: int) -> int:
    if n_jobs > 0:
        return n_jobs
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))

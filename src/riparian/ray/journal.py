"""Batches for shards, and the journal of those that may have to be sent again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from riparian.model.weights import Weights
from riparian.ray.trust import Mark


@dataclass(frozen=True)
class Batch:
    """Validated rows of the stream, as every shard receives them.

    A row of weight 0 is no point (R13), so rows and points are numbered separately.
    """

    start: int  # the number of its first row
    stop: int  # the number of the first row after it
    first_point: int  # the number of its first point, t in R13
    points: Any  # rows of float32, dense or sparse
    arrivals: NDArray[Any]  # the labels, numbered in order of arrival; numbers less the first one
    weights: Weights | None
    classes: tuple[list[int], int]  # what the core is told of them
    header: bytes  # of a snapshot after these rows, pickled
    tables: bytes | None  # of categories (R22) after these rows; None: as after the rows before
    n_jobs: int
    judging: bool = True  # whether the points judge the heads of the trees (R25)
    oldest: Mark | None = None  # T at the oldest checkpoint of any shard, if trees have heads


@dataclass(frozen=True)
class Entry:
    """A batch in the object store."""

    start: int
    stop: int
    batch: Any  # Ray's reference to it


@dataclass
class Journal:
    """The batches that a shard may need again, in their order.

    >>> journal = Journal(stop=100)
    >>> for start in (100, 150, 200):
    ...     journal.add(Entry(start, start + 50, None))
    >>> journal.forget(before=199)
    >>> journal.start, journal.stop, [entry.start for entry in journal.since(200)]
    (150, 250, [200])
    """

    stop: int = 0  # the number of the next row of the stream
    entries: deque[Entry] = field(default_factory=deque)

    @property
    def start(self) -> int:
        """Return the number of the first row in the journal, or of the next one if it is empty."""
        return self.entries[0].start if self.entries else self.stop

    def add(self, entry: Entry) -> None:
        assert entry.start == self.stop
        self.entries.append(entry)
        self.stop = entry.stop

    def since(self, row: int) -> Iterator[Entry]:
        """Yield the batches with rows from `row` on."""
        return (entry for entry in self.entries if entry.stop > row)

    def forget(self, before: int) -> None:
        """Drop the rows before this one, which all shards have saved."""
        while self.entries and self.entries[0].stop <= before:
            self.entries.popleft()

"""Several files, one after the other, as one stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import chain

from riparian.sources.formats import STDIN, Reading
from riparian.sources.opening import expanded, open_source
from riparian.sources.source import Batch, Kind, Source

Choice = Callable[[Source], Mapping[str, Kind]]  # the columns wanted of a source, if it has them


class Stream:
    """The rows of all files. The first file is open from the start: it says what there is."""

    def __init__(self, paths: Sequence[str], reading: Reading) -> None:
        self.paths = expanded(paths)
        self.reading = reading
        self.first = open_source(self.paths[0], reading)
        self._opened: Source | None = self.first  # and not read yet
        self._current: Source | None = None
        self._done = 0  # bytes of the files that have been read
        self.row = 0  # rows that have been read, those that were skipped included
        self.sizes = [_size(path) for path in self.paths]
        self._choose: Choice | None = None  # what is wanted of the next file
        self._begun: Iterator[tuple[int, Batch]] | None = None  # the rest, after a peek

    @property
    def again(self) -> bool:
        """Whether it can be read more than once."""
        return STDIN not in self.paths

    @property
    def fraction(self) -> float | None:
        """How much has been read; None where that cannot be told."""
        total = sum(size or 0 for size in self.sizes)
        current = self._current  # another thread reads, and may be done with it any moment
        within = 0.0 if current is None else current.fraction
        if None in self.sizes or within is None or not total:
            return None
        size = 0 if current is None else _size(current.file) or 0
        return min(1.0, (self._done + within * size) / total)

    def check(self, choose: Choice) -> None:
        """Whether all files have the wanted columns: an error now is better than one after hours."""
        for path, size in zip(self.paths[1:], self.sizes[1:], strict=True):
            if size is not None:  # a pipe with a name can be opened only once
                source = open_source(path, self.reading)
                try:
                    choose(source)
                finally:
                    source.close()

    def peek(self, choose: Choice, rows: int) -> list[Batch]:
        """The first rows, `rows` in all. `batches` gives them again, the first time."""
        self._choose = choose
        ahead = self._all()
        held: list[tuple[int, Batch]] = []
        for first, batch in ahead:
            held.append((first, batch))
            if first + len(batch) >= rows:
                break
        self._begun = chain(held, ahead)
        return [batch[: max(0, rows - first)] for first, batch in held]

    def batches(
        self, choose: Choice, skip: int = 0, limit: int | None = None
    ) -> Generator[Batch, None, None]:
        """The rows from number `skip` on, `limit` in all, those that are skipped included."""
        self._choose = choose
        begun, self._begun = self._begun, None
        for first, batch in begun if begun is not None else self._all(skip):
            stop = len(batch) if limit is None else max(0, limit - first)
            wanted = batch[max(0, skip - first) : stop]
            self.row = first + len(batch)
            if len(wanted):
                yield wanted
            if limit is not None and self.row >= limit:
                return

    def _all(self, skip: int = 0) -> Iterator[tuple[int, Batch]]:
        """Each batch after the number of its first row; some of the first `skip` may be left out."""
        assert self._choose is not None
        before = self._done = 0  # rows, bytes
        for path, size in zip(self.paths, self.sizes, strict=True):
            source = self._open(path)
            try:
                wanted, row = self._choose(source), 0
                if source.rows is not None and before + source.rows <= skip:
                    before += source.rows
                    continue
                for batch in source.batches(wanted, max(0, skip - before)):
                    row = batch.first + len(batch)
                    yield before + batch.first, batch
                before += row
            finally:
                self._close(source)
                self._done += size or 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the file that is open."""
        for source in (self._opened, self._current):
            if source is not None:
                source.close()
        self._opened = self._current = None

    def _open(self, path: str) -> Source:
        source, self._opened = self._opened, None
        self._current = source or open_source(path, self.reading)
        return self._current

    def _close(self, source: Source) -> None:
        source.close()
        self._current = None


def _size(path: str) -> int | None:
    return None if path == STDIN or not os.path.isfile(path) else os.path.getsize(path)

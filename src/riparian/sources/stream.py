"""Several files, one after the other, as one stream."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from riparian.sources.formats import STDIN, Reading
from riparian.sources.opening import expanded, open_source
from riparian.sources.source import Batch, Kind, Place, Source

Position = list[Any]  # number of the file, rows before it, and a place in it: for JSON
Read = tuple[
    int, Batch, Position
]  # rows, after the number of the first, and where they are read again

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
        self._begun: Iterator[Read] | None = None  # the rest, after a peek
        self._positions: deque[tuple[int, Position]] = deque()  # of what was read, after their rows

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
        held: list[Read] = []
        for read in ahead:
            held.append(read)
            if read[0] + len(read[1]) >= rows:
                break
        self._begun = chain(held, ahead)
        return [batch[: max(0, rows - first)] for first, batch, _ in held]

    def batches(
        self,
        choose: Choice,
        skip: int = 0,
        limit: int | None = None,
        position: Position | None = None,
    ) -> Generator[Batch, None, None]:
        """The rows from number `skip` on, `limit` in all, those that are skipped included.

        `position` is what `position(skip)` returned when they were read before: then the files are read
        from there.
        """
        self._choose = choose
        self._positions.clear()
        begun, self._begun = self._begun, None
        for first, batch, place in begun if begun is not None else self._all(skip, position):
            self._positions.append((place[1] + place[2], place))
            stop = len(batch) if limit is None else max(0, limit - first)
            wanted = batch[max(0, skip - first) : stop]
            self.row = first + len(batch)
            if len(wanted):
                yield wanted
            if limit is not None and self.row >= limit:
                return

    def position(self, row: int) -> Position | None:
        """Where to read a row again, which comes after those of earlier calls; None: from the start."""
        positions = self._positions  # another thread may append
        while len(positions) > 1 and positions[1][0] <= row:
            positions.popleft()
        return positions[0][1] if positions and positions[0][0] <= row else None

    def _all(self, skip: int = 0, position: Position | None = None) -> Iterator[Read]:
        """The rows from a position on, or without one from a place at or before row `skip`."""
        assert self._choose is not None
        begin, before, *place = position or (0, 0)
        self._done = sum(size or 0 for size in self.sizes[:begin])
        if begin > 0 and self._opened is not None:
            self._opened.close()
            self._opened = None
        for number, path in enumerate(self.paths[begin:], start=begin):
            source = self._open(path)
            try:
                wanted = self._choose(source)
                start = Place(*place) if place else source.place_of(max(0, skip - before))
                row, place = start.row, []
                for batch in source.batches(wanted, start):
                    row = batch.first + len(batch)
                    again = [number, before, batch.place.row, batch.place.at]
                    yield before + batch.first, batch, again
                before += row
            finally:
                self._close(source)
                self._done += self.sizes[number] or 0

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

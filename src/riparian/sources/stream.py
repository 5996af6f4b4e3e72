"""Read several files, one after the other, as one stream."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from riparian.sources.formats import STDIN, Reading
from riparian.sources.opening import expanded, open_source
from riparian.sources.source import Batch, Kind, Place, Source

Position = list[Any]  # number of the file, rows before it, and a place in it: a JSON value
Read = tuple[
    int, Batch, Position
]  # the number of the first row, the rows, and where to read them again

Choice = Callable[[Source], Mapping[str, Kind]]  # the wanted columns of a source, or an error


class Stream:
    """The rows of all files. The first file is open from the start, because it has the columns."""

    def __init__(self, paths: Sequence[str], reading: Reading) -> None:
        self.paths = expanded(paths)
        self.reading = reading
        self.first = open_source(self.paths[0], reading)
        self._opened: Source | None = self.first  # open, and not read yet
        self._current: Source | None = None
        self._done = 0  # bytes of the files that have been read
        self.row = 0  # rows that have been read or skipped
        self.sizes = [_size(path) for path in self.paths]
        self._choose: Choice | None = None  # the wanted columns of the next file
        self._begun: Iterator[Read] | None = None  # the rest, after a peek
        self._positions: deque[tuple[int, Position]] = deque()  # after row numbers

    @property
    def again(self) -> bool:
        """Return whether the stream can be read more than once."""
        return STDIN not in self.paths

    @property
    def fraction(self) -> float | None:
        """Return how much has been read, or None if that is unknown."""
        total = sum(size or 0 for size in self.sizes)
        current = self._current  # another thread reads, and may close it at any moment
        within = 0.0 if current is None else current.fraction
        if None in self.sizes or within is None or not total:
            return None
        size = 0 if current is None else _size(current.file) or 0
        return min(1.0, (self._done + within * size) / total)

    def check(self, choose: Choice) -> None:
        """Raise an error now if a file lacks a wanted column, and not after hours of learning."""
        for path, size in zip(self.paths[1:], self.sizes[1:], strict=True):
            if size is not None:  # a named pipe can be opened only once
                source = open_source(path, self.reading)
                try:
                    choose(source)
                finally:
                    source.close()

    def peek(self, choose: Choice, rows: int) -> list[Batch]:
        """Return the first `rows` rows. The first call of `batches` yields them again."""
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
        """Yield the rows from number `skip` on, up to number `limit`.

        `position` is what `position(skip)` returned in an earlier run: reading then starts there.
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
        """Return where to read a row again, or None for the start. Calls must ask in order of rows."""
        positions = self._positions  # another thread may append
        while len(positions) > 1 and positions[1][0] <= row:
            positions.popleft()
        return positions[0][1] if positions and positions[0][0] <= row else None

    def _all(self, skip: int = 0, position: Position | None = None) -> Iterator[Read]:
        """Yield rows from a position on or, without one, from a place at or before row `skip`."""
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
        """Close the open file."""
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

"""Read several files, one after the other, as one stream."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any

from riparian.sources.errors import BadData, BadUsage
from riparian.sources.formats import STDIN, Reading
from riparian.sources.opening import expanded, open_source
from riparian.sources.source import Batch, Kind, Place, Source
from riparian.tools.shapes import Either, shaped

# The number of a file, and a place in it, with the rows of the stream before the place; less its row.
Position = list[Any]  # a JSON value
Read = tuple[int, int, Batch]  # the number of the file, the rows before it, and some of its rows
Sieve = Callable[[Batch], Mapping[int, BadData]]  # rows that cannot be used, by number in the batch

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
        self.number = 0  # of the file of the last batch
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
            if sum(len(batch) for *_, batch in held) >= rows:
                break
        self._begun = chain(held, ahead)
        starts = accumulate((len(batch) for *_, batch in held), initial=0)
        return [batch[: max(0, rows - n)] for n, (*_, batch) in zip(starts, held, strict=False)]

    def batches(
        self,
        choose: Choice,
        skip: int = 0,
        limit: int | None = None,
        position: Position | None = None,
        sieve: Sieve | None = None,
    ) -> Generator[Batch, None, None]:
        """Yield the rows from number `skip` on, up to number `limit`.

        `position` is what `position(skip)` returned in an earlier run: reading then starts there.
        `sieve` finds rows to leave out, besides those that cannot be read; rows left out have no number
        in the stream, but a `Batch` knows the numbers of its rows in the file, and what was left out.
        """
        self._choose = choose
        self._positions.clear()
        begun, self._begun = self._begun, None
        row, file = 0, -1
        again: Position = []
        for number, before, batch in begun if begun is not None else self._all(skip, position):
            at = batch.place
            if file == -1 or (number != file and not self.reading.skip):
                row = before + batch.first  # where rows are left out, they can only be counted
            if number != file or ([at.row, at.at] != again[2:] and batch.first == at.row):
                again = [number, row - at.row, at.row, at.at]
            file = self.number = number
            self._positions.append((again[1] + again[2], again))
            kept = batch if sieve is None else batch.without(sieve(batch))
            stop = len(kept) if limit is None else max(0, limit - row)
            wanted = kept[max(0, skip - row) : stop]
            if stop < len(kept) and kept.faults:
                last = kept.number(stop - 1) + 1
                wanted = replace(wanted, faults=[f for f in kept.faults if (f.row or 0) <= last])
            row += len(kept)
            self.row = row
            if len(wanted) or wanted.faults:
                yield wanted
            if limit is not None and self.row >= limit:
                return

    def position(self, row: int) -> Position | None:
        """Return where to read a row again, or None for the start. Calls must come in order of rows."""
        positions = self._positions  # another thread may append
        while len(positions) > 1 and positions[1][0] <= row:
            positions.popleft()
        return positions[0][1] if positions and positions[0][0] <= row else None

    def _all(self, skip: int = 0, position: Position | None = None) -> Iterator[Read]:
        """Yield rows from a position on or, without one, from a place at or before row `skip`."""
        assert self._choose is not None
        begin, before, *place = position or (0, 0)
        if begin >= len(self.paths):
            raise BadUsage(f"--resume: the checkpoint is in file {begin + 1} of {len(self.paths)}")
        self._done = sum(size or 0 for size in self.sizes[:begin])
        if begin > 0 and self._opened is not None:
            self._opened.close()
            self._opened = None
        for number, path in enumerate(self.paths[begin:], start=begin):
            source = self._open(path)
            try:
                wanted = self._choose(source)
                # Where rows are left out, a row can only be counted to.
                start = Place() if self.reading.skip else source.place_of(max(0, skip - before))
                if place:
                    self._check_place(source, place[1])
                    start = Place(*place)
                row, place = start.row, []
                for batch in source.batches(wanted, start):
                    row = batch.first + len(batch)
                    yield number, before, batch
                before += row
            finally:
                self._close(source)
                self._done += self.sizes[number] or 0

    @staticmethod
    def _check_place(source: Source, at: Any) -> None:
        try:
            shaped("place", at, Either(None, source.place))
        except ValueError as error:
            raise BadData(
                f"the checkpoint is not of this file: {error}", file=source.file
            ) from None

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

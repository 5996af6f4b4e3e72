"""Arrow IPC: a file, whose batches can be read in any order, or a stream, perhaps from a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from riparian.sources.errors import BadData, BadUsage
from riparian.sources.formats import STDIN
from riparian.sources.raw import Raw
from riparian.sources.source import BROKEN, MOST_ROWS, Batch, Kind, Place, Source

FILE_MAGIC = b"ARROW1"


class ArrowSource(Source):
    def __init__(self, raw: Raw) -> None:
        self.file = raw.name
        self.raw = raw
        self.reader: Any
        self._done = 0
        try:
            if raw.packed.peek(len(FILE_MAGIC)) == FILE_MAGIC:
                self.reader = self._file(raw.packed.path)
            else:
                self.reader = pyarrow.ipc.open_stream(pa.PythonFile(_Whole(raw), mode="r"))
            self.fields = {field.name: field.type for field in self.reader.schema}
        except BROKEN as error:
            raise BadData(f"not an Arrow file: {error}", file=self.file) from None

    def _file(self, path: str) -> Any:
        if path == STDIN:
            raise BadUsage(
                "an Arrow file cannot be read from a pipe; write an Arrow stream instead"
            )
        self.raw.close()
        return pyarrow.ipc.open_file(pa.memory_map(path))

    @property
    def fraction(self) -> float | None:
        if isinstance(self.reader, pyarrow.ipc.RecordBatchFileReader):
            return self._done / max(1, int(self.reader.num_record_batches))
        return self.raw.fraction

    def close(self) -> None:
        self.raw.close()

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        first = start.row
        for i, batch in self._batches(start.at or 0):
            place = Place(first, i)
            for before in range(0, batch.num_rows, MOST_ROWS):
                piece = self.converted(batch.slice(before, MOST_ROWS), kinds)
                yield Batch(self.file, first + before, piece, place)
            first += batch.num_rows

    def _batches(self, start: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the batches of the file from number `start` on, each after its number.

        They are validated: pyarrow would follow offsets that lead anywhere.
        """
        try:
            if isinstance(self.reader, pyarrow.ipc.RecordBatchFileReader):
                for i in range(start, self.reader.num_record_batches):
                    self._done = i + 1
                    batch = self.reader.get_batch(i)
                    batch.validate(full=True)
                    yield i, batch
            else:  # a stream must be read from its start
                for i, batch in islice(enumerate(self.reader), start, None):
                    batch.validate(full=True)
                    yield i, batch
        except BROKEN as error:
            raise BadData(f"cannot read the rest of the file: {error}", file=self.file) from None


class _Whole:
    """A file whose reads are never short: pyarrow takes a short read for the end of the file."""

    closed = False

    def __init__(self, raw: Raw) -> None:
        self.raw = raw

    def read(self, n: int) -> bytes:
        return self.raw.read_all(n)

    def close(self) -> None:
        self.closed = True
        self.raw.close()

"""Parquet: the file declares its types, and whole row groups can be skipped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from typing import Any

import pyarrow.parquet

from riparian.sources.errors import BadData, BadUsage
from riparian.sources.formats import STDIN
from riparian.sources.raw import Counted
from riparian.sources.source import BROKEN, MOST_ROWS, Batch, Kind, Place, Source

# Per column. Without a buffer, pyarrow reads a column's whole part of a row group in advance.
BUFFERED = {"buffer_size": 2**18, "pre_buffer": False}


class ParquetSource(Source):
    def __init__(self, path: str) -> None:
        if path == STDIN:
            raise BadUsage("Parquet cannot be read from a pipe; save it to a file first")
        self.file = path
        Counted(path).close()  # fail early if unreadable: that is not bad data
        try:
            self.parquet: Any = pyarrow.parquet.ParquetFile(path, **BUFFERED)
            self.fields = {field.name: field.type for field in self.parquet.schema_arrow}
            self.rows = self.parquet.metadata.num_rows
            metadata = self.parquet.metadata
            groups = range(metadata.num_row_groups)
            # Of the groups.
            self._ends = [*accumulate(metadata.row_group(i).num_rows for i in groups)]
        except BROKEN as error:
            raise BadData(f"not a Parquet file: {error}", file=path) from None
        self._read = 0

    @property
    def fraction(self) -> float | None:
        return self._read / self.rows if self.rows else 1.0

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        first = start.row
        groups = range(start.at or 0, self.parquet.metadata.num_row_groups)
        # Group by group, so that each group begins with a batch: reading can start there again.
        rows = chain.from_iterable(
            self.parquet.iter_batches(
                MOST_ROWS, row_groups=[group], columns=list(kinds), use_threads=False
            )
            for group in groups
        )
        try:
            for batch in rows:
                batch.validate(full=True)  # texts may be no UTF-8
                self._read = first + batch.num_rows
                yield Batch(self.file, first, self.converted(batch, kinds), self.place_of(first))
                first += batch.num_rows
        except BROKEN as error:
            raise BadData(
                f"cannot read the rest of the file: {error}", file=self.file, row=first + 1
            ) from None

    def close(self) -> None:
        self.parquet.close()

    def place_of(self, row: int) -> Place:
        """Return the row group that contains the row."""
        group = bisect_right(self._ends, row)
        return Place(self._ends[group - 1] if group else 0, group)

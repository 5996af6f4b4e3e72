"""LIBSVM (also SVMlight): `label index:value ...`, one row per line; zeros are omitted."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riparian.sources.errors import BadData, shown
from riparian.sources.raw import Block, Raw, nothing_but_lines
from riparian.sources.source import Batch, Kind, Place, TextSource

LABEL, INDEX, VALUE = "label", "index", "value"

FIELDS = {
    LABEL: pa.int64(),
    INDEX: pa.list_(pa.int32()),
    VALUE: pa.list_(pa.float64()),
}


class LibsvmSource(TextSource):
    """Rows from LIBSVM: the label, a list of indices as written, and a list of their values."""

    def __init__(self, raw: Raw) -> None:
        super().__init__(raw)
        self.fields = FIELDS
        self.blocks = nothing_but_lines(raw)

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        first = start.row
        for block in self._blocks_from(start):
            X, y = self._read(block, first)
            if len(y):
                yield Batch(self.file, first, _as_batch(X, y), self._place(block, first))
                first += len(y)

    def last_index(self) -> int:
        """Return the largest index, or -1 if there is none. This reads the file."""
        return max((X.shape[1] - 1 for X, _ in (self._read(b, 0) for b in self.blocks)), default=-1)

    def _read(self, block: Block, first: int) -> tuple[Any, NDArray[np.int64]]:
        try:
            X, y = _parse(block.data)
        except ValueError as error:
            self._find(block, first)
            raise BadData(str(error), file=self.file, row=first + 1) from None
        if (y != np.floor(y)).any():
            self._find(block, first)
        return X, y.astype(np.int64)

    def _find(self, block: Block, first: int) -> None:
        """Raise an error about the first line that cannot be read by itself."""
        row = first
        for number, line in block.lines():
            try:
                y = _parse(line)[1]
                row += len(y)
                fault = f"the label must be a whole number, got {y[0]}" if y % 1 else None
            except ValueError as error:
                row += 1
                fault = (
                    f"expected label index:value ..., got {shown(line.decode('latin-1'))} ({error})"
                )
            if fault is not None:
                raise BadData(fault, file=self.file, row=row, line=number)


def _parse(data: bytes) -> tuple[Any, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file  # not needed by any other format

    X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
    return X, y


def _as_batch(X: Any, y: NDArray[np.int64]) -> pa.RecordBatch:
    offsets = pa.array(X.indptr.astype(np.int32))
    columns = [
        pa.array(y),
        pa.ListArray.from_arrays(offsets, pa.array(X.indices.astype(np.int32))),
        pa.ListArray.from_arrays(offsets, pa.array(X.data)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(FIELDS))

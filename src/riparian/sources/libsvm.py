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
from riparian.sources.source import Batch, Checked, Kind, Place, Sifted, TextSource

LABEL, INDEX, VALUE = "label", "index", "value"

LARGEST_INDEX = 2**25  # a row is dense while it is learned, so a few bytes could claim gigabytes

FIELDS = {
    LABEL: pa.int64(),
    INDEX: pa.list_(pa.int32()),
    VALUE: pa.list_(pa.float64()),
}


class LibsvmSource(TextSource):
    """Rows from LIBSVM: the label, a list of indices as written, and a list of their values."""

    def __init__(self, raw: Raw, *, skip: bool = False) -> None:
        super().__init__(raw, skip=skip)
        self.fields = FIELDS
        self.blocks = nothing_but_lines(raw)

    def batches(self, kinds: Mapping[str, Kind], start: Place) -> Iterator[Batch]:
        first = start.row
        for block in self._blocks_from(start):
            X, y, rows = self._read(block, first)
            place = self._place(block, first)
            if rows is not None:
                table = _as_batch(X, y)
                yield Batch(self.file, first, table, place, (), rows.numbers, rows.faults)
                first += len(rows.faults)
            elif len(y):
                yield Batch(self.file, first, _as_batch(X, y), place)
            first += len(y)

    def last_index(self) -> int:
        """Return the largest index, or -1 if there is none. This reads the file."""
        return max(
            (X.shape[1] - 1 for X, *_ in (self._read(b, 0) for b in self.blocks)), default=-1
        )

    def _read(self, block: Block, first: int) -> tuple[Any, NDArray[np.int64], Sifted | None]:
        try:
            X, y = _parse(block.data)
            if (y != np.floor(y)).any():
                raise ValueError("the labels must be whole numbers")
        except (ValueError, OverflowError) as error:
            rows = self._sifted(self._checked(block, first), first)
            if not rows.faults:
                raise BadData(str(error), file=self.file, row=first + 1) from None
            X, y = _parse(rows.data)
            return X, y.astype(np.int64), rows
        return X, y.astype(np.int64), None

    def _checked(self, block: Block, first: int) -> Iterator[Checked]:
        """Read a block line by line, and yield each row with its fault."""
        row = first
        for number, line in block.lines():
            try:
                y = _parse(line)[1]
                if len(y) == 0:  # a comment
                    continue
                row += 1
                fault = f"the label must be a whole number, got {y[0]}" if y[0] % 1 else None
            except (ValueError, OverflowError) as error:
                row += 1
                fault = (
                    f"expected label index:value ..., got {shown(line.decode('latin-1'))} ({error})"
                )
            bad = None if fault is None else BadData(fault, file=self.file, row=row, line=number)
            yield line + b"\n", bad


def _parse(data: bytes) -> tuple[Any, NDArray[np.float64]]:
    from sklearn.datasets import load_svmlight_file  # not needed by any other format

    X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
    if X.shape[1] > LARGEST_INDEX + 1:
        raise ValueError(f"indices must be at most {LARGEST_INDEX}, got {X.shape[1] - 1}")
    if not (np.abs(y) < 2.0**53).all():
        raise ValueError(
            f"labels must be whole numbers below 2^53, got {y[~(np.abs(y) < 2.0**53)][0]}"
        )
    return X, y


def _as_batch(X: Any, y: NDArray[np.int64]) -> pa.RecordBatch:
    offsets = pa.array(X.indptr.astype(np.int32))
    columns = [
        pa.array(y),
        pa.ListArray.from_arrays(offsets, pa.array(X.indices.astype(np.int32))),
        pa.ListArray.from_arrays(offsets, pa.array(X.data)),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(FIELDS))

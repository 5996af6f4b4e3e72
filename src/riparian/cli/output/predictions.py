"""Write predictions as a table, batch by batch, in one of four formats."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from riparian.sources.errors import BadUsage
from riparian.tools.files import whole_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

STDOUT = "-"


class OutputFormat(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSONL = "jsonl"


SUFFIXES = {
    ".csv": OutputFormat.CSV,
    ".parquet": OutputFormat.PARQUET, ".pq": OutputFormat.PARQUET,
    ".arrow": OutputFormat.ARROW, ".feather": OutputFormat.ARROW, ".ipc": OutputFormat.ARROW,
    ".jsonl": OutputFormat.JSONL, ".ndjson": OutputFormat.JSONL,
}  # fmt: skip


def format_for(path: str, given: OutputFormat | None) -> OutputFormat:
    """Return the format to write: as given, or by the file name; CSV on stdout."""
    by_name = SUFFIXES.get(os.path.splitext(path)[1].lower())
    format_ = given or (OutputFormat.CSV if path == STDOUT else by_name)
    if format_ is None:
        raise BadUsage(
            f"--output {path}: the format is not clear from the file name; "
            f"give --output-format {'|'.join(format_.value for format_ in OutputFormat)}"
        )
    if path == STDOUT and format_ is OutputFormat.PARQUET:
        raise BadUsage("--output -: Parquet cannot be written to a pipe; choose another format")
    return format_


class Predictions:
    """A table of predictions that is being written."""

    def __init__(self, table: Table, classes: NDArray[Any], schema: pa.Schema) -> None:
        self._table = table
        self._classes = classes
        self._schema = schema

    def write(self, proba: NDArray[np.float64]) -> None:
        """Write the next rows, given the probability of each class."""
        import pyarrow as pa

        labels = self._classes[proba.argmax(axis=1)]
        label_type = self._schema.field(0).type
        arrays = [pa.array(labels.tolist(), label_type), *map(pa.array, proba.T.copy())]
        self._table.write(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


@contextmanager
def open_predictions(
    path: str, format_: OutputFormat, classes: NDArray[Any]
) -> Iterator[Predictions]:
    """Open a table of predictions. Its file appears only when it is complete."""
    schema = _schema(classes)
    with _destination(path) as file:
        table = _table(file, format_, schema, to_pipe=path == STDOUT)
        yield Predictions(table, classes, schema)
        table.close()
        file.flush()


def _schema(classes: NDArray[Any]) -> pa.Schema:
    import pyarrow as pa

    labels = classes.tolist()
    return pa.schema(
        [
            ("prediction", pa.array(labels).type),
            *((f"proba_{label}", pa.float64()) for label in labels),
        ]
    )


@contextmanager
def _destination(path: str) -> Iterator[Any]:
    target = os.path.realpath(path)
    if path == STDOUT:
        yield sys.stdout.buffer
    elif os.path.exists(target) and not os.path.isfile(target):  # a named pipe, a device
        with open(target, "wb") as file:
            yield file
    else:
        with whole_file(path) as file:
            yield file


# -- tables in each format -----------------------------------------------------------------------------


class Table(ABC):
    """A table that is being written."""

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write the next rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish the table."""


class ArrowTable(Table):
    """A format that pyarrow has a writer for."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()


class JsonLinesTable(Table):
    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, batch: pa.RecordBatch) -> None:
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch.to_pylist())
        self.file.write(lines.encode("utf-8"))

    def close(self) -> None:
        return None


def _table(file: Any, format_: OutputFormat, schema: pa.Schema, *, to_pipe: bool) -> Table:
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet

    match format_:
        case OutputFormat.CSV:
            return ArrowTable(pyarrow.csv.CSVWriter(file, schema))
        case OutputFormat.PARQUET:
            return ArrowTable(pyarrow.parquet.ParquetWriter(file, schema))
        case OutputFormat.ARROW:
            new = pyarrow.ipc.new_stream if to_pipe else pyarrow.ipc.new_file
            return ArrowTable(new(file, schema))
        case OutputFormat.JSONL:
            return JsonLinesTable(file)

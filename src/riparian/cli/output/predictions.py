"""Write predictions as a table, batch by batch, in one of four formats."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
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

FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # what a formula of a spreadsheet can start with


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
    """A table of predictions, whose columns are known with the first rows."""

    def __init__(
        self,
        opened: Callable[[pa.Schema], PredictionTable],
        classes: NDArray[Any] | None,
        labels: list[Any],
        keep: Sequence[str],
        escape: bool,
        intervals: bool,
    ) -> None:
        import pyarrow as pa

        self._opened = opened
        self._labels = labels  # of the classes, as they are written
        self._escape = escape  # texts that a spreadsheet would run
        self._keep = list(dict.fromkeys(keep))
        self._answers = _schema(classes, intervals)
        self._kept: dict[str, pa.DataType] = {name: pa.string() for name in self._keep}
        self._table: PredictionTable | None = None
        clash = [name for name in self._keep if name in self._answers.names]
        if clash:
            raise BadUsage(f"--keep {clash[0]}: the output already has a column of this name")

    def write(
        self, proba: NDArray[np.float64], best: NDArray[np.intp], rows: pa.RecordBatch
    ) -> None:
        """Write the next rows: the probability of each class, the class predicted, kept columns."""
        import pyarrow as pa

        labels = pa.array([self._labels[i] for i in best.tolist()], self._answers.field(0).type)
        self._write([labels, *map(pa.array, proba.T.copy())], rows)

    def write_numbers(
        self,
        numbers: NDArray[np.float64],
        rows: pa.RecordBatch,
        intervals: NDArray[np.float64] | None = None,
    ) -> None:
        """Write the next rows: the predicted number, the ends of its interval, kept columns."""
        import pyarrow as pa

        ends = () if intervals is None else (intervals[:, 0].copy(), intervals[:, 1].copy())
        self._write([pa.array(numbers), *map(pa.array, ends)], rows)

    def _write(self, answers: list[pa.Array], rows: pa.RecordBatch) -> None:
        import pyarrow as pa

        if self._table is None:
            self._kept = {name: rows.schema.field(name).type for name in self._keep}
        kept = [rows.column(name).cast(kind) for name, kind in self._kept.items()]
        if self._escape:
            kept = [pa.array(map(without_formula, each.to_pylist()), each.type) for each in kept]
        self._open().write(pa.RecordBatch.from_arrays([*kept, *answers], schema=self._schema))

    @property
    def _schema(self) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([*self._kept.items(), *self._answers])

    def _open(self) -> PredictionTable:
        if self._table is None:
            self._table = self._opened(self._schema)
        return self._table

    def close(self) -> None:
        """Finish the table; one without rows has its columns."""
        self._open().close()


@contextmanager
def open_predictions(
    path: str,
    format_: OutputFormat,
    classes: NDArray[Any] | None,
    *,
    escape_formulas: bool = False,
    keep: Sequence[str] = (),
    intervals: bool = False,
) -> Iterator[Predictions]:
    """Open a table of predictions, of numbers if there are no classes, and maybe their intervals.

    Its file appears only when it is complete.
    """
    labels = [] if classes is None else classes.tolist()
    if escape_formulas:
        labels = [without_formula(label) for label in labels]
    with _destination(path) as file:

        def opened(schema: pa.Schema) -> PredictionTable:
            return _table(file, format_, schema, to_pipe=path == STDOUT)

        predictions = Predictions(opened, classes, labels, keep, escape_formulas, intervals)
        yield predictions
        predictions.close()
        file.flush()


def without_formula(label: Any) -> Any:
    """Return a label that no spreadsheet takes for a formula: a text gets an apostrophe in front.

    >>> without_formula("=1+1"), without_formula("oak"), without_formula(-1)
    ("'=1+1", 'oak', -1)
    """
    return f"'{label}" if isinstance(label, str) and label.startswith(FORMULAS) else label


def _schema(classes: NDArray[Any] | None, intervals: bool) -> pa.Schema:
    import pyarrow as pa

    if classes is None:
        names = ["prediction", *(("low", "high") if intervals else ())]
        return pa.schema([(name, pa.float64()) for name in names])
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


class PredictionTable(ABC):
    """A table that is being written."""

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write the next rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish the table."""


class ArrowTable(PredictionTable):
    """A format that pyarrow has a writer for."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()


class JsonLinesTable(PredictionTable):
    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, batch: pa.RecordBatch) -> None:
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch.to_pylist())
        self.file.write(lines.encode("utf-8"))

    def close(self) -> None:
        return None


def _table(
    file: Any, format_: OutputFormat, schema: pa.Schema, *, to_pipe: bool
) -> PredictionTable:
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

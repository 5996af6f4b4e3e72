"""Where predictions go: a table, batch by batch, in one of four formats."""

from __future__ import annotations

import json
import os
import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

import pyarrow as pa

from riparian.cli.errors import BadUsage

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


def output_format(path: str, given: OutputFormat | None) -> OutputFormat:
    """What to write: as told, or by the name of the file; CSV to stdout."""
    found = given or (OutputFormat.CSV if path == STDOUT else None)
    found = found or SUFFIXES.get(os.path.splitext(path)[1].lower())
    if found is None:
        raise BadUsage(
            f"--output {path}: the format cannot be told by the name; "
            f"give --output-format {'|'.join(format_.value for format_ in OutputFormat)}"
        )
    if path == STDOUT and found is OutputFormat.PARQUET:
        raise BadUsage("--output -: Parquet cannot be written to a pipe")
    return found


class Output(ABC):
    """A table being written."""

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """The next rows."""

    @abstractmethod
    def close(self) -> None:
        """No more rows."""


class ArrowOutput(Output):
    """What pyarrow has a writer for."""

    def __init__(self, writer: Any) -> None:
        self.writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self.writer.write_batch(batch)

    def close(self) -> None:
        self.writer.close()


class JsonLinesOutput(Output):
    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, batch: pa.RecordBatch) -> None:
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in batch.to_pylist())
        self.file.write(lines.encode("utf-8"))

    def close(self) -> None:
        return None


@contextmanager
def open_output(path: str, format_: OutputFormat, schema: pa.Schema) -> Iterator[Output]:
    """A file takes its place when all of it is written, and not before."""
    with _destination(path) as file:
        output = _output(file, format_, schema, to_pipe=path == STDOUT)
        yield output
        output.close()
        file.flush()


def _output(file: Any, format_: OutputFormat, schema: pa.Schema, *, to_pipe: bool) -> Output:
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet

    match format_:
        case OutputFormat.CSV:
            return ArrowOutput(pyarrow.csv.CSVWriter(file, schema))
        case OutputFormat.PARQUET:
            return ArrowOutput(pyarrow.parquet.ParquetWriter(file, schema))
        case OutputFormat.ARROW:
            new = pyarrow.ipc.new_stream if to_pipe else pyarrow.ipc.new_file
            return ArrowOutput(new(file, schema))
        case OutputFormat.JSONL:
            return JsonLinesOutput(file)


@contextmanager
def _destination(path: str) -> Iterator[Any]:
    if path == STDOUT:
        yield sys.stdout.buffer
        return
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe with a name, a device
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise

"""From a path to a source: the format is told by the name of the file, or by `--format`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from riparian.cli.errors import BadUsage
from riparian.cli.sources.arff import ArffSource
from riparian.cli.sources.arrow import ArrowSource
from riparian.cli.sources.csv import CsvSource, Dialect
from riparian.cli.sources.jsonlines import JsonLinesSource
from riparian.cli.sources.libsvm import LibsvmSource
from riparian.cli.sources.parquet import ParquetSource
from riparian.cli.sources.raw import STDIN, Raw
from riparian.cli.sources.source import Source


class Format(StrEnum):
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSONL = "jsonl"
    LIBSVM = "libsvm"
    ARFF = "arff"


SUFFIXES = {
    ".csv": Format.CSV, ".tsv": Format.TSV, ".tab": Format.TSV,
    ".parquet": Format.PARQUET, ".pq": Format.PARQUET,
    ".arrow": Format.ARROW, ".arrows": Format.ARROW, ".ipc": Format.ARROW,
    ".feather": Format.ARROW,
    ".jsonl": Format.JSONL, ".ndjson": Format.JSONL, ".json": Format.JSONL,
    ".libsvm": Format.LIBSVM, ".svmlight": Format.LIBSVM, ".svm": Format.LIBSVM,
    ".arff": Format.ARFF,
}  # fmt: skip
PACKED = (".gz", ".zst")


@dataclass(frozen=True)
class Reading:
    """How to read the files."""

    format: Format | None = None  # None: by the name of each
    delimiter: str | None = None  # None: by the format
    header: bool = True
    missing: tuple[str, ...] = ()
    strict: bool = field(default=True, compare=False)  # whether fields may not turn up later


def open_source(path: str, reading: Reading) -> Source:
    found = reading.format or format_of(path)
    if found is Format.PARQUET:
        return ParquetSource(path)
    raw = Raw(path)
    try:
        return _source(raw, found, reading)
    except BaseException:
        raw.close()
        raise


def _source(raw: Raw, found: Format, reading: Reading) -> Source:
    match found:
        case Format.JSONL:
            return JsonLinesSource(raw, strict=reading.strict)
        case Format.LIBSVM:
            return LibsvmSource(raw)
        case Format.ARFF:
            return ArffSource(raw)
        case Format.ARROW:
            return ArrowSource(raw)
    delimiter = reading.delimiter or ("\t" if found is Format.TSV else ",")
    return CsvSource(raw, Dialect(delimiter, reading.header, reading.missing))


def format_of(path: str) -> Format:
    """
    >>> format_of("data/oaks.csv.gz").value
    'csv'
    """
    if path == STDIN:
        raise BadUsage("standard input has no name to tell its format: give --format")
    name = path.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    found = SUFFIXES.get(os.path.splitext(name)[1])
    if found is None:
        raise BadUsage(
            f"{path}: the format cannot be told by the name; "
            f"give --format {'|'.join(format_.value for format_ in Format)}"
        )
    return found


def expanded(paths: Iterable[str]) -> list[str]:
    """The files that paths and globs stand for, each glob sorted by name."""
    found = []
    for path in paths:
        if path == STDIN or os.path.exists(path) or not glob.has_magic(path):
            found.append(path)
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise BadUsage(f"{path}: no file matches")
        found += matches
    if STDIN in found and len(found) > 1:
        raise BadUsage("standard input (-) must be the only source")
    return found

"""Open paths as sources."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from riparian.sources.arff import ArffSource
from riparian.sources.arrow import ArrowSource
from riparian.sources.csv import CsvSource, Dialect
from riparian.sources.errors import BadUsage
from riparian.sources.formats import STDIN, Format, Reading, format_of
from riparian.sources.jsonlines import JsonLinesSource
from riparian.sources.libsvm import LibsvmSource
from riparian.sources.parquet import ParquetSource
from riparian.sources.raw import Raw
from riparian.sources.source import Source


def open_source(path: str, reading: Reading) -> Source:
    format_ = reading.format or format_of(path)
    if format_ is Format.PARQUET:
        return ParquetSource(path)
    raw = Raw(path)
    try:
        return _source(raw, format_, reading)
    except BaseException:
        raw.close()
        raise


def _source(raw: Raw, format_: Format, reading: Reading) -> Source:
    match format_:
        case Format.JSONL:
            return JsonLinesSource(raw, strict=reading.strict, skip=reading.skip)
        case Format.LIBSVM:
            return LibsvmSource(raw, skip=reading.skip)
        case Format.ARFF:
            return ArffSource(raw, skip=reading.skip)
        case Format.ARROW:
            return ArrowSource(raw)
    delimiter = reading.delimiter or ("\t" if format_ is Format.TSV else ",")
    return CsvSource(raw, Dialect(delimiter, reading.header, reading.missing), skip=reading.skip)


def expanded(paths: Iterable[str]) -> list[str]:
    """Return the files of paths and globs; the matches of a glob are sorted by name."""
    files: list[str] = []
    for path in paths:
        if path == STDIN or os.path.exists(path) or not glob.has_magic(path):
            files.append(path)
            continue
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise BadUsage(f"{path}: no file matches")
        files += matches
    if STDIN in files and len(files) > 1:
        raise BadUsage("standard input (-) must be the only source")
    return files

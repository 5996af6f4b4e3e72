"""The formats of sources: given by `--format`, or by the name of a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum

from riparian.sources.errors import BadUsage

STDIN = "-"

# Texts that mean a missing number or date; `--missing` adds to them. In a column of categories, only the
# empty text is missing.
MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip


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
NOT_READ = {
    ".zip": "unpack it first", ".bz2": "unpack it first", ".xz": "unpack it first",
    ".7z": "unpack it first", ".xls": "export it as CSV", ".xlsx": "export it as CSV",
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """How to read the files."""

    format: Format | None = None  # None: by the name of each file
    delimiter: str | None = None  # None: by the format
    header: bool = True
    missing: tuple[str, ...] = ()
    strict: bool = field(default=True, compare=False)  # whether a new field later on is an error
    skip: bool = False  # whether rows that cannot be read are left out


def format_of(path: str) -> Format:
    """
    >>> format_of("data/oaks.csv.gz").value
    'csv'
    """
    if os.path.isdir(path):
        raise BadUsage(
            f"{path} is a folder: name its files, for example '{os.path.join(path, '*.csv')}'"
        )
    if path == STDIN:
        raise BadUsage("--format is required for standard input")
    name = path.lower()
    for packed in PACKED:
        name = name.removesuffix(packed)
    suffix = os.path.splitext(name)[1]
    format_ = SUFFIXES.get(suffix)
    if suffix in NOT_READ:
        raise BadUsage(f"{path}: {suffix} files are not supported (.gz and .zst are): "
                       f"{NOT_READ[suffix]}")  # fmt: skip
    if format_ is None:
        raise BadUsage(
            f"{path}: the format is not clear from the file name; "
            f"give --format {'|'.join(format_.value for format_ in Format)}"
        )
    return format_

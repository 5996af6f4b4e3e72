"""Read data sets in the formats of USPS: LIBSVM's files, those of ESL, and `.npz`.

A line of LIBSVM's `usps` and `usps.t` has a label and `index:value` pairs, both counted from 1. A line
of `zip.train` and `zip.test` of *The Elements of Statistical Learning* has a label from 0 and all
values. Both may be compressed (.bz2, .gz). An `.npz` has X_train, y_train, X_test and y_test, with
labels from 0. The result always has labels from 0.
"""

from __future__ import annotations

import bz2
import gzip
import math
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray


class DataError(ValueError):
    """A file is missing or has the wrong content; the message names the file and the line."""


class Part(NamedTuple):
    """Points and their labels."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]


OPENERS: dict[str, Callable[..., IO[str]]] = {"": open, ".bz2": bz2.open, ".gz": gzip.open}


@dataclass(frozen=True)
class Format:
    """A pair of text files, and how to read a line of them."""

    train: str  # names of the files, without .bz2 or .gz
    test: str
    parse: Callable[[str], tuple[float, list[int], list[float]]]  # label, columns from 0, values
    first_label: int
    sparse: bool  # zeros may be omitted, so lines differ in length


def read_pair(path: Path) -> tuple[Part, Part]:
    """Return training and test part of a data set, in a folder, or in a file with its partner."""
    if path.is_dir():
        return _read_folder(path)
    if not path.exists():
        raise DataError(f"{path} does not exist; expected {EXPECTED}")
    if path.suffix == ".npz":
        return _read_npz(path)
    for format_ in FORMATS:
        if _plain_name(path) in (format_.train, format_.test):
            return _read_format(path.parent, format_)
    raise DataError(f"{path}: the format is not clear from the name; expected {EXPECTED}")


def _read_folder(folder: Path) -> tuple[Part, Part]:
    if (folder / "usps.npz").is_file():
        return _read_npz(folder / "usps.npz")
    for format_ in FORMATS:
        if _find(folder, format_.train):
            return _read_format(folder, format_)
    raise DataError(f"{folder} holds no data set; expected {EXPECTED}")


def holds_data(folder: Path) -> bool:
    """Return whether a folder holds files of one of the formats, complete or not."""
    names = [
        "usps.npz",
        *(name + ending for format_ in FORMATS for name in _names(format_) for ending in OPENERS),
    ]
    return any((folder / name).is_file() for name in names)


# -- text -----------------------------------------------------------------------------------------


def _read_format(folder: Path, format_: Format) -> tuple[Part, Part]:
    paths = [_there(folder, name) for name in _names(format_)]
    train, test = (_Text.read(path, format_) for path in paths)
    if not format_.sparse and test.width != train.width:
        raise DataError(
            f"{paths[1]}: expected {train.width} values per point, as in {paths[0].name}, "
            f"got {test.width}"
        )
    width = max(train.width, test.width)
    return train.part(width), test.part(width)


def _names(format_: Format) -> tuple[str, str]:
    return format_.train, format_.test


def _there(folder: Path, name: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise DataError(f"{folder} holds no {name} (nor {name}.bz2, {name}.gz)")
    return path


def _find(folder: Path, name: str) -> Path | None:
    places = (folder / (name + ending) for ending in OPENERS)
    return next((place for place in places if place.is_file()), None)


def _plain_name(path: Path) -> str:
    return path.name.removesuffix(path.suffix) if path.suffix in (".bz2", ".gz") else path.name


@dataclass
class _Text:
    """The lines of one file."""

    labels: list[int]
    columns: list[list[int]]
    values: list[list[float]]
    width: int  # one more than the largest column

    @classmethod
    def read(cls, path: Path, format_: Format) -> _Text:
        text = cls([], [], [], 0)
        for number, line in _lines(path):
            try:
                label, columns, values = format_.parse(line)
                if text.labels and not format_.sparse and len(values) != text.width:
                    raise ValueError(f"expected {text.width} values, got {len(values)}")
                text._add(label - format_.first_label, columns, values)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: {error}") from None
        if not text.labels:
            raise DataError(f"{path} holds no points")
        return text

    def _add(self, label: float, columns: list[int], values: list[float]) -> None:
        if label < 0 or label != math.floor(label):
            raise ValueError("expected a class as the first number")
        if not all(map(math.isfinite, values)):
            raise ValueError("expected finite values")
        self.labels.append(int(label))
        self.columns.append(columns)
        self.values.append(values)
        self.width = max(self.width, max(columns, default=-1) + 1)

    def part(self, width: int) -> Part:
        X = np.zeros((len(self.labels), width), dtype=np.float32)
        for row, columns, values in zip(X, self.columns, self.values, strict=True):
            row[columns] = values
        return Part(X, np.array(self.labels, dtype=np.int64))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    opener = OPENERS[path.suffix if path.suffix in OPENERS else ""]
    try:
        with opener(path, "rt", encoding="ascii") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None


def _libsvm(line: str) -> tuple[float, list[int], list[float]]:
    """
    >>> _libsvm("7 1:-1 3:.5")
    (7.0, [0, 2], [-1.0, 0.5])
    """
    label, *pairs = line.split()
    split = [pair.split(":") for pair in pairs]
    columns, values = [], []
    for pair, parts in zip(pairs, split, strict=True):
        if len(parts) != 2 or not parts[0].isdecimal() or parts[0] == "0":
            raise ValueError(f"expected index:value with indices from 1, got {pair!r}")
        columns.append(int(parts[0]) - 1)
        values.append(_number(parts[1]))
    return _number(label), columns, values


def _esl(line: str) -> tuple[float, list[int], list[float]]:
    """
    >>> _esl("6.0000 -1.0000 0.5")
    (6.0, [0, 1], [-1.0, 0.5])
    """
    label, *values = map(_number, line.split())
    return label, list(range(len(values))), values


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number, got {text!r}") from None


FORMATS = (
    Format("usps", "usps.t", _libsvm, first_label=1, sparse=True),
    Format("zip.train", "zip.test", _esl, first_label=0, sparse=False),
)
EXPECTED = (
    "LIBSVM's usps and usps.t, ESL's zip.train and zip.test (each also as .bz2 or .gz), or an .npz "
    "with X_train, y_train, X_test, y_test"
)


# -- arrays ---------------------------------------------------------------------------------------


def _read_npz(path: Path) -> tuple[Part, Part]:
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            parts = [_npz_part(arrays, which) for which in ("train", "test")]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    if parts[0].X.shape[1] != parts[1].X.shape[1]:
        raise DataError(
            f"{path}: X_train and X_test must have the same number of columns, got shapes "
            f"{parts[0].X.shape} and {parts[1].X.shape}"
        )
    return parts[0], parts[1]


def _npz_part(arrays: np.lib.npyio.NpzFile, which: str) -> Part:
    for name in (f"X_{which}", f"y_{which}"):
        if name not in arrays:
            raise ValueError(f"expected an array {name}, got {sorted(arrays)}")
    X, y = arrays[f"X_{which}"], arrays[f"y_{which}"]
    if X.ndim != 2 or y.shape != (len(X),) or len(X) == 0:
        raise ValueError(
            f"expected X_{which} with a row, and y_{which} with a label, for each point, got shapes "
            f"{X.shape} and {y.shape}"
        )
    if y.dtype.kind not in "iu" or y.min() < 0:
        raise ValueError(f"expected y_{which} to hold whole numbers from 0, got {y.dtype}")
    if not np.isfinite(X).all():
        raise ValueError(f"expected finite values in X_{which}")
    return Part(X.astype(np.float32), y.astype(np.int64))

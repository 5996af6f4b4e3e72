"""The target: the column whose values are the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.sources.csv import MISSING
from riparian.sources.errors import BadData, shown
from riparian.sources.source import Batch, Kind, Source

Family = Literal["str", "int", "bool", "float"]  # types of labels; float only from Python

FAMILIES: tuple[str, ...] = get_args(Family)

# By the kind of the array of classes.
OF_CLASSES: dict[str, Family] = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}

LEAST_SORTED_ROWS = 100  # fewer may be sorted by chance


@dataclass(frozen=True)
class Target:
    """The column of the labels, and their type."""

    column: str
    family: Family

    @classmethod
    def of(cls, source: Source, column: str) -> Target:
        """Return the target in a column of a source. Numbers must be whole."""
        natural = source.fields[column]
        if types.is_dictionary(natural):
            natural = natural.value_type
        if types.is_boolean(natural):
            return cls(column, "bool")
        if types.is_string(natural) or types.is_large_string(natural) or types.is_temporal(natural):
            return cls(column, "str")
        if types.is_nested(natural) or types.is_binary(natural):
            raise BadData(
                f"the target must be text, whole numbers or booleans, got {natural}",
                file=source.file,
                column=column,
            )
        return cls(column, "int")

    @classmethod
    def of_classes(cls, column: str, classes: NDArray[Any]) -> Target:
        """Return the target of a model, or raise a ValueError if files cannot have such labels."""
        texts = classes.dtype.kind == "O" and isinstance(classes[0], str)
        kind = "U" if texts else classes.dtype.kind
        if kind not in OF_CLASSES:
            raise ValueError(f"labels of type {classes.dtype} cannot be read from files")
        return cls(column, OF_CLASSES[kind])

    def kind(self, natural: pa.DataType) -> Kind:
        """Return how to read the column."""
        if self.family == "str":
            return Kind.TEXT
        if self.family == "bool":
            return Kind.BOOL
        whole = self.family == "int" and types.is_integer(natural)
        return Kind.INTEGER if whole else Kind.NUMBER

    def labels(self, batch: Batch) -> NDArray[Any]:
        """Return the label of each row; none may be missing."""
        values = batch.table.column(self.column)
        self._check_there(values, batch)
        if self.family == "str":
            coded = values.dictionary_encode()
            distinct = np.array(coded.dictionary.to_pylist(), dtype=np.str_)
            labels: NDArray[Any] = distinct[coded.indices.to_numpy(zero_copy_only=False)]
            return labels
        labels = values.to_numpy(zero_copy_only=False)
        if self.family != "int" or labels.dtype.kind == "i":
            return labels
        return self._whole(labels.astype(np.float64), batch)

    def _check_there(self, values: pa.Array, batch: Batch) -> None:
        missing = values.is_null()
        if self.family == "str":
            missing = compute.or_(missing, compute.equal(values.fill_null(""), ""))
        if compute.any(missing).as_py():
            row = missing.index(True).as_py()
            fault = "the target is missing; remove the rows without a target"
            raise batch.bad(row, fault, self.column)

    def _whole(self, labels: NDArray[np.float64], batch: Batch) -> NDArray[np.int64]:
        bad = ~(np.abs(labels) < 2.0**53) | (labels != np.floor(labels))
        if bad.any():
            row = int(np.argmax(bad))
            raise batch.bad(
                row,
                "the target must be text, whole numbers or booleans, because the forest predicts "
                f"classes; got {shown(labels[row])}",
                self.column,
            )
        return labels.astype(np.int64)

    def warnings(self, first: Sequence[Batch], *, shuffled: bool) -> list[str]:
        """Return warnings about the labels of the first rows."""
        values = [value for batch in first for value in batch.table.column(self.column).to_pylist()]
        warnings = []
        missing = [text for text in MISSING if text and text in values]
        if missing and self.family == "str":
            warnings.append(
                f"the target {self.column!r} has the value {missing[0]!r}, which is learned as a "
                "class; if it means a missing label, remove these rows"
            )
        if not shuffled and _is_sorted(values):
            warnings.append(
                f"the first {len(values):,} rows are sorted by class, so the test-then-train scores "
                "mean little; if that is not their natural order, shuffle them with "
                "--shuffle-window ROWS, where ROWS is the number of rows of the file"
            )
        return warnings

    def parse(self, text: str) -> Any:
        """Return the label that a text on the command line means, or raise a ValueError."""
        if self.family == "str":
            return text
        if self.family == "bool":
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        return int(text) if self.family == "int" else float(text)


def _is_sorted(values: Sequence[object]) -> bool:
    runs = [len([*run]) for _, run in groupby(values)]
    together = 1 < len(runs) == len(set(values))
    return together and min(runs) > 1 and len(values) >= LEAST_SORTED_ROWS

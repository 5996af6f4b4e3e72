"""The target: the column whose values are the classes, or the numbers, to predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.sources.errors import BadData, shown
from riparian.sources.formats import MISSING
from riparian.sources.source import Batch, Kind, Source

# Types of labels. Classes are floats only if they are from Python; "number" means no classes.
Family = Literal["str", "int", "bool", "float", "number"]

FAMILIES: tuple[str, ...] = get_args(Family)

OF_TEXT = {"str": "text", "bool": "true and false"}

# By the kind of the array of classes.
OF_CLASSES: dict[str, Family] = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}

MISSING_TARGET = "the target is missing"

LEAST_SORTED_ROWS = 100  # fewer may be sorted by chance
MOST_CODES = 20  # more different whole numbers than this are taken for numbers, not for classes
LARGEST = 2.0**500  # larger numbers cannot be learned (R26)


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

    def decided(
        self, numbers: bool | None, first: Sequence[Batch], file: str
    ) -> tuple[Target, str]:
        """Return the target as the user or, if that is None, the first rows decide it, and why.

        Numbers with fractions, and more than 20 different whole numbers, are numbers to predict.
        """
        if self.family != "int":
            if numbers:
                fault = f"--task numbers: expected a target of numbers, got {OF_TEXT[self.family]}"
                raise BadData(fault, file=file, column=self.column)
            return self, ""
        if numbers is not None:
            return (replace(self, family="number") if numbers else self), ""
        columns = [batch.table.column(self.column) for batch in first]
        parts = np.concatenate(
            [each.drop_null().to_numpy(zero_copy_only=False) for each in columns]
        )
        values = np.unique(parts[np.isfinite(parts)])
        fractions = values[values != np.floor(values)]
        if len(fractions):
            why = f"has fractions such as {shown(fractions[0])}"
        else:
            why = f"has {len(values):,} different whole numbers in the first rows"
        if len(fractions) or len(values) > MOST_CODES:
            return replace(self, family="number"), f"{why}; --task classes learns them as classes"
        return self, f"{why}; --task numbers predicts numbers"

    @property
    def numbers(self) -> bool:
        """Return whether numbers are predicted, not classes."""
        return self.family == "number"

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
        faults = self.faults(batch)
        if faults:
            row = min(faults)
            advice = "; remove the rows without a target, or skip them with --on-error skip"
            more = advice if faults[row] == MISSING_TARGET else ""
            raise batch.bad(row, faults[row] + more, self.column)
        if self.family == "str":
            coded = values.dictionary_encode()
            distinct = np.array(coded.dictionary.to_pylist(), dtype=np.str_)
            labels: NDArray[Any] = distinct[coded.indices.to_numpy(zero_copy_only=False)]
            return labels
        labels = values.to_numpy(zero_copy_only=False)
        if self.numbers:
            return labels.astype(np.float64)
        if self.family != "int" or labels.dtype.kind == "i":
            return labels
        return labels.astype(np.int64)

    def faults(self, batch: Batch) -> dict[int, str]:
        """Return the rows whose label cannot be used, by their number in the batch, and why."""
        values = batch.table.column(self.column)
        missing = values.is_null()
        if self.family == "str":
            missing = compute.or_(missing, compute.equal(values.fill_null(""), ""))
        elif types.is_floating(values.type):
            missing = compute.or_(missing, compute.is_nan(values).fill_null(True))
        gone = missing.to_numpy(zero_copy_only=False)
        faults = dict.fromkeys(np.flatnonzero(gone).tolist(), MISSING_TARGET)
        if self.family == "int" and not types.is_integer(values.type):
            labels = values.to_numpy(zero_copy_only=False).astype(np.float64)
            bad = ~gone & (~(np.abs(labels) < 2.0**53) | (labels != np.floor(labels)))
            for row in np.flatnonzero(bad).tolist():
                faults[row] = (
                    "the target must be text, whole numbers or booleans, because the forest predicts "
                    f"classes; got {shown(labels[row])}; --task numbers predicts numbers"
                )
        elif self.numbers:
            labels = values.to_numpy(zero_copy_only=False).astype(np.float64)
            for row in np.flatnonzero(~gone & ~(np.abs(labels) <= LARGEST)).tolist():
                faults[row] = (
                    f"the target must be a finite number of at most 2^500, got {shown(labels[row])}"
                )
        return faults

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
        if not shuffled and not self.numbers and _is_sorted(values):
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

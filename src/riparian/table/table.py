"""Columns with names and types: all formats but LIBSVM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from riparian.engine.categories import Coded, MixedRows
from riparian.sources.csv import CsvSource, no_header
from riparian.sources.errors import BadData, BadUsage, names, shown
from riparian.sources.libsvm import LibsvmSource
from riparian.sources.source import Batch, Kind, Source
from riparian.table.columns import ColumnPlan
from riparian.table.deciding import otherwise, what_to_do
from riparian.table.encoders import Category, Encoder, Number, Unreadable, without
from riparian.table.target import Target
from riparian.table.times import Moment


class TableColumns(ColumnPlan):
    """Columns by name, each with its encoder."""

    def __init__(
        self, target: Target | None, encoders: dict[str, Encoder], ignored: tuple[str, ...] = ()
    ) -> None:
        self.target = target
        self.encoders = encoders
        self.ignored = ignored  # columns that are left out
        self.absent: set[str] = set()  # columns that may be left out, to be filled with NaN

    @property
    def n_features(self) -> int:
        return sum(encoder.width for encoder in self.encoders.values())

    @property
    def feature_names(self) -> list[str]:
        return [
            feature for name, encoder in self.encoders.items() for feature in encoder.features(name)
        ]

    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        wanted = {
            name: encoder.kind
            for name, encoder in self.encoders.items()
            if name in source.fields or name not in self.absent
        }
        if target:
            assert self.target is not None
            natural = source.fields.get(self.target.column, pa.null())
            wanted[self.target.column] = self.target.kind(natural)
        if isinstance(source, LibsvmSource):
            raise BadData("LIBSVM has no column names, but they are needed here",
                          file=source.file)  # fmt: skip
        self.check_has(source, wanted)
        return wanted

    @staticmethod
    def check_has(source: Source, wanted: Iterable[str]) -> None:
        missing = [name for name in wanted if name not in source.fields]
        if missing:
            raise BadData(
                f"these columns are missing: {names(missing)}; the file has {names([*source.fields])}",
                file=source.file,
            )

    def check_no_more(self, source: Source) -> None:
        """Reject a file with more columns than the earlier files of the stream."""
        assert self.target is not None
        self.check_only(source, {*self.encoders, self.target.column, *self.ignored})

    @staticmethod
    def check_only(source: Source, known: set[str]) -> None:
        more = [name for name in source.fields if name not in known]
        if more:
            raise BadData(
                f"these columns are not in the earlier files: {names(more)}", file=source.file
            )

    @property
    def categorical(self) -> list[int]:
        """Return the numbers of the categorical features."""
        return [feature for feature, _, encoder in self._placed() if isinstance(encoder, Category)]

    def _placed(self) -> Iterator[tuple[int, str, Encoder]]:
        """Yield each column, after the number of its first feature."""
        first = 0
        for name, encoder in self.encoders.items():
            yield first, name, encoder
            first += encoder.width

    def points(self, batch: Batch, *, follow: bool = False) -> NDArray[np.float32] | MixedRows:
        out = np.full((len(batch), self.n_features), np.nan, dtype=np.float32)
        coded: dict[int, Coded] = {}
        present = {*batch.table.schema.names}
        for first, name, encoder in self._placed():
            values = batch.table.column(name) if name in present else pa.nulls(len(batch))
            if encoder.kind is Kind.RAW:
                values = without(values, [*encoder.nothing, *batch.missing])
            try:
                if isinstance(encoder, Category):
                    coded[first] = encoder.coded(name, values)
                elif name in present:
                    if follow and isinstance(encoder, Moment):
                        encoder.follow(values)
                    encoder.fill(values, out[:, first : first + encoder.width])
            except Unreadable as error:
                raise batch.bad(error.row, f"{error}; {what_to_do(name)}", name) from None
        self._check_finite(batch, out)
        return MixedRows(out, coded) if coded else out

    def _check_finite(self, batch: Batch, out: NDArray[np.float32]) -> None:
        if not np.isinf(out).any():
            return
        row, feature = (int(i) for i in np.argwhere(np.isinf(out))[0])
        column = self.feature_names[feature]  # only numbers can be infinite
        value = batch.table.column(column)[row].as_py()
        fault = f"expected a number that fits float32, got {shown(value)}"
        raise batch.bad(row, f"{fault}; if it means a missing value, give --missing", column)

    def no_points(self) -> NDArray[np.float32] | MixedRows:
        nothing = np.empty((0, self.n_features), dtype=np.float32)
        which = np.empty(0, dtype=np.intp)
        names = self.feature_names
        coded = {feature: Coded(names[feature], [], which) for feature in self.categorical}
        return MixedRows(nothing, coded) if coded else nothing

    def what_to_do(self, column: str | None) -> str:
        if column is None or type(self.encoders.get(column)) is not Number:
            return ""
        return f"{otherwise(column)}.\n"

    def state(self) -> dict[str, Any]:
        return {
            "kind": "table",
            "target": None if self.target is None else [self.target.column, self.target.family],
            "columns": [
                [name, encoder.name, encoder.state()] for name, encoder in self.encoders.items()
            ],
            "ignored": [*self.ignored],
        }


def check_there(source: Source, wanted: Iterable[str], option: str) -> None:
    for name in wanted:
        if name not in source.fields:
            similar = [field for field in source.fields if field.strip() == name.strip()]
            hint = ""
            if similar:
                hint = f"; do you mean {similar[0]!r}?"
            elif isinstance(source, CsvSource) and source.dialect.header:
                hint = no_header(source.fields)
            if len(source.fields) == 1:
                hint = "; do you need --delimiter?"
            raise BadUsage(
                f"{option} {name!r}: {source.file} has no such column; "
                f"it has {names([*source.fields], most=40)}{hint}"
            )

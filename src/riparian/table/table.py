"""Columns with names and types: all formats but LIBSVM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from riparian.sources.csv import CsvSource, no_header
from riparian.sources.errors import BadData, BadUsage, names
from riparian.sources.libsvm import LibsvmSource
from riparian.sources.source import Batch, Kind, Source
from riparian.table.arrow import ArrowCells
from riparian.table.columns import ColumnPlan
from riparian.table.deciding import otherwise, what_to_do
from riparian.table.encoders import Encoder, Number
from riparian.table.raw import BadCell, Find, RawColumns, Rows
from riparian.table.target import Target
from riparian.tools import text


class TableColumns(ColumnPlan):
    """Columns by name, each with its encoder, as files have them."""

    def __init__(
        self, target: Target | None, encoders: Mapping[str, Encoder], ignored: tuple[str, ...] = ()
    ) -> None:
        self.target = target
        label = None if target is None else (target.column, str(target.family))
        self.raw = RawColumns(encoders, label, ignored)
        self.absent: set[str] = set()  # columns that may be left out, to be filled with NaN

    @property
    def encoders(self) -> Mapping[str, Encoder]:
        return self.raw.encoders

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.raw.ignored

    @property
    def n_features(self) -> int:
        return self.raw.n_features

    @property
    def feature_names(self) -> list[str]:
        return self.raw.feature_names

    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        wanted = {
            name: Kind.NUMBER if encoder.of_numbers else Kind.RAW
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
        return self.raw.categorical

    def points(self, batch: Batch, *, follow: bool = False) -> Rows:
        find = _finder(batch)
        try:
            if follow:
                self.raw = self.raw.followed(find, batch.missing)
            return self.raw.rows(find, len(batch), batch.missing)
        except BadCell as error:
            encoder = self.encoders[error.column]
            advice = "if it means a missing value, give --missing"
            if type(encoder) is not Number:
                advice = what_to_do(error.column)
            raise batch.bad(error.row, f"{error.fault}; {advice}", error.column) from None

    def feature_faults(self, batch: Batch) -> dict[int, BadData]:
        faults = self.raw.faults(_finder(batch), len(batch), batch.missing)
        return {row: batch.bad(row, fault, column) for row, (column, fault) in faults.items()}

    def no_points(self) -> Rows:
        return self.raw.no_rows()

    def what_to_do(self, column: str | None) -> str:
        if column is None or type(self.encoders.get(column)) is not Number:
            return ""
        return f"{otherwise(column)}.\n"

    def state(self) -> dict[str, Any]:
        return self.raw.state()


def _finder(batch: Batch) -> Find:
    present = {*batch.table.schema.names}
    return lambda name: ArrowCells(batch.table.column(name)) if name in present else None


def check_there(source: Source, wanted: Iterable[str], option: str) -> None:
    for name in wanted:
        if name not in source.fields:
            similar = [field for field in source.fields if field.strip() == name.strip()]
            hint = ""
            if similar:
                hint = f"; do you mean {similar[0]!r}?"
            elif isinstance(source, CsvSource) and source.dialect.header:
                hint = no_header(source.fields)
            hint = hint or text.suggestion(name, source.fields)
            if len(source.fields) == 1:
                hint = "; do you need --delimiter?"
            raise BadUsage(
                f"{option} {name!r}: {source.file} has no such column; "
                f"it has {names([*source.fields], most=40)}{hint}"
            )

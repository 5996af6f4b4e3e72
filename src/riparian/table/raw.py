"""The columns of a table as a model knows them: from named values, as they are, to rows of features.

A model that learned text or dates carries its columns (`Model.raw_columns`). Python, the command
line, the service and its client pass a table to `RawColumns` as it is; none of them encodes a value.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded, MixedRows, Table
from riparian.sources.errors import names, shown
from riparian.table.cells import Cells, Listed, Unreadable
from riparian.table.encoders import Category, Encoder, Number, from_state
from riparian.table.times import Clock, Moment, time_from_state

TOO_LARGE = "expected a number that fits float32"
COLUMNS = "columns"  # the key in the extra part of a snapshot

Rows = NDArray[np.float32] | MixedRows
Find = Callable[[str], Cells | None]  # the values of a column, or None if it is absent


class BadCell(ValueError):
    """A value that its column cannot have, with its place."""

    def __init__(self, fault: str, column: str, row: int) -> None:
        super().__init__(f"column {column!r}, row {row}: {fault}")
        self.fault, self.column, self.row = fault, column, row


@dataclass(frozen=True)
class RawColumns:
    """Columns by name, each with its encoder. A value: rows that are learned make a new one."""

    encoders: Mapping[str, Encoder]
    target: tuple[str, str] | None = None  # the column of the labels, if it has a name; their type
    ignored: tuple[str, ...] = field(default=())  # columns that are left out

    # -- features ---------------------------------------------------------------------------------

    @cached_property
    def n_features(self) -> int:
        return sum(encoder.width for encoder in self.encoders.values())

    @cached_property
    def feature_names(self) -> list[str]:
        return [
            feature for name, encoder in self.encoders.items() for feature in encoder.features(name)
        ]

    @cached_property
    def placed(self) -> list[tuple[int, str, Encoder]]:
        """Each column, after the number of its first feature."""
        return [*self._placed()]

    def _placed(self) -> Iterator[tuple[int, str, Encoder]]:
        first = 0
        for name, encoder in self.encoders.items():
            yield first, name, encoder
            first += encoder.width

    @cached_property
    def categorical(self) -> list[int]:
        """The numbers of the categorical features."""
        return [feature for feature, _, encoder in self.placed if isinstance(encoder, Category)]

    @cached_property
    def calendar(self) -> list[int]:
        """The numbers of the features that are parts of dates, such as the month."""
        moments = [(first, each) for first, _, each in self.placed if isinstance(each, Moment)]
        return [i for first, each in moments for i in range(first + 1, first + each.width)]

    @cached_property
    def unused(self) -> frozenset[str]:
        """Columns that a table may have and that no feature comes from."""
        return frozenset([*self.ignored, *([] if self.target is None else [self.target[0]])])

    def shown(self, feature: int, value: float) -> str | None:
        """Return a value of a feature as its column has it, or None if the column has numbers.

        Code that shows values calls `Model.shown`, which calls this method: a date is
        `2024-05-01 10:00`, and not the seconds since the first one.
        """
        for first, _, encoder in self.placed:
            if first == feature and isinstance(encoder, Moment | Clock):
                return encoder.shown(value)
        return None

    # -- rows -------------------------------------------------------------------------------------

    def rows(self, find: Find, n: int, missing: Sequence[str] = ()) -> Rows:
        """Return `n` rows, or raise a `BadCell`. Absent columns are missing values.

        `missing` are texts that mean a missing value, besides those of the encoders.
        """
        out = np.full((n, self.n_features), np.nan, dtype=np.float32)
        coded: dict[int, Coded] = {}
        for first, name, encoder in self.placed:
            cells = find(name)
            if cells is None:
                if isinstance(encoder, Category):
                    coded[first] = Coded(name, [], np.full(n, -1, dtype=np.intp))
                continue
            cells = _without(cells, encoder, missing)
            try:
                if isinstance(encoder, Category):
                    coded[first] = encoder.coded(name, cells)
                else:
                    encoder.fill(cells, out[:, first : first + encoder.width])
            except Unreadable as error:
                raise BadCell(str(error), name, error.row) from None
        self._check_finite(out, find)
        return MixedRows(out, coded) if coded else out

    def followed(self, find: Find, missing: Sequence[str] = ()) -> RawColumns:
        """Return the columns after rows that are learned: the first date of a column is its origin."""
        new: dict[str, Encoder] = {}
        for name, encoder in self.encoders.items():
            if isinstance(encoder, Moment) and encoder.origin is None:
                cells = find(name)
                if cells is not None:
                    try:
                        new[name] = encoder.followed(_without(cells, encoder, missing))
                    except Unreadable as error:
                        raise BadCell(str(error), name, error.row) from None
        return replace(self, encoders={**self.encoders, **new}) if new else self

    def faults(self, find: Find, n: int, missing: Sequence[str] = ()) -> dict[int, tuple[str, str]]:
        """Return, by row, the first column whose value cannot be used, and why."""
        faults: dict[int, tuple[str, str]] = {}
        for _, name, encoder in self.placed:
            cells = find(name)
            if cells is None:
                continue
            cells = _without(cells, encoder, missing)
            out = np.zeros((n, encoder.width), dtype=np.float32)
            while cells is not None:
                cells, more = _faults(name, encoder, cells, out)
                for row, fault in more.items():
                    faults.setdefault(row, (name, fault))
            for row in np.flatnonzero(np.isinf(out).any(axis=1)).tolist():
                faults.setdefault(row, (name, TOO_LARGE))
        return faults

    def _check_finite(self, out: NDArray[np.float32], find: Find) -> None:
        if not np.isinf(out).any():
            return
        row, feature = (int(i) for i in np.argwhere(np.isinf(out))[0])
        name = self.feature_names[feature]  # only numbers can be infinite
        cells = find(name)
        assert cells is not None
        value = cells.numbers()[row] if cells.form == "numbers" else out[row, feature]
        raise BadCell(f"{TOO_LARGE}, got {shown(value)}", name, row)

    def no_rows(self) -> Rows:
        nothing = np.empty((0, self.n_features), dtype=np.float32)
        which = np.empty(0, dtype=np.intp)
        coded = {
            feature: Coded(self.feature_names[feature], [], which) for feature in self.categorical
        }
        return MixedRows(nothing, coded) if coded else nothing

    # -- rows that are dicts ----------------------------------------------------------------------

    def of_points(self, points: Sequence[Mapping[str, Any]]) -> Rows:
        """Return the rows of points in which `fault` finds no error.

        A feature that a point does not have is missing, and so is a value that its column cannot have:
        a point may be predicted before it is refused.
        """
        rows = np.full((len(points), max(1, self.n_features)), np.nan, dtype=np.float32)
        numbers = self._numbers
        cells: Any = rows.data
        for row, point in enumerate(points):
            for name, value in point.items():
                if value is not None and name in numbers and not isinstance(value, str):
                    cells[row, numbers[name]] = value
        coded: dict[int, Coded] = {}
        for first, name, encoder in self.placed:
            if name in numbers:
                continue
            values = Listed([point.get(name) for point in points])
            out = rows[:, first : first + encoder.width]
            try:
                if isinstance(encoder, Category) and encoder.as_it_is:
                    raise ValueError  # values of the other kind are faults, although they can be read
                self._read(name, encoder, values, out, first, coded)
            except ValueError:
                good = [v if self.fault(name, v) is None else None for v in values.cells]
                self._read(name, encoder, Listed(good), out, first, coded)
        return MixedRows(rows, coded) if coded else rows

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The features that are numbers as they are."""
        return {name: first for first, name, encoder in self.placed if type(encoder) is Number}

    @staticmethod
    def _read(
        name: str,
        encoder: Encoder,
        values: Listed,
        out: NDArray[np.float32],
        first: int,
        coded: dict[int, Coded],
    ) -> None:
        cells = _without(values, encoder, ())
        if isinstance(encoder, Category):
            coded[first] = encoder.coded(name, cells)
            return
        encoder.fill(cells, out)
        if np.isinf(out).any():
            raise ValueError(TOO_LARGE)

    def fault(self, name: str, value: Any) -> str | None:
        """Return why a column cannot have a value, or None if it can."""
        encoder = self.encoders[name]
        if value is None:
            return None
        if type(encoder) is Number or (isinstance(encoder, Category) and encoder.as_it_is):
            if isinstance(value, str) != (encoder.takes == "a text"):
                return f"must be {encoder.takes} or null, got {_value(value)}"
            if type(encoder) is Number or isinstance(value, str):
                return None
        out = np.zeros((1, encoder.width), dtype=np.float32)
        try:
            cells = _without(Listed([value]), encoder, ())
            if isinstance(encoder, Category):
                encoder.coded(name, cells)
            else:
                encoder.fill(cells, out)
        except Unreadable as error:
            if isinstance(value, str):
                return str(error).replace(", as in earlier rows", "")
            return f"must be {encoder.takes} or null, got {_value(value)}"
        except ValueError:
            return f"must be {encoder.takes} or null, got {_value(value)}"
        if np.isinf(out).any():
            return f"{TOO_LARGE}, got {_value(value)}"
        return None

    def check_known(self, given: Iterable[str]) -> None:
        """Raise an error if a table has a column that the model does not know."""
        unknown = [name for name in given if name not in self.encoders and name not in self.unused]
        if unknown:
            raise ValueError(
                f"the model does not know these columns: {names(unknown)}; it learned from "
                f"{names([*self.encoders])}"
            )

    def check_all(self, given: Iterable[str]) -> None:
        """Raise an error if a table lacks a column of the model."""
        there = {*given}
        absent = [name for name in self.encoders if name not in there]
        if absent:
            raise ValueError(
                f"these columns of the model are missing: {names(absent)}; the table has "
                f"{names([*there])}"
            )

    # -- in a model file --------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the columns for JSON."""
        return {
            "kind": "table",
            "target": None if self.target is None else [*self.target],
            "columns": [
                [name, encoder.name, encoder.state()] for name, encoder in self.encoders.items()
            ],
            "ignored": [*self.ignored],
        }

    @classmethod
    def from_state(cls, state: Any) -> RawColumns | None:
        """Return the columns that a model file describes, or raise a ValueError; None for LIBSVM."""
        match state:
            case {"kind": "table", "target": target, "columns": list(columns)}:
                encoders = dict(_encoder(column) for column in columns)
                if len(encoders) == len(columns):
                    return cls(encoders, _target(target), _ignored(state))
            case {"kind": "sparse"}:
                return None
        raise ValueError(f"not a description of columns: {str(state)[:100]}")

    def check_fits(self, n_features: int, categorical: Iterable[int]) -> None:
        """Raise an error if a forest does not have these features."""
        if self.n_features != n_features:
            raise ValueError(
                f"the columns give {self.n_features} features, but the forest has {n_features}"
            )
        known = sorted(categorical)
        if self.categorical != known:
            raise ValueError(
                f"the columns have the categorical features {self.categorical}, but the forest has "
                f"{known}"
            )

    @classmethod
    def of_features(
        cls, features: Sequence[str], tables: Mapping[int, Table], *, as_it_is: bool = True
    ) -> RawColumns:
        """Return the columns of a model that has none: each is a feature as it is.

        Files have only texts for categories that are numbers: then these are not `as_it_is`.
        """
        return cls(
            {name: of_table(tables.get(i), as_it_is=as_it_is) for i, name in enumerate(features)}
        )

    def for_tables(self, tables: Mapping[int, Table], *, as_it_is: bool) -> RawColumns:
        """Return the columns, with the kind of categories that a frame of Python had; see there."""
        new = {
            name: of_table(tables[first], as_it_is=as_it_is)
            for first, name, encoder in self.placed
            if isinstance(encoder, Category) and encoder.as_it_is
        }
        return replace(self, encoders={**self.encoders, **new}) if new else self


def of_table(table: Table | None, *, as_it_is: bool) -> Encoder:
    """Return the encoder of a feature learned in Python, where categories may be numbers."""
    if table is None:
        return Number()
    return Category(numbers=table.kind == "numbers", as_it_is=as_it_is)


def _value(value: Any) -> str:
    return shown(value) if isinstance(value, str) else reprlib.repr(value)


def _without(cells: Cells, encoder: Encoder, missing: Sequence[str]) -> Cells:
    if encoder.of_numbers or cells.form not in ("texts", "mixed"):
        return cells
    nothing = {*encoder.nothing, *missing}
    if not nothing:
        return cells
    if isinstance(cells, Listed):  # its numbers stay numbers
        return Listed([None if isinstance(c, str) and c in nothing else c for c in cells.cells])
    return cells.texts().without([*nothing])


def _faults(
    name: str, encoder: Encoder, cells: Cells, out: NDArray[np.float32]
) -> tuple[Cells | None, dict[int, str]]:
    """Fill in a column; return the values that cannot be used, and the rest if it is to be filled in."""
    try:
        if isinstance(encoder, Category):
            encoder.coded(name, cells)
        else:
            encoder.fill(cells, out)
    except Unreadable as error:
        if cells.form not in ("texts", "mixed"):
            return None, dict(error.faults)
        texts = cells.texts()
        return texts.without([texts.values[texts.which[row]] for row in error.faults]), dict(
            error.faults
        )
    return None, {}


def _encoder(state: Any) -> tuple[str, Encoder]:
    match state:
        case [str(name), str(kind), dict(encoder)]:
            return name, time_from_state(kind, encoder) or from_state(kind, encoder)
    raise ValueError(f"not a description of a column: {str(state)[:100]}")


def _target(state: Any) -> tuple[str, str] | None:
    match state:
        case None:
            return None
        case [str(column), str(family)]:
            return column, family
    raise ValueError(f"not a description of a target: {str(state)[:100]}")


def _ignored(state: dict[str, Any]) -> tuple[str, ...]:
    ignored = state.get("ignored", [])  # earlier versions did not store this
    if isinstance(ignored, list) and all(isinstance(name, str) for name in ignored):
        return tuple(ignored)
    raise ValueError(f"not a description of columns left out: {str(ignored)[:100]}")

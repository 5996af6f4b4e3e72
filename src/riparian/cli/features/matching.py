"""A model and a file: which columns of the one are the features of the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer

from riparian.cli.errors import BadData, BadUsage, names, say
from riparian.cli.features.encoders import Number
from riparian.cli.features.sparse import SparseColumns
from riparian.cli.features.table import Columns, TableColumns
from riparian.cli.features.target import Family, Target
from riparian.cli.model_file import Model
from riparian.cli.sources.libsvm import LABEL, LibsvmSource
from riparian.cli.sources.source import Kind, Source

FAMILIES: dict[str, Family] = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}


@dataclass(frozen=True)
class MatchingOptions:
    """What the user says of the columns."""

    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out; may be given again.", metavar="COLUMN"),
    ] = None
    fill_missing: Annotated[
        bool,
        typer.Option("--fill-missing", help="Take columns that are not there for missing values."),
    ] = False
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based", help="LIBSVM, if the model does not say: the first index is 0."
        ),
    ] = False
    threads: Annotated[int, typer.Option(help="-1: as many as processors.")] = -1


@dataclass
class Matched:
    """The columns of each file of a stream for a model, and what was found on the way."""

    model: Model
    options: MatchingOptions
    target: str | None = None  # as the user names it
    with_target: bool = False  # whether it is needed
    columns: Columns | None = None  # of the file that is being read
    strangers: list[str] = field(default_factory=list)  # columns that the model does not know
    absent: list[str] = field(default_factory=list)  # columns that a file does not have

    def choose(self, source: Source) -> dict[str, Kind]:
        """What to read of a file."""
        self.end()
        self.columns = columns = self._columns(source)
        if self.with_target and columns.target is None:
            raise BadUsage("--target must name the column of the truth: the model does not say")
        if isinstance(columns, TableColumns):
            self._note_strangers(columns, source)
            if self.options.fill_missing:
                self._fill_absent(columns, source)
        return columns.kinds(source, target=self.with_target)

    def end(self) -> None:
        """The file, if there was one, has been read."""
        if isinstance(self.columns, SparseColumns) and self.columns.beyond:
            say(
                f"note: {self.columns.beyond:,} values were not used: their indices are beyond "
                f"the {self.columns.width:,} features of the model"
            )

    # -- what the columns of a file mean to the model ---------------------------------------------

    def _columns(self, source: Source) -> Columns:
        if isinstance(source, LibsvmSource):
            return self._sparse_columns(source)
        target = self._target()
        if isinstance(self.model.columns, TableColumns):
            return TableColumns(target, self.model.columns.encoders)
        features = self.model.feature_names or self._by_place(source, target)
        return TableColumns(target, {name: Number() for name in features})

    def _sparse_columns(self, source: Source) -> SparseColumns:
        known = self.model.columns
        if isinstance(known, SparseColumns):
            width, zero_based = known.width, known.zero_based
        elif known is None and self.model.feature_names is None:
            width, zero_based = self.model.forest.n_features_in_, self.options.zero_based
        else:
            raise BadData(
                "LIBSVM has no names, and the model knows its columns by names", file=source.file
            )
        return SparseColumns(Target(LABEL, "int"), width, zero_based, strict=False)

    def _target(self) -> Target | None:
        """The target, if the user or the model names one; its labels are those of the model."""
        known = None if self.model.columns is None else self.model.columns.target
        column = self.target or (None if known is None else known.column)
        if column is None:
            return None
        classes = self.model.forest.classes_
        texts = classes.dtype.kind == "O" and isinstance(classes[0], str)
        kind = "U" if texts else classes.dtype.kind
        if kind not in FAMILIES:
            raise BadUsage(
                f"{self.model.path}: labels of type {classes.dtype} are not found in files"
            )
        return Target(column, FAMILIES[kind])

    def _by_place(self, source: Source, target: Target | None) -> list[str]:
        """A model without names takes the columns as they stand."""
        if isinstance(self.model.columns, SparseColumns):
            raise BadData("the model was learned from LIBSVM, and this is not", file=source.file)
        left_out = {*self._ignored(), *([] if target is None else [target.column])}
        found = [name for name in source.fields if name not in left_out]
        n_features = self.model.forest.n_features_in_
        if len(found) != n_features:
            raise BadData(
                f"the model has {n_features} features without names, and the file {len(found)} "
                f"columns beside the target: {names(found)}; see --target and --ignore",
                file=source.file,
            )
        return found

    # -- columns that only one of the two has -----------------------------------------------------

    def _ignored(self) -> list[str]:
        return self.options.ignore or []

    def _note_strangers(self, columns: TableColumns, source: Source) -> None:
        known = {*columns.encoders, *self._ignored()}
        known |= set() if columns.target is None else {columns.target.column}
        found = [name for name in source.fields if name not in known]
        self.strangers += found
        if found:
            say(f"note: {source.file}: not used, as the model does not know them: {names(found)}")

    def _fill_absent(self, columns: TableColumns, source: Source) -> None:
        found = [name for name in columns.encoders if name not in source.fields]
        columns.absent |= {*found}
        self.absent += found
        if found:
            say(
                f"note: {source.file}: taken for missing, as it has no such columns: {names(found)}"
            )

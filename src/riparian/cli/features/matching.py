"""Match the columns of a file with the features of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from riparian.cli.errors import say
from riparian.cli.model_file import LoadedModel
from riparian.cli.option_groups.reading import MatchingOptions
from riparian.cli.skipped import Skipped
from riparian.sources.errors import BadData, BadUsage, names
from riparian.sources.libsvm import LABEL, LibsvmSource
from riparian.sources.source import Batch, Kind, Source
from riparian.sources.stream import Stream
from riparian.table.columns import ColumnPlan
from riparian.table.raw import RawColumns
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns, check_there
from riparian.table.target import Target


@dataclass
class Matched:
    """The columns of each file of a stream for a model, and which of them do not match."""

    model: LoadedModel
    options: MatchingOptions
    target: str | None = None  # as the user named it
    with_target: bool = False  # whether the target is needed
    keep: Sequence[str] = ()  # columns that are read and not learned from
    columns: ColumnPlan | None = None  # of the current file
    unknown: list[str] = field(default_factory=list)  # columns that the model does not know
    absent: list[str] = field(default_factory=list)  # columns that a file does not have
    skipped: Skipped = field(default_factory=Skipped)  # with --on-error skip

    def batches(self, stream: Stream) -> Iterator[Batch]:
        """Yield the rows of a stream; `columns` then says how to read them."""
        sieve = self._unusable if stream.reading.skip else None
        for batch in stream.batches(self.choose, sieve=sieve):
            self.skipped.note(stream.number, batch.faults)
            if len(batch):
                yield batch
        self.end()
        self.columns = None
        self.skipped.end()

    def _unusable(self, batch: Batch) -> dict[int, BadData]:
        assert self.columns is not None
        return self.columns.faults(batch, target=self.with_target)

    def choose(self, source: Source) -> dict[str, Kind]:
        """Return how to read each column of a file."""
        self.end()
        self.columns = columns = self._columns(source)
        if self.with_target and columns.target is None:
            raise BadUsage(
                "--target is required: the model does not name the column with the true class"
            )
        if isinstance(columns, TableColumns):
            self._note_unknown(columns, source)
            if self.options.fill_missing:
                self._fill_absent(columns, source)
        return self._kept(source) | columns.kinds(source, target=self.with_target)

    def _kept(self, source: Source) -> dict[str, Kind]:
        """Return how to read the columns that are copied to the output: as they are."""
        if self.keep and isinstance(source, LibsvmSource):
            raise BadUsage(f"--keep {self.keep[0]}: LIBSVM has no column names")
        check_there(source, self.keep, "--keep")
        return dict.fromkeys(self.keep, Kind.RAW)

    def end(self) -> None:
        """Report what was not used of the current file, if there is one."""
        if isinstance(self.columns, SparseColumns) and self.columns.beyond:
            say(
                f"note: {self.columns.beyond:,} values were not used: their feature numbers are above "
                f"the {self.columns.width:,} features of the model"
            )

    # -- what the columns of a file mean to the model ---------------------------------------------

    def _columns(self, source: Source) -> ColumnPlan:
        if isinstance(source, LibsvmSource):
            return self._sparse_columns(source)
        target = self._target()
        if isinstance(self.model.columns, TableColumns):
            return TableColumns(target, self.model.columns.encoders, self.model.columns.ignored)
        features = self.model.feature_names or self._by_place(source, target)
        tables = self.model.forest.model_.categories
        raw = RawColumns.of_features(features, tables, as_it_is=False)
        return TableColumns(target, raw.encoders)

    def _sparse_columns(self, source: Source) -> SparseColumns:
        known = self.model.columns
        if isinstance(known, SparseColumns):
            width, zero_based = known.width, known.zero_based
        elif known is None and self.model.feature_names is None:
            width, zero_based = self.model.forest.n_features_in_, self.options.zero_based
        else:
            raise BadData("LIBSVM has no column names, and the model needs them", file=source.file)
        return SparseColumns(Target(LABEL, "int"), width, zero_based, strict=False)

    def _target(self) -> Target | None:
        """Return the target that the user or the model names, with the labels of the model."""
        known = None if self.model.columns is None else self.model.columns.target
        column = self.target or (None if known is None else known.column)
        if column is None:
            return None
        if self.model.numbers:
            return Target(column, "number")
        try:
            return Target.of_classes(column, self.model.forest.classes_)
        except ValueError as error:
            raise BadUsage(f"{self.model.path}: {error}") from None

    def _by_place(self, source: Source, target: Target | None) -> list[str]:
        """Return the columns in their order, for a model without names of features."""
        if isinstance(self.model.columns, SparseColumns):
            raise BadData("expected LIBSVM: the model was learned from LIBSVM", file=source.file)
        left_out = {*self._ignored(), *([] if target is None else [target.column])}
        columns = [name for name in source.fields if name not in left_out]
        n_features = self.model.forest.n_features_in_
        if len(columns) != n_features:
            raise BadData(
                f"the model has {n_features} features without names, but the file has {len(columns)} "
                f"columns besides the target: {names(columns)}; choose them with --target and --ignore",
                file=source.file,
            )
        return columns

    # -- columns that only one of the two has -----------------------------------------------------

    def _ignored(self) -> list[str]:
        return self.options.ignore or []

    def _note_unknown(self, columns: TableColumns, source: Source) -> None:
        known = {*columns.encoders, *columns.ignored, *self._ignored()}
        known |= set() if columns.target is None else {columns.target.column}
        known |= {*self.keep}
        unknown = [name for name in source.fields if name not in known]
        self.unknown += unknown
        if unknown:
            say(f"note: {source.file}: the model does not use these columns: {names(unknown)}")

    def _fill_absent(self, columns: TableColumns, source: Source) -> None:
        absent = [name for name in columns.encoders if name not in source.fields]
        columns.absent |= {*absent}
        self.absent += absent
        if absent:
            say(f"note: {source.file}: absent columns, treated as missing values: {names(absent)}")

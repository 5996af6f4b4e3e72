"""Choose the columns to learn from, by the options and the first file of the stream."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from riparian.cli.option_groups.reading import ColumnOptions, Task
from riparian.sources.errors import BadData, BadUsage, names
from riparian.sources.libsvm import LABEL, LibsvmSource
from riparian.sources.opening import open_source
from riparian.sources.source import Kind, Source
from riparian.sources.stream import Stream
from riparian.table.columns import ColumnPlan
from riparian.table.deciding import ColumnDecision, Wishes, decide, first_kind, otherwise
from riparian.table.sparse import SparseColumns
from riparian.table.table import TableColumns, check_there
from riparian.table.target import Family, Target


@dataclass(frozen=True)
class Chosen:
    """The columns of a stream, and the decision on each."""

    columns: ColumnPlan
    decisions: Mapping[str, ColumnDecision]
    warnings: Sequence[str] = ()  # about the rows and their labels
    labels: Collection[Any] = ()  # in the first rows
    why: str = ""  # the target was decided to be classes or numbers


def choose_columns(
    stream: Stream, options: ColumnOptions, limit: int | None = None, *, shuffled: bool = False
) -> Chosen:
    """Decide what each column of a stream is, by its first file and its first rows."""
    source = stream.first
    if isinstance(source, LibsvmSource):
        if options.target not in (None, LABEL):
            raise BadUsage(
                f"--target {options.target}: LIBSVM has no column names; its label comes first"
            )
        width = options.features or _width(stream, options.zero_based)
        family: Family = "number" if options.task is Task.NUMBERS else "int"
        return Chosen(SparseColumns(Target(LABEL, family), width, options.zero_based), {})
    if options.target is None:
        raise BadUsage(
            f"--target must name the column to predict; {source.file} has "
            f"{names([*source.fields], most=40)}"
        )
    return _table(stream, options, limit, shuffled=shuffled)


def _table(stream: Stream, options: ColumnOptions, limit: int | None, *, shuffled: bool) -> Chosen:
    source, target = stream.first, str(options.target)
    ignored = options.ignore or []
    wishes = Wishes(options.numeric or [], options.categorical or [])
    check_there(source, [target], "--target")
    for wanted, option in (
        (ignored, "--ignore"), (wishes.numeric, "--numeric"), (wishes.categorical, "--categorical"),
    ):  # fmt: skip
        check_there(source, wanted, option)
    _check_wishes(target, {"--ignore": ignored, "--numeric": wishes.numeric,
                           "--categorical": wishes.categorical})  # fmt: skip
    learned = [name for name in source.fields if name != target and name not in ignored]
    if not learned:
        raise BadData("there is no column to learn from except the target", file=source.file)
    kinds = {name: _kind(source, name, wishes) for name in learned}
    label = Target.of(source, target)
    kinds[target] = label.kind(source.fields[target])
    rows = options.category_rows if limit is None else min(limit, options.category_rows)
    try:
        first = stream.peek(_provisional(kinds, {*ignored}), rows)
    except BadData as error:
        if error.column in learned and kinds[error.column] is Kind.NUMBER:
            error.note = f"{otherwise(error.column)}."
        raise
    if not first:
        raise BadData("there are no rows to learn from", file=source.file)
    skip = stream.reading.skip
    numbers = None if options.task is None else options.task is Task.NUMBERS
    label, why = label.decided(numbers, first, source.file)
    decisions = {name: decide(name, source, first, wishes, skip=skip) for name in learned}
    encoders = {name: decision.encoder for name, decision in decisions.items()}
    columns = TableColumns(label, encoders, tuple(ignored))
    _check_features(columns)
    values = {value for batch in first for value in batch.table.column(target).unique().to_pylist()}
    warnings = label.warnings(first, shuffled=shuffled)
    return Chosen(
        columns, decisions, warnings, {value for value in values if value not in (None, "")}, why
    )


def _check_wishes(target: str, wishes: Mapping[str, Sequence[str]]) -> None:
    option_of: dict[str, str] = {target: "--target"}
    for option, columns in wishes.items():
        for name in columns:
            if option_of.setdefault(name, option) != option:
                raise BadUsage(
                    f"{option_of[name]} and {option} both name the column {name!r}; name it once"
                )


def _kind(source: Source, name: str, wishes: Wishes) -> Kind:
    kind = first_kind(name, source.fields[name], wishes)
    if kind is None:
        raise BadData(
            f"values of type {source.fields[name]} cannot be learned; leave the column out with "
            f"--ignore {quote(name)}",
            file=source.file,
            column=name,
        )
    return kind


def _provisional(
    kinds: dict[str, Kind], ignored: set[str]
) -> Callable[[Source], Mapping[str, Kind]]:
    """Return a function that says how to read the first rows, before the columns are decided."""

    def choose(source: Source) -> Mapping[str, Kind]:
        TableColumns.check_has(source, [*kinds])
        TableColumns.check_only(source, {*kinds, *ignored})
        return kinds

    return choose


def _check_features(columns: TableColumns) -> None:
    """Reject duplicate names: a date gives several features with names of their own."""
    seen: set[str] = set()
    for name, encoder in columns.encoders.items():
        for feature in encoder.features(name):
            if feature in seen:
                raise BadUsage(
                    f"two columns give a feature {feature!r}; leave one of them out with --ignore"
                )
            seen.add(feature)


def _width(stream: Stream, zero_based: bool) -> int:
    """Return the number of features of LIBSVM files. This reads them once."""
    if not stream.again:
        raise BadUsage("--features is required for LIBSVM on standard input")
    last = 0
    for path in stream.paths:
        source = open_source(path, stream.reading)
        try:
            if isinstance(source, LibsvmSource):
                last = max(last, source.last_index())
        finally:
            source.close()
    width = last + zero_based
    if width < 1:
        raise BadData("the file has no features", file=stream.first.file)
    return width


def kinds_of(columns: ColumnPlan) -> Callable[[Source], dict[str, Kind]]:
    """Return a function that says how to read each file: all must have the columns of the first."""

    def kinds(source: Source) -> dict[str, Kind]:
        wanted = columns.kinds(source)
        if isinstance(columns, TableColumns):
            columns.check_no_more(source)
        return wanted

    return kinds

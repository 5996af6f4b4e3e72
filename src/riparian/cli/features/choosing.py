"""Which columns of a stream to learn from, as its first file and the options say."""

from __future__ import annotations

from collections.abc import Callable

from riparian.cli.errors import BadData, BadUsage, names
from riparian.cli.features.columns import Columns
from riparian.cli.features.sparse import SparseColumns
from riparian.cli.features.table import TableColumns, text_encoder
from riparian.cli.features.target import Target
from riparian.cli.option_groups.columns import ColumnOptions
from riparian.cli.sources.libsvm import LABEL, LibsvmSource
from riparian.cli.sources.opening import open_source
from riparian.cli.sources.source import Kind, Source
from riparian.cli.sources.stream import Stream


def choose_columns(stream: Stream, options: ColumnOptions) -> Columns:
    """What the columns of a stream mean, as its first file shows them."""
    source = stream.first
    if isinstance(source, LibsvmSource):
        if options.target not in (None, LABEL):
            raise BadUsage(
                f"--target {options.target}: LIBSVM has no column names; its label comes first"
            )
        width = options.features or _width(stream, options.zero_based)
        return SparseColumns(Target(LABEL, "int"), width, options.zero_based)
    if options.target is None:
        raise BadUsage(
            f"--target must name the column to predict; {source.file} has "
            f"{names([*source.fields], most=40)}"
        )
    text = text_encoder(options.encode, options.max_categories, options.hash_buckets)
    return TableColumns.choose(source, options.target, options.ignore or [], text)


def _width(stream: Stream, zero_based: bool) -> int:
    """The number of features of LIBSVM files, which are read once to find it."""
    if not stream.again:
        raise BadUsage("--features must say how many features LIBSVM on standard input has")
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


def kinds_of(columns: Columns, ignored: list[str]) -> Callable[[Source], dict[str, Kind]]:
    """What to read of each file of a stream: all must have the columns of the first."""

    def kinds(source: Source) -> dict[str, Kind]:
        wanted = columns.kinds(source)
        if isinstance(columns, TableColumns):
            columns.check_no_more(source, ignored)
        return wanted

    return kinds

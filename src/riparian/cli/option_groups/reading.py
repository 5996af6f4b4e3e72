"""Options for reading files, and for choosing columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from riparian.sources.errors import BadUsage
from riparian.sources.formats import Format, Reading


def _reading(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Reading", **more)


@dataclass(frozen=True)
class ReadingOptions:
    """How to read files that do not describe themselves."""

    format: Annotated[
        Format | None,
        _reading(help="Set the format of the sources. Default: by each file name."),
    ] = None
    delimiter: Annotated[
        str | None,
        _reading(help="Set the character between CSV cells. Default: a comma; a tab in .tsv files.",
                 metavar="CHAR"),
    ] = None  # fmt: skip
    no_header: Annotated[
        bool,
        _reading("--no-header",
                 help="Read the first line of CSV as data, and name the columns c1, c2, ..."),
    ] = False  # fmt: skip
    missing: Annotated[
        list[str] | None,
        _reading(help="Read this text in CSV, such as '?', as a missing number. Repeatable.",
                 metavar="TEXT"),
    ] = None  # fmt: skip

    def reading(self, *, strict: bool) -> Reading:
        delimiter = "\t" if self.delimiter == "\\t" else self.delimiter
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
            raise BadUsage(f"--delimiter must be one ASCII character, got {self.delimiter!r}")
        return Reading(
            format=self.format,
            delimiter=delimiter,
            header=not self.no_header,
            missing=tuple(self.missing or ()),
            strict=strict,
        )


def _columns(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Columns", **more)


@dataclass(frozen=True)
class ColumnOptions:
    """The column to predict, and the columns to learn from."""

    target: Annotated[
        str | None,
        _columns("--target", "-t", help="Predict this column. Not needed for LIBSVM, where each row "
                 "starts with its label.", metavar="COLUMN"),
    ] = None  # fmt: skip
    ignore: Annotated[
        list[str] | None,
        _columns(help="Leave out this column. Repeatable.", metavar="COLUMN"),
    ] = None
    numeric: Annotated[
        list[str] | None,
        _columns(help="Learn this text column as numbers. Repeatable.",
                 metavar="COLUMN"),
    ] = None  # fmt: skip
    categorical: Annotated[
        list[str] | None,
        _columns(help="Learn this column of numbers or dates as categories. "
                 "Repeatable.", metavar="COLUMN"),
    ] = None  # fmt: skip
    max_categories: Annotated[
        int | None,
        _columns(help="Distinguish at most this many values of a text column. Default: 100,000.",
                 min=1, max=2**24 - 1, metavar="N"),
    ] = None  # fmt: skip
    category_rows: Annotated[
        int,
        _columns(help="Decide the type of each column by this many rows: whether its texts are "
                 "dates, and which parts of the dates vary.", min=1, metavar="ROWS"),
    ] = 10_000  # fmt: skip
    features: Annotated[
        int | None,
        _columns(help="LIBSVM: set the number of features. Default: read the files once more to "
                 "count them.", min=1, max=2**31 - 1, metavar="N"),
    ] = None  # fmt: skip
    zero_based: Annotated[
        bool, _columns("--zero-based", help="LIBSVM: count features from 0 instead of 1.")
    ] = False


@dataclass(frozen=True)
class MatchingOptions:
    """How the columns of a file match those of a model."""

    ignore: Annotated[
        list[str] | None,
        typer.Option(help="Leave out this column. Repeatable.", metavar="COLUMN"),
    ] = None
    fill_missing: Annotated[
        bool,
        typer.Option("--fill-missing", help="Treat all values of an absent column as missing."),
    ] = False
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based",
            help="LIBSVM: count features from 0. Needed only for models saved from Python.",
        ),
    ] = False
    threads: Annotated[int, typer.Option(help="Use this many threads; -1: one per processor.")] = -1

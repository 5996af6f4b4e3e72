"""Options for reading files, and for choosing columns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from riparian.sources.errors import BadUsage
from riparian.sources.formats import Format, Reading


class OnError(StrEnum):
    """What to do at a row that cannot be used."""

    STOP = "stop"
    SKIP = "skip"


class Task(StrEnum):
    """What to predict."""

    CLASSES = "classes"
    NUMBERS = "numbers"


_reading: Any = partial(typer.Option, rich_help_panel="Reading")


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
    on_error: Annotated[
        OnError | None,
        _reading("--on-error",
                 help="At a row that cannot be used, such as one without a target: stop, or skip the "
                 "row, name it, and count it. Default: stop."),
    ] = None  # fmt: skip

    @property
    def skip(self) -> bool:
        return self.on_error is OnError.SKIP

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
            skip=self.skip,
        )


_columns: Any = partial(typer.Option, rich_help_panel="Columns")


@dataclass(frozen=True)
class ColumnOptions:
    """The column to predict, and the columns to learn from."""

    target: Annotated[
        str | None,
        _columns("--target", "-t", help="Predict this column. Not needed for LIBSVM, where each row "
                 "starts with its label.", metavar="COLUMN"),
    ] = None  # fmt: skip
    task: Annotated[
        Task | None,
        _columns(help="Predict classes or numbers. Default: numbers if the target has fractions or more "
                 "than 20 different whole numbers in the first rows, otherwise classes."),
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
        _columns(help="Decide the type of each column from this many rows: whether its texts are "
                 "dates, and whether the dates have a time of day.", min=1, metavar="ROWS"),
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

"""How files are read, and which of their columns are used."""

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
    """What a file may not say of itself."""

    format: Annotated[
        Format | None,
        _reading(help="The format of the sources. By default, each file name tells it."),
    ] = None
    delimiter: Annotated[
        str | None,
        _reading(help="The character between CSV cells. Default: a comma; a tab in .tsv files.",
                 metavar="CHAR"),
    ] = None  # fmt: skip
    no_header: Annotated[
        bool,
        _reading("--no-header",
                 help="The first line of CSV is data; the columns are named c1, c2, ..."),
    ] = False  # fmt: skip
    missing: Annotated[
        list[str] | None,
        _reading(help="Another spelling of a missing number in CSV, such as '?'. Repeatable.",
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
    """What to learn, and from what."""

    target: Annotated[
        str | None,
        _columns("--target", "-t", help="The column to predict. Not needed for LIBSVM, where the "
                 "label comes first in each row.", metavar="COLUMN"),
    ] = None  # fmt: skip
    ignore: Annotated[
        list[str] | None,
        _columns(help="A column to leave out. Repeatable.", metavar="COLUMN"),
    ] = None
    numeric: Annotated[
        list[str] | None,
        _columns(help="A column to learn as numbers, although the file has text. Repeatable.",
                 metavar="COLUMN"),
    ] = None  # fmt: skip
    categorical: Annotated[
        list[str] | None,
        _columns(help="A column to learn as categories, although it holds numbers or dates. "
                 "Repeatable.", metavar="COLUMN"),
    ] = None  # fmt: skip
    max_categories: Annotated[
        int | None,
        _columns(help="The most values of a text column that are told apart. Default: 100,000.",
                 min=1, max=2**24 - 1, metavar="N"),
    ] = None  # fmt: skip
    category_rows: Annotated[
        int,
        _columns(help="The first ROWS rows say what each column is: whether its texts are dates, "
                 "and which parts of dates vary.", min=1, metavar="ROWS"),
    ] = 10_000  # fmt: skip
    features: Annotated[
        int | None,
        _columns(help="LIBSVM: the number of features. If it is not given, the files are read one "
                 "extra time to find it.", min=1, max=2**31 - 1, metavar="N"),
    ] = None  # fmt: skip
    zero_based: Annotated[
        bool, _columns("--zero-based", help="LIBSVM: feature numbers start at 0, not at 1.")
    ] = False


@dataclass(frozen=True)
class MatchingOptions:
    """What the user says about the columns."""

    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A column to leave out. Repeatable.", metavar="COLUMN"),
    ] = None
    fill_missing: Annotated[
        bool,
        typer.Option(
            "--fill-missing", help="If the file lacks a column, treat its values as missing."
        ),
    ] = False
    zero_based: Annotated[
        bool,
        typer.Option(
            "--zero-based",
            help="LIBSVM: feature numbers start at 0. Only needed if the model does not know.",
        ),
    ] = False
    threads: Annotated[int, typer.Option(help="Threads to use; -1 for one per processor.")] = -1

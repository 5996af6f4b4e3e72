"""How to read the sources: the same for every command that reads any."""

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

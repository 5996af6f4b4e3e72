"""Groups of options: a command takes a dataclass, and Typer sees each field of it as an option."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from riparian.cli.errors import BadUsage
from riparian.cli.features.table import Encode
from riparian.cli.sources.opening import Format, Reading

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout, and nothing else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", dir_okay=False, help="Write a report with charts to this file."),
]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer should see it: every group among its parameters, option by option."""
    seen: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            group = parameter.annotation
            groups[parameter.name] = group  # type: ignore[assignment]
            seen += _options(group)  # type: ignore[arg-type]
        else:
            seen.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            mine = {field.name: given.pop(field.name) for field in fields(group)}
            given[name] = group(**mine)
        command(**given)

    run.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in seen}
    return run


def _options(group: type) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def _reading(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Reading", **more)


@dataclass(frozen=True)
class ReadingOptions:
    """How to read the sources; the same for every command that does."""

    format: Annotated[
        Format | None, _reading(help="What the sources are; if not given, told by their names.")
    ] = None
    delimiter: Annotated[
        str | None, _reading(help="Between the cells of CSV; a tab for .tsv.", metavar="CHAR")
    ] = None
    no_header: Annotated[
        bool, _reading("--no-header", help="The first line of CSV is data: columns are c1, c2, ...")
    ] = False
    missing: Annotated[
        list[str] | None,
        _reading(
            help="One more way to write a missing number in CSV, such as '?'.", metavar="TEXT"
        ),
    ] = None

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
    """What to learn from."""

    target: Annotated[
        str | None,
        _columns(
            "--target", "-t", help="The column to predict. LIBSVM has its own.", metavar="COLUMN"
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        _columns(help="A column to leave out; may be given again.", metavar="COLUMN"),
    ] = None
    encode: Annotated[
        Encode | None,
        _columns(help="What to do with columns of text: without it, they are an error."),
    ] = None
    max_categories: Annotated[
        int | None,
        _columns(help="Values of a text column that are told apart, at the most: "
                 "10,000 if ordinal, 100 if onehot.", min=1, max=2**24, metavar="N"),
    ] = None  # fmt: skip
    category_rows: Annotated[
        int,
        _columns(help="onehot: the values in this many rows at the beginning get a feature each; "
                 "later ones share one.", min=1, metavar="ROWS"),
    ] = 10_000  # fmt: skip
    hash_buckets: Annotated[
        int, _columns(help="hash: features for each text column.", min=1, max=2**24, metavar="N")
    ] = 64
    features: Annotated[
        int | None,
        _columns(help="LIBSVM: the number of features. If not given, files are read once more to find "
                 "it.", min=1, max=2**31 - 1, metavar="N"),
    ] = None  # fmt: skip
    zero_based: Annotated[
        bool, _columns("--zero-based", help="LIBSVM: the first feature is number 0, not 1.")
    ] = False

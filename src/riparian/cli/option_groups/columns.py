"""Which columns to learn from, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer


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

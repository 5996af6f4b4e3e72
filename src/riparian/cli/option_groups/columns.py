"""Which columns to learn from, and how."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer


class Encode(StrEnum):
    """How a column of text becomes features."""

    ORDINAL = "ordinal"
    ONEHOT = "onehot"
    HASH = "hash"


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
    encode: Annotated[
        Encode | None,
        _columns(help="Turn text columns into numbers in this way. Without it, they are learned as "
                 "categories, which is better."),
    ] = None  # fmt: skip
    max_categories: Annotated[
        int | None,
        _columns(help="The most values of a text column that are told apart. Default: 100,000; "
                 "with --encode, 10,000 for ordinal, 100 for onehot.",
                 min=1, max=2**24 - 1, metavar="N"),
    ] = None  # fmt: skip
    category_rows: Annotated[
        int,
        _columns(help="The first ROWS rows say what each column is: whether its texts are dates, "
                 "which parts of dates vary, and, with --encode onehot, which values get a feature "
                 "of their own.", min=1, metavar="ROWS"),
    ] = 10_000  # fmt: skip
    hash_buckets: Annotated[
        int, _columns(help="hash: features per text column.", min=1, max=2**24, metavar="N")
    ] = 64
    features: Annotated[
        int | None,
        _columns(help="LIBSVM: the number of features. If it is not given, the files are read one "
                 "extra time to find it.", min=1, max=2**31 - 1, metavar="N"),
    ] = None  # fmt: skip
    zero_based: Annotated[
        bool, _columns("--zero-based", help="LIBSVM: feature numbers start at 0, not at 1.")
    ] = False

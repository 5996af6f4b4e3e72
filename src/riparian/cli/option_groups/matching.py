"""How the columns of a file are matched with those of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer


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

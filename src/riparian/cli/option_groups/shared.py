"""Single options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document to stdout, and nothing else.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Html = Annotated[
    Path | None,
    typer.Option("--html", dir_okay=False, help="Write a report with charts to this file."),
]
Pair = Annotated[
    tuple[str, str] | None,
    typer.Option(
        help="With --html: two features whose plane the report shows.", metavar="NAME NAME"
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(help="A model file, or any snapshot of a forest.", metavar="MODEL")
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Files (also .gz or .zst), globs, or - for standard input. The formats are CSV, TSV, "
        "Parquet, Arrow, JSON lines, LIBSVM and ARFF. Several files are read as one stream.",
    ),
]

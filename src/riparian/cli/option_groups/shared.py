"""Single options and arguments that several commands share, and how `--pair` is read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Protocol

import typer

from riparian.sources.errors import BadUsage, shown

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
        help="With --html: plot the predictions over these two features.", metavar="NAME NAME"
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(help="A model file, or any snapshot of a forest.", metavar="MODEL")
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE",
        help="Files (also .gz or .zst), globs, or - for standard input. The formats are CSV, TSV, "
        "Parquet, Arrow, JSON lines, LIBSVM and ARFF. Several files are read as one stream.",
    ),
]


class Named(Protocol):
    """An object with names of features: columns, or a model."""

    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...


def check_pair(pair: tuple[str, str] | None, html: Path | None) -> None:
    """Check `--pair` as far as is possible before a row is read."""
    if pair is None:
        return
    if html is None:
        raise BadUsage("--pair requires --html: the pair is shown in the report")
    if pair[0] == pair[1]:
        raise BadUsage(f"--pair must be two different features, got {shown(pair[0])} twice")


def numbers_of(pair: tuple[str, str], named: Named) -> tuple[int, int]:
    """Return the positions of two features, by name or, if features have no names, by number."""
    names = named.feature_names or [str(i) for i in range(named.n_features)]
    for name in pair:
        if name not in names:
            raise BadUsage(f"--pair: the model has no feature {shown(name)}")
    return names.index(pair[0]), names.index(pair[1])

"""Tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riparian.tools import text

if TYPE_CHECKING:
    from riparian.evaluation import Scores

MOST_CLASSES = 12  # of a confusion matrix that fits a terminal
MOST_CONFUSIONS = 10


def score(value: float) -> str:
    """Format an accuracy, a kappa or a loss."""
    return text.decimal(value, places=4)


def show(renderable: Any) -> None:
    """Print to stdout with rich; if it is not a terminal, without wrapping and trailing blanks."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(renderable)
        return
    console = Console(width=200, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def two_columns(rows: Mapping[str, str], title: str | None = None) -> Any:
    """Return a table of names and values."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(Text(name, style="bold" if title is None else ""), Text(value))
    return table if title is None else _titled(title, table)


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Any:
    """Return a table with a header; the first columns are flush left, the others right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i < left else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return _titled(title, table)


def _titled(title: str, table: Any) -> Any:
    # The title of a rich table is wrapped to the width of the table.
    from rich.console import Group
    from rich.text import Text

    return Group(Text(f"\n{title}", style="bold"), table)


def confusion_table(scores: Scores) -> Any:
    """Return the confusion matrix or, if there are many classes, the most frequent confusions."""
    classes = [str(label) for label in scores.classes]
    matrix = scores.confusion
    if len(classes) <= MOST_CLASSES:
        rows = [
            [label, *(f"{count:,}" for count in row)]
            for label, row in zip(classes, matrix.tolist(), strict=True)
        ]
        return grid("confusion: truth down, prediction across", ["", *classes], rows)
    wrong = matrix.copy()
    wrong[range(len(classes)), range(len(classes))] = 0
    order = wrong.ravel().argsort(kind="stable")[::-1][:MOST_CONFUSIONS]
    pairs = [(int(i) // len(classes), int(i) % len(classes)) for i in order]
    return grid(
        f"most frequent confusions, of {len(classes)} classes",
        ["truth", "predicted", "rows", "share of truth"],
        [
            [classes[i], classes[j], f"{wrong[i, j]:,}", f"{wrong[i, j] / matrix[i].sum():.1%}"]
            for i, j in pairs
            if wrong[i, j]
        ],
        left=2,
    )


def class_table(scores: Scores) -> Any:
    """Return a table with precision, recall and F1 of every class."""
    rows = [
        [
            str(row["label"]),
            *(text.UNKNOWN if row[name] is None else score(row[name]) for name in NUMBERS),
            f"{row['support']:,}",
        ]
        for row in scores.by_class()
    ]
    return grid("by class", ["", *NUMBERS, "rows"], rows)


NUMBERS = ("precision", "recall", "f1")

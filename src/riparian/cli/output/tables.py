"""Tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riparian.tools import text

if TYPE_CHECKING:
    from riparian.evaluation import NumberScores, Scores
    from riparian.evaluation.intervals import StreamIntervals

MOST_CLASSES = 12  # of a confusion matrix that fits a terminal
MOST_CONFUSIONS = 10
MOST_HINTS = 3
MOST_ROWS = 30  # of a table of classes


def number(value: float) -> str:
    """Format an error in the unit of the target: four digits, whatever its size.

    >>> number(1234.5678), number(0.000012345), number(float("nan"))
    ('1,235', '1.234e-05', '–')
    """
    if value != value:
        return text.UNKNOWN
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


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

    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(_text(name, style="bold" if title is None else ""), _text(value))
    return table if title is None else _titled(title, table)


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Any:
    """Return a table with a header; the first columns are flush left, the others right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0))
    for i, name in enumerate(header):
        table.add_column(_text(name), justify="left" if i < left else "right")
    for row in rows:
        table.add_row(*(_text(cell) for cell in row))
    return _titled(title, table)


def _titled(title: str, table: Any) -> Any:
    # The title of a rich table is wrapped to the width of the table.
    from rich.console import Group

    return Group(_text(f"\n{title}", style="bold"), table)


def _text(content: str, style: str = "") -> Any:
    """Return a text for rich, in which names of columns and labels cannot command the terminal."""
    from rich.text import Text

    return Text(text.printable(content), style=style)


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


def numbers_in_words(scores: NumberScores, how: str = "", recent: str = "") -> dict[str, str]:
    """Return the scores of predicted numbers, with how they were made next to the first."""
    words = {name: number(value) for name, value in scores.headline().items()}
    words["RMSE"] += (how and f" {how}") + (recent and f", {recent}")
    return words


def intervals_in_words(intervals: StreamIntervals) -> str:
    """Return the scores of the intervals of each coverage."""
    return "; ".join(
        f"{each.intended:.4g} intended, coverage {score(each.coverage)}, mean width "
        f"{number(each.mean_width)}, interval score {number(each.interval_score)}"
        for each in intervals.scores
    )


def scores_in_words(scores: Scores, how: str = "", recent: str = "") -> dict[str, str]:
    """Return the scores by name, the most telling first, with how they were made next to the first."""
    words = {name: score(value) for name, value in scores.headline().items()}
    ranked = {"AUC": scores.auc_error, "average precision": scores.average_precision_error}
    for name, error in ranked.items():
        if error >= 0.0005:
            words[name] += f" ± {score(error)}"
    if len(scores.classes) == 2 and "average precision" in words:
        share = scores.ranking.truths[scores.positive] / scores.rows
        words["average precision"] += f" for {scores.positive!r}, {share:.1%} of the rows"
    words[next(iter(words))] += how and f" {how}"
    words["accuracy"] += recent and f", {recent}"
    decision = scores.final_decision()
    if decision is not None:
        words["threshold"] = f"{decision.threshold:.4g} for {decision.label!r}"
    return words


def show_never_predicted(scores: Scores) -> None:
    """Print what to do about classes that are never predicted."""
    rarely, never = scores.rarely_predicted(), scores.never_predicted()
    for label, share in list(rarely.items())[:MOST_HINTS]:
        often = "never" if label in never else "hardly ever"
        show(
            f"hint: {label!r}, {share:.1%} of the rows, is {often} predicted: try --class-weight "
            "balanced or --threshold"
        )
    if len(rarely) > MOST_HINTS:
        show(f"hint: {len(rarely) - MOST_HINTS:,} more classes are hardly ever predicted")


def class_table(scores: Scores) -> Any:
    """Return a table with the scores of every class or, if there are many, of the most frequent."""
    by_class = sorted(scores.by_class(), key=lambda row: -row["support"])[:MOST_ROWS]
    rows = [
        [
            str(row["label"]),
            *(text.UNKNOWN if row[name] is None else score(row[name]) for name in NUMBERS),
            f"{row['support']:,}",
        ]
        for row in by_class
    ]
    more = len(scores.classes) - len(rows)
    title = "by class" if not more else f"by class, without {more:,} that have fewer rows"
    return grid(title, ["", *(name.replace("_", " ") for name in NUMBERS), "rows"], rows)


NUMBERS = ("precision", "recall", "f1", "auc", "average_precision")

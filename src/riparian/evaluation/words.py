"""Scores as people and notebooks show them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from riparian.tools.notebook import curves, table
from riparian.tools.text import UNKNOWN, count, percent, shortened

if TYPE_CHECKING:
    from riparian.evaluation.classes import Scores

FIRST = 3  # scores of a headline that fit into a line
MOST_NEVER = 3  # classes that are named
LONGEST_NAME = 60


class Headed(Protocol):
    """Scores of any kind."""

    @property
    def rows(self) -> int: ...
    def headline(self) -> dict[str, float]: ...


def scores_in_words(name: str, scores: Headed) -> str:
    """
    >>> from riparian.evaluation import Scores
    >>> Scores()
    Scores(no rows)
    """
    if not scores.rows:
        return f"{name}(no rows)"
    return f"{name}({count(scores.rows)} rows: {_first(scores)})"


def scores_as_table(scores: Headed) -> str:
    if not scores.rows:
        return table("Scores of no rows", {})
    shown = {name: _shown(value) for name, value in scores.headline().items()}
    return table(f"Scores of {count(scores.rows)} rows", shown)


def classes_as_html(scores: Scores) -> str:
    """The scores, and which classes are never predicted."""
    rare = rare_in_words(scores)
    return scores_as_table(scores) + (f"<p>{escape(rare)}</p>" if rare else "")


def rare_in_words(scores: Scores) -> str:
    """Say which classes were never or hardly ever predicted, and what helps."""
    rarely, never = scores.rarely_predicted(), scores.never_predicted()
    if not rarely or len(scores.ranking.truths) < 2:
        return ""
    largest = sorted(rarely.items(), key=lambda each: -each[1])[:MOST_NEVER]
    named = ", ".join(
        f"{shortened(str(label), LONGEST_NAME)} ({percent(share)} of the rows)"
        for label, share in largest
    )
    others = (
        f" and {count(len(rarely) - MOST_NEVER)} more classes" if len(rarely) > MOST_NEVER else ""
    )
    often = "Never" if len(never) == len(rarely) else "Hardly ever"
    return (
        f"{often} predicted: {named}{others}. Another class was almost always more probable. Class "
        'weights (class_weight="balanced") or a threshold change that.'
    )


def stream_in_words(test: Any) -> str:
    scores = test.scores
    if not scores.rows:
        return "Prequential(no rows)"
    recent = ", ".join(
        f"{name.removeprefix('window_')} {_shown(value)}"
        for name, value in test.to_dict().items()
        if name.startswith("window_") and value is not None
    )
    return (
        f"Prequential({count(scores.rows)} rows: {_first(scores)}; "
        f"last {count(test.window)} rows: {recent})"
    )


def stream_as_html(test: Any) -> str:
    """The scores and their curves."""
    x = [point.row for point in test.curve]
    named = {
        words: [getattr(point, name) for point in test.curve]
        for name, words in test.scores.DRAWN.items()
    }
    return str(test.scores._repr_html_()) + curves(x, named)


def _first(scores: Headed) -> str:
    pairs = list(scores.headline().items())[:FIRST]
    return ", ".join(f"{name} {_shown(value)}" for name, value in pairs)


def _shown(value: float) -> str:
    return UNKNOWN if value != value else f"{value:.4g}"

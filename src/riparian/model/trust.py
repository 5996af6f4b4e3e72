"""What answers come from, in words: cells of a size (R25), the last points of a leaf (R27), and the last
target of the stream (R29)."""

from __future__ import annotations

from collections.abc import Mapping

from riparian.engine.engine import Correction


def trust_in_words(trust: Mapping[float, float]) -> str:
    """Name the head that most of an answer comes from.

    >>> trust_in_words({1: 0.0, 4: 0.25, 16: 0.75, 64: 0.0, 256: 0.0})
    'answers come mostly from cells of about 16 points (75%)'
    >>> trust_in_words({1: 0.25, 4: 0.375, 16: 0.375, 64: 0.0, 256: 0.0})
    'answers come from several sources, most from cells of about 4 points (38%)'
    >>> trust_in_words({1: 0.125, 4: 0.0, 16: 0.0, 64: 0.0, 256: 0.0, 1 / 3: 0.0, 0.8: 0.875, 0.95: 0.0})
    'answers come mostly from about the last 5 points of a leaf (88%)'
    """
    head = max(trust, key=lambda head: trust[head])
    if trust[head] > 0.5:
        return f"answers come mostly from {head_in_words(head)} ({trust[head]:.0%})"
    return f"answers come from several sources, most from {head_in_words(head)} ({trust[head]:.0%})"


def head_name(head: float) -> str:
    """Name a head in a chart: by the points of its cells, or the last points of its memory.

    >>> head_name(64), head_name(1 / 3), head_name(0.95)
    ('64 points', 'last 1.5', 'last 20')
    """
    return of_points(f"{head:g}") if head >= 1 else f"last {1 / (1 - head):.2g}"


def head_in_words(head: float) -> str:
    """Describe a head by its name: a size of cell, or the factor of a memory, which is below 1.

    >>> head_in_words(64), head_in_words(0.95)
    ('cells of about 64 points', 'about the last 20 points of a leaf')
    """
    if head >= 1:
        return f"cells of about {of_points(f'{head:g}')}"
    points = 1 / (1 - head)  # the sum of a memory of many points
    return f"about the last {points:.2g} points of a leaf"


def of_points(number: str) -> str:
    return f"{number} point" if number == "1" else f"{number} points"


def follows_of(correction: Correction) -> dict[str, float]:
    """Return how much of an answer the last target is, and how much of the last error joins it."""
    return {"last_target": correction.target_share, "last_error": correction.error_share}


def follows_in_words(follows: Mapping[str, float]) -> str:
    """Say how far answers follow the last learned point (R29).

    >>> follows_in_words({"last_target": 0.9, "last_error": 0.05})
    'answers take 90% from the last target, and add 5% of the last error'
    """
    return (
        f"answers take {follows['last_target']:.0%} from the last target, and add "
        f"{follows['last_error']:.0%} of the last error"
    )

"""When trees were replaced (R27), in a few words. A change shows as a crowd of replacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from riparian.model.model import HasModel
from riparian.parameters.forests import ChangeParameters

Replacement = tuple[int, int]  # the point, from 0, and the tree

MOST_CROWDS = 5  # this many are named one by one
SHARE = 50  # two replacements closer than 1/50 of the stream are in one crowd


def replacements_of(forest: HasModel) -> list[Replacement] | None:
    """Return the replacements of a forest, or None if it never replaces a tree for its error."""
    engine = forest.model_.engine
    return engine.replacements() if isinstance(engine.parameters, ChangeParameters) else None


@dataclass(frozen=True)
class Crowd:
    """Replacements that followed one another closely."""

    first: int  # point
    last: int
    trees: int


def crowds(replacements: Sequence[Replacement], points: int) -> list[Crowd]:
    """Group the replacements of a stream of `points` points by their distance.

    >>> crowds([(510, 0), (515, 2), (902, 1)], points=1000)
    [Crowd(first=510, last=515, trees=2), Crowd(first=902, last=902, trees=1)]
    """
    grouped: list[Crowd] = []
    for point, _ in sorted(replacements):
        if grouped and point - grouped[-1].last <= points // SHARE:
            grouped[-1] = Crowd(grouped[-1].first, point, grouped[-1].trees + 1)
        else:
            grouped.append(Crowd(point, point, 1))
    return grouped


def replacements_in_words(replacements: Sequence[Replacement], points: int) -> str:
    """Describe the replacements of a stream of `points` points.

    >>> replacements_in_words([], 1000)
    'no tree was replaced'
    >>> replacements_in_words([(510, 0), (515, 2), (902, 1)], 1000)
    '3 trees were replaced: 2 at points 510 to 515, 1 at point 902'
    """
    if not replacements:
        return "no tree was replaced"
    grouped = crowds(replacements, points)
    largest = sorted(sorted(grouped, key=lambda crowd: -crowd.trees)[:MOST_CROWDS], key=_first)
    listed = ", ".join(f"{crowd.trees:,} at {_when(crowd)}" for crowd in largest)
    others = sum(crowd.trees for crowd in grouped) - sum(crowd.trees for crowd in largest)
    number = f"{len(replacements):,} trees were" if len(replacements) > 1 else "1 tree was"
    if len(grouped) == 1:
        return f"{number} replaced, at {_when(grouped[0])}"
    return f"{number} replaced: {listed}" + (f", {others:,} at other times" if others else "")


def _first(crowd: Crowd) -> int:
    return crowd.first


def _when(crowd: Crowd) -> str:
    if crowd.first == crowd.last:
        return f"point {crowd.first:,}"
    return f"points {crowd.first:,} to {crowd.last:,}"

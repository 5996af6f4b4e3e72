"""When trees were replaced (R23), told in a few words: changes come as crowds of replacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Replacement = tuple[int, int]  # the point, from 0, and the tree

MOST_CROWDS = 5  # that are told one by one
SHARE = 50  # two replacements that are closer than a fiftieth of the stream are of one crowd


def replacements_of(forest: Any) -> list[Replacement] | None:
    """None, where a forest never replaces a tree for what it gets wrong."""
    found: list[Replacement] | None = getattr(forest, "replacements_", None)
    return found


@dataclass(frozen=True)
class Crowd:
    """Replacements that came soon after each other."""

    first: int  # point
    last: int
    trees: int


def crowds(replacements: Sequence[Replacement], points: int) -> list[Crowd]:
    """The replacements of a stream of so many points, those that are close taken together.

    >>> crowds([(510, 0), (515, 2), (902, 1)], points=1000)
    [Crowd(first=510, last=515, trees=2), Crowd(first=902, last=902, trees=1)]
    """
    found: list[Crowd] = []
    for point, _ in sorted(replacements):
        if found and point - found[-1].last <= points // SHARE:
            found[-1] = Crowd(found[-1].first, point, found[-1].trees + 1)
        else:
            found.append(Crowd(point, point, 1))
    return found


def replacements_in_words(replacements: Sequence[Replacement], points: int) -> str:
    """
    >>> replacements_in_words([], 1000)
    'no tree was replaced'
    >>> replacements_in_words([(510, 0), (515, 2), (902, 1)], 1000)
    '3 trees were replaced: 2 at points 510 to 515, 1 at point 902'
    """
    if not replacements:
        return "no tree was replaced"
    found = crowds(replacements, points)
    largest = sorted(sorted(found, key=lambda crowd: -crowd.trees)[:MOST_CROWDS], key=_first)
    told = ", ".join(f"{crowd.trees:,} at {_when(crowd)}" for crowd in largest)
    others = sum(crowd.trees for crowd in found) - sum(crowd.trees for crowd in largest)
    number = f"{len(replacements):,} trees were" if len(replacements) > 1 else "1 tree was"
    return f"{number} replaced: {told}" + (f", {others:,} at other times" if others else "")


def _first(crowd: Crowd) -> int:
    return crowd.first


def _when(crowd: Crowd) -> str:
    if crowd.first == crowd.last:
        return f"point {crowd.first:,}"
    return f"points {crowd.first:,} to {crowd.last:,}"

"""Texts for nodes, features and classes, in text and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.halves import codes_left
from riparian.inspection.view import NONE, TreeView, tree_view
from riparian.tools.checks import whole

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

MOST_NAMED = 3  # categories of a half

Names = Sequence[Any] | NDArray[Any] | None


class Words:
    """The texts for the nodes of one tree."""

    def __init__(
        self,
        forest: OnlineForestClassifier,
        tree: int,
        feature_names: Names,
        class_names: Names,
        max_depth: int | None,
        decimals: int,
    ) -> None:
        self.view: TreeView = tree_view(forest, tree)
        self.max_depth = None if max_depth is None else whole("max_depth", max_depth, 0, 2**31)
        self._features = names_of_features(forest, feature_names)
        self._tables = forest.model_.categories
        self._shown = forest.model_.shown  # dates as dates
        self._classes = names_of_classes(self.view.classes, class_names)
        self._decimals = whole("decimals", decimals, at_least=0, at_most=20)
        self._best, self._points, self._leaves = self.view.best, self.view.points, self.view.leaves
        eager = forest.model_.engine.trust() is not None
        self.voter = (
            "vote" if eager else "estimation point"
        )  # R24: structure points have voted, too

    def shown(self) -> list[int]:
        return list(self.view.preorder(self.max_depth))

    def cut(self, node: int) -> bool:
        """Return whether the nodes below this one are left out."""
        return bool(not self.view.is_leaf[node] and self.view.depth[node] == self.max_depth)

    def condition(self, node: int, sign: str = "<=") -> str:
        """Return the condition for going left; with a sign such as `>`, for going right."""
        column, value = int(self.view.feature[node]), self.view.threshold[node]
        feature = self._features[column]
        if self.view.categorical[node]:
            right = ">" in sign
            if value < 0:
                return f"{feature} {'not in' if right else 'in'} {{{self._half(column, value)}}}"
            return f"{feature} {'!=' if right else '='} {self._category(column, value)}"
        shown = self._shown(column, float(value))
        return f"{feature} {sign} {f'{value:.{self._decimals}f}' if shown is None else shown}"

    def _category(self, column: int, code: np.float32) -> str:
        """A split point may have come without a value: nothing equals that."""
        return "missing" if np.isnan(code) else self._tables[column].name(int(code))

    def _half(self, column: int, half: np.float32) -> str:
        """Return the first of the known categories that go left (R22)."""
        table = self._tables[column]
        codes = codes_left(float(half), table.n_codes).tolist()
        names = ", ".join(table.name(code) for code in codes[:MOST_NAMED])
        more = len(codes) - MOST_NAMED
        return f"{names} and {more} more" if more > 0 else names

    def best(self, node: int, joint: str = " ") -> str:
        if len(self.view.means):
            return f"mean{joint}{self.view.means[node]:.6g}"
        best = self._best[node]
        return "no class yet" if best == NONE else f"class{joint}{self._classes[best]}"

    def points(self, node: int, kind: str = "point") -> str:
        return counted(int(self._points[node]), kind)

    def leaves(self, node: int) -> str:
        return counted(int(self._leaves[node]), "leaf")

    def counts(self, node: int) -> str:
        return str(self.view.counts[node].tolist())

    def state(self, node: int) -> str:
        if self.view.young[node]:
            return "young"
        return "active" if self.view.active[node] else "inactive"

    def box(self, node: int, sign: str, show_counts: bool) -> list[str]:
        """The lines in the box of a node."""
        if self.cut(node):
            first = f"({self.leaves(node)})"
        else:
            first = self.state(node) if self.view.is_leaf[node] else self.condition(node, sign)
        counts = [self.counts(node)] if show_counts else []
        return [first, self.points(node), *counts, self.best(node)]


def names_of_features(forest: OnlineForestClassifier, given: Names) -> list[str]:
    """The names given; else those that came with the data; else x[0], x[1], ..."""
    n = forest.model_.engine.n_dims
    if given is None:
        given = forest.model_.feature_names
    if given is None:
        return [f"x[{i}]" for i in range(n)]
    if len(given) != n:
        raise ValueError(f"feature_names must name {n} features, got {len(given)}")
    return [str(name) for name in given]


def names_of_classes(classes: NDArray[Any], given: Names) -> list[str]:
    """The names given, in the order of `classes_`; else the labels themselves."""
    if given is None:
        given = classes
    if len(given) != len(classes):
        raise ValueError(f"class_names must name {len(classes)} classes, got {len(given)}")
    return [str(name) for name in given]


def number_of_feature(feature: int | str, names: Sequence[str]) -> int:
    """Return the column of a feature that the user gave by name or number."""
    if not isinstance(feature, str):
        return whole("feature", feature, at_least=0, at_most=len(names) - 1)
    if feature not in names:
        raise ValueError(f"feature must be one of {_shortened(names)}, got {feature!r}")
    return list(names).index(feature)


def counted(n: int, thing: str) -> str:
    """1 point, 2 points; 1 leaf, 2 leaves."""
    if n == 1:
        return f"1 {thing}"
    return f"{n} {thing}s" if thing != "leaf" else f"{n} leaves"


def _shortened(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:8]]
    return ", ".join([*shown, "..."] if len(names) > 8 else shown)

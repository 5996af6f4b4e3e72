"""The forest as the `shap` package takes it, for its explainers and plots.

SHAP's trees know `x <= threshold` alone. A test of a category, or of half of them (R22), becomes several
of these, one between any two codes of which one goes left and the next one right: what is below stands
in several places, with a part of the weight each, so that contributions stay the same.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riparian.model.ensemble import Ensemble, ensemble_of

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

MOST_NODES = 2**21  # of all trees, where tests of categories have to be written as several

NEVER = -1.0  # a threshold below every code


def to_shap(forest: RowForest) -> dict[str, Any]:
    """Return the dictionary of trees that `shap.TreeExplainer` takes instead of a model.

    Values are the parts of the trees in the probabilities, a column per class in the order of
    `classes_`, or in the predicted number; the weight of a node is the sum of its children's,
    without which contributions would not add up. `shap` itself is not needed for this. It compares
    float64 with thresholds of float32: give it the rows as float32, and categories as their codes.
    """
    return described(ensemble_of(forest, "an explanation"))


def described(ensemble: Ensemble) -> dict[str, Any]:
    trees, left = list[dict[str, Any]](), MOST_NODES
    for nodes in ensemble.nodes:
        written = _written(ensemble, nodes.start, left)
        left -= len(written.left)
        trees.append(_tree(ensemble, written))
    return {
        "trees": trees,
        "internal_dtype": np.float64,
        "input_dtype": np.float32,
        "objective": None,
        "tree_output": "raw_value" if ensemble.classes is None else "probability",
        "base_offset": ensemble.offset,
    }


@dataclass(frozen=True)
class _Nodes:
    """A tree in SHAP's words: lists with an entry per node; children come after their parents."""

    source: list[int] = field(default_factory=list)  # the node that it stands for
    weight: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)  # -1 of a leaf, as of the next two
    right: list[int] = field(default_factory=list)
    default: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)

    def add(self, source: int, weight: float) -> int:
        self.source.append(source)
        self.weight.append(weight)
        for each in (self.left, self.right, self.default):
            each.append(-1)
        self.threshold.append(-1.0)
        return len(self.left) - 1


Codes = dict[
    int, tuple[float, float]
]  # per categorical feature: the least and the largest, where known


def _written(ensemble: Ensemble, root: int, most: int) -> _Nodes:
    nodes, weight = _Nodes(), 1.0 if ensemble.abstains else float(ensemble.node_weight[root])
    first = nodes.add(root, weight)
    stack: list[tuple[int, Codes]] = [(first, {})]  # what is still to be given its children
    plain = not ensemble.equals.any()
    codes_of = cache(lambda node: ensemble.codes_left(node).tolist())  # it may stand often
    while stack:
        place, codes = stack.pop()
        node = nodes.source[place]
        if ensemble.left[node] < 0:
            continue
        if not plain and len(nodes.left) > most:
            raise ValueError(
                f"SHAP has only tests of x <= threshold, and this forest's tests of categories "
                f"would take more than {MOST_NODES:,} of them: use riparian.explain.Explainer, "
                "which needs none"
            )
        if ensemble.equals[node]:
            stack += _of_category(ensemble, nodes, place, codes, codes_of)
        else:
            stack += _of_number(ensemble, nodes, place, codes)
    return nodes


def _of_number(
    ensemble: Ensemble, nodes: _Nodes, place: int, codes: Codes
) -> list[tuple[int, Codes]]:
    yes, no = _children(ensemble, nodes, place)
    _ask(nodes, place, float(ensemble.threshold[nodes.source[place]]), yes, no, missing=no)
    return [(no, codes), (yes, codes)]


def _of_category(
    ensemble: Ensemble,
    nodes: _Nodes,
    place: int,
    codes: Codes,
    codes_of: Callable[[int], list[int]],
) -> list[tuple[int, Codes]]:
    """Send the categories that go left one way; everything else, also a missing value, the other."""
    node = nodes.source[place]
    feature, left = int(ensemble.feature[node]), int(ensemble.left[node])
    runs = _runs(codes_of(node), *codes.get(feature, (0.0, np.inf)))
    if len(runs) == 1:  # the other way leads to no code
        yes, no = _children(ensemble, nodes, place)
        sides = (yes, no) if not runs[0].left else (no, yes)
        _ask(nodes, place, NEVER, *sides, missing=no)
        return [(no, codes), (yes, codes)]
    scale = nodes.weight[place] / ensemble.node_weight[node]
    # What goes one way stands in several places, with equal parts of the weight.
    n_left = sum(run.left for run in runs)
    yes_part = scale * float(ensemble.node_weight[left]) / n_left
    no_part = scale * float(ensemble.node_weight[left + 1]) / (len(runs) - n_left)
    reached = list[tuple[int, Codes]]()
    at = place
    for i, run in enumerate(runs):
        child = at
        if i < len(runs) - 1:
            child = nodes.add(left + (not run.left), yes_part if run.left else no_part)
            others = runs[i + 1 :]
            if len(others) == 1:
                last = others[0].left
                rest = nodes.add(left + (not last), yes_part if last else no_part)
            else:
                weight = sum(yes_part if other.left else no_part for other in others)
                rest = nodes.add(node, weight)
            _ask(nodes, at, run.largest + 0.5, child, rest, missing=rest if run.left else child)
            at = rest
        reached.append((child, {**codes, feature: (run.least, run.largest)}))
    return reached[::-1]


class _Run(NamedTuple):
    """Codes one after the other, all of which go one way."""

    left: bool
    least: float
    largest: float


def _runs(codes_left: list[int], least: float, largest: float) -> list[_Run]:
    """All codes from the least to the largest, in order.

    >>> [tuple(run) for run in _runs([2, 3, 9], 0, np.inf)]
    [(False, 0, 1), (True, 2, 3), (False, 4, 8), (True, 9, 9), (False, 10, inf)]
    >>> [tuple(run) for run in _runs([2, 3, 9], 3, 5)]
    [(True, 3, 3), (False, 4, 5)]
    """
    runs, at = list[_Run](), least
    for code in codes_left[bisect_left(codes_left, least) : bisect_right(codes_left, largest)]:
        if code > at:
            runs.append(_Run(False, at, code - 1))
        if runs and runs[-1].left and runs[-1].largest == code - 1:
            runs[-1] = runs[-1]._replace(largest=code)
        else:
            runs.append(_Run(True, code, code))
        at = code + 1
    return [*runs, _Run(False, at, largest)] if at <= largest else runs


def _children(ensemble: Ensemble, nodes: _Nodes, place: int) -> tuple[int, int]:
    node = nodes.source[place]
    left, scale = int(ensemble.left[node]), nodes.weight[place] / ensemble.node_weight[node]
    yes = nodes.add(left, scale * float(ensemble.node_weight[left]))
    return yes, nodes.add(left + 1, scale * float(ensemble.node_weight[left + 1]))


def _ask(
    nodes: _Nodes, place: int, threshold: float, left: int, right: int, *, missing: int
) -> None:
    nodes.threshold[place] = threshold
    nodes.left[place], nodes.right[place], nodes.default[place] = left, right, missing


def _tree(ensemble: Ensemble, nodes: _Nodes) -> dict[str, Any]:
    return {
        "children_left": np.array(nodes.left),
        "children_right": np.array(nodes.right),
        "children_default": np.array(nodes.default),
        "features": ensemble.feature[nodes.source],
        "thresholds": np.array(nodes.threshold),
        "values": _values(ensemble, nodes),
        "node_sample_weight": np.array(nodes.weight),
    }


def _values(ensemble: Ensemble, nodes: _Nodes) -> Any:
    """Return the answers of leaves; of inner nodes, the mean over the points below."""
    of_leaf = ensemble.leaf_number[nodes.source]
    leaves = np.flatnonzero(of_leaf >= 0)
    first, last = int(of_leaf[leaves].min()), int(of_leaf[leaves].max()) + 1
    values = np.zeros((len(of_leaf), ensemble.n_outputs))
    of_leaves = ensemble.leaf_values(first, last) / ensemble.n_trees
    values[leaves] = of_leaves[of_leaf[leaves] - first]
    for node in reversed(np.flatnonzero(of_leaf < 0).tolist()):  # children come after it
        both = [nodes.left[node], nodes.right[node]]
        values[node] = np.take(nodes.weight, both) @ values[both] / nodes.weight[node]
    return values

"""The forest as the `shap` package takes it, for its explainers and plots.

SHAP's trees know `x <= threshold` alone. A test of a category, `x == c` (R22), becomes two of these
where codes lie on both sides of c: what does not equal c then stands on both sides, with half of the
weight each, so that contributions stay the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riparian.estimator.ensemble import Ensemble, ensemble_of

if TYPE_CHECKING:
    from riparian.estimator.row_forest import RowForestClassifier

MOST_NODES = 2**21  # of all trees, where tests of categories have to be written as two

NEVER = -1.0  # a threshold below every code


def to_shap(forest: RowForestClassifier) -> dict[str, Any]:
    """The dictionary of trees that `shap.TreeExplainer` takes in place of a model.

    Values are the parts of the trees in the probabilities, a column per class in the order of
    `classes_`; the weight of a node is the sum of its children's, without which contributions would
    not add up. `shap` itself is not needed for this. It compares float64 with thresholds of
    float32: give it the rows as float32, and categories as their codes.
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
        "tree_output": "probability",
        "base_offset": 0.0,
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
    while stack:
        place, codes = stack.pop()
        node = nodes.source[place]
        if ensemble.left[node] < 0:
            continue
        if not plain and len(nodes.left) > most:
            raise ValueError(
                f"SHAP knows tests of x <= threshold alone, and this forest's tests of categories "
                f"would take more than {MOST_NODES:,} of them: use riparian.explain.Explainer, "
                "which needs none"
            )
        split = _of_category if ensemble.equals[node] else _of_number
        stack += split(ensemble, nodes, place, codes)
    return nodes


def _of_number(
    ensemble: Ensemble, nodes: _Nodes, place: int, codes: Codes
) -> list[tuple[int, Codes]]:
    yes, no = _children(ensemble, nodes, place)
    _ask(nodes, place, float(ensemble.threshold[nodes.source[place]]), yes, no, missing=no)
    return [(no, codes), (yes, codes)]


def _of_category(
    ensemble: Ensemble, nodes: _Nodes, place: int, codes: Codes
) -> list[tuple[int, Codes]]:
    """What may equal c goes one way, all else, a missing value too, the other (R22)."""
    node = nodes.source[place]
    feature, c = int(ensemble.feature[node]), float(ensemble.threshold[node])
    least, largest = codes.get(feature, (0.0, np.inf))
    equal = {**codes, feature: (c, c)}
    below, above = ({**codes, feature: b} for b in ((least, c - 1), (c + 1, largest)))
    if not least < c < largest:
        yes, no = _children(ensemble, nodes, place)
        if c == least:
            _ask(nodes, place, c + 0.5, yes, no, missing=no)
            return [(no, above), (yes, equal)]
        if c == largest:
            _ask(nodes, place, c - 0.5, no, yes, missing=no)
            return [(no, below), (yes, equal)]
        _ask(nodes, place, NEVER, yes, no, missing=no)  # it is elsewhere, or not known
        return [(no, codes), (yes, codes)]
    scale = nodes.weight[place] / ensemble.node_weight[node]
    yes_weight, no_weight = scale * ensemble.node_weight[ensemble.left[node] :][:2]
    inner = nodes.add(node, yes_weight + no_weight / 2)
    no_above = nodes.add(int(ensemble.left[node]) + 1, no_weight / 2)
    no_below = nodes.add(int(ensemble.left[node]) + 1, no_weight / 2)
    yes = nodes.add(int(ensemble.left[node]), yes_weight)
    _ask(nodes, place, c + 0.5, inner, no_above, missing=no_above)
    _ask(nodes, inner, c - 0.5, no_below, yes, missing=no_below)
    return [(no_above, above), (no_below, below), (yes, equal)]


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
    """Of the leaves, and of inner nodes the mean over the points below."""
    of_leaf = ensemble.leaf_number[nodes.source]
    leaves = np.flatnonzero(of_leaf >= 0)
    first, last = int(of_leaf[leaves].min()), int(of_leaf[leaves].max()) + 1
    values = np.zeros((len(of_leaf), ensemble.n_classes))
    of_leaves = ensemble.leaf_values(first, last) / ensemble.n_trees
    values[leaves] = of_leaves[of_leaf[leaves] - first]
    for node in reversed(np.flatnonzero(of_leaf < 0).tolist()):  # children come after it
        both = [nodes.left[node], nodes.right[node]]
        values[node] = np.take(nodes.weight, both) @ values[both] / nodes.weight[node]
    return values

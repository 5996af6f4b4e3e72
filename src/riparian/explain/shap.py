"""The forest as the `shap` package takes it, for its explainers and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riparian.estimator.ensemble import Ensemble, ensemble_of

if TYPE_CHECKING:
    from riparian.estimator.row_forest import RowForestClassifier


def to_shap(forest: RowForestClassifier) -> dict[str, Any]:
    """The dictionary of trees that `shap.TreeExplainer` takes in place of a model.

    Values are the parts of the trees in the probabilities, a column per class in the order of
    `classes_`; the weight of a node is the sum of its children's, without which contributions would
    not add up. `shap` itself is not needed for this. It compares float64 with thresholds of
    float32: give it the rows as float32.
    """
    ensemble = ensemble_of(forest, "an explanation")
    return {
        "trees": [_tree(ensemble, nodes) for nodes in ensemble.nodes],
        "internal_dtype": np.float64,
        "input_dtype": np.float32,
        "objective": None,
        "tree_output": "probability",
        "base_offset": 0.0,
    }


def _tree(ensemble: Ensemble, nodes: slice) -> dict[str, Any]:
    is_leaf = ensemble.is_leaf[nodes]
    left = np.where(is_leaf, -1, ensemble.left[nodes] - nodes.start)
    right = np.where(is_leaf, -1, left + 1)
    weight = ensemble.node_weight[nodes]
    if ensemble.abstains:
        weight = np.ones(1)
    return {
        "children_left": left,
        "children_right": right,
        "children_default": right,  # NaN goes right (R4)
        "features": ensemble.feature[nodes],
        "thresholds": np.where(is_leaf, -1, ensemble.threshold[nodes]).astype(np.float64),
        "values": _values(ensemble, nodes, left, weight),
        "node_sample_weight": weight,
    }


def _values(ensemble: Ensemble, nodes: slice, left: Any, weight: Any) -> Any:
    """Of the leaves, and of inner nodes the mean over the points below."""
    of_leaf = ensemble.leaf_number[nodes]
    leaves = np.flatnonzero(of_leaf >= 0)
    values = np.zeros((len(left), ensemble.n_classes))
    first = int(of_leaf[leaves[0]])
    values[leaves] = ensemble.leaf_values(first, first + len(leaves)) / ensemble.n_trees
    for node in reversed(np.flatnonzero(of_leaf < 0).tolist()):  # children come after it
        below = slice(left[node], left[node] + 2)
        values[node] = weight[below] @ values[below] / weight[node]
    return values

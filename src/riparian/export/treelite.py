"""Treelite: trees whose leaves are vectors of probabilities, or numbers, averaged."""

from __future__ import annotations

from typing import Any

from riparian.model.ensemble import Ensemble
from riparian.tools.optional import optional_module

# Like the forests that treelite imports from scikit-learn. A threshold of float32 is exact in it.
NUMBERS = "float64"


def model(ensemble: Ensemble) -> bytes:
    builder = optional_module(
        "treelite.model_builder", needed_by="an export to treelite", extra="export"
    )
    trees, outputs, of_numbers = ensemble.n_trees, ensemble.n_outputs, ensemble.classes is None
    built = builder.ModelBuilder(
        threshold_type=NUMBERS,
        leaf_output_type=NUMBERS,
        metadata=builder.Metadata(
            num_feature=ensemble.n_features,
            task_type="kRegressor" if of_numbers else "kMultiClf",
            average_tree_output=True,
            num_target=1,
            num_class=[outputs],
            leaf_vector_shape=(1, outputs),
        ),
        tree_annotation=builder.TreeAnnotation(
            num_tree=trees, target_id=[0] * trees, class_id=[0 if of_numbers else -1] * trees
        ),
        postprocessor=builder.PostProcessorFunc(
            name="identity" if of_numbers else "identity_multiclass"
        ),
        base_scores=[ensemble.offset] * outputs,
    )
    for nodes in ensemble.nodes:
        _add_tree(built, ensemble, nodes)
    return bytes(built.commit().serialize_bytes())


def _add_tree(built: Any, ensemble: Ensemble, nodes: slice) -> None:
    first = nodes.start
    of_leaf = ensemble.leaf_number[nodes].tolist()
    inside = [number for number in of_leaf if number >= 0]
    values = ensemble.leaf_values(inside[0], inside[-1] + 1).tolist()
    left = (ensemble.left[nodes] - first).tolist()
    equals = ensemble.equals[nodes].tolist()
    tests = zip(ensemble.feature[nodes].tolist(), ensemble.threshold[nodes].tolist(), strict=True)
    built.start_tree()
    for node, (feature, threshold) in enumerate(tests):
        built.start_node(node)
        if of_leaf[node] >= 0:
            value = values[of_leaf[node] - inside[0]]
            built.leaf(value[0] if ensemble.classes is None else value)
        elif equals[node]:
            built.categorical_test(
                feature_id=feature,
                category_list=ensemble.codes_left(first + node).tolist(),  # R22
                default_left=False,
                category_list_right_child=False,
                left_child_key=left[node],
                right_child_key=left[node] + 1,
            )
        else:
            built.numerical_test(
                feature_id=feature,
                threshold=threshold,
                default_left=False,  # NaN goes right (R4)
                opname="<=",
                left_child_key=left[node],
                right_child_key=left[node] + 1,
            )
        built.end_node()
    built.end_tree()

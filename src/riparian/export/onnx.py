"""ONNX: one `TreeEnsembleClassifier` of the domain ai.onnx.ml.

Shares are multiples of 2^-40, and so are exact as float64. The node adds them up as they are, so that
ties stay ties and the label is ours; the division by the number of trees follows. The input is float32,
as our features and thresholds are; a categorical feature is its code (R22), and the property
`categories` of the model says which category is which. The outputs have the names that scikit-learn's
converter gives.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.estimator.ensemble import WHOLE, Ensemble
from riparian.tools.optional import optional_module

ML_DOMAIN, ML_VERSION = "ai.onnx.ml", 3  # the first with thresholds and weights in float64
VERSION = 13  # of the plain operators
IR_VERSION = 8  # what runtimes of the last years read

LEAST_CLASSES = 3  # see `class_labels`

MOST_BYTES = 2**31 - 1  # of a protocol buffer


def model(ensemble: Ensemble) -> bytes:
    onnx = optional_module("onnx", needed_by="an export to ONNX", extra="export")
    helper, numpy_helper, kinds = onnx.helper, onnx.numpy_helper, onnx.TensorProto
    labels = class_labels(ensemble.classes)
    label_kind = kinds.INT64 if "classlabels_int64s" in labels else kinds.STRING
    trees = _Nodes(ensemble)
    nodes = [
        helper.make_node("Cast", ["X"], ["exact"], to=kinds.DOUBLE),  # as the thresholds are
        helper.make_node(
            "TreeEnsembleClassifier",
            ["exact"],
            ["label", "sums"],
            domain=ML_DOMAIN,
            post_transform="NONE",
            nodes_values_as_tensor=numpy_helper.from_array(trees.thresholds),
            class_weights_as_tensor=numpy_helper.from_array(trees.weights),
            **labels,
            **trees.attributes,
        ),
        helper.make_node("Slice", ["sums", "first", "end", "axis"], ["of_classes"]),
        helper.make_node("Div", ["of_classes", "trees"], ["probabilities"]),
    ]
    constants = {
        "first": np.array([0]),
        "end": np.array([ensemble.n_classes]),
        "axis": np.array([1]),
        "trees": np.array(ensemble.n_trees, dtype=np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "riparian",
        [helper.make_tensor_value_info("X", kinds.FLOAT, [None, ensemble.n_features])],
        [
            helper.make_tensor_value_info("label", label_kind, [None]),
            helper.make_tensor_value_info("probabilities", kinds.FLOAT, [None, ensemble.n_classes]),
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    whole = helper.make_model(
        graph,
        producer_name="riparian",
        ir_version=IR_VERSION,
        opset_imports=[
            helper.make_opsetid("", VERSION),
            helper.make_opsetid(ML_DOMAIN, ML_VERSION),
        ],
    )
    helper.set_model_props(whole, properties(ensemble))
    if whole.ByteSize() > MOST_BYTES:
        raise ValueError(
            f"an ONNX file holds at most {MOST_BYTES:,} bytes, and this forest of "
            f"{len(ensemble.leaf):,} leaves needs {whole.ByteSize():,}"
        )
    onnx.checker.check_model(whole)
    return bytes(whole.SerializeToString())


def properties(ensemble: Ensemble) -> dict[str, str]:
    """What the input is: the names of the features, and of categories, whose codes are given."""
    props = {}
    if ensemble.feature_names is not None:
        props["feature_names"] = "\n".join(ensemble.feature_names)
    if ensemble.categories:
        props["categories"] = json.dumps({str(k): [*v] for k, v in ensemble.categories.items()})
    return props


def class_labels(classes: NDArray[Any]) -> dict[str, list[Any]]:
    """The labels as ONNX knows them, text or whole numbers, and others up to three.

    With two labels or one, onnxruntime takes scores for something else: ties go to the second, and
    the numbers 0 and 1 are given for whatever labels there are. The others never win.

    >>> class_labels(np.array([False, True]))
    {'classlabels_int64s': [0, 1, -1]}
    """
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        spare = [text for text in ("", "-", "--", "---", "----") if text not in labels]
        return {"classlabels_strings": labels + spare[: max(0, LEAST_CLASSES - len(labels))]}
    if all(isinstance(label, int | float) and abs(label) < 2**63 for label in labels):
        numbers = [int(label) for label in labels]
        spares = [number for number in range(-1, -6, -1) if number not in numbers]
        return {"classlabels_int64s": numbers + spares[: max(0, LEAST_CLASSES - len(labels))]}
    raise ValueError(
        f"ONNX knows labels that are text or whole numbers of 64 bits, got {labels[0]!r}"
    )


class _Nodes:
    """The trees as lists, with one entry per node or per weight of a leaf."""

    def __init__(self, ensemble: Ensemble) -> None:
        sizes = [nodes.stop - nodes.start for nodes in ensemble.nodes]
        tree = np.repeat(np.arange(ensemble.n_trees), sizes)
        first = np.repeat(ensemble.root, sizes)
        inner = ~ensemble.is_leaf
        left = np.where(inner, ensemble.left - first, 0)
        right = np.where(inner, left + 1, 0)
        # onnxruntime puts tests for equality that follow one another together, and then some rows end
        # in a wrong leaf: we ask for the opposite, which a missing value passes.
        tests = np.where(ensemble.equals, "BRANCH_NEQ", "BRANCH_LEQ")
        node = np.repeat(ensemble.leaf, ensemble.n_shares)
        self.weights = ensemble.share.astype(np.float64) / WHOLE
        self.thresholds = np.where(inner, ensemble.threshold, 0).astype(np.float64)
        self.attributes = {
            "nodes_treeids": tree.tolist(),
            "nodes_nodeids": (np.arange(len(tree)) - first).tolist(),
            "nodes_featureids": np.where(inner, ensemble.feature, 0).tolist(),
            "nodes_modes": np.where(inner, tests, "LEAF").tolist(),
            "nodes_truenodeids": np.where(ensemble.equals, right, left).tolist(),
            "nodes_falsenodeids": np.where(ensemble.equals, left, right).tolist(),
            "nodes_missing_value_tracks_true": [0] * len(tree),  # NaN goes right (R4)
            "class_treeids": tree[node].tolist(),
            "class_nodeids": (node - first[node]).tolist(),
            "class_ids": ensemble.share_class.tolist(),
        }

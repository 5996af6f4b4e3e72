"""ONNX: one `TreeEnsembleClassifier` or `TreeEnsembleRegressor` of the domain ai.onnx.ml.

Shares are multiples of 2^-40, and so are exact as float64. The node adds them up as they are, so that
ties stay ties and the label is ours; the division by the number of trees follows. A node for numbers
answers in float32; their scale and origin follow in float64, so they are precise to 2^-23 of the largest
difference between a target and the first one (R26).

The input is float32, as our features and thresholds are; a categorical feature is its code (R22), and
the property `categories` of the model says which category is which. A half of the categories is a column
more, looked up in a table by the code: 0 goes left. The outputs have the names that scikit-learn's
converter gives.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.model.ensemble import WHOLE, Ensemble
from riparian.tools.optional import optional_module

ML_DOMAIN, ML_VERSION = "ai.onnx.ml", 3  # the first with thresholds and weights in float64
VERSION = 13  # of the plain operators
IR_VERSION = 8  # what runtimes of the last years read

LEAST_CLASSES = 3  # see `class_labels`

MOST_BYTES = 2**31 - 1  # of a protocol buffer

FOLLOWS = (  # R29
    "answers follow the last target that the forest has learned, so they are for the point that comes "
    "{} after it; a forest with lag=0 answers for any point"
)


def model(ensemble: Ensemble) -> bytes:
    onnx = optional_module("onnx", needed_by="an export to ONNX", extra="export")
    helper, numpy_helper, kinds = onnx.helper, onnx.numpy_helper, onnx.TensorProto
    halves = _Halves(ensemble)
    of_target = (_numbers if ensemble.classes is None else _classes)(
        onnx, ensemble, _Nodes(ensemble, halves)
    )
    nodes = [
        *halves.nodes(onnx),
        helper.make_node("Cast", [halves.output], ["exact"], to=kinds.DOUBLE),  # as the thresholds
        *of_target.nodes,
    ]
    constants = {**halves.constants, **of_target.constants}
    graph = helper.make_graph(
        nodes,
        "riparian",
        [helper.make_tensor_value_info("X", kinds.FLOAT, [None, ensemble.n_features])],
        [helper.make_tensor_value_info(*output) for output in of_target.outputs],
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


class _OfTarget(NamedTuple):
    """The part of a graph that depends on the target: what takes `exact`, and gives the outputs."""

    nodes: list[Any]
    constants: dict[str, NDArray[Any]]
    outputs: list[tuple[str, int, list[int | None]]]  # names, types and shapes


def _classes(onnx: Any, ensemble: Ensemble, trees: _Nodes) -> _OfTarget:
    assert ensemble.classes is not None
    helper, kinds = onnx.helper, onnx.TensorProto
    labels = class_labels(ensemble.classes)
    label_kind = kinds.INT64 if "classlabels_int64s" in labels else kinds.STRING
    return _OfTarget(
        [
            helper.make_node(
                "TreeEnsembleClassifier",
                ["exact"],
                ["label", "sums"],
                **labels,
                **trees.attributes(onnx, "class"),
            ),
            helper.make_node("Slice", ["sums", "first", "end", "axis"], ["of_classes"]),
            helper.make_node("Div", ["of_classes", "trees"], ["probabilities"]),
        ],
        {
            "first": np.array([0]),
            "end": np.array([ensemble.n_outputs]),
            "axis": np.array([1]),
            "trees": np.array(ensemble.n_trees, dtype=np.float32),
        },
        [
            ("label", label_kind, [None]),
            ("probabilities", kinds.FLOAT, [None, ensemble.n_outputs]),
        ],
    )


def _numbers(onnx: Any, ensemble: Ensemble, trees: _Nodes) -> _OfTarget:
    helper, kinds = onnx.helper, onnx.TensorProto
    return _OfTarget(
        [
            helper.make_node(
                "TreeEnsembleRegressor",
                ["exact"],
                ["sum"],
                n_targets=1,
                **trees.attributes(onnx, "target"),
            ),
            helper.make_node("Cast", ["sum"], ["whole_sum"], to=kinds.DOUBLE),
            helper.make_node("Mul", ["whole_sum", "scale"], ["from_origin"]),
            helper.make_node("Add", ["from_origin", "origin"], ["variable"]),
        ],
        {
            "scale": np.array(ensemble.slope / ensemble.n_trees),
            "origin": np.array(ensemble.offset),
        },
        [("variable", kinds.DOUBLE, [None, 1])],
    )


def properties(ensemble: Ensemble) -> dict[str, str]:
    """What the input is: the names of the features, and of categories, whose codes are given."""
    props = {}
    if ensemble.feature_names is not None:
        props["feature_names"] = "\n".join(ensemble.feature_names)
    if ensemble.categories:
        props["categories"] = json.dumps({str(k): [*v] for k, v in ensemble.categories.items()})
    if ensemble.lag:
        props["lag"] = FOLLOWS.format(ensemble.lag)
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
    raise ValueError(f"ONNX needs labels that are text or 64-bit integers, got {labels[0]!r}")


class _Halves:
    """Additional columns, one for each test of a half: 0 where it sends a row left, otherwise 1."""

    def __init__(self, ensemble: Ensemble) -> None:
        node = np.flatnonzero(ensemble.is_half)
        self.node = node[np.argsort(ensemble.feature[node], kind="stable")]
        self.column = ensemble.n_features + np.arange(len(node))  # of each of these tests
        self.features = sorted({*ensemble.feature[node].tolist()})
        self.output = "with_halves" if self.features else "X"
        self.constants: dict[str, NDArray[Any]] = {}
        room = MOST_BYTES
        for f in self.features:
            tests = self.node[ensemble.feature[self.node] == f]
            n_codes = len(ensemble.categories[f])
            room -= (n_codes + 1) * len(tests)
            if room < 0:
                raise ValueError(
                    f"an ONNX file holds at most {MOST_BYTES:,} bytes, and this forest's "
                    f"{len(node):,} splits that send half of the categories of a column left need "
                    "more: export it to C or treelite"
                )
            right = np.ones((n_codes + 1, len(tests)), dtype=np.uint8)  # the last: no category
            for place, test in enumerate(tests.tolist()):
                right[ensemble.codes_left(test), place] = 0
            self.constants |= {
                f"column_{f}": np.array(f),
                f"codes_{f}": np.array(n_codes, dtype=np.float32),
                f"right_{f}": right,
            }
        if self.features:
            self.constants["zero"] = np.array(0, dtype=np.float32)

    def nodes(self, onnx: Any) -> list[Any]:
        if not self.features:
            return []
        node, kinds = onnx.helper.make_node, onnx.TensorProto
        made, columns = list[Any](), ["X"]
        for f in self.features:
            code, known, row = f"code_{f}", f"known_{f}", f"row_{f}"
            made += [
                node("Gather", ["X", f"column_{f}"], [code], axis=1),
                node("GreaterOrEqual", [code, "zero"], [f"{known}_from"]),
                node("Less", [code, f"codes_{f}"], [f"{known}_to"]),
                node("Floor", [code], [f"floor_{f}"]),
                node("Equal", [code, f"floor_{f}"], [f"{known}_whole"]),
                node("And", [f"{known}_from", f"{known}_to"], [f"{known}_range"]),
                node("And", [f"{known}_range", f"{known}_whole"], [known]),
                node("Where", [known, code, f"codes_{f}"], [row]),
                node("Cast", [row], [f"{row}_whole"], to=kinds.INT64),
                node("Gather", [f"right_{f}", f"{row}_whole"], [f"side_{f}"], axis=0),
                node("Cast", [f"side_{f}"], [f"halves_{f}"], to=kinds.FLOAT),
            ]
            columns.append(f"halves_{f}")
        return [*made, node("Concat", columns, [self.output], axis=1)]


class _Nodes:
    """The trees as lists, with one entry per node or per weight of a leaf."""

    def __init__(self, ensemble: Ensemble, halves: _Halves) -> None:
        sizes = [nodes.stop - nodes.start for nodes in ensemble.nodes]
        tree = np.repeat(np.arange(ensemble.n_trees), sizes)
        first = np.repeat(ensemble.root, sizes)
        inner = ~ensemble.is_leaf
        left = np.where(inner, ensemble.left - first, 0)
        right = np.where(inner, left + 1, 0)
        # onnxruntime puts tests for equality that follow one another together, and then some rows end
        # in a wrong leaf: we ask for the opposite, which a missing value passes.
        equals = ensemble.equals & ~ensemble.is_half
        tests = np.where(equals, "BRANCH_NEQ", "BRANCH_LEQ")
        feature, threshold = ensemble.feature.astype(np.int64), ensemble.threshold.copy()
        feature[halves.node], threshold[halves.node] = halves.column, 0
        node = np.repeat(ensemble.leaf, ensemble.n_shares)
        self._weights = ensemble.share.astype(np.float64) / WHOLE
        self._thresholds = np.where(inner, threshold, 0).astype(np.float64)
        self._nodes = {
            "nodes_treeids": tree.tolist(),
            "nodes_nodeids": (np.arange(len(tree)) - first).tolist(),
            "nodes_featureids": np.where(inner, feature, 0).tolist(),
            "nodes_modes": np.where(inner, tests, "LEAF").tolist(),
            "nodes_truenodeids": np.where(equals, right, left).tolist(),
            "nodes_falsenodeids": np.where(equals, left, right).tolist(),
            "nodes_missing_value_tracks_true": [0] * len(tree),  # NaN goes right (R4)
        }
        self._outputs = {
            "treeids": tree[node].tolist(),
            "nodeids": (node - first[node]).tolist(),
            "ids": ensemble.share_class.tolist(),
        }

    def attributes(self, onnx: Any, output: str) -> dict[str, Any]:
        """Return the attributes of a node of ONNX, which names what it sums up."""
        tensor = onnx.numpy_helper.from_array
        return {
            "domain": ML_DOMAIN,
            "post_transform": "NONE",
            "nodes_values_as_tensor": tensor(self._thresholds),
            f"{output}_weights_as_tensor": tensor(self._weights),
            **self._nodes,
            **{f"{output}_{name}": values for name, values in self._outputs.items()},
        }

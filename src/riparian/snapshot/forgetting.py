"""Forests for streams that change as riparian 0.2 wrote them (format 2): converted to frozen answers.

Their trees followed rules that R27 has replaced. The answers of their leaves become histograms, to
within 2^-27, and the data that learning needs is dropped: the forest predicts, and cannot learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.pieces import begins, sums
from riparian.engine.trees import Arrays
from riparian.parameters.forests import HEAD_SIZES, MEMORIES
from riparian.snapshot.errors import require
from riparian.snapshot.fields import typed
from riparian.snapshot.values import read_value

LAST_FORMAT = 2
GONE = ("leaf_points", "memories", "fading")  # parameters
MOST_MEMORIES = 8  # of a leaf
WHOLE = 2**31  # the sum of the histogram that an answer becomes
NEVER = -1e6  # T of a head without weight

KEPT = (
    "nodes", "totals", "window", "window_sums", "bucket_row", "bucket_total", "bucket_variance",
    "replaced", "importance", "feature", "threshold", "child", "leaf_born", "leaf_classes",
)  # fmt: skip


def is_forgetting(header: dict[str, Any]) -> bool:
    """Return whether the header is that of such a forest. Nothing in it has been checked yet."""
    name, number = header.get("class"), header.get("format")
    return name == "AdaptiveForestClassifier" and type(number) is int and number <= LAST_FORMAT


def frozen(header: dict[str, Any], stored: Arrays) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of the converted forest, in the latest format.

    What is used here is checked here; the rest is checked as in any snapshot.
    """
    engine, estimator = (typed(header, name, dict) for name in ("engine", "estimator"))
    memories = read_value("memories", engine.get("memories"))
    good = isinstance(memories, tuple) and 1 <= len(memories) <= MOST_MEMORIES
    require(good, "header", f"engine: memories must hold 1 to {MOST_MEMORIES} numbers")
    engine, estimator = (
        {name: value for name, value in each.items() if name not in GONE}
        for each in (engine, estimator)
    )
    header = {**header, "engine": engine, "estimator": estimator}
    header |= {"format": LAST_FORMAT + 1, "prediction_only": True, "frozen": True}
    return header, _frozen_arrays(stored, len(memories))


def _frozen_arrays(stored: Arrays, width: int) -> Arrays:
    for name in (*KEPT, "histogram", "memory", "evidence"):
        require(name in stored, "arrays", f"the array {name!r} is missing")
    for name in ("memory", "evidence"):
        require(stored[name].dtype.kind == "f", "arrays", f"{name} must hold floats")
    child = stored["child"]
    is_leaf = child == 0
    nodes = _numbers(stored, "nodes", of="child")
    classes = _numbers(stored, "leaf_classes", of="histogram")
    _require_length("leaf_classes", classes, int(is_leaf.sum()))
    _require_length("memory", stored["memory"], int(classes.sum()) * width)
    _require_length("evidence", stored["evidence"], len(nodes) * width)
    tree_of_leaf = np.repeat(np.arange(len(nodes)), nodes)[is_leaf]
    weights = np.array([_softmax(mine) for mine in stored["evidence"].reshape(-1, width).tolist()])
    memory = stored["memory"].astype(np.float64).reshape(-1, width)
    histogram = _answers(memory, weights.reshape(-1, width)[tree_of_leaf], classes)
    votes = np.ones(len(child), dtype=np.uint64)
    votes[is_leaf] = np.minimum(sums(histogram, classes), 1)
    inner, leaves = int((~is_leaf).sum()), len(classes)
    eager = np.zeros((len(nodes), len(_core.tree_eager)), dtype=np.uint64)
    eager[:, 1:3] = 1  # the floor, and a turn after the first point
    eager[:, 3] = nodes
    trust = np.full(len(HEAD_SIZES) + len(MEMORIES), NEVER)
    trust[0] = 0.0  # leaves answer
    return {
        **{name: stored[name] for name in KEPT},
        "histogram": histogram,
        "votes": votes,
        "inner_classes": np.ones(inner, dtype=np.uint32),
        "inner_histogram": np.ones(inner, dtype=np.uint64),
        "eager": eager.ravel(),
        "eager_votes": np.zeros(leaves, dtype=np.uint64),
        "spared_levels": np.zeros(leaves, dtype=np.uint32),
        "memory_classes": np.zeros(leaves, dtype=np.uint32),
        "memory": np.zeros(0, dtype=np.float32),
        "trust": trust,
    }


def _softmax(evidence: list[float]) -> list[float]:
    good = all(np.isfinite(each) and each <= 0 for each in evidence)
    require(good, "arrays", "evidence must be finite and at most 0")
    exponentials = [_core.exp_of_negative(each - max(evidence)) for each in evidence]
    return [each / sum(exponentials) for each in exponentials]


def _answers(
    memory: NDArray[np.float64], weights: NDArray[np.float64], classes: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return Σ_j (w_j / ΣF_j)·F_j of each leaf and class, in parts of `WHOLE`."""
    good = bool(((memory >= 0) & np.isfinite(memory)).all())
    require(good, "arrays", "memory must be finite and at least 0")
    if len(memory) == 0:
        return np.zeros(0, dtype=np.uint64)
    held = np.add.reduceat(memory, begins(classes)[classes > 0], axis=0)
    require(
        bool((held > 0).all()), "arrays", "memory must not be all 0 in a leaf that has a histogram"
    )
    shares = (weights[classes > 0] / held).repeat(classes[classes > 0], axis=0) * memory
    answers: NDArray[np.uint64] = np.rint(shares.sum(axis=1) * WHOLE).astype(np.uint64)
    return answers


def _numbers(stored: Arrays, name: str, of: str) -> NDArray[np.int64]:
    """Return how many entries of another array each owner has; together, all of them."""
    array, entries = stored[name], stored[of]
    small = array.dtype.kind == "u" and bool((array <= len(entries)).all())
    require(small, "arrays", f"{name} must hold numbers of entries of {of}")
    numbers: NDArray[np.int64] = array.astype(np.int64)
    _require_length(of, entries, int(numbers.sum()))
    return numbers


def _require_length(name: str, array: NDArray[Any], expected: int) -> None:
    fits = len(array) == expected
    require(fits, "arrays", f"{name} must hold {expected} numbers, got {len(array)}")

"""Both engines on the same stream, and their trees as values that can be compared."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from riparian import reference
from riparian.engine import native
from riparian.engine.categories import CategoryTables
from riparian.model.classes import Classes
from riparian.parameters.forests import (
    MEMORIES,
    AdaptiveParameters,
    PaperParameters,
    SaffariParameters,
)
from riparian.reference import Leaf, Split
from riparian.reference_adaptive import AdaptiveForest, AdaptiveTree
from riparian.reference_eager import EagerForest, EagerTree
from riparian.reference_kept import KeepingForest, KeepingTree

from strategies import cuts


def learn_reference(
    parameters: PaperParameters,
    X: NDArray[np.float32],
    y: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
    categorical: Iterable[int] = (),
) -> reference.Forest:
    space = reference.Columns(X.shape[1], parameters.rate(X.shape[1]), categorical)
    forest = reference_forest(parameters, space)
    forest.learn(X, y.tolist(), None if weights is None else weights.tolist())
    return forest


def reference_forest(
    parameters: PaperParameters, space: reference.FeatureSpace
) -> reference.Forest:
    if isinstance(parameters, AdaptiveParameters):
        return AdaptiveForest(parameters, space)
    if parameters.kept_points:
        kind = EagerForest if parameters.eager else KeepingForest
        return kind(parameters, space)
    return reference.Forest(parameters, space)


class Native:
    """The native engine with labels, fed in any batches."""

    def __init__(
        self,
        parameters: PaperParameters | SaffariParameters,
        n_dims: int,
        trees: range | None = None,
        categorical: Iterable[int] = (),
    ) -> None:
        tables = CategoryTables.empty(categorical, most=None)
        self.forest: native.NativeEngine = native.ColumnEngine(
            parameters, n_dims, trees=trees, categories=tables if tables.tables else None
        )
        self.labels = Classes(None)

    def learn(
        self,
        X: NDArray[np.float32],
        y: NDArray[Any],
        weights: NDArray[np.float64] | None = None,
        workers: int = 1,
    ) -> None:
        if weights is not None:
            there = weights > 0
            X, y, weights = X[there], y[there], weights[there]
        arrivals = self.labels.join(y)
        self.forest.set_classes(self.labels.rank(), len(self.labels.classes))
        points = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
        self.forest.learn(points, arrivals, weights, workers)

    def tree(self, i: int) -> dict[int, Any]:
        return native_tree(
            self.forest.core.tree(i), self.labels.arrived, self.forest.parameters.split_points
        )

    def stats(self) -> list[dict[str, int]]:
        return self.forest.core.stats()

    def bytes(self) -> list[tuple[int, ...]]:
        kinds = ("node_bytes", "leaf_bytes", "fringe_bytes")
        return [tuple(tree[kind] for kind in kinds) for tree in self.stats()]

    def memory(self, i: int) -> dict[str, Any]:
        """Return what `reference_memory` does, except for the lists, which the core derives."""
        tree = self.forest.tree(i)
        active = tree.leaf_node[tree.leaf_active == 1].tolist()
        looks = zip(active, tree.next_look.tolist(), tree.had_lost.tolist(), strict=True)
        return {
            "arrivals": tree.growth.structure_arrivals,
            "growth": tree.growth.growth,
            "bound": tree.growth.bound,
            "young": {
                node: {"next": next_look, "has_lost": bool(had_lost)}
                for node, next_look, had_lost in looks
                if next_look
            },
        }

    def adaptation(self, i: int) -> dict[str, Any]:
        """Return what `reference_adaptation` does."""
        arrays, labels = self.forest.core.tree(i), self.labels.arrived
        memory, width = Reader(arrays["memory"]), len(MEMORIES)
        nodes = arrays["leaf_node"].tolist()
        return {
            "window": arrays["window_sums"].tolist(),
            "memories": {
                node: [
                    remembered(dict(zip(labels, mine, strict=False)))
                    for mine in memory.take(n * width).reshape(n, width).T
                ]
                for node, n in zip(nodes, arrays["memory_classes"].tolist(), strict=True)
            },
        }

    def eagerness(self, i: int) -> dict[str, Any]:
        """What `reference_eagerness` returns."""
        tree, labels = self.forest.tree(i), self.labels.arrived
        inner = Reader(tree.inner_histogram)
        structure_votes, floor, _, eager_nodes = tree.eager.tolist()
        planted = max([0, *tree.replaced.tolist()])
        is_eager = self.forest.points - planted <= self.forest.parameters.kept_points
        nodes = range(len(tree.child))
        active = tree.leaf_node[tree.leaf_active == 1].tolist()
        settled = [node for node, look in zip(active, tree.next_look, strict=True) if not look]
        counted = dict(zip(active, tree.eager_counted.tolist(), strict=True))
        return {
            "structure_votes": structure_votes,
            "eager_nodes": eager_nodes,
            "floor": floor if is_eager else None,
            "scores": tree.scores.tolist() if is_eager else None,
            "votes": dict(zip(nodes, tree.votes.tolist(), strict=True)),
            "inner": {
                node: labelled(inner.take(n), labels)
                for node, n in zip(
                    np.flatnonzero(tree.child).tolist(), tree.inner_classes.tolist(), strict=True
                )
            },
            "eager": (
                None
                if is_eager
                else dict(zip(tree.leaf_node.tolist(), tree.eager_votes.tolist(), strict=True))
            ),
            "counted": {node: counted[node] for node in settled},
        }

    def importance(self, i: int) -> dict[int, int]:
        return counts(dict(enumerate(self.forest.tree(i).importance.tolist())))

    def reborn(self) -> Native:
        """Return the same forest, made again from its arrays."""
        other = copy.copy(self)
        other.forest = copy.copy(self.forest)
        return other


def bits(value: float) -> int:
    """Return the bits of a float32, the same for all NaN."""
    return int(np.float32(value).view(np.uint32)) if value == value else -1


def reference_tree(tree: reference.Tree) -> dict[int, Any]:
    """Return every node by its number: a split as (dimension, threshold, left child), a leaf in full."""
    return {
        node.number: reference_leaf(node) if isinstance(node, Leaf) else reference_split(node)
        for node in tree.nodes()
    }


def reference_split(split: Split) -> Any:
    left, right = split.children
    assert right.number == left.number + 1
    return ("split", split.feature, bits(split.threshold), left.number)


def reference_leaf(leaf: Leaf) -> Any:
    shared = (leaf.depth, leaf.born, counts(leaf.estimation), leaf.active)
    if not leaf.active:
        return ("leaf", *shared)
    candidates = [
        (
            c.feature,
            bits(c.threshold),
            c.born,
            [counts(side) for side in c.structure],
            [counts(side) for side in c.estimation],
        )
        for c in leaf.candidates
    ]
    return ("leaf", *shared, leaf.attempt, leaf.received, list(leaf.dims), candidates)


def reference_memory(tree: KeepingTree) -> dict[str, Any]:
    """Return what R19 to R21 add to `reference_tree`, where a young leaf has no candidates."""
    return {
        "arrivals": tree.structure_arrivals,
        "growth": tree.growth,
        "bound": tree.bound,
        "lists": {number: reference_lists(tree, number) for number in tree.lists},
        "young": {
            number: {"next": points, "has_lost": tree.lists[number].has_lost(tree.kept)}
            for number, points in tree.next_look.items()
        },
    }


def reference_adaptation(tree: AdaptiveTree) -> dict[str, Any]:
    """Return what R27 adds to `reference_tree`, `reference_memory` and `reference_eagerness`."""
    return {
        "window": [tree.detector.total, tree.detector.variance],
        "memories": {
            number: [remembered(memory.values) for memory in memories]
            for number, memories in tree.memories.items()
        },
    }


def reference_eagerness(tree: EagerTree) -> dict[str, Any]:
    """What R24 and R25 add to `reference_tree` and `reference_memory`."""
    is_eager = tree.is_eager()
    nodes = {node.number: node for node in tree.nodes()}
    leaves = [number for number, node in nodes.items() if isinstance(node, Leaf)]
    return {
        "structure_votes": tree.structure_votes,
        "eager_nodes": tree.eager_nodes,
        "floor": tree.floor if is_eager else None,
        "scores": tree.scores if is_eager else None,
        "votes": {number: tree.votes[number].points for number in sorted(nodes)},
        "inner": {
            number: counts(tree.votes[number].counts) for number in nodes if number not in leaves
        },
        "eager": None if is_eager else {number: tree.votes[number].eager for number in leaves},
        "counted": {
            number: tree.eager_counted[number]
            for number in leaves
            if tree.is_settled(nodes[number])
        },
    }


def remembered(values: Any) -> dict[Any, int]:
    return {label: bits(value) for label, value in sorted(values.items()) if value}


def reference_lists(tree: KeepingTree, leaf: int) -> dict[str, list[int]]:
    """Return the numbers of the kept points in the cell of a leaf, active or not."""
    lists = tree.lists[leaf]
    return {
        "structure": [point.t for point in lists.structure if tree.kept.holds(point.t)],
        "estimation": [point.t for point in lists.estimation if tree.kept.holds(point.t)],
    }


def counts(counter: Any) -> dict[Any, int]:
    return {label: int(n) for label, n in sorted(counter.items()) if n}


def native_tree(
    arrays: dict[str, NDArray[Any]], labels: list[Any], most_split_points: int
) -> dict[int, Any]:
    nodes: dict[int, Any] = {
        number: (
            "split",
            feature(arrays["feature"][number]),
            bits(arrays["threshold"][number]),
            child,
        )
        for number, child in enumerate(arrays["child"].tolist())
        if child
    }
    histogram = Reader(arrays["histogram"])
    active = native_candidates(arrays, labels, most_split_points)
    for i, number in enumerate(arrays["leaf_node"].tolist()):
        histogram_of_leaf = histogram.take(int(arrays["leaf_classes"][i]))
        spared = int(arrays["spared_levels"][i]) if len(arrays["spared_levels"]) else 0  # R24
        shared = (
            int(arrays["leaf_depth"][i]) - spared,
            int(arrays["leaf_born"][i]),
            labelled(histogram_of_leaf, labels),
            bool(arrays["leaf_active"][i]),
        )
        nodes[number] = ("leaf", *shared, *(next(active) if shared[-1] else ()))
    return nodes


class Reader:
    """Reads an array piece by piece."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array, self.at = array, 0

    def take(self, n: int) -> NDArray[Any]:
        self.at += n
        return self.array[self.at - n : self.at]


def feature(stored: Any) -> Any:
    """Return a feature: a column, or a pair of offsets."""
    return int(stored) if stored.ndim == 0 else tuple(stored.tolist())


def labelled(stored: NDArray[Any], labels: list[Any]) -> dict[Any, int]:
    return counts(dict(zip(labels, stored.tolist(), strict=False)))


def native_candidates(
    arrays: dict[str, NDArray[Any]], labels: list[Any], most_split_points: int
) -> Iterator[Any]:
    """Yield what `reference_leaf` returns of the candidates of each active leaf, in the same order."""
    read = {name: Reader(array) for name, array in arrays.items()}
    for i in range(len(arrays["dims"])):
        dims, points = int(arrays["dims"][i]), int(arrays["split_points"][i])
        drawn = [feature(drawn) for drawn in read["candidate_dims"].take(dims)]
        born = read["split_point_born"].take(points).tolist()
        thresholds = read["split_threshold"].take(dims * points)
        left = {
            stream: native_counts(stream, read, dims, points, most_split_points, len(labels))
            for stream in ("structure", "estimation")
            if len(arrays[f"{stream}_counted"])
        }
        left.setdefault("estimation", left["structure"])  # one stream (R18)
        candidates = [
            (
                drawn[d],
                bits(thresholds[d * points + j]),
                born[j],
                *(
                    [
                        labelled(mine[:, d, j], labels),
                        labelled(mine[:, -1, j] - mine[:, d, j], labels),
                    ]
                    for mine in (left["structure"], left["estimation"])
                ),
            )
            for j in range(points)
            for d in range(dims)
        ]
        yield int(arrays["attempt"][i]), int(arrays["received"][i]), drawn, candidates


def native_counts(
    stream: str, read: dict[str, Reader], dims: int, points: int, most: int, n_classes: int
) -> NDArray[Any]:
    """Return counts by class, dimension (the last: all points) and split point, from either form."""
    counted = read[f"{stream}_counted"].take(1)[0]
    length = int(read[f"{stream}_length"].take(1)[0])
    out = np.zeros((n_classes, dims + 1, points), dtype=np.int64)
    if counted:
        rows = read[f"{stream}_count"].take(length * (dims + 1) * points)
        out[:length] = rows.reshape(length, dims + 1, points)[:n_classes]
        return out
    counters = (dims + 1) * most
    words = (-(-counters // 8) * 8 + 63) // 64
    for label in read[f"{stream}_label"].take(length):
        point = read[f"{stream}_bits"].take(words).astype("<u8").view(np.uint8)
        side = np.unpackbits(point, bitorder="little")[:counters].reshape(dims + 1, most)
        out[label] += side[:, :points]
    return out


def assert_same(forest: reference.Forest, engine: Native, X: Any) -> None:
    """Check that nodes, thresholds, histograms, fringe, counters and predictions agree to the bit."""
    for i, (tree, stats) in enumerate(zip(forest.trees, engine.stats(), strict=True)):
        assert engine.tree(i) == reference_tree(tree)
        if isinstance(tree, AdaptiveTree):
            assert engine.adaptation(i) == reference_adaptation(tree)
        if isinstance(tree, KeepingTree):
            memory = reference_memory(tree)
            del memory["lists"]
            assert engine.memory(i) == memory
        if isinstance(tree, EagerTree):
            assert engine.eagerness(i) == reference_eagerness(tree)
        if isinstance(engine.forest, native.ColumnEngine):
            assert engine.importance(i) == counts(tree.importance)
        for name in ("structure_points", "estimation_points", "ignored_points",
                     "should_splits", "must_splits"):  # fmt: skip
            assert stats[name] == getattr(tree, name), name
        assert stats["active"] == len(tree.fringe)
    if isinstance(forest, AdaptiveForest):
        assert engine.forest.replacements() == forest.replacements
    if isinstance(forest, EagerForest) and forest.eager:
        assert engine.forest.trust() == forest.trust
        assert engine.forest.kept()["trust"].tolist() == forest.evidence.evidence
    if forest.classes and len(X):
        assert_same_answers(forest, engine, X, X)


def assert_same_answers(forest: reference.Forest, engine: Native, points: Any, batch: Any) -> None:
    """`points` as the reference takes them, one by one, and the same as a batch."""
    expected = [[forest.predict_proba(x)[k] for k in forest.classes] for x in points]
    assert engine.forest.predict_proba(batch, workers=1).tolist() == expected


# -- properties that hold for every rule -------------------------------------------------------------


def check_batches_threads_and_reloads(parameters: Any, stream: Any, data: Any) -> None:
    """Check that the native engine equals the reference, however the stream is cut and saved."""
    X, y = stream
    forest = learn_reference(parameters, X, y)
    engine = Native(parameters, X.shape[1])
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], workers=data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            engine = reloaded(engine)
    assert_same(forest, engine, X[:20])


def check_weights(parameters: Any, stream: Any, data: Any) -> None:
    """Check that the native engine equals the reference on weighted points, some of weight 0."""
    X, y = stream
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    weights = rng.random(len(X)) * data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    weights[rng.random(len(X)) < 0.1] = 0.0
    forest = learn_reference(parameters, X, y, weights)
    engine = Native(parameters, X.shape[1])
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last], weights[first:last])
        engine = reloaded(engine)
    assert_same(forest, engine, X[:20])


def check_categories(parameters: Any, stream: Any, data: Any) -> None:
    """Check that the native engine equals the reference on categorical columns."""
    X, y, categorical = stream
    forest = learn_reference(parameters, X, y, categorical=categorical)
    engine = Native(parameters, X.shape[1], categorical=categorical)
    for first, last in data.draw(cuts(len(X))):
        engine.learn(X[first:last], y[first:last])
    assert_same(forest, engine, X[:20])


def reloaded(engine: Native) -> Native:
    """Return a copy made from saved arrays, which saves the same bytes."""
    again = engine.reborn()
    assert again.bytes() == engine.bytes()
    return again


def summing_to_1(proba):
    """Rows of probabilities as River requires them (R25 rounds shares to 2^-28)."""
    sums = [math.fsum(row) for row in proba.tolist()]
    return [
        row if math.isclose(total, 1) else [p / total for p in row]
        for row, total in zip(proba.tolist(), sums, strict=True)
    ]

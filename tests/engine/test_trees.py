"""The typed view of a tree names what the core lists, no more and no less."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from riparian import (
    AdaptiveForestClassifier,
    OnlineForestClassifier,
    SaffariForestClassifier,
    _core,
)
from riparian.engine.trees import (
    FIELDS,
    Bag,
    Growth,
    StreamCounts,
    Totals,
    Tree,
    TreeArrays,
    Window,
)
from riparian.snapshot.header import FORMAT

X = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
Y = X[:, 0] > 0


def test_the_view_has_every_array_of_the_core():
    streams = {"structure", "estimation"}
    names = {field.name for field in fields(Tree)} - streams
    names |= {f"{stream}_{field.name}" for stream in streams for field in fields(StreamCounts)}
    assert names == {field.name for field in FIELDS}


def test_totals_and_bag_are_named_in_the_order_of_the_core():
    assert list(Totals._fields) == _core.tree_totals
    assert list(Bag._fields) == _core.tree_bag
    assert list(Window._fields) == _core.tree_window
    assert list(Growth._fields) == _core.tree_growth


def test_every_array_says_which_forests_have_it_and_since_which_format():
    kinds = {"one stream", "two streams", "kept points", "settling", "change", "eager", "learning"}
    kinds |= {"classes", "numbers"}
    assert {word for field in FIELDS for word in field.of.split(", ")} == {"", *kinds}
    assert {field.since for field in FIELDS} == {*range(1, FORMAT + 1)}


@pytest.mark.parametrize(
    "Forest", [OnlineForestClassifier, AdaptiveForestClassifier, SaffariForestClassifier]
)
def test_arrays_have_the_types_of_the_list(Forest):
    engine = Forest(2, random_state=0).partial_fit(X, Y).model_.engine
    for arrays in engine.save().trees:
        assert list(arrays) == [field.name for field in FIELDS]
        for field in FIELDS:
            dtype = "uint32" if field.dtype == "feature" else field.dtype
            assert arrays[field.name].dtype == dtype, field.name


def test_the_totals_of_a_tree_are_those_of_its_statistics():
    engine = OnlineForestClassifier(2, random_state=0).partial_fit(X, Y).model_.engine
    for i, stats in enumerate(engine.core.stats()):
        totals = engine.tree(i).totals._asdict()
        assert {name: stats[name] for name in totals if name in stats}.items() <= totals.items()
        assert totals["structure_points"] + totals["estimation_points"] == len(X)


def test_only_a_tree_of_saffaris_forest_has_a_bag():
    assert (
        OnlineForestClassifier(1, random_state=0).partial_fit(X, Y).model_.engine.tree(0).bag
        is None
    )
    bag = (
        SaffariForestClassifier(1, replacement_rate=1e-3, random_state=0)
        .partial_fit(X, Y)
        .model_.engine.tree(0)
        .bag
    )
    assert (bag.number, bag.planted) == (0, 0)
    assert 0 < bag.errors <= bag.left_out < len(X)


def test_trees_end_to_end_are_the_trees_one_after_the_other():
    forest = OnlineForestClassifier(3, eager=False, random_state=0)
    engine = forest.partial_fit(X, Y).model_.engine
    saved = engine.save().trees
    joined = {name: np.concatenate([tree[name] for tree in saved]) for name in saved[0]}
    trees = TreeArrays.end_to_end(joined)
    each = [engine.tree(i) for i in range(3)]
    assert trees.totals.classes.tolist() == [tree.totals.classes for tree in each]
    for name in ("child", "leaf_points", "leaf_errors"):
        whole = np.concatenate([getattr(tree, name) for tree in each])
        np.testing.assert_array_equal(getattr(trees, name), whole)
    assert trees.leaf_points.sum() <= trees.totals.estimation_points.sum()

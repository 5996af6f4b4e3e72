"""Exact resume: save, load in a new process and go on, with the result of an uninterrupted run."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riparian
from riparian import OnlineForestClassifier, SaffariForestClassifier
from riparian.depth import DepthForestClassifier, DepthSaffariClassifier
from riparian.engine.native import ColumnEngine

from snapshots import (
    DEPTH_KINDS,
    KINDS,
    PLAIN_DEPTH,
    SparseForest,
    images,
    learned,
    mixture,
    same_forest,
)
from strategies import cuts, parameters, streams, thorough

pytestmark = pytest.mark.engine


@st.composite
def forests(draw):
    """An estimator with parameters of every kind."""
    kept_points = draw(st.sampled_from([0, 1, 7, 40, 150, 1000]))
    p = draw(parameters(kept_points=[kept_points]))
    tight = draw(st.booleans())
    cls = draw(st.sampled_from([OnlineForestClassifier, SparseForest]))
    return cls(
        n_estimators=p.n_trees,
        random_state=p.seed,
        candidate_dims=p.candidate_dims,
        split_points=p.split_points,
        min_gain=p.min_gain,
        alpha=p.alpha,
        beta=p.beta,
        structure_fraction=p.structure_fraction,
        ignore_fraction=p.ignore_fraction,
        fringe_size=p.fringe_size,
        voting=p.voting,
        kept_points=kept_points,
        max_memory=p.n_trees * 60_000 + kept_points * 100 if tight else None,
        class_weight=draw(st.sampled_from([None, "balanced", {0: 2.5, 1: 0.0, 3: 0.3}])),
    )


@thorough
@given(forests(), streams(), st.data())
def test_a_forest_that_was_saved_at_any_point_continues_as_if_it_had_not_been(forest, stream, data):
    X, y = stream
    weights = None
    if data.draw(st.booleans()):
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        weights = rng.random(len(X)) * data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    other = type(forest)(**forest.get_params())
    forest.partial_fit(X, y, sample_weight=weights)
    for first, last in data.draw(cuts(len(X))):
        some = slice(first, last)
        other.set_params(n_jobs=data.draw(st.integers(1, 4)))
        other.partial_fit(
            X[some], y[some], sample_weight=None if weights is None else weights[some]
        )
        if data.draw(st.booleans()):
            other = riparian.from_bytes(other.to_bytes())
    assert same_forest(other.set_params(n_jobs=None), forest)
    if len(forest.classes_):
        assert other.predict_proba(X[:20]).tobytes() == forest.predict_proba(X[:20]).tobytes()


@settings(thorough, max_examples=40)
@given(streams(), st.sampled_from(["points", "range"]), st.sampled_from([None, 0.01]), st.data())
def test_a_forest_of_saffari_continues_too(stream, thresholds, replacement_rate, data):
    X, y = stream
    forest, other = (
        SaffariForestClassifier(
            2, random_state=1, thresholds=thresholds, replacement_rate=replacement_rate,
            min_samples=15, split_points=4, candidate_dims=2,
        )
        for _ in range(2)
    )  # fmt: skip
    forest.partial_fit(X, y)
    for first, last in data.draw(cuts(len(X))):
        other.partial_fit(X[first:last], y[first:last])
        other = riparian.from_bytes(other.to_bytes())
    assert type(other) is SaffariForestClassifier
    assert same_forest(other, forest)


@pytest.mark.parametrize("kept_points", [0, 1, 33, 100, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_depth_forest_continues_after_every_image(kept_points, weighted):
    forest, other = (
        DepthForestClassifier(**PLAIN_DEPTH, kept_points=kept_points, max_memory=None)
        for _ in range(2)
    )
    for i, (depth, pixels, labels) in enumerate(images(12)):
        weights = np.linspace(0, 2.5, len(labels)) if weighted and i % 2 else None
        forest.partial_fit(depth, pixels, labels, sample_weight=weights)
        other.partial_fit(depth, pixels, labels, sample_weight=weights)
        other = riparian.from_bytes(other.to_bytes())
        assert type(other) is DepthForestClassifier
        assert same_forest(other, forest)


def test_a_depth_forest_of_saffari_continues_after_every_image():
    forest, other = (DepthSaffariClassifier(**PLAIN_DEPTH, max_depth=4) for _ in range(2))
    for depth, pixels, labels in images(8):
        forest.partial_fit(depth, pixels, labels)
        other.partial_fit(depth, pixels, labels)
        other = riparian.from_bytes(other.to_bytes())
        assert type(other) is DepthSaffariClassifier
        assert same_forest(other, forest)
    assert forest.stats()["splits"] > 3


def test_every_moment_is_the_same_for_a_stream_that_changes():
    changes = {"n": 0, "n_estimators": 2, "drift_confidence": 0.9, "kept_points": 50}
    forest, other = (learned(**KINDS["adaptive"] | changes) for _ in range(2))
    X, _ = mixture(220)
    y = (X[:, 0] > 1).astype(int) ^ (np.arange(220) >= 110)
    for row in range(220):
        forest.partial_fit(X[row : row + 1], y[row : row + 1])
        other.partial_fit(X[row : row + 1], y[row : row + 1])
        other = riparian.from_bytes(other.to_bytes())
    assert same_forest(other, forest)
    assert forest.replacements_


@pytest.mark.parametrize("kind", ["all points kept", "young and settled leaves"])
def test_every_moment_is_the_same_for_kept_points(kind):
    """Leaves that are young, have lost a point or settled, before and after W, regrowth between."""
    forest, other = (learned(**KINDS[kind] | {"n": 0, "n_estimators": 2}) for _ in range(2))
    X, y = mixture(120)
    for row in range(120):
        forest.partial_fit(X[row : row + 1], y[row : row + 1])
        other.partial_fit(X[row : row + 1], y[row : row + 1])
        other = riparian.from_bytes(other.to_bytes())
    assert same_forest(other, forest)
    trees = [forest.model_.engine.tree(i) for i in range(2)]
    if kind == "all points kept":
        assert any(tree.growth.growth > 0 for tree in trees)
    else:
        assert any(tree.had_lost.any() for tree in trees)
        assert any((tree.dims > 0).any() for tree in trees)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kept_points", [60, 1000])
def test_columns_that_joined_late_are_missing_in_older_points_still(sparse, kept_points):
    cls = SparseForest if sparse else OnlineForestClassifier
    X, y = mixture(300)
    forest = cls(2, random_state=0, kept_points=kept_points, min_gain=0.1)
    forest.partial_fit(X[:100, :2], y[:100])
    for wide in (3, 4):
        forest.model_.engine.set_dims(wide)
        forest.n_features_in_ = wide
        rows = slice(100 * (wide - 2), 100 * (wide - 1))
        forest.partial_fit(X[rows, :wide], y[rows])
        other = riparian.from_bytes(forest.to_bytes())
        assert isinstance(other.model_.engine, ColumnEngine)
        assert same_forest(other, forest)
        more = X[:50, :wide], y[:50]
        assert same_forest(other.partial_fit(*more), forest.partial_fit(*more))


@pytest.fixture(scope="module")
def new_process():
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        yield process


def go_on(path, X, y, n_jobs):
    forest = riparian.load(path).set_params(n_jobs=n_jobs)
    for rows in np.array_split(np.arange(len(X)), 3):
        forest.partial_fit(X[rows], y[rows])
    forest.set_params(n_jobs=None).save(path)


@pytest.mark.parametrize(
    ("kind", "threads"),
    [
        ("default", 3),
        ("full fringe and a late class", 1),
        ("memory budget", 2),
        ("names", 1),
        ("balanced", 1),
        ("sums kept", 2),
        ("all points kept", 2),
        ("young and settled leaves", 1),
        ("points kept, fringe and a late class", 3),
        ("points kept, memory budget", 2),
        ("sparse points kept", 1),
        ("Saffari, trees replaced", 1),
    ],
)
def test_a_new_process_continues_with_the_same_forest(kind, threads, tmp_path, new_process):
    uninterrupted = learned(**KINDS[kind])
    uninterrupted.save(tmp_path / "forest")
    X, y = mixture(900, seed=3, n_classes=4)  # one class more comes late
    named = uninterrupted.classes_.dtype.kind == "U"
    y = np.array(["oak", "ash", "elm", "yew"])[y] if named else y
    new_process.submit(go_on, tmp_path / "forest", X, y, threads).result()
    uninterrupted.partial_fit(X, y)
    assert uninterrupted.stats()["leaves"] > 6
    assert same_forest(riparian.load(tmp_path / "forest"), uninterrupted)


def go_on_with_pixels(path):
    forest = riparian.load(path)
    for picture in images(6, seed=3):
        forest.partial_fit(*picture)
    forest.save(path)


@pytest.mark.parametrize("kind", DEPTH_KINDS)
def test_a_new_process_continues_with_the_same_depth_forest(kind, tmp_path, new_process):
    uninterrupted = learned(**DEPTH_KINDS[kind])
    uninterrupted.save(tmp_path / "forest")
    new_process.submit(go_on_with_pixels, tmp_path / "forest").result()
    for picture in images(6, seed=3):
        uninterrupted.partial_fit(*picture)
    assert same_forest(riparian.load(tmp_path / "forest"), uninterrupted)

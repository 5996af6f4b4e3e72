"""Exact resume: save, load in a new process, go on; nobody can tell that it was interrupted."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riparian
from riparian import OnlineForestClassifier

from snapshots import KINDS, learned, mixture, same_forest
from strategies import cuts, parameters, streams, thorough

pytestmark = pytest.mark.engine


@st.composite
def forests(draw):
    """An estimator with parameters of every kind."""
    p = draw(parameters())
    tight = draw(st.booleans())
    return OnlineForestClassifier(
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
        max_memory=p.n_trees * 60_000 if tight else None,
        class_weight=draw(st.sampled_from([None, "balanced", {0: 2.5, 1: 0.0, 3: 0.3}])),
    )


@thorough
@given(forests(), streams(), st.data())
def test_a_forest_that_was_saved_anywhere_is_as_if_it_had_never_been(forest, stream, data):
    X, y = stream
    weights = None
    if data.draw(st.booleans()):
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        weights = rng.random(len(X)) * data.draw(st.sampled_from([1.0, 3.0, 300.0]))
    other = riparian.OnlineForestClassifier(**forest.get_params())
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
    ],
)
def test_a_new_process_goes_on_with_the_same_forest(kind, threads, tmp_path, new_process):
    uninterrupted = learned(**KINDS[kind])
    uninterrupted.save(tmp_path / "forest")
    X, y = mixture(900, seed=3, n_classes=4)  # one class more comes late
    named = uninterrupted.classes_.dtype.kind == "U"
    y = np.array(["oak", "ash", "elm", "yew"])[y] if named else y
    new_process.submit(go_on, tmp_path / "forest", X, y, threads).result()
    uninterrupted.partial_fit(X, y)
    assert uninterrupted.stats()["leaves"] > 6
    assert same_forest(riparian.load(tmp_path / "forest"), uninterrupted)

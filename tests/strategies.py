"""What hypothesis draws for both engines: parameters, streams of points, and cuts into batches."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from riparian.parameters.forests import AdaptiveParameters, PaperParameters
from riparian.parameters.schedules import Geometric, Polynomial

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def schedules(draw):
    start = draw(st.sampled_from([0.5, 1, 1.5, 2, 4]))
    forms = [Geometric(start, 1.1), Geometric(start, 2.0), Polynomial(start, 1.5)]
    alpha = draw(st.sampled_from(forms))
    return alpha, alpha.times(draw(st.sampled_from([1, 2, 8, 1000])))


@st.composite
def parameters(draw, max_trees=3, kept_points=(0,)):
    alpha, beta = draw(schedules())
    structure = draw(st.sampled_from([0.5, 0.3, 0.8]))
    return PaperParameters(
        n_trees=draw(st.integers(1, max_trees)),
        seed=draw(st.integers(0, 2**64 - 1)),
        candidate_dims=draw(st.sampled_from([0.0, 1.0, 2.7, 30.0, "sqrt", "4sqrt"])),
        split_points=draw(st.sampled_from([1, 2, 3, 10, 17, 33])),
        min_gain=draw(st.sampled_from([0.0, 0.001, 0.1, 0.5, 2.0])),
        alpha=alpha,
        beta=beta,
        structure_fraction=structure,
        ignore_fraction=draw(st.sampled_from([0.0, 0.1])),
        fringe_size=draw(st.sampled_from([None, 1, 2, 3, 7])),
        voting=draw(st.sampled_from(["average", "majority"])),
        kept_points=draw(st.sampled_from(kept_points)),
    )


@st.composite
def adaptive_parameters(draw, max_trees=3, kept_points=(1, 7, 50, 100, 1000)):
    """R27: also with a δ at which trees are replaced all the time."""
    plain = draw(parameters(max_trees, kept_points))
    own = {field.name: getattr(plain, field.name) for field in fields(plain)}
    delta = draw(st.sampled_from([0.01, 0.3, 0.99]))
    return AdaptiveParameters(**own | {"eager": True, "drift_confidence": delta})


@st.composite
def changing_streams(draw):
    """A stream whose labels mean something else from some point on, now and then."""
    X, y = draw(streams())
    y = y.copy()
    for place in draw(st.lists(st.integers(0, len(y)), max_size=3)):
        y[place:] = y[place:].max(initial=0) - y[place:]
    return X, y


@st.composite
def streams(draw):
    """Rows of a few kinds (continuous, many ties, constant columns, missing values) and labels."""
    rows, dims = draw(st.integers(0, 400)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(rows, dims)).astype(np.float32)
    if draw(st.booleans()):
        X = np.round(X)  # duplicates
    if draw(st.booleans()):
        X[:, rng.integers(dims)] = 3.25  # a constant column
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    n_classes = draw(st.sampled_from([1, 2, 5, 40]))
    y = rng.integers(n_classes, size=rows)
    if draw(st.booleans()):
        y = np.where(np.nan_to_num(X[:, 0]) > 0, y, 0)  # something to learn
    return X, y


@st.composite
def mixed_streams(draw):
    """A stream some of whose columns are codes of categories (R22), and which columns these are."""
    X, y = draw(streams())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    categorical = sorted(draw(st.sets(st.integers(0, X.shape[1] - 1), min_size=1)))
    for column in categorical:
        n = draw(st.sampled_from([1, 2, 5, 60, 300]))  # from 32 on there are halves
        arrived = np.linspace(1, n, len(X)) if draw(st.booleans()) else n  # some come late
        codes = np.floor(rng.random(len(X)) * arrived).astype(np.float32)
        X[:, column] = np.where(np.isnan(X[:, column]), np.nan, codes)
        if draw(st.booleans()):
            y = np.where(X[:, column] % 2 == 1, 0, y)  # neighbours are nothing alike
    return X, y, categorical


@st.composite
def cuts(draw, rows):
    places = draw(st.lists(st.integers(0, rows), max_size=4))
    edges = [0, *sorted(places), rows]
    return list(pairwise(edges))

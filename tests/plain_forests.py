"""Forests of every kind that is exported and explained, with rows to predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import riparian
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
    SaffariForestClassifier,
)
from riparian.model.ensemble import Ensemble, ensemble_of
from riparian.reference import differs, goes_right
from riparian.streams import GaussianMixture

from strategies import streams


class Asked(NamedTuple):
    forest: OnlineForestClassifier | SaffariForestClassifier | OnlineForestRegressor
    X: np.ndarray  # also rows that lie on thresholds, or have nothing but missing values


def mixture(voting="average", trees=8, points=1500, **more) -> Asked:
    X, y = GaussianMixture.paper().sample(points, random_state=1)
    return asked(OnlineForestClassifier(trees, voting=voting, random_state=2, **more), X, y)


def missing(voting="average") -> Asked:
    """Ten columns, a fifth of the values missing, text for labels."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1500, 10)).astype(np.float32)
    y = np.array(["ash", "elm", "oak"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    X[rng.random(X.shape) < 0.2] = np.nan
    return asked(OnlineForestClassifier(7, voting=voting, random_state=3), X, y)


def late_classes() -> Asked:
    """Labels that arrive one after the other, not in the order in which they are sorted."""
    rng = np.random.default_rng(6)
    forest = OnlineForestClassifier(6, random_state=4)
    for label in (30, -20, 2**40, 7):
        X = rng.normal(label % 5, 1.5, size=(300, 3)).astype(np.float32)
        forest.partial_fit(X, np.where(X[:, 0] > 1, label, 30))
    return asked(forest, X)


def ties() -> Asked:
    """Whole numbers in two columns: points lie on thresholds, and leaves are often undecided."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 4, size=(400, 2)).astype(np.float32)
    y = rng.integers(4, 9, size=400)
    return asked(OnlineForestClassifier(4, voting="majority", random_state=1, beta=4.0), X, y)


def two_classes() -> Asked:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, size=(300, 2)).astype(np.float32)
    y = np.where(rng.random(300) < 0.5, 4, 7)
    return asked(OnlineForestClassifier(2, random_state=1), X, y)


def one_class() -> Asked:
    return asked(OnlineForestClassifier(3, random_state=0), np.eye(3), ["elm"] * 3)


def some_abstain() -> Asked:
    """So few points that some trees have no estimation point."""
    forest = OnlineForestClassifier(5, random_state=0)
    return asked(forest.partial_fit(np.eye(2), [True, False], [False, True]), np.eye(2))


def nothing_learned() -> Asked:
    forest = OnlineForestClassifier(2, random_state=0)
    return asked(forest.partial_fit(np.empty((0, 2)), [], classes=[1, 2, 3]), np.eye(2))


def only_predicts() -> Asked:
    """Back from a snapshot that has nothing but the answers."""
    forest, X = missing()
    return Asked(riparian.from_bytes(forest.to_bytes(prediction_only=True)), X)


def sparse_rows() -> Asked:
    rng = np.random.default_rng(9)
    X = rng.poisson(0.4, size=(800, 12)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > X[:, 2])
    forest = OnlineForestClassifier(4, random_state=5).partial_fit(csr_matrix(X), y)
    return asked(forest, X)


def without_kept_points() -> Asked:
    """The paper's forest, on a bounded fringe."""
    return mixture(trees=4, points=3000, kept_points=0, fringe_size=10)


def categories(voting="average") -> Asked:
    """Two columns of categories among four; 0 to 5 arrive in that order, so they are their codes."""
    rng = np.random.default_rng(12)
    X = rng.integers(0, 6, size=(900, 4)).astype(np.float32)
    X[:6, :] = np.arange(6)[:, None]
    y = (X[:, 0] == 2).astype(int) + (X[:, 1] > 3) + 2 * np.isin(X[:, 2], [1, 4])
    X[6:][rng.random((894, 4)) < 0.1] = np.nan
    forest = OnlineForestClassifier(
        4, voting=voting, categorical_features=[0, 2], random_state=3, beta=4.0
    )
    forest.partial_fit(X, y)
    assert forest.categories_ == {0: [*range(6)], 2: [*range(6)]}
    return Asked(forest, np.concatenate([asked(forest, X).X, np.full((1, 4), 99.0, np.float32)]))


def other_categories() -> Asked:
    """More categories than there is room for: from the fourth on they are one, whose code is 3."""
    X = np.random.default_rng(13).integers(0, 8, size=(600, 2)).astype(np.float32)
    X[:8, 0] = np.arange(8)
    y = (X[:, 0] == 1).astype(int) + 2 * (X[:, 0] > 4)
    forest = OnlineForestClassifier(3, categorical_features=[0], max_categories=3, random_state=0)
    forest.partial_fit(X, y)
    X[:, 0] = np.minimum(X[:, 0], 3)
    return Asked(forest, X[:200])


def halves(voting="average") -> Asked:
    """Columns of 60 and 40 categories, and splits that send half of them left."""
    rng = np.random.default_rng(14)
    X = np.floor(rng.random((900, 4)) * [60, 5, 40, 3]).astype(np.float32)
    X[:60, 0], X[:40, 2] = np.arange(60), np.arange(40)
    y = (X[:, 0] * 7 % 11 > 5).astype(int) + 2 * (X[:, 2] % 3 == 1)
    X[60:][rng.random((840, 4)) < 0.05] = np.nan
    forest = OnlineForestClassifier(
        3, voting=voting, categorical_features=[0, 2], random_state=3, max_categories=55
    )
    forest.partial_fit(X, y)
    assert (ensemble_of(forest, "this").is_half.sum(), len(forest.categories_[0])) > (20, 54)
    X[:, 0] = np.where(X[:, 0] > 55, 55, X[:, 0])  # all others
    return asked(forest, X)


def adaptive(voting="average", kept_points=500) -> Asked:
    """Trees with memories, some of which were replaced when the classes changed places (R27)."""
    X, y = GaussianMixture.paper().sample(2400, random_state=8)
    y[1200:] = (y[1200:] + 2) % 5
    forest = AdaptiveForestClassifier(
        5, voting=voting, kept_points=kept_points, drift_confidence=0.3, random_state=1
    )
    forest.partial_fit(X, y)
    assert forest.replacements_
    return asked(forest, X)


def eager(voting="average", points=1500) -> Asked:
    """Trees whose leaves answer with a mixture of cells of several sizes (R25)."""
    X, y = GaussianMixture.paper().sample(points, random_state=3)
    forest = OnlineForestClassifier(5, voting=voting, kept_points=400, eager=True, random_state=1)
    forest.partial_fit(X, y)
    assert sum(weight > 0 for weight in forest.trust_.values()) > 1
    return asked(forest, X)


def deep() -> Asked:
    """Sparse columns: a split takes one point from the others, so a tree has over 150 levels."""
    X, y = np.eye(300, dtype=np.float32), np.arange(300) % 2
    forest = OnlineForestClassifier(2, candidate_dims=300.0, random_state=1).partial_fit(X, y)
    assert forest.stats()["depth"] > 150
    return asked(forest, X)


def saffari() -> Asked:
    X, y = GaussianMixture.paper().sample(1500, random_state=3)
    return asked(SaffariForestClassifier(5, random_state=1), X, y)


def names_for_columns() -> Asked:
    import pandas as pd

    X, y = GaussianMixture.paper().sample(500, random_state=4)
    frame = pd.DataFrame(X, columns=["girth", 'height "m"'])
    forest = OnlineForestClassifier(3, random_state=1).fit(frame, y)
    return asked(forest, X)


KINDS: dict[str, Callable[[], Asked]] = {
    "mixture": mixture,
    "mixture by vote": lambda: mixture("majority"),
    "missing": missing,
    "missing by vote": lambda: missing("majority"),
    "late classes": late_classes,
    "ties": ties,
    "two classes": two_classes,
    "one class": one_class,
    "some abstain": some_abstain,
    "nothing learned": nothing_learned,
    "only predicts": only_predicts,
    "sparse rows": sparse_rows,
    "without kept points": without_kept_points,
    "categories": categories,
    "categories by vote": lambda: categories("majority"),
    "other categories": other_categories,
    "halves": halves,
    "halves by vote": lambda: halves("majority"),
    "adaptive": adaptive,
    "adaptive by vote": lambda: adaptive("majority"),
    "eager": lambda: eager(points=300),
    "eager, then honest": eager,
    "eager, then honest, by vote": lambda: eager("majority"),
    "eager, deep": deep,
    "Saffari": saffari,
    "names": names_for_columns,
}


# -- numbers (R26) --------------------------------------------------------------------------------


def numbers(points=1500, offset=0.0, factor=1.0, **more) -> Asked:
    """Noise around a smooth function, with a tenth of the values missing."""
    rng = np.random.default_rng(15)
    X = rng.normal(size=(points, 4)).astype(np.float32)
    y = np.abs(X[:, 0]) + (X[:, 1] > 0) * X[:, 2] + 0.1 * rng.normal(size=points)
    X[rng.random(X.shape) < 0.1] = np.nan
    forest = OnlineForestRegressor(5, random_state=1, **more)
    return asked(forest, X, offset + factor * y)


def numbers_of_categories(codes=6) -> Asked:
    """Two columns of categories among four; they arrive in order, so they are their codes."""
    rng = np.random.default_rng(16)
    X = np.floor(rng.random((900, 4)) * [codes, 5, codes, 3]).astype(np.float32)
    X[:codes, 0] = X[:codes, 2] = np.arange(codes)
    y = X[:, 0] * 7 % 11 + 2.0 * (X[:, 2] == 1) - X[:, 1]
    X[codes:][rng.random((900 - codes, 4)) < 0.05] = np.nan
    forest = OnlineForestRegressor(3, categorical_features=[0, 2], random_state=3)
    forest.partial_fit(X, y)
    assert ensemble_of(forest, "this").is_half.any() == (codes > 32)
    return asked(forest, X)


def adaptive_numbers() -> Asked:
    """Trees with memories, some of which were replaced when the target changed (R27)."""
    rng = np.random.default_rng(17)
    X = rng.normal(size=(2400, 3)).astype(np.float32)
    y = X[:, 0] * np.repeat([1.0, -3.0], 1200) + X[:, 1]
    forest = AdaptiveForestRegressor(5, kept_points=500, drift_confidence=0.3, random_state=1)
    forest.partial_fit(X, y)
    assert forest.replacements_
    return asked(forest, X)


def numbers_that_follow() -> Asked:
    """A level that no feature knows: answers follow the last target (R29)."""
    rng = np.random.default_rng(18)
    X = rng.normal(size=(800, 3)).astype(np.float32)
    y = np.cumsum(rng.normal(size=800)) + X[:, 0]
    forest = AdaptiveForestRegressor(5, random_state=1).partial_fit(X, y)
    assert forest.stats()["follows"]["last_target"] > 0.2
    return asked(forest, X)


def one_number() -> Asked:
    return asked(OnlineForestRegressor(3, random_state=0), np.eye(3), [7.5] * 3)


def numbers_that_some_ignore() -> Asked:
    """So few points that some trees have no estimation point."""
    forest = OnlineForestRegressor(5, kept_points=0, random_state=0)
    return asked(forest.partial_fit(np.eye(2), [3.0, 4.0]), np.eye(2))


def numbers_that_no_tree_took() -> Asked:
    forest = OnlineForestRegressor(2, structure_fraction=0.999, kept_points=0, random_state=0)
    forest.partial_fit(np.eye(2), [3.0, 4.0])
    assert ensemble_of(forest, "this").abstains
    return asked(forest, np.eye(2))


NUMBERS: dict[str, Callable[[], Asked]] = {
    "numbers": numbers,
    "numbers, eager, then honest": lambda: numbers(kept_points=400),
    "numbers, honest": lambda: numbers(eager=False),
    "numbers without kept points": lambda: numbers(points=3000, kept_points=0, fringe_size=10),
    "numbers, far from 0": lambda: numbers(offset=1e6),
    "numbers, tiny": lambda: numbers(factor=1e-200),
    "numbers, huge": lambda: numbers(factor=-1e140),
    "numbers of categories": numbers_of_categories,
    "numbers of halves": lambda: numbers_of_categories(60),
    "numbers, adaptive": adaptive_numbers,
    "numbers that follow the last target": numbers_that_follow,
    "one number": one_number,
    "numbers, some abstain": numbers_that_some_ignore,
    "numbers, all abstain": numbers_that_no_tree_took,
}
EVERY_KIND = KINDS | NUMBERS


class Categorical(NamedTuple):
    """Trees that test categories, as they are exported and explained, without a forest behind them."""

    ensemble: Ensemble
    X: np.ndarray

    @property
    def answers(self) -> np.ndarray:
        """By the definition, in plain Python (R4, R11, R22)."""
        e, sums = self.ensemble, np.zeros((len(self.X), self.ensemble.n_outputs))
        leaves = e.leaf_values()
        for i, x in enumerate(self.X):
            for node in e.root.tolist():
                while e.left[node] >= 0:
                    value, threshold = x[e.feature[node]], e.threshold[node]
                    right = differs if e.equals[node] else goes_right
                    node = int(e.left[node]) + right(float(value), float(threshold))
                sums[i] += leaves[e.leaf_number[node]]
        return sums / e.n_trees


# Categorical columns, and whether splits test for halves.
WAYS_TO_ASK = [
    *(((0,), False), ((0, 2), False), ((0, 1, 2, 3), False)),
    *(((0, 2), True), ((0, 1, 2, 3), True)),
]


def of_categories(
    columns=(0, 2), trees=4, points=600, width=4, codes=6, halves=False
) -> Categorical:
    """A forest over codes, in which splits of some columns test for equality or for halves.

    Some of its leaves cannot be reached by any row that way: nothing is two categories at once.
    """
    rng = np.random.default_rng(11)
    X = rng.integers(0, codes, size=(points, width)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (X[:, 0] == 2).astype(int) + (X[:, 1] > 3) + 2 * (X[:, 2] == X[:, 3])
    forest = OnlineForestClassifier(trees, random_state=3, beta=4.0).fit(X, y)
    plain = ensemble_of(forest, "this")
    names = [f"kind {code}" for code in range(codes)]
    equals, threshold = np.isin(plain.feature, columns), plain.threshold.copy()
    unknown = np.full((1, width), np.nan if halves else 99.0)
    if halves:  # most of them
        asked = np.flatnonzero(equals)[rng.random(equals.sum()) < 0.7]
        threshold[asked] = -1 - rng.integers(2**24, size=len(asked))
    return Categorical(
        replace(
            plain,
            threshold=threshold,
            equals=equals,
            categories={column: names for column in columns},
        ),
        np.concatenate([X[:150], np.full((1, width), np.nan), unknown]).astype(np.float32),
    )


def asked(forest, X, y=None) -> Asked:
    if y is not None:
        forest.fit(X, y)
    X = np.asarray(X, dtype=np.float32)
    width = X.shape[1]
    rows = [X[:200], np.full((1, width), np.nan, np.float32), np.zeros((1, width), np.float32)]
    rows.append(on_thresholds(forest, width))
    return Asked(forest, np.ascontiguousarray(np.concatenate(rows)))


@st.composite
def grown(draw) -> Asked:
    """Any forest over any stream that has a point; some of its columns may be categorical."""
    X, y = draw(streams().filter(lambda stream: len(stream[1]) > 0))
    columns = draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True))
    more = {"categorical_features": columns} if columns else {}
    voting = draw(st.sampled_from(["average", "majority"]))
    made = OnlineForestClassifier(3, voting=voting, random_state=0, beta=4.0, **more)
    made.partial_fit(X, y)
    codes = made.checked_points(X[:50])
    return Asked(made, np.concatenate([codes, on_thresholds(made, X.shape[1])]))


def on_thresholds(forest, width: int) -> np.ndarray:
    """Rows that take every test to its edge: `<=` is not `<`."""
    tree = forest.model_.engine.tree(0)
    inner = ~tree.is_leaf
    rows = np.zeros((int(inner.sum()), width), dtype=np.float32)
    edges = tree.threshold[inner]
    categorical = np.isin(
        tree.feature[inner], [*getattr(forest.model_.engine.categories, "tables", ())]
    )
    edges = np.where(categorical & (edges < 0), np.float32("nan"), edges)  # a half has none (R22)
    rows[np.arange(len(rows)), tree.feature[inner]] = edges
    return rows[:100]


def probabilities(forest, X) -> np.ndarray:
    return forest.model_.engine.predict_proba(X, 1)


def predictions(forest, X) -> np.ndarray:
    """The probabilities of rows as the engine takes them; of numbers, a single column."""
    if forest.__sklearn_tags__().estimator_type == "classifier":
        return probabilities(forest, X)
    return forest.model_.predict(X, 1)[:, None]


def spread_of(forest) -> float:
    """The scale of what the forest predicts: 1 of probabilities."""
    return ensemble_of(forest, "this").scale


def labels(forest, X) -> np.ndarray:
    return forest.classes_[probabilities(forest, X).argmax(axis=1)]

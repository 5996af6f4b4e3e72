"""How the values of features develop along a stream."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from riparian.explain import FeatureHistory
from riparian.explain.history import BLOCK, MOST_FEATURES, MOST_PARTS


def rows(n, features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def shares_of(history):
    return {name: np.nan_to_num(part).tolist() for name, part in vars(history.parts()).items()}


def test_a_change_of_one_feature_shows_in_its_drift_alone():
    X = rows(8 * BLOCK)
    X[4 * BLOCK :, 1] += 3.0
    history = FeatureHistory()
    history.update(X)
    parts = history.parts()
    assert parts.last_row.tolist() == [*range(BLOCK, 8 * BLOCK + 1, BLOCK)]
    assert parts.drift[:, 1].min() > 0.3 and parts.drift[:, [0, 2]].max() < 0.12
    assert parts.new[4, 1] > 0.2 > 0.05 > parts.new[5:, 1].max()


def test_missing_values_and_unknown_categories_are_counted_where_they_are():
    X = np.zeros((4 * BLOCK, 2), dtype=np.float32)
    X[:, 1] = np.arange(4 * BLOCK) % 3
    X[2 * BLOCK : 3 * BLOCK : 4, 0] = np.nan
    X[3 * BLOCK :: 10, 1] = 5.0  # a code that no row had before
    history = FeatureHistory()
    history.update(X)
    parts = history.parts()
    assert parts.missing[:, 0].tolist() == [0, 0, 0.25, 0]
    assert parts.new[:, 1].tolist() == [0, 0, 0, 0.1]


@given(cuts=st.lists(st.integers(1, 900), max_size=12), resumed=st.booleans())
@settings(max_examples=20, deadline=None)
def test_neither_batches_nor_a_resumed_run_change_it(cuts, resumed):
    X = rows(5 * BLOCK + 123)
    whole, cut = FeatureHistory(), FeatureHistory()
    whole.update(X)
    first = 0
    for size in [*cuts, len(X)]:
        some = X[first : first + size]
        cut.update(csr_matrix(some) if size % 2 and not np.isnan(some).any() else some)
        first += size
        if resumed:
            cut = FeatureHistory.from_state(json.loads(json.dumps(cut.state())))
    assert shares_of(cut) == shares_of(whole)
    assert cut.state() == whole.state()


def test_a_feature_that_rises_slowly_drifts_all_the_time():
    month, noise = np.repeat(np.arange(12), 10 * BLOCK), rows(120 * BLOCK, 1)[:, 0]
    history = FeatureHistory()
    history.update(np.column_stack([month, -month, month * 1e6 + noise, noise]))
    drift = history.parts().drift
    assert drift[:, :3].min() > 0.6  # each part has one month, the whole has twelve
    assert drift[:, 3].max() < 0.1


def test_the_drift_of_a_feature_with_few_values_is_exact():
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.integers(-most, most + 1, BLOCK) for most in (0, 2, 1, 4)])
    history = FeatureHistory()
    history.update(values[:, None])
    parts = values.reshape(4, BLOCK)
    shares = np.array([[(part == value).mean() for value in np.unique(values)] for part in parts])
    exact = np.abs(shares - shares.mean(axis=0)).sum(axis=1) / 2
    np.testing.assert_allclose(history.parts().drift[:, 0], exact)


def test_parts_are_joined_in_twos_and_memory_is_bounded():
    X = rows(BLOCK * 4, 2)
    history = FeatureHistory()
    for _ in range(MOST_PARTS):
        history.update(X)
    parts = history.parts()
    assert history.rows == 4 * MOST_PARTS * BLOCK
    assert len(parts.last_row) <= MOST_PARTS and parts.last_row[-1] == history.rows
    assert len(np.unique(np.diff(parts.last_row))) == 1
    missing = np.isnan(X).mean(axis=0)
    np.testing.assert_allclose(parts.missing.mean(axis=0), missing, atol=1e-12)
    assert len(json.dumps(history.state())) < 50_000


def test_a_feature_that_joins_was_missing_before():
    history = FeatureHistory()
    history.update(rows(BLOCK + 100, 1))
    history.update(np.zeros((2 * BLOCK - 100, 2), dtype=np.float32))
    parts = history.parts()
    assert parts.missing[:, 1].tolist() == [1.0, 100 / BLOCK, 0.0]


def test_of_many_features_the_first_ones_are_counted():
    history = FeatureHistory()
    history.update(np.zeros((BLOCK, MOST_FEATURES + 20), dtype=np.float32))
    assert history.features == MOST_FEATURES + 20
    assert history.parts().drift.shape == (1, MOST_FEATURES)


@pytest.mark.parametrize("change", [{"shape": [10**6, 3]}, {"shape": [False, 3]}, {"shape": []},
                                    {"rows": -1}, {"rows": None}, {"rows": 2**60}, {"width": 10**6},
                                    {"counts": 7}, {"counts": ""}, {"edges": "AAAA"}])  # fmt: skip
def test_a_state_that_is_none_is_refused(change):
    history = FeatureHistory()
    history.update(rows(BLOCK + 5))
    with pytest.raises(ValueError, match=r"expected|reshape|parts"):
        FeatureHistory.from_state({**history.state(), **change})

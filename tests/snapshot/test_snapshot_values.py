"""The values of a header come back as what they were, or are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import riparian
from riparian import Geometric

from snapshots import learned, mixture, same_forest

pytestmark = pytest.mark.engine


def back(forest):
    return riparian.from_bytes(forest.to_bytes())


def test_the_parameters_come_back_also_those_that_wait_for_the_next_fit():
    forest = learned(alpha=Geometric(2, 1.5), beta=7, class_weight={0: 0.5, 2: 3}, n_jobs=2)
    forest.set_params(n_estimators=9, max_memory="5MB", voting="majority")
    other = back(forest)
    assert other.get_params() == forest.get_params()
    assert same_forest(other, forest)
    assert len(other.stats()["trees"]) == 3
    assert same_forest(other.fit(*mixture(50)), forest.fit(*mixture(50)))


@pytest.mark.parametrize("state", [None, np.random.RandomState(3)])
def test_a_seed_that_was_drawn_is_kept_by_the_engine_alone(state):
    forest = learned(random_state=state)
    other = back(forest)
    assert other.random_state is None
    assert other.model_.engine.parameters == forest.model_.engine.parameters
    assert same_forest(other, forest)


def test_numbers_of_numpy_are_numbers():
    forest = learned(n_estimators=np.int64(3), min_gain=np.float32(0.25), shuffle=np.True_)
    params = back(forest).get_params()
    assert (params["n_estimators"], params["min_gain"], params["shuffle"]) == (3, 0.25, True)


@pytest.mark.parametrize(
    "wrong", [{"alpha": lambda d: d}, {"class_weight": {(1,): 2}}, {"min_gain": float("nan")}]
)
def test_a_parameter_that_no_header_can_hold_is_named(wrong):
    forest = learned().set_params(**wrong)
    with pytest.raises(riparian.SnapshotError, match=r"cannot be saved|must name labels"):
        forest.to_bytes()

"""The eleven streams that change: where they do, and that every engine is given the same."""

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks.streams_of_change import (
    ABRUPT,
    DRAWN,
    ELEC,
    LEDS,
    NAMES,
    concept_of,
    drawn,
    load,
    there,
)


@pytest.mark.parametrize("name", DRAWN)
def test_a_stream_has_the_requested_number_of_points_and_labels_from_0(name):
    X, y = load(name, 400, seed=3)
    assert X.dtype == np.float32
    assert len(X) == len(y) == 400
    assert np.isfinite(X).all()
    assert set(np.unique(y)) <= set(range(10))
    assert y.min() == 0


def test_the_same_seed_draws_the_same_points_and_another_seed_others():
    once, again, other = (DRAWN["agrawal-abrupt"](100, rng) for rng in generators(1, 1, 2))
    assert (once[0] == again[0]).all()
    assert (once[1] == again[1]).all()
    assert (once[0] != other[0]).any()


def generators(*seeds):
    return (np.random.default_rng(seed) for seed in seeds)


def test_the_four_concepts_follow_each_other_at_the_quarters():
    which = concept_of(4000, ABRUPT, np.random.default_rng(0))
    for k in range(4):
        inside = which[k * 1000 + 4 * ABRUPT : (k + 1) * 1000 - 4 * ABRUPT]
        assert (inside == k).all()


def test_a_gradual_change_mixes_two_concepts_in_equal_parts_around_its_middle():
    which = concept_of(40_000, 2000, np.random.default_rng(0))
    assert (which[9500:10_500] == 1).mean() == pytest.approx(0.5, abs=0.05)
    assert set(which[9000:9100].tolist()) == {0, 1}


def test_a_concept_does_not_repeat_the_points_of_the_one_before():
    X, _ = load("sea-abrupt", 400)
    assert len(np.unique(X, axis=0)) == 400


def test_led_keeps_the_order_of_its_lights_when_they_change_places():
    calm, _ = drawn(LEDS[0], 50, np.random.default_rng(0))
    assert calm.shape == (50, 24)
    assert set(np.unique(calm)) == {0.0, 1.0}


def test_elec_is_there_only_with_its_data(tmp_path, monkeypatch):
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)
    assert there(tmp_path) == list(DRAWN)
    arrays = {"X_train": np.zeros((6, 2)), "y_train": np.arange(6) % 2}
    np.savez(tmp_path / "elec.npz", **arrays, X_test=np.zeros((0, 2)), y_test=np.zeros(0))
    assert there(tmp_path) == list(NAMES)
    assert [len(part) for part in load(ELEC, None, 1, tmp_path)] == [6, 6]
    assert [len(part) for part in load(ELEC, 4, 1, tmp_path)] == [4, 4]


def test_a_stream_of_another_name_is_an_error():
    with pytest.raises(ValueError, match="stream must be one of led-abrupt"):
        load("led")

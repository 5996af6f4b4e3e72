"""The sets for numbers: scaled alike for every engine, cut to their first rows; dates are numbers."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from benchmarks import number_sets
from benchmarks.number_sets import DRAWN, METRO, NumberSet, available, load

CSV = """holiday,temp,date_time,traffic_volume
None,288.28,2012-10-02 09:00,5545
Labor Day,289.36,2012-10-03 10:00,4516
None,289.58,2012-11-02 11:00,4767
None,290.00,2012-11-02 12:00,1
"""


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_set_is_scaled_and_the_same_for_the_same_seed(name):
    one, same, other = (load(name, 200, seed, None) for seed in (1, 1, 2))
    assert one.X.shape == (200, 10)
    assert one.X.min() == 0 and one.X.max() == 1
    assert one.y.mean() == pytest.approx(0, abs=1e-12) and one.y.std() == pytest.approx(1)
    np.testing.assert_array_equal(one.y, same.y)
    assert not np.array_equal(one.y, other.y)


def test_the_columns_that_matter_turn_halfway():
    given = load("friedman-turned", 4000, 1, None)
    for half, column in ((slice(2000), 3), (slice(2000, None), 6)):
        strength = [abs(np.corrcoef(x, given.y[half])[0, 1]) for x in given.X[half].T]
        assert int(np.argmax(strength)) == column


def test_a_constant_column_stays_finite():
    given = NumberSet.of(np.array([[1.0, 7.0], [2.0, 7.0]]), np.array([3.0, 5.0]))
    assert given.X.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert given.deviation == 1.0


def test_a_file_with_dates_and_texts_is_columns_of_numbers(tmp_path):
    with gzip.open(tmp_path / f"{METRO}.csv.gz", "wt") as file:
        file.write(CSV)
    given = load(METRO, 3, 1, tmp_path)  # the fourth row is beyond
    holiday, temperature, hour, weekday, month = given.X.T
    assert holiday.tolist() == [1, 0, 1]  # the codes of "Labor Day" and "None"
    assert temperature == pytest.approx([0, 1.08 / 1.3, 1], abs=1e-6)
    assert hour.tolist() == [0, 0.5, 1]
    assert weekday == pytest.approx([0, 1 / 3, 1])  # Tuesday, Wednesday, Friday
    assert month.tolist() == [0, 0, 1]
    assert available(tmp_path) == [METRO]


def test_tables_are_shuffled_and_streams_are_not(tmp_path):
    X, y = np.arange(50, dtype=np.float32)[:, None], np.arange(50, dtype=np.float64)
    for name in ("abalone", "bike"):
        np.savez(tmp_path / f"reg_{name}.npz", X=X, y=y)
    table, again, stream = (load(name, 20, 1, tmp_path) for name in ("abalone", "abalone", "bike"))
    assert np.all(np.diff(stream.y) > 0)
    assert not np.all(np.diff(table.y) > 0)
    np.testing.assert_array_equal(table.y, again.y)


def test_without_data_there_is_what_can_be_drawn(tmp_path):
    assert available(None) == available(tmp_path) == list(DRAWN)
    with pytest.raises(ValueError, match="--data or RIPARIAN_DATA"):
        load("bike", None, 1, None)
    with pytest.raises(ValueError, match=r"set must be one of .*, got 'nothing'"):
        load("nothing", None, 1, None)
    assert set(number_sets.WITHOUT_ORDER) < set(number_sets.NAMES)

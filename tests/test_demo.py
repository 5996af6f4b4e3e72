"""The demo tells the story of the paper's first figure, in numbers of the right kind."""

import pytest

from riparian import demo
from riparian.streams import GaussianMixture

SIZES = (100, 400, 2000)


@pytest.fixture(scope="module")
def rows():
    forest = demo.experiment_forest(n_estimators=25)
    return list(demo.grow(forest, GaussianMixture.paper(), SIZES, test_points=4000))


def test_there_is_a_row_for_each_size(rows):
    assert tuple(row.points for row in rows) == SIZES


def test_every_number_is_of_its_kind(rows):
    for row in rows:
        assert 0 <= row.mean_tree <= 1
        assert 0 <= row.forest <= 1
        assert row.leaves >= 1
        assert row.points_per_second > 0


def test_all_rows_are_measured_on_the_same_test_set(rows):
    assert len({row.bayes for row in rows}) == 1


def test_the_forest_is_better_than_its_trees_and_not_than_bayes(rows):
    noise = 0.01  # a forest may be lucky on 4000 points, but hardly by more
    assert rows[-1].mean_tree < rows[-1].forest < rows[-1].bayes + noise


def test_trees_grow_and_get_better_with_the_stream(rows):
    first, *_, last = rows
    assert last.leaves > first.leaves
    assert last.mean_tree > first.mean_tree


def test_the_demo_prints_an_aligned_table_and_what_it_shows(capsys):
    assert demo.main((50, 200), test_points=500, n_estimators=5) == 0
    _, _, header, *table, blank, conclusion = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "points",
        "forest",
        "mean",
        "tree",
        "Bayes",
        "leaves/tree",
        "points/s",
    ]
    assert [line.split()[0] for line in table] == ["50", "200"]
    assert {len(line) for line in table} == {len(header)}
    assert blank == ""
    assert conclusion.startswith("Each point was seen once: after 200 of them the forest is")

"""The demo shows what the first figure of the paper shows, with similar numbers."""

import pytest

from riparian import demo

SIZES = (100, 400, 2000)


@pytest.fixture(scope="module")
def run():
    return demo.mixture_run(n_estimators=25)


@pytest.fixture(scope="module")
def rows(run):
    return list(demo.learn_mixture(run, SIZES, test_points=4000))


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


def test_every_point_is_predicted_before_it_is_learned(run, rows):
    assert run.test.scores.rows == SIZES[-1]  # all classes are known from the start
    assert run.test.curve[-1].row == SIZES[-1]
    assert abs(run.test.window_accuracy - rows[-1].forest) < 0.1


def test_the_digits_are_learned_better_and_better():
    run = demo.digits_run(n_estimators=10)
    rows = list(demo.learn_digits(run))
    assert [row.points for row in rows] == list(demo.DIGIT_SIZES)
    assert rows[-1].lately > rows[-1].accuracy > rows[0].accuracy > 0.2


@pytest.mark.parametrize("kind", [demo.MixtureRow, demo.DigitsRow])
def test_rows_line_up_under_their_header(kind, rows):
    row = rows[-1] if kind is demo.MixtureRow else demo.DigitsRow(1797, 0.5, 0.75, 12.5, 1000.0)
    assert len(str(row)) == len(kind.HEADER)

"""The options of shards are checked before anything starts."""

from __future__ import annotations

import pytest

from riparian.ray.plan import Options, Plan


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"n_shards": 0}, "n_shards must be from 1 to 10000, got 0"),
        ({"n_shards": 2.5}, "n_shards must be a whole number, got 2.5"),
        ({"checkpoint_every": 0}, "checkpoint_every must be from 1"),
        ({"in_flight": 0}, "in_flight must be from 1 to 1024, got 0"),
        ({"name": ""}, "name must consist of letters"),
        ({"name": "a/b"}, "name must consist of letters"),
        ({"name": 5}, "name must consist of letters"),
        ({"checkpoint_dir": 5}, "checkpoint_dir must be a path"),
    ],
)
def test_an_option_that_cannot_be_is_named(options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        Plan.of(Options(**{"n_shards": 1, **options}), n_trees=10)


def test_there_are_no_more_shards_than_trees_and_every_forest_has_a_name():
    plans = [Plan.of(Options(n_shards=7), n_trees=3) for _ in range(2)]
    assert plans[0].n_shards == 3
    assert plans[0].name != plans[1].name

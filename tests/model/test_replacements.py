"""Replaced trees come in crowds, which are described in a few words."""

from __future__ import annotations

import pytest

from riparian import AdaptiveForestClassifier, OnlineForestClassifier
from riparian.model.replacements import (
    MOST_CROWDS,
    Crowd,
    crowds,
    replacements_in_words,
    replacements_of,
)


def test_only_a_forest_that_replaces_trees_has_replacements():
    X, y = [[0.0], [1.0]], [0, 1]
    assert replacements_of(AdaptiveForestClassifier(2).partial_fit(X, y)) == []
    assert replacements_of(OnlineForestClassifier(2).partial_fit(X, y)) is None


def test_a_crowd_ends_where_a_fiftieth_of_the_stream_has_none():
    grouped = crowds([(200, 0), (180, 1), (221, 0)], points=1000)
    assert grouped == [Crowd(180, 200, 2), Crowd(221, 221, 1)]


@pytest.mark.parametrize(
    ("replaced", "words"),
    [
        ([], "no tree was replaced"),
        ([(7, 0)], "1 tree was replaced, at point 7"),
        ([(1007, 0), (1009, 3)], "2 trees were replaced, at points 1,007 to 1,009"),
    ],
)
def test_words(replaced, words):
    assert replacements_in_words(replaced, points=2000) == words


def test_the_largest_crowds_are_named_in_the_order_of_the_stream():
    small = [(100 * i, 0) for i in range(1, 5)]
    large = [(1000 * i + j, j) for i in range(1, MOST_CROWDS + 1) for j in range(3)]
    words = replacements_in_words([*small, *large], points=1000)
    assert words.startswith("19 trees were replaced: 3 at points 1,000 to 1,002, 3 at points 2,000")
    assert words.endswith("3 at points 5,000 to 5,002, 4 at other times")

"""Draws for many rows at once are those of the reference (R13)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from riparian import reference
from riparian.engine.draws import GOLDEN, SHUFFLE_DRAW, key, mixed, words

word = st.integers(0, 2**64 - 1)


def test_the_numbers_of_the_generator_are_those_of_the_reference():
    assert int(GOLDEN) == reference.GOLDEN
    assert SHUFFLE_DRAW == reference.SHUFFLE_DRAW


@given(st.lists(word, max_size=5))
def test_a_key_is_that_of_the_reference(places):
    assert int(key(*places)[0]) == reference.key(*places)


@given(st.lists(word, min_size=1, max_size=5))
def test_words_are_mixed_as_in_the_reference(several):
    assert mixed(np.array(several, dtype=np.uint64)).tolist() == list(map(reference.mix, several))


def test_the_words_of_a_sequence_are_its_draws():
    draws = reference.Draws(reference.key(7, 3))
    uniforms = (words(7, (3,), np.arange(4)) >> np.uint64(11)) * 2.0**-53
    assert uniforms.tolist() == [draws.uniform() for _ in range(4)]

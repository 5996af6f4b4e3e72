"""Kinds of values: what each takes, in which form it is kept, and what documentation calls it."""

from __future__ import annotations

import numpy as np
import pytest

from riparian.parameters.schedules import Geometric
from riparian.parameters.values import (
    Between,
    Bytes,
    Flag,
    MultipleOrOfDepth,
    Number,
    OfDepth,
    OneOf,
    OrNone,
    OrWord,
    Seed,
    WeightsByLabel,
    Whole,
)

ROOT = OrWord(Number(0, 9), ("sqrt", "4sqrt"))


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        (Whole(1, 5), np.int8(5), 5),
        (Number(0), np.float32(0.5), 0.5),
        (Between(0, 1), 0.5, 0.5),
        (Flag(), np.True_, True),
        (OneOf(("oak", "elm")), np.str_("elm"), "elm"),
        (ROOT, "sqrt", "sqrt"),
        (ROOT, "4sqrt", "4sqrt"),
        (ROOT, 3, 3.0),
        (OrNone(Whole(1, 5), "all"), None, None),
        (OrNone(Whole(1, 5), "all"), 2, 2),
        (Bytes(), 1000, 1000),
        (Bytes(), "1.5 kb", 1500),
        (Bytes(), "2GiB", 2**31),
        (Bytes(), "77", 77),
        (Seed(), 2**64 - 1, 2**64 - 1),
        (OfDepth(), Geometric(1, 2), Geometric(1, 2)),
        (WeightsByLabel(), {1: 2}, {1: 2}),
    ],
)
def test_a_value_is_kept_in_its_plain_form(kind, given, kept):
    value = kind.checked("size", given)
    assert value == kept
    assert type(value) is type(kept)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (Whole(1, 5), 6, "size must be from 1 to 5, got 6"),
        (Whole(1, 5), 2.0, "size must be a whole number, got 2.0"),
        (Number(0), -1, "size must be finite and >= 0, got -1"),
        (Number(0, 9), 10, "size must be from 0 to 9, got 10"),
        (Between(0, 1e6), 0, "size must be above 0 and below 1000000, got 0"),
        (Between(0, 1e6), 1e6, "size must be above 0 and below 1000000, got 1000000.0"),
        (Flag(), 1, "size must be True or False, got 1"),
        (OneOf(("oak", "elm")), "ash", "size must be 'oak' or 'elm', got 'ash'"),
        (OneOf(("oak", "elm")), ["oak"], "size must be 'oak' or 'elm', got \\['oak'\\]"),
        (ROOT, "log", "size must be a number or 'sqrt' or '4sqrt', got 'log'"),
        (ROOT, None, "size must be a number, got None"),
        (OrNone(Whole(1, 5), "all"), 0, "size must be from 1 to 5, got 0"),
        (
            Bytes(),
            "many",
            "size must be a number of bytes or a text such as '500MB' or '2GiB', got 'many'",
        ),
        (Bytes(), 0, "size must be from 1 to 1152921504606846976, got 0"),
        (Bytes(), 1.5, "size must be a whole number, got 1.5"),
        (Seed(), -1, "size must be from 0 to 18446744073709551615, got -1"),
    ],
)
def test_another_value_is_refused_by_the_name_of_the_parameter(kind, given, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        kind.checked("size", given)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Whole(1, 5), "int"),
        (Number(0), "float"),
        (OneOf(("oak", "elm")), '"oak" or "elm"'),
        (ROOT, 'float or "sqrt" or "4sqrt"'),
        (OrNone(Bytes(), "no bound"), "int, str or None"),
        (OfDepth(), "Geometric, Polynomial or float"),
        (MultipleOrOfDepth(), "float, Geometric or Polynomial"),
        (WeightsByLabel(), 'dict, "balanced" or None'),
    ],
)
def test_a_kind_has_words_for_documentation(kind, words):
    assert kind.words == words

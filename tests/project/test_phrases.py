"""The text of the project uses no phrase of the ban list."""

from __future__ import annotations

import pytest

from phrases import names_in, phrases_in, places


def test_no_text_has_a_phrase_of_the_list():
    assert list(places()) == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("checked at the door", ["the door"]),
        ("// grown\n", []),
        ("points that are at\n    // hand", ["at hand"]),
        ("# so\n# many", ["so many"]),
        ("so many that none fits", []),
        ("def test_a_tree_beside_another(): ...", ["beside"]),
        ("Besides, doormats and mushrooms", []),
        ("trusts those that were right of late", ["of late"]),
        ("the rules of late labels", []),
        ("not “the door”, but input validation", []),
        ("The figures here come from a record.", ["figure"]),
        ("the tables and the figure of a record", []),
    ],
)
def test_a_phrase_is_seen_across_lines_and_in_names_but_not_in_quotations(text, expected):
    assert [phrase for phrase, _ in phrases_in(text)] == expected


@pytest.mark.parametrize(
    "text, suffix, expected",
    [
        ("found = 1", ".py", ["found"]),
        ("def f(told): ...", ".py", ["told"]),
        ("def said(): ...", ".py", ["said"]),
        ("x = a.found  # is found", ".py", []),
        ("const auto found = map.find(x);", ".cpp", ["found"]),
        ("// what was found;", ".hpp", []),
    ],
)
def test_a_participle_is_refused_as_a_name_and_fine_as_a_verb(text, suffix, expected):
    assert [name for name, _ in names_in(text, suffix)] == expected

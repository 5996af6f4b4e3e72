"""Docstrings of forests: every parameter of a constructor is documented, each once."""

from __future__ import annotations

import pytest

from riparian.parameters.declare import Parameter, constructed, declared
from riparian.parameters.docstrings import REFERENCE, filled
from riparian.parameters.forests import PaperParameters, PaperSettings, constructor_parameters

DESCRIBED = "As described in `riparian.parameters.forests.PaperSettings`."
TWO = {
    name: constructor_parameters(PaperParameters)[name] for name in ("n_estimators", "split_points")
}


def test_the_descriptions_replace_the_reference_to_them():
    text = filled(f"A forest.\n\n    {DESCRIBED}\n", TWO)
    assert text == (
        "A forest.\n\n"
        "    n_estimators : int\n"
        "        The number of trees.\n"
        "    split_points : int\n"
        "        m: a leaf chooses among thresholds taken from its first m structure points.\n"
    )


def test_a_parameter_that_a_docstring_documents_itself_stays():
    own = "    split_points : int\n        As many as you like.\n"
    text = filled(f"{own}    {DESCRIBED}\n", TWO)
    assert text == f"{own}    n_estimators : int\n        The number of trees.\n"


def test_a_docstring_without_a_reference_stays_as_it_is():
    assert filled("A forest.", TWO) == "A forest."


def test_a_class_without_a_docstring_has_none_afterwards():
    class Bare(PaperSettings):
        pass

    assert constructed(Bare).__doc__ is None


def test_a_parameter_without_a_description_is_an_error():
    with pytest.raises(TypeError, match="kept_secrets"):
        filled(f"    {DESCRIBED}", {"kept_secrets": Parameter("kept_secrets", 0)})


def test_long_texts_are_wrapped():
    text = filled(f"    {DESCRIBED}", declared(PaperSettings))
    assert max(map(len, text.splitlines())) <= 100
    assert not REFERENCE.search(text)

"""Docstrings of forests, whose sections of parameters are made from the declarations."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riparian.parameters.declare import Parameter

WIDTH = 100

# The line of a docstring that the descriptions replace. It names a class that declares them.
REFERENCE = re.compile(r"^( *)As described in `riparian\.parameters\.forests\.\w+`\.$", re.M)


def filled(docstring: str, parameters: Mapping[str, Parameter]) -> str:
    """Return the docstring with an entry for each parameter that it does not document itself."""
    reference = REFERENCE.search(docstring)
    if reference is None:
        return docstring
    indent = reference[1]
    entries = "\n".join(
        entry(parameter)
        for name, parameter in parameters.items()
        if not re.search(rf"^{indent}{name}( :|$)", docstring, re.M)
    )
    return REFERENCE.sub(lambda _: textwrap.indent(entries, indent), docstring)


def entry(parameter: Parameter) -> str:
    """Return the description of a parameter in the format of numpydoc.

    >>> from riparian.parameters.declare import declared
    >>> from riparian.parameters.forests import PaperSettings
    >>> print(entry(declared(PaperSettings)["split_points"]))
    split_points : int
        m: a leaf chooses among thresholds taken from its first m structure points.
    """
    if not parameter.help:
        raise TypeError(f"parameter {parameter.name!r} has no description; give it a help text")
    text = textwrap.fill(parameter.text(), WIDTH - 8, break_on_hyphens=False)
    return f"{parameter.name} : {parameter.kind.words}\n{textwrap.indent(text, ' ' * 4)}"

"""Docstrings of forests: their parameters are documented by the descriptions, not once per class."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from typing import TypeVar

from riparian.parameters import forests as parameters
from riparian.parameters.forests import Parameter

WIDTH = 100

Class = TypeVar("Class", bound=type)

# The line of a docstring that the descriptions replace. It names the class that has them.
REFERENCE = re.compile(r"^( *)As described in `riparian\.parameters\.forests\.(\w+)`\.$", re.M)


def documented(cls: Class) -> Class:
    """The class, with its parameters documented where its docstring refers to the descriptions."""
    if cls.__doc__ is not None:  # it is None in a Python that drops docstrings
        cls.__doc__ = filled(cls.__doc__, inspect.signature(cls).parameters)
    return cls


def filled(docstring: str, names: Iterable[str]) -> str:
    """The docstring, with an entry for each parameter that it does not document itself."""
    reference = REFERENCE.search(docstring)
    if reference is None:
        return docstring
    indent, source = reference.groups()
    descriptions = parameters.constructor_parameters(getattr(parameters, source))
    descriptions |= parameters.OF_ROWS | parameters.OF_DEPTH
    missing = [name for name in names if not re.search(rf"^{indent}{name}( :|$)", docstring, re.M)]
    entries = "\n".join(entry(descriptions[name]) for name in missing)
    return REFERENCE.sub(lambda _: textwrap.indent(entries, indent), docstring)


def entry(parameter: Parameter) -> str:
    """A parameter as numpydoc has it.

    >>> print(entry(parameters.parameters_of(parameters.Parameters)["split_points"]))
    split_points : int
        m: a leaf chooses among thresholds taken from its first m structure points.
    """
    text = textwrap.fill(parameter.text(), WIDTH - 8, break_on_hyphens=False)
    return f"{parameter.name} : {parameter.kind.words}\n{textwrap.indent(text, ' ' * 4)}"

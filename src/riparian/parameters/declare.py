"""Declare a parameter once, in the body of a class; everything else follows from there.

    @constructed
    class DepthSettings:
        far: float = described(kind=Between(0, 1e6), default=6.0, help="The depth of what lies outside.")

`constructed` makes the `__init__` of a class from what it and its bases declare, as `dataclass` does.
An estimator inherits the settings that it takes. `resolved` makes a frozen class of the same settings:
the parameters that an engine reads.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, make_dataclass
from itertools import count
from typing import Any, TypeVar, dataclass_transform

from riparian.parameters.docstrings import filled
from riparian.parameters.values import Deprecated, OrNone, Unchecked, ValueType

Class = TypeVar("Class", bound=type)

UNCHECKED = Unchecked()


@dataclass(frozen=True)
class Parameter:
    """The description of a parameter."""

    name: str  # in constructors
    place: int  # constructors list their parameters in the order of the declarations
    annotation: Any = None
    kind: ValueType = UNCHECKED
    default: Any = field(default_factory=lambda: MISSING)  # MISSING: it must be given
    help: str = ""  # may be empty if the docstring of the class documents it
    symbol: str = ""  # the paper's
    option: str = ""  # its name on the command line, where that is another
    # The value of forests that were saved before the parameter existed; MISSING: there are none.
    before: Any = field(default_factory=lambda: MISSING)
    kw_only: bool = True

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return self.option or f"--{self.name.replace('_', '-')}"

    def text(self, none: str = "None") -> str:
        """Return the description in full; `none` is how the reader would choose None."""
        symbol = f"{self.symbol}: " if self.symbol else ""
        meaning = f" {none}: {self.kind.meaning}." if isinstance(self.kind, OrNone) else ""
        return f"{symbol}{self.help}{meaning}"

    @property
    def deprecated(self) -> bool:
        """Return whether it has no effect any more: engines do not know it."""
        return isinstance(self.kind, Deprecated)

    def checked(self, value: Any) -> Any:
        """Return the value in its plain form, or raise an error that names the parameter."""
        return self.kind.checked(self.name, value)


class _Description(dict[str, Any]):
    """The declaration of a parameter in one class: some fields of `Parameter`."""


_places = count()


def described(**description: Any) -> Any:
    """Declare a parameter. A class that declares it again only gives what is different.

    Type checkers read `default` and `kw_only` here. So a declaration must give them, unless the
    parameter is required and keyword-only, even if a base class has given them.
    """
    return _Description(description, place=next(_places))


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(described,))
def constructed(cls: Class) -> Class:
    """Make `__init__` from the declared parameters, and document them in the docstring.

    `__init__` sets each parameter as an attribute, then calls `__post_init__` if there is one.
    """
    annotations = inspect.get_annotations(cls)
    own = {name: value for name, value in vars(cls).items() if isinstance(value, _Description)}
    for name, description in own.items():
        description["annotation"] = annotations[name]
        delattr(cls, name)
    cls._descriptions = own  # type: ignore[attr-defined]
    cls.__init__ = _constructor(cls)  # type: ignore[misc]
    if cls.__doc__ is not None:  # it is None in a Python that drops docstrings
        cls.__doc__ = filled(cls.__doc__, declared(cls))
    return cls


def declared(cls: type) -> dict[str, Parameter]:
    """Return the parameters of a class and its bases by name, in the order of their declarations."""
    return merged(own_descriptions(base) for base in reversed(cls.__mro__))


def own_descriptions(cls: type) -> dict[str, dict[str, Any]]:
    """Return what a class itself declares of its parameters, by name."""
    descriptions: dict[str, dict[str, Any]] = vars(cls).get("_descriptions", {})
    return descriptions


def merged(classes: Iterable[dict[str, dict[str, Any]]]) -> dict[str, Parameter]:
    """Return the parameters of several classes, bases first, merged from their declarations."""
    known: dict[str, dict[str, Any]] = {}
    for descriptions in classes:
        for name, description in descriptions.items():
            inherited = known.get(name, description)
            known[name] = {**inherited, **description, "place": inherited["place"]}
    parameters = [Parameter(name, **description) for name, description in known.items()]
    return {each.name: each for each in sorted(parameters, key=lambda each: each.place)}


def _constructor(cls: type) -> Any:
    """Let `dataclass` write the constructor, so that its signature and errors are the usual ones."""
    fields = [
        (each.name, each.annotation, field(default=each.default, kw_only=each.kw_only))
        for each in declared(cls).values()
    ]
    after = {"__post_init__": None} if hasattr(cls, "__post_init__") else {}
    constructor = make_dataclass(cls.__name__, fields, namespace=after).__init__  # type: ignore[misc]
    constructor.__module__ = cls.__module__
    return constructor


def resolved(*, defaults: bool = False) -> Callable[[Class], Class]:
    """Make a frozen dataclass with a field for each declared parameter; a class decorator.

    The class annotates a field again if its type changes when it is checked. Unless it has the
    `defaults` of constructors, only a parameter that old forests do not have may be left out.
    """

    def decorate(cls: Class) -> Class:
        parameters = {name: each for name, each in declared(cls).items() if not each.deprecated}
        annotations = {name: each.annotation for name, each in parameters.items()}
        cls.__annotations__ = annotations | inspect.get_annotations(cls)
        for name, each in parameters.items():
            setattr(cls, name, field(default=each.default if defaults else each.before))
        dataclass(frozen=True, kw_only=True)(cls)
        return cls

    return decorate

"""Docstrings are written for the terminal; these pages want some of it told apart.

Examples (`>>>`) outside of a section of their own, and tables between lines of `=`, are fenced.
Parameters that share a description get one each: griffe would give all the default of the first. The
parameters of forests are documented by their descriptions, as they are when the package is imported, and
shown in the signature that `constructed` makes. No estimator is imported for that: CapyMOA needs Java.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import MISSING
from typing import Any

import griffe

from riparian.parameters import forests, values
from riparian.parameters.declare import Parameter, described, merged, own_descriptions
from riparian.parameters.docstrings import filled

EXAMPLE = re.compile(r"(?:^>>> .*\n(?:^(?!>>> )\S.*\n|^ +\S.*\n)*)+", re.MULTILINE)
TABLE = re.compile(r"^=+ +=+\n(?:.*\n)*?=+ +=+\n", re.MULTILINE)
SHARED = re.compile(r"^(\w+(?:, \w+)+) :(.*)\n((?: +\S.*\n)+)", re.MULTILINE)
SECTION = re.compile(r"^Examples\n-+\n", re.MULTILINE)


def one_each(text: str) -> str:
    def apart(match: re.Match[str]) -> str:
        return "".join(f"{name} :{match[2]}\n{match[3]}" for name in match[1].split(", "))

    return SHARED.sub(apart, f"{text}\n").rstrip()


def fenced(text: str) -> str:
    text = f"{text}\n"
    section = SECTION.search(text)
    end = section.start() if section else len(text)
    free = EXAMPLE.sub(lambda match: f"\n```pycon\n{match[0]}```\n", text[:end])
    free = TABLE.sub(lambda match: f"```text\n{match[0]}```\n", free)
    return (free + text[end:]).rstrip()


def classes(module: griffe.Module) -> Iterator[griffe.Class]:
    for member in module.members.values():
        if isinstance(member, griffe.Module):
            yield from classes(member)
        elif isinstance(member, griffe.Class):
            yield member


def is_constructed(cls: griffe.Class) -> bool:
    return any(str(decorator.value) == "constructed" for decorator in cls.decorators)


class Source(str):
    """A default as it is written."""

    __repr__ = str.__str__


def descriptions(cls: griffe.Class) -> dict[str, dict[str, Any]]:
    """Return what a class itself says of parameters; an estimator is read, not imported."""
    if cls.module.path == forests.__name__:
        return own_descriptions(getattr(forests, cls.name))
    return {name: described(**given) for name, given in written(cls)} if is_constructed(cls) else {}


def written(cls: griffe.Class) -> Iterator[tuple[str, dict[str, Any]]]:
    for attribute in cls.members.values():
        value = str(attribute.value) if isinstance(attribute, griffe.Attribute) else ""
        if value.startswith("described("):
            call: Any = ast.parse(value, mode="eval").body
            given = {each.arg: Source(ast.unparse(each.value)) for each in call.keywords}
            names = vars(values) | vars(forests) | kinds_of(cls.module)
            for name in given.keys() & {"kw_only", "kind", "help"}:
                given[name] = eval(given[name], names)
            yield attribute.name, given


def kinds_of(module: griffe.Module) -> dict[str, type[values.ValueType]]:
    """Return kinds with the words of those that a module has of its own."""
    return {
        cls.name: type(cls.name, (values.Unchecked,), {"words": ast.literal_eval(str(words.value))})
        for cls in module.members.values()
        if isinstance(cls, griffe.Class)
        and isinstance(words := cls.members.get("words"), griffe.Attribute)
    }


def constructor(parameters: dict[str, Parameter]) -> griffe.Function:
    kinds = {
        True: griffe.ParameterKind.keyword_only,
        False: griffe.ParameterKind.positional_or_keyword,
    }
    listed = [
        griffe.Parameter(
            each.name,
            kind=kinds[each.kw_only],
            default=None if each.default is MISSING else repr(each.default),
        )
        for each in sorted(parameters.values(), key=lambda each: each.kw_only)
    ]
    of_self = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    return griffe.Function("__init__", parameters=griffe.Parameters(of_self, *listed))


class PlainDocstrings(griffe.Extension):
    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        for cls in filter(is_constructed, classes(pkg)):
            parameters = merged(map(descriptions, [*reversed(cls.mro()), cls]))
            cls.set_member("__init__", constructor(parameters))
            if cls.docstring is not None:
                cls.docstring.value = filled(cls.docstring.value, parameters)

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = one_each(fenced(obj.docstring.value))

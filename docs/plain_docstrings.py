"""Docstrings are written for the terminal; these pages want some of it told apart.

Examples (`>>>`) outside of a section of their own, and tables between lines of `=`, are fenced.
Parameters that share a description get one each: griffe would give all the default of the first. The
parameters of forests are documented by their descriptions, as they are when the package is imported, and
a default that is looked up in `DEFAULT` is shown by its value.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

from riparian.parameters.docstrings import filled
from riparian.parameters.forests import DEFAULT

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


class PlainDocstrings(griffe.Extension):
    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        if cls.docstring is not None:
            names = [parameter.name for parameter in cls.parameters if parameter.name != "self"]
            cls.docstring.value = filled(cls.docstring.value, names)

    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:
        for parameter in func.parameters:
            if str(parameter.default).startswith("DEFAULT["):
                parameter.default = repr(DEFAULT[parameter.name])

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = one_each(fenced(obj.docstring.value))

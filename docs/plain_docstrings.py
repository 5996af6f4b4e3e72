"""Docstrings are written for the terminal; these pages want some of it told apart.

Examples (`>>>`) outside of a section of their own, and tables between lines of `=`, are fenced.
Parameters that share a description get one each: griffe would give all the default of the first.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n(?:^(?!>>> )\S.*\n|^ +\S.*\n)*)+", re.MULTILINE)
TABLE = re.compile(r"^=+ +=+\n(?:.*\n)*?=+ +=+\n", re.MULTILINE)
SHARED = re.compile(r"^(\w+(?:, \w+)+) :(.*)\n((?: +\S.*\n)+)", re.MULTILINE)
SECTION = re.compile(r"^Examples\n-+\n", re.MULTILINE)


def one_each(text: str) -> str:
    return SHARED.sub(
        lambda found: "".join(f"{name} :{found[2]}\n{found[3]}" for name in found[1].split(", ")),
        text,
    )


def fenced(text: str) -> str:
    free, *rest = re.split(SECTION, f"{text}\n", maxsplit=1)
    free = EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}```\n", free)
    free = TABLE.sub(lambda found: f"```text\n{found[0]}```\n", free)
    section = re.search(SECTION, f"{text}\n")
    return (free + section[0] + rest[0] if section and rest else free).rstrip()


class PlainDocstrings(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = one_each(fenced(obj.docstring.value))

"""Docstrings are written for the terminal: here, what Markdown would not understand is fenced.

That is examples (`>>>`) outside of a section of their own, and tables between lines of `=`.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n(?:^(?!>>> )\S.*\n|^ +\S.*\n)*)+", re.MULTILINE)
TABLE = re.compile(r"^=+ +=+\n(?:.*\n)*?=+ +=+\n", re.MULTILINE)
SECTION = re.compile(r"^Examples\n-+\n", re.MULTILINE)


def fenced(text: str) -> str:
    free, *rest = re.split(SECTION, f"{text}\n", maxsplit=1)
    free = EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}```\n", free)
    free = TABLE.sub(lambda found: f"```text\n{found[0]}```\n", free)
    section = re.search(SECTION, f"{text}\n")
    return (free + section[0] + rest[0] if section and rest else free).rstrip()


class PlainDocstrings(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

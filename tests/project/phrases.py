"""Phrases that the project does not use (CONTRIBUTING.md, "Words").

    python tests/project/phrases.py    list every place, with file and line

Text in typographic quotation marks, “like this”, is quoted and does not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SUFFIXES = {".md", ".py", ".pyi", ".hpp", ".cpp", ".js", ".html", ".yml", ".yaml", ".toml"}
NAMED = {"Makefile", "run"}
SKIPPED = {"build", "dist", "__pycache__", "phrases.py", "test_phrases.py"}
HIDDEN = {".ci", ".github", ".pre-commit-config.yaml"}

# A space stands for any gap, even between two lines of a comment. Words of an identifier count, too.
PHRASES = {
    "the door": "doors?",
    "rooms": "rooms",
    "at hand": "at hand",
    "anew": "anew",
    "so many": "so many(?! that)",
    "beside": "beside",
    "be it": "be it",
    "as it were": "as it were",
    "of late": "of late(?! (?:labels?|rows?|points?|columns?|answers?))",
    "held against": "held against",
    "in its stead": "in its stead",
    "whoever": "whoever",
    "nobody": "nobody|somebody|anybody",
    "for the while": "for the while",
    "there already": "there already",
    "wrong with": "wrong with",
    # Only in the sense of a number: elsewhere a figure is a picture.
    "figure": (
        "(?:these|such|older|published|average|page's) figures?|test figures of"
        "|figures? (?:here|above|below|least|means?|are of|come|at the end|one would|to compare)"
        "|figures? (?:can be compared|are compared|a workload|over the|would|that are written)"
        "|(?:has|have|reading|few|record:|place for) (?:the )?figures?"
        "|all figures are|each figure (?:is the|has)|# the figures|the figures:|what [|] figure"
    ),
}
GAP = r"(?:[\s_]+(?:(?://+|#+|\*+)[ \t]*)?)"
PATTERNS = {
    phrase: re.compile(rf"(?<![A-Za-z])(?:{pattern.replace(' ', GAP)})(?![A-Za-z])", re.IGNORECASE)
    for phrase, pattern in PHRASES.items()
}

KEYS = {
    "the door": "door", "at hand": "hand", "so many": "many", "nobody": "body", "of late": "late",
    "be it": " it", "as it were": "were", "held against": "against", "in its stead": "stead",
    "for the while": "while", "there already": "already", "wrong with": "wrong",
}  # fmt: skip  # a word that is in every match of a phrase

# Participles that say nothing as names of variables. As verbs in a sentence they are fine.
NAMES = ("told", "said", "found", "going")
PUBLIC_NAMES = {("src/riparian/theory/departures.py", "found")}  # a field that users read
DECLARED = re.compile(rf"[\w>&*]\s+({'|'.join(NAMES)})\s*(?:[={{;,)]|\(\))")  # C++ and JavaScript

QUOTATION = re.compile("“[^”]*”")
RELEASED = re.compile(
    r"^## 0\.2\.0.*", re.MULTILINE | re.DOTALL
)  # what was published stays as it was


class Place(NamedTuple):
    phrase: str
    path: str
    line: int
    text: str


def files(folder: Path = ROOT) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in SKIPPED or (path.name.startswith(".") and path.name not in HIDDEN):
            continue
        if path.is_dir():
            yield from files(path)
        elif path.suffix in SUFFIXES or path.name in NAMED:
            yield path


def blank(match: re.Match[str]) -> str:
    """Nothing but the line breaks, so that lines keep their numbers."""
    return "\n" * match[0].count("\n")


def phrases_in(text: str) -> Iterator[tuple[str, int]]:
    """Each phrase in a text, with its line."""
    text = QUOTATION.sub(blank, text)
    lowered = text.lower()
    for phrase, pattern in PATTERNS.items():
        if KEYS.get(phrase, phrase) not in lowered:  # this is quick, and the pattern is not
            continue
        for match in pattern.finditer(text):
            yield phrase, text.count("\n", 0, match.start()) + 1


def names_in(text: str, suffix: str) -> Iterator[tuple[str, int]]:
    """Each name that is defined and should not be, with its line."""
    if suffix in (".py", ".pyi"):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    pass
                case _:
                    continue
            if name in NAMES:
                yield name, node.lineno
    elif suffix in (".hpp", ".cpp", ".js"):
        for number, line in enumerate(text.splitlines(), 1):
            for match in DECLARED.finditer(line.partition("//")[0]):
                yield match[1], number


def places() -> Iterator[Place]:
    for path in files():
        where = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if where == "CHANGELOG.md":
            text = RELEASED.sub(blank, text)
        lines = text.splitlines()
        for phrase, line in phrases_in(text):
            yield Place(phrase, where, line, lines[line - 1].strip())
        for name, line in names_in(text, path.suffix):
            if (where, name) not in PUBLIC_NAMES:
                yield Place(f"{name} (a name)", where, line, lines[line - 1].strip())


def main() -> int:
    """Print every place, and return 1 if there is one."""
    seen = sorted(places())
    for place in seen:
        print(f"{place.path}:{place.line}: {place.phrase}: {place.text}")
    return int(bool(seen))


if __name__ == "__main__":
    raise SystemExit(main())

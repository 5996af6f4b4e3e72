"""DESIGN.md names every folder and file that exists, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "DESIGN.md").read_text()
HEADING = "## How the code is laid out\n"
ENTRY = re.compile(r"^(?P<indent> +)(?P<name>[\w./-]+)(?: {2,}|$)")
PATH = re.compile(r"`((?:core|src|experiments|tests|docs|benchmarks|examples|fuzz)/[\w./-]*)`")


def layout(text: str) -> list[str]:
    """The paths that the layout names, each joined to the folders that it is indented under."""
    block = text.partition(HEADING)[2].strip("\n").partition("\n\n")[0]
    paths: list[str] = []
    folders: list[tuple[int, str]] = []  # how far each is indented, from the outermost
    for entry in filter(None, map(ENTRY.match, block.splitlines())):
        indent = len(entry["indent"])
        while folders and folders[-1][0] >= indent:
            folders.pop()
        path = (folders[-1][1] if folders else "") + entry["name"]
        paths.append(path)
        if path.endswith("/"):
            folders.append((indent, path))
    return paths


def test_a_layout_is_read_with_its_folders():
    block = "    a/      a folder\n      b/    in it\n        c.py  deep\n    d.py    last\n"
    text = f"{HEADING}\n{block}\nNot this."
    assert layout(text) == ["a/", "a/b/", "a/b/c.py", "d.py"]


@pytest.mark.parametrize("path", layout(DESIGN))
def test_every_file_that_the_layout_names_exists(path):
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


@pytest.mark.parametrize("path", sorted(set(PATH.findall(DESIGN))))
def test_a_path_in_the_text_leads_somewhere(path):
    assert (ROOT / path).exists()


def test_the_layout_names_every_folder_of_the_core():
    folders = {f"core/{path.name}/" for path in (ROOT / "core").iterdir() if path.is_dir()}
    assert folders <= set(layout(DESIGN))


def test_the_layout_names_every_module_and_package():
    package = ROOT / "src/riparian"
    modules = {f"src/riparian/{path.name}" for path in package.glob("[!_]*.py")}
    packages = {f"src/riparian/{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert modules | packages <= set(layout(DESIGN))


def test_the_layout_names_every_package_of_the_experiments():
    package = "experiments/src/riparian_experiments/"
    packages = {f"{package}{path.parent.name}/" for path in (ROOT / package).glob("*/__init__.py")}
    assert packages and packages <= set(layout(DESIGN))

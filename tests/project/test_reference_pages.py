"""Every name that a user may import has an entry in the reference."""

from __future__ import annotations

import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs/reference"
NAME = r"`(riparian(?:_experiments)?(?:\.\w+)*)`"
MODULES = sorted(set(re.findall(NAME, (PAGES / "index.md").read_text())))
JAVA = shutil.which("java") is not None
# ::: PATH, and the list of members that its options may have.
ENTRY = re.compile(r"^::: (\S+)\n((?: +.*\n)*)", re.MULTILINE)
MEMBERS = re.compile(r"members:(?: \[(.*)\]|((?:\n +- \w+)+))")


def entries() -> dict[str, set[str] | None]:
    """What the pages show: a path, and its members; None if they are all there."""
    result: dict[str, set[str] | None] = {}
    for page in PAGES.glob("*.md"):
        for path, options in ENTRY.findall(page.read_text()):
            some = MEMBERS.search(options.replace("inherited_members:", ""))
            result[path] = set(re.findall(r"\w+", some[0])) - {"members"} if some else None
    return result


def public(module: object) -> list[str]:
    """What it says is public, or else the classes and functions that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_has_an_entry(name):
    if name == "riparian.capymoa" and not JAVA:
        pytest.skip("CapyMOA runs on Java, and there is none here")
    module, shown = import_module(name), entries()
    alone = [result(path) for path in shown if JAVA or "capymoa" not in path]
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    missing = []
    for one in public(module):
        value = getattr(module, one)
        some = shown.get(name, shown.get(getattr(value, "__module__", name), set()))
        there = some is None or one in some or any(value is other for other in alone)
        if not there and (callable(value) or f"`{one}`" not in text):
            missing.append(one)
    assert not missing


def test_every_public_module_is_in_the_index():
    paths = {path for path in entries() if JAVA or "capymoa" not in path}
    modules = {path for path in paths if inspect.ismodule(result(path))}
    assert modules - {"riparian.ray.errors"} <= set(MODULES)


# What has no entries of its own: commands, and the homes of what `riparian` itself has.
INSIDE = {
    "cli", "sources", "table", "demo", "serve", "engine", "model", "parameters", "sklearn", "snapshot",
    "tools", "forest", "regressor", "adaptive", "saffari", "schedule", "loading",
}  # fmt: skip


def test_every_module_is_in_the_index_or_known_to_be_inside():
    package = Path(__file__).parents[2] / "src/riparian"
    there = {path.stem for path in package.glob("[!_]*.py")}
    there |= {path.parent.name for path in package.glob("*/__init__.py")}
    listed = {name.split(".")[1] for name in MODULES if name.startswith("riparian.")}
    assert there == listed | INSIDE and not listed & INSIDE


def result(path: str) -> object:
    """The module of this name, or what a module has under it."""
    try:
        return import_module(path)
    except ModuleNotFoundError:
        holder, _, name = path.rpartition(".")
        return getattr(import_module(holder), name)

"""The installed wheel is the whole package and nothing else (`make wheel` runs this)."""

from __future__ import annotations

import shutil
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distribution
from pathlib import Path

import riparian
from riparian import _core

SOURCES = Path(__file__).parents[2] / "src"
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja")


def installed() -> set[str]:
    """All files of the wheel, but for the bytecode that the installer adds."""
    files = distribution("riparian").files or []
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def of_the_package(files: set[str]) -> set[str]:
    return {name for name in files if name.startswith("riparian/")}


def sources() -> set[str]:
    files = (path.relative_to(SOURCES) for path in SOURCES.rglob("*") if path.is_file())
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def test_there_is_no_compiler():
    assert not any(map(shutil.which, COMPILERS))


def test_the_tests_use_the_wheel():
    for module in (riparian, _core):
        assert module.__file__ is not None
        place = distribution("riparian").locate_file("riparian")
        assert Path(module.__file__).parent == Path(str(place))


def test_the_wheel_holds_the_package_and_the_core():
    core = f"riparian/_core{EXTENSION_SUFFIXES[0]}"
    assert of_the_package(installed()) == sources() | {core}
    assert "riparian/py.typed" in sources()


def test_besides_the_package_there_are_its_description_and_its_command():
    for name in installed() - of_the_package(installed()):
        assert name.startswith("riparian-") or name.endswith("bin/riparian"), name

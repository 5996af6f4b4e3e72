"""Tests mirror what they test: one folder of tests for each folder of the package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
# The core, the benchmarks, what holds for the project as a whole, and the checkers of plausibility.
OTHERS = {"benchmarks", "core", "plausible", "project"}


def folders(place: Path) -> set[str]:
    paths = (path.relative_to(place) for path in place.glob("*/**/*.py"))
    return {path.parts[0] for path in paths}


def test_the_folders_of_the_tests_are_those_of_the_package():
    assert folders(ROOT / "tests") - OTHERS == folders(ROOT / "src/riparian")


def test_no_two_files_of_the_tests_have_the_same_name():
    """pytest imports them by name."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py")]
    assert len(names) == len(set(names))

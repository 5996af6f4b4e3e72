"""What a release rests on: one version, and tests that every wheel can run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import riparian

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_stated_in_pyproject_and_nowhere_else():
    stated = PROJECT["project"]["version"]
    assert riparian.__version__ == stated
    for path in [ROOT / "CMakeLists.txt", ROOT / "README.md", *(ROOT / "src").rglob("*.py")]:
        assert stated not in path.read_text(), path


def test_the_smoke_tests_are_there_and_need_nothing_but_the_package():
    names = (ROOT / "tests/smoke.txt").read_text().split()
    assert names
    for name in names:
        text = (ROOT / name).read_text()
        imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
        assert not imported & {
            "pandas",
            "polars",
            "pyarrow",
            "river",
            "capymoa",
            "typer",
            "matplotlib",
        }


def test_wheels_are_built_for_the_oldest_python_on():
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=").replace(".", "")
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp{oldest[0]}{minor}-*" for minor in range(int(oldest[1:]), 15)]

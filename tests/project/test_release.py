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


def test_the_experiments_are_of_the_same_version_and_need_it():
    experiments = tomllib.loads((ROOT / "experiments/pyproject.toml").read_text())["project"]
    version = PROJECT["project"]["version"]
    assert experiments["version"] == version
    assert f"riparian[cli]=={version}" in experiments["dependencies"]


def test_citation_and_changelog_are_of_this_version_and_one_date():
    version = PROJECT["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text()
    stated = dict(re.findall(r"^(version|date-released): (\S+)$", citation, re.MULTILINE))
    changes = (ROOT / "CHANGELOG.md").read_text()
    heading = re.search(r"^## (\S+), (\d{4}-\d{2}-\d{2})$", changes, re.MULTILINE)
    assert heading is not None
    before = re.findall(r"^## .*$", changes[: heading.start()], re.MULTILINE)
    assert all(line.endswith(" (unreleased)") for line in before)
    assert heading.groups() == (version, stated["date-released"])
    assert stated["version"] == version


def test_the_page_on_installing_names_every_extra():
    page = (ROOT / "docs/how-to/install.md").read_text()
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|[^|]*\|", page, re.MULTILINE))))
    assert PROJECT["project"]["optional-dependencies"].keys() <= named


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

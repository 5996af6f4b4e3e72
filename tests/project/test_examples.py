"""Every example runs as a program, without a warning, and prints something."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
NEEDS_JAVA = {"capymoa_prequential"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_without_a_warning(example, tmp_path, monkeypatch, capsys):
    if example.stem in NEEDS_JAVA and shutil.which("java") is None:
        pytest.skip("CapyMOA runs on Java, and there is none here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 3


def test_there_is_an_example_for_each_way_of_using_it():
    names = {path.stem for path in EXAMPLES}
    assert names >= {
        "sklearn_pipeline", "river_pipeline", "capymoa_prequential",
        "pandas_stream", "imbalance", "late_classes", "drifting_stream",
    }  # fmt: skip

"""Every example runs from the command line, without a warning, and says something."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
NEEDS_JAVA = {"capymoa_prequential"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_without_a_warning(example, tmp_path):
    if example.stem in NEEDS_JAVA and shutil.which("java") is None:
        pytest.skip("CapyMOA runs on Java, and there is none here")
    run = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(example)],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 3


def test_there_is_an_example_for_each_way_of_using_it():
    names = {path.stem for path in EXAMPLES}
    assert names >= {
        "sklearn_pipeline", "river_pipeline", "capymoa_prequential",
        "pandas_stream", "imbalance", "late_classes",
    }  # fmt: skip

"""A new process imports what it needs and no more: `import riparian` does not wait for scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import pytest

import riparian

HEAVY = {"sklearn", "scipy", "pandas", "pyarrow", "plotly", "matplotlib"} | {
    "onnx", "onnxruntime", "treelite", "shap", "skops", "mlflow", "ray", "starlette", "uvicorn",
}  # fmt: skip


def imported_by(code: str) -> set[str]:
    """The heavy libraries that a new process has imported after this code."""
    code += f"\nimport sys; print(*({HEAVY} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import riparian",
        "import riparian; riparian.__version__",
        "import riparian; dir(riparian)",
        "import riparian; riparian.Geometric(1, 1.1)",
        "import riparian.client",
    ],
)
def test_a_module_that_needs_no_forest_imports_no_heavy_library(code):
    assert imported_by(code) == set()


def test_learning_and_predicting_arrays_needs_no_library_of_tables_or_figures():
    heavy = imported_by("""
import numpy as np
from riparian import OnlineForestClassifier

forest = OnlineForestClassifier(3, random_state=0).partial_fit(np.eye(2), [0, 1])
assert forest.predict(np.eye(2)).shape == (2,)
""")
    # scikit-learn itself imports pandas, and pandas pyarrow, where they are installed.
    assert heavy <= {"sklearn", "scipy", "pandas", "pyarrow"}


def test_a_shard_starts_without_scikit_learn():
    """It is started often, and again after every crash."""
    assert imported_by("import riparian.ray.shard") == {"ray"}


def test_every_public_name_is_there_and_listed():
    assert {*riparian.__all__, "__version__"} <= {*dir(riparian)}
    for name in riparian.__all__:
        assert getattr(riparian, name).__name__ == name


def test_a_name_is_looked_up_once():
    assert riparian.load is riparian.load
    assert vars(riparian)["load"] is riparian.load


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'riparian' has no attribute 'Forest'"):
        riparian.Forest  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Forest' from 'riparian'"):
        from riparian import Forest  # noqa: F401

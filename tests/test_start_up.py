"""A new process is quick to its first prediction, and nothing that made it quick stays behind."""

from __future__ import annotations

import subprocess
import sys

import pytest
import sklearn

from riparian.quick_sklearn import StandIn, stand_ins

LEARN = """
import sys
import numpy as np
from riparian import OnlineForestClassifier

forest = OnlineForestClassifier(3, random_state=0).partial_fit(np.eye(2), [0, 1])
assert forest.predict(np.eye(2)).shape == (2,)
"""

# It asks pandas for its version when it is imported, so there pandas cannot be kept out; that
# scipy.stats is, and that everything works, the other tests here say of 1.6 as well.
ONE_SIX = sklearn.__version__.startswith("1.6.")


def in_new_process(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def heavy(tmp_path, monkeypatch):
    """An installed package, not yet imported, that tells when it is."""
    package = tmp_path / "heavy"
    package.mkdir()
    (package / "__init__.py").write_text("weight = 7\n")
    (package / "part.py").write_text("weight = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("heavy", "heavy.part"):
        sys.modules.pop(name, None)


def test_learning_and_predicting_arrays_does_not_import_scipy_stats():
    in_new_process(LEARN + "assert 'scipy.stats' not in sys.modules")


@pytest.mark.skipif(ONE_SIX, reason="scikit-learn 1.6 needs pandas when it is imported")
def test_learning_and_predicting_arrays_does_not_import_pandas():
    in_new_process(LEARN + "assert not {'pandas', 'pyarrow'} & sys.modules.keys()")


def test_afterwards_scipy_stats_is_the_real_one():
    in_new_process(
        LEARN
        + """
import scipy, types
import sklearn.utils.fixes
assert "stats" not in vars(scipy)
assert sklearn.utils.fixes._mode(np.array([1, 2, 2])).mode == [2]
import scipy.stats
assert type(scipy.stats) is types.ModuleType and scipy.stats is sys.modules["scipy.stats"]
assert scipy.stats.mode([1, 1, 2]).mode == 1
assert scipy.stats.norm is scipy.stats.distributions.norm
"""
    )


def test_afterwards_pandas_is_the_real_one_and_frames_are_learned():
    pytest.importorskip("pandas")
    in_new_process(
        LEARN
        + """
import types
import pandas.testing
import pandas as pd
import sklearn.utils.fixes
assert type(pd) is types.ModuleType and pd is sys.modules["pandas"]
assert pandas.testing is sys.modules["pandas.testing"]
assert sklearn.utils.fixes.pd.DataFrame is pd.DataFrame
assert pd.core.frame.DataFrame is pd.DataFrame
frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
forest = OnlineForestClassifier(3, random_state=0).fit(frame, pd.Series(["no", "yes"]))
assert list(forest.feature_names_in_) == ["a", "b"]
assert set(forest.predict(frame)) <= {"no", "yes"}
assert not any("StandIn" in type(module).__name__ for module in sys.modules.values())
"""
    )


def test_scikit_learn_can_be_the_first_to_need_pandas():
    pytest.importorskip("pandas")
    in_new_process(
        LEARN
        + """
import sklearn.utils.fixes
frame = sklearn.utils.fixes.pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
assert type(frame) is sys.modules["pandas"].DataFrame
assert OnlineForestClassifier(3).fit(frame, [0, 1]).n_features_in_ == 2
"""
    )


def test_where_scikit_learn_is_there_already_nothing_is_touched():
    in_new_process(
        "import sys, sklearn.base\nbefore = sys.modules['scipy.stats']\n"
        + LEARN
        + "assert sys.modules['scipy.stats'] is before\n"
        + "import sklearn.utils.fixes, types\n"
        + "assert type(sklearn.utils.fixes.pd) in (types.ModuleType, type(None))"
    )


def test_a_module_that_is_there_already_stays():
    in_new_process(
        "import sys, scipy.stats\nbefore = sys.modules['scipy.stats']\n"
        + LEARN
        + "assert sys.modules['scipy.stats'] is before is scipy.stats"
    )


def test_beside_another_thread_nothing_is_stood_in_for():
    in_new_process(
        """
import threading
end = threading.Event()
threading.Thread(target=end.wait, daemon=True).start()
"""
        + LEARN
        + "assert 'scipy.stats' in sys.modules\nend.set()"
    )


def test_no_pandas_is_needed():
    in_new_process(
        """
import sys

class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
"""
        + LEARN
        + "import sklearn.utils.fixes\nassert sklearn.utils.fixes.pd is None\n"
        + "assert 'pandas' not in sys.modules"
    )


def test_a_module_that_is_not_installed_has_no_stand_in():
    with stand_ins("no_such_module"), pytest.raises(ModuleNotFoundError):
        import no_such_module  # noqa: F401


def test_a_stand_in_forwards_what_it_is_asked_for_and_what_is_not_there(heavy):
    with stand_ins("heavy"):
        import heavy as kept

    assert isinstance(kept, StandIn)
    assert "heavy" not in sys.modules
    assert kept.weight == 7
    assert not isinstance(sys.modules["heavy"], StandIn)
    with pytest.raises(AttributeError, match="module 'heavy' has no attribute 'height'"):
        kept.height  # noqa: B018


def test_a_stand_in_makes_room_once_it_is_asked_for_anything(heavy):
    with stand_ins("heavy"):
        from heavy import weight

        assert not isinstance(sys.modules["heavy"], StandIn)
    assert weight == 7
    assert sys.modules["heavy"].weight == 7  # leaving the block does not take the real one away


def test_a_submodule_is_imported_with_its_real_parent(heavy):
    with stand_ins("heavy"):
        import heavy.part

    assert heavy.part.weight == 3
    assert not isinstance(sys.modules["heavy"], StandIn)
    assert sys.modules["heavy"].part is heavy.part


def test_an_error_leaves_no_stand_in_behind(heavy):
    with pytest.raises(ZeroDivisionError), stand_ins("heavy"):
        assert isinstance(sys.modules["heavy"], StandIn)
        _ = 1 / 0
    assert "heavy" not in sys.modules

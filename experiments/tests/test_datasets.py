"""The data set that the second experiment uses, and its description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riparian_experiments import datasets
from riparian_experiments.datasets import DataSet, load, locate
from riparian_experiments.readers import DataError, Part


@pytest.fixture(autouse=True)
def nothing_there(monkeypatch, tmp_path):
    monkeypatch.delenv("RIPARIAN_DATA", raising=False)
    monkeypatch.setenv("RIPARIAN_CACHE", str(tmp_path / "cache"))
    load.cache_clear()


def save(path: Path, y_test: tuple[int, ...] = (1,)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    X, y = np.eye(3, dtype=np.float32), np.array([0, 1, 1])
    np.savez(path, X_train=X, y_train=y, X_test=X[: len(y_test)], y_test=np.array(y_test))
    return path


def test_a_path_that_is_given_comes_first_then_riparian_data_then_the_cache(tmp_path, monkeypatch):
    assert locate(None) is None
    cached = save(tmp_path / "cache" / "usps" / "usps.npz").parent
    assert locate(None) == cached
    named = save(tmp_path / "named" / "usps.npz").parent
    monkeypatch.setenv("RIPARIAN_DATA", str(named))
    assert locate(None) == named
    assert locate(tmp_path / "given.npz") == tmp_path / "given.npz"


def test_riparian_data_without_usps_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("RIPARIAN_DATA", str(tmp_path))
    cached = save(tmp_path / "cache" / "usps" / "usps.npz").parent
    assert locate(None) == cached


def test_without_data_there_are_scikit_learns_digits(tmp_path):
    digits = load(None)
    assert (digits.train.X.shape, digits.test.X.shape) == ((1297, 64), (500, 64))
    assert np.bincount(digits.test.y).min() > 40
    assert digits.title == "scikit-learn's digits (not USPS)"
    assert digits.sha256 == load(None).sha256


def test_usps_is_known_by_its_shape():
    def part(rows):
        return Part(np.zeros((rows, 256), np.float32), np.zeros(rows, np.int64))

    assert DataSet("anything", part(7291), part(2007)).title == "USPS"
    assert DataSet("usps", part(7290), part(2007)).title == "usps (not USPS)"


def test_the_description_of_a_data_set_has_no_path(tmp_path):
    description = load(save(tmp_path / "letters.npz")).described()
    assert description["name"] == "letters (not USPS)"
    assert (description["train"], description["test"]) == ([3, 3], [1, 3])
    assert str(tmp_path) not in str(description)


def test_the_sum_is_that_of_the_values_whatever_the_file(tmp_path):
    arrays = load(save(tmp_path / "a" / "usps.npz")).sha256
    (tmp_path / "zip.train").write_text("0 1 0 0\n1 0 1 0\n1 0 0 1\n")
    (tmp_path / "zip.test").write_text("1 1 0 0\n")
    assert load(tmp_path / "zip.train").sha256 == arrays
    (tmp_path / "zip.test").write_text("1 1 0 0.5\n")
    load.cache_clear()
    assert load(tmp_path / "zip.train").sha256 != arrays


def test_a_class_to_test_that_is_never_learned_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"classes that the training part lacks: \{7\}"):
        load(save(tmp_path / "usps.npz", y_test=(1, 7)))


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "home/.cache/riparian"),
        ("linux", {"XDG_CACHE_HOME": "elsewhere"}, "elsewhere/riparian"),
        ("darwin", {}, "home/Library/Caches/riparian"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/riparian"),
        ("linux", {"RIPARIAN_CACHE": "chosen"}, "chosen"),
    ],
)
def test_the_cache_is_where_the_system_keeps_such_things(
    platform, environment, expected, monkeypatch
):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "RIPARIAN_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert datasets.cache_folder().as_posix() == expected

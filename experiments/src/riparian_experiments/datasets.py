"""The data of the second experiment: USPS if available, else scikit-learn's digits."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from riparian_experiments.readers import DataError, Part, holds_data, read_pair

USPS_SHAPES = ((7291, 256), (2007, 256))
DIGITS_TEST = 500  # of the 1797 points


@dataclass(frozen=True, eq=False)
class DataSet:
    """Points to learn and points to test on."""

    name: str  # not a path: settings and figures show it
    train: Part
    test: Part

    @property
    def is_usps(self) -> bool:
        return (self.train.X.shape, self.test.X.shape) == USPS_SHAPES

    @property
    def title(self) -> str:
        return "USPS" if self.is_usps else f"{self.name} (not USPS)"

    @cached_property
    def sha256(self) -> str:
        """Return a hash of all values and labels; it does not depend on the file format."""
        digest = hashlib.sha256()
        for part in (self.train, self.test):
            for array in part:
                little = array.astype(array.dtype.newbyteorder("<"), copy=False)
                digest.update(f"{array.shape}".encode() + np.ascontiguousarray(little).tobytes())
        return digest.hexdigest()

    def described(self) -> dict[str, Any]:
        """Return the description in the settings, which identifies the points."""
        return {
            "name": self.title,
            "train": list(self.train.X.shape),
            "test": list(self.test.X.shape),
            "sha256": self.sha256,
        }


def locate(data: Path | None) -> Path | None:
    """Return the path of the data, or None if there is none.

    It is the given path, else the folder RIPARIAN_DATA, else what `riparian data usps` has downloaded.
    """
    if data is not None:
        return data
    named = os.environ.get("RIPARIAN_DATA")
    for folder in (Path(named) if named else None, usps_cache()):
        if folder is not None and holds_data(folder):
            return folder
    return None


def usps_cache(cache: Path | None = None) -> Path:
    return (cache or cache_folder()) / "usps"


@lru_cache(maxsize=1)  # a process computes many cells of one data set
def load(path: Path | None) -> DataSet:
    """Load the data set at a path; None: scikit-learn's digits, which need no file."""
    if path is None:
        return _digits()
    train, test = read_pair(path)
    unknown = set(np.unique(test.y).tolist()) - set(np.unique(train.y).tolist())
    if unknown:
        raise DataError(
            f"{path}: the test part has classes that the training part lacks: {unknown}"
        )
    return DataSet(path.name.partition(".")[0] or path.name, train, test)


def _digits() -> DataSet:
    # A local import, so that other commands start fast.
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X.astype(np.float32), y.astype(np.int64), test_size=DIGITS_TEST, random_state=0, stratify=y
    )
    return DataSet("scikit-learn's digits", Part(X_train, y_train), Part(X_test, y_test))


def cache_folder() -> Path:
    """Return the folder RIPARIAN_CACHE, or `riparian` in the cache folder of the system."""
    chosen = os.environ.get("RIPARIAN_CACHE")
    return Path(chosen) if chosen else _system_cache() / "riparian"


def _system_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

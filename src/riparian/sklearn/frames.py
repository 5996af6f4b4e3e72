"""Make the column names of frames readable for scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import __version__ as sklearn_version
from sklearn.utils.fixes import parse_version

SKLEARN_BEFORE_NARWHALS = parse_version(sklearn_version) < parse_version("1.9")


class NamedRows:
    """A polars frame for scikit-learn before 1.9, which needs a protocol that polars dropped."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.shape = frame.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.frame.to_numpy(), dtype=dtype)

    def __dataframe__(self) -> NamedRows:
        return self

    def column_names(self) -> list[str]:
        return list(self.frame.columns)


def with_names(X: Any) -> Any:
    """Return X in a form whose feature names scikit-learn can read."""
    polars = type(X).__module__.startswith("polars") and hasattr(X, "columns")
    if polars and not hasattr(X, "__dataframe__") and SKLEARN_BEFORE_NARWHALS:
        return NamedRows(X)
    return X

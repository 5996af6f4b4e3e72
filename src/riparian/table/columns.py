"""A plan of columns: how the columns of a stream become points and labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from riparian.sources.errors import BadData
from riparian.sources.source import Batch, Kind, Source
from riparian.table.target import Target

Points = Any  # rows of float32 (an array or a CSR matrix), or `MixedRows` with categories


class ColumnPlan(ABC):
    """How the columns of a stream become points and labels."""

    target: Target | None
    sparse = False  # whether points are sparse

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Return the number of features."""

    @property
    @abstractmethod
    def feature_names(self) -> list[str] | None:
        """Return the names of the features, or None if they have only numbers."""

    @abstractmethod
    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        """Return how to read each column, with or without the target; raise if one is missing."""

    @abstractmethod
    def points(self, batch: Batch, *, follow: bool = False) -> Points:
        """Return the features of some rows; with `follow`, the first date of a column is its origin."""

    @abstractmethod
    def feature_faults(self, batch: Batch) -> dict[int, BadData]:
        """Return the rows whose features cannot be used, by their number in the batch."""

    def faults(self, batch: Batch, *, target: bool) -> dict[int, BadData]:
        """Return the rows that cannot be used, by their number in the batch, with or without labels."""
        faults = self.feature_faults(batch)
        if target:
            assert self.target is not None
            column = self.target.column
            for row, fault in self.target.faults(batch).items():
                faults.setdefault(row, batch.bad(row, fault, column))
        return faults

    def labels(self, batch: Batch) -> NDArray[Any]:
        """Return the labels of some rows."""
        assert self.target is not None
        return self.target.labels(batch)

    @abstractmethod
    def no_points(self) -> Points:
        """Return an array of no points."""

    @property
    def categorical(self) -> list[int]:
        """Return the numbers of the categorical features."""
        return []

    def what_to_do(self, column: str | None) -> str:
        """Return the advice for an error about a value of a column, or an empty text."""
        return ""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the plan for JSON."""

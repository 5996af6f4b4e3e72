"""What the columns of a stream mean to a forest: points and labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from riparian.sources.source import Batch, Kind, Source
from riparian.table.target import Target

Points = Any  # rows of float32: an array, or a CSR matrix; or `MixedRows`, with categories


class ColumnPlan(ABC):
    """What the columns of a stream mean to a forest."""

    target: Target | None
    sparse = False  # whether points are sparse

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many features a point has."""

    @property
    @abstractmethod
    def feature_names(self) -> list[str] | None:
        """Their names; None if they only have numbers."""

    @abstractmethod
    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        """What to read from a source, with or without the target; an error if a column is missing."""

    @abstractmethod
    def points(self, batch: Batch, *, follow: bool = False) -> Points:
        """The features of some rows; with `follow`, the first date of a column sets its origin."""

    def labels(self, batch: Batch) -> NDArray[Any]:
        """The labels of some rows."""
        assert self.target is not None
        return self.target.labels(batch)

    @abstractmethod
    def no_points(self) -> Points:
        """Points without a row."""

    @property
    def categorical(self) -> list[int]:
        """Which features are categories."""
        return []

    def what_to_do(self, column: str | None) -> str:
        """What to say where a column has a value that it cannot have; nothing if there is no advice."""
        return ""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything, for JSON."""

"""Columns of LIBSVM: they have numbers instead of names, and are mostly zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from riparian.sources.errors import BadData, shown
from riparian.sources.libsvm import INDEX, VALUE, LibsvmSource
from riparian.sources.source import Batch, Kind, Source
from riparian.table.columns import ColumnPlan
from riparian.table.target import Target


class SparseColumns(ColumnPlan):
    """Features by number; a feature that a row omits is zero."""

    def __init__(self, target: Target, width: int, zero_based: bool, strict: bool = True) -> None:
        self.target: Target = target
        self.width = width
        self.zero_based = zero_based  # whether the first index is 0; in LIBSVM it is 1
        self.strict = strict  # whether an index above the width is an error
        self.beyond = 0  # values that were not used, because their index is above the width

    sparse = True

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def feature_names(self) -> None:
        return None

    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        if not isinstance(source, LibsvmSource):
            raise BadData("expected LIBSVM: the model was learned from LIBSVM", file=source.file)
        return {}

    def points(self, batch: Batch, *, follow: bool = False) -> Any:
        index, value = (batch.table.column(name) for name in (INDEX, VALUE))
        starts = index.offsets.to_numpy()
        places = index.flatten().to_numpy().astype(np.int64) - (not self.zero_based)
        values = value.flatten().to_numpy()
        starts = starts - starts[0]
        faults = self._faults(batch, places, values, starts)
        if faults:
            raise faults[min(faults)]
        rows = np.repeat(np.arange(len(batch)), np.diff(starts))
        within = places < self.width
        self.beyond += int((~within).sum())
        shape = (len(batch), self.width)
        with np.errstate(over="ignore"):
            data = values[within].astype(np.float32)
        return sparse.csr_matrix((data, (rows[within], places[within])), shape=shape)

    def feature_faults(self, batch: Batch) -> dict[int, BadData]:
        index, value = (batch.table.column(name) for name in (INDEX, VALUE))
        starts = index.offsets.to_numpy()
        places = index.flatten().to_numpy().astype(np.int64) - (not self.zero_based)
        return self._faults(batch, places, value.flatten().to_numpy(), starts - starts[0])

    def _faults(
        self,
        batch: Batch,
        places: NDArray[np.int64],
        values: NDArray[np.float64],
        starts: NDArray[Any],
    ) -> dict[int, BadData]:
        beyond = (places >= self.width) & self.strict
        with np.errstate(over="ignore"):
            infinite = np.isinf(values.astype(np.float32))
        bad = (places < 0) | beyond | infinite
        faults: dict[int, BadData] = {}
        for i in np.flatnonzero(bad).tolist():
            row = int(np.searchsorted(starts, i, side="right")) - 1
            index = int(places[i]) + (not self.zero_based)
            if places[i] < 0:
                fault = "indices must start at 1, got 0; if yours start at 0, give --zero-based"
            elif beyond[i]:
                last = self.width - self.zero_based
                fault = (
                    f"expected indices up to {last}, got {index}; give the number with --features"
                )
            else:
                fault = f"expected a number that fits float32, got {shown(values[i])}"
            faults.setdefault(row, batch.bad(row, fault, str(index)))
        return faults

    def no_points(self) -> Any:
        return sparse.csr_matrix((0, self.width), dtype=np.float32)

    def state(self) -> dict[str, Any]:
        return {
            "kind": "sparse",
            "target": [self.target.column, self.target.family],
            "width": self.width,
            "zero_based": self.zero_based,
        }

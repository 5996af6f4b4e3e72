"""Turn the rows of many runs into curves: mean and standard deviation by the number of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Curve:
    """One line of a figure, and one column of a table."""

    label: str
    x: NDArray[np.float64]  # ascending
    mean: NDArray[np.float64]  # over the runs, at each x
    sd: NDArray[np.float64]  # one standard deviation over the runs; 0 where there is one run only
    runs: int  # at the x with the fewest


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes in a figure, and one table."""

    curves: Sequence[Curve]
    x: str = "points"  # the label of the axis
    y: str = "accuracy"
    title: str = ""
    lines: Mapping[str, float] = field(default_factory=dict)  # levels that do not depend on x
    log_x: bool = True
    log_y: bool = False


def curve_of(
    rows: Sequence[Mapping[str, int | float | str]],
    label: str,
    *,
    x: str,
    y: str,
    where: Mapping[str, int | float | str] | None = None,
) -> Curve:
    """Return the curve of column `y` by column `x`, over the rows that match `where`.

    >>> rows = [{"run": 0, "points": 10, "right": 0.5}, {"run": 1, "points": 10, "right": 0.7}]
    >>> curve = curve_of(rows, "forest", x="points", y="right")
    >>> curve.x.tolist(), curve.mean.round(3).tolist(), curve.sd.round(3).tolist(), curve.runs
    ([10.0], [0.6], [0.141], 2)
    """
    at: dict[float, list[float]] = {}
    for row in rows:
        if all(row[name] == value for name, value in (where or {}).items()):
            at.setdefault(float(row[x]), []).append(float(row[y]))
    if not at:
        raise ValueError(f"the curve {label!r} needs rows with {dict(where or {})!r}, got none")
    places = sorted(at)
    return Curve(
        label,
        x=np.array(places),
        mean=np.array([np.mean(at[place]) for place in places]),
        sd=np.array([_deviation(at[place]) for place in places]),
        runs=min(len(at[place]) for place in places),
    )


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

"""The figures of what matters to predictions, made from numbers and names only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.report.charts import ROW, named_bars
from riparian.report.figure import axis, figure, names_axis, text
from riparian.tools.optional import plotly

if TYPE_CHECKING:
    from riparian.explain.dependence import Plane
    from riparian.explain.permutation import Importance

EVEN_STEPS = [i / 4 for i in range(5)]


def permuted(names: list[str], importance: Sequence[Importance]) -> Any:
    means = [each.accuracy.mean for each in importance]
    trace = plotly("graph_objects").Bar(
        x=means,
        y=list(range(len(names))),
        orientation="h",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [each.accuracy.high - each.accuracy.mean for each in importance],
            "arrayminus": [each.accuracy.mean - each.accuracy.low for each in importance],
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[
            [text(name), f"{each.accuracy.low:.2%} to {each.accuracy.high:.2%}"]
            for name, each in zip(names, importance, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>%{x:.2%}<br>%{customdata[1]}<extra></extra>",
        meta={"marker.color": "accent", "error_x.color": "muted"},
    )
    return named_bars([trace], names, "accuracy lost", row=ROW)


def dependence_line(
    name: str,
    label: str,
    values: NDArray[np.float32],
    probabilities: NDArray[np.float64],
    categories: list[str] | None,
) -> Any:
    """A line over numbers; over categories, a point for each."""
    along, shown = _values_axis(name, values, categories)
    trace = plotly("graph_objects").Scatter(
        x=shown,
        y=probabilities.tolist(),
        mode="lines+markers" if categories is None else "markers",
        line={"width": 2.5, "shape": "linear"},
        marker={"size": 5 if categories is None else 9},
        customdata=_shown_values(values, categories),
        hovertemplate="%{customdata}<br>%{y:.1%}<extra></extra>",
        meta={"line.color": "accent", "marker.color": "accent"},
    )
    return figure(
        [trace],
        xaxis=along,
        yaxis=axis(f"probability of {text(label, 30)}", tickformat=".0%", range=[0, 1.02]),
    )


def dependence_heat(
    name: str,
    classes: list[str],
    values: NDArray[np.float32],
    probabilities: NDArray[np.float64],
    categories: list[str] | None,
) -> Any:
    """Classes down, values across."""
    along, shown = _values_axis(name, values, categories)
    shown_values = _shown_values(values, categories)
    heat = _heat(
        probabilities,
        x=shown,
        y=list(range(len(classes))),
        customdata=[
            [f"{text(label)}<br>at {value}" for value in shown_values] for label in classes
        ],
        hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
    )
    return figure(
        [heat],
        height=110 + ROW * max(4, len(classes)),
        xaxis=along,
        yaxis=names_axis(classes, autorange="reversed"),
    )


def plane(
    across: str,
    up: str,
    grid: Plane,
    k: int,
    names_across: list[str] | None,
    names_up: list[str] | None,
) -> Any:
    along, shown_across = _values_axis(across, grid.values_across, names_across)
    upward, shown_up = _values_axis(up, grid.values_up, names_up)
    shown_values_up = _shown_values(grid.values_up, names_up)
    heat = _heat(
        grid.probabilities[:, :, k],
        x=shown_across,
        y=shown_up,
        customdata=[
            [f"{each}, {other}" for each in _shown_values(grid.values_across, names_across)]
            for other in shown_values_up
        ],
        hovertemplate="%{z:.1%}<br>at %{customdata}<extra></extra>",
    )
    return figure([heat], height=380, xaxis=along, yaxis={**upward, "showgrid": False})


def _values_axis(
    name: str, values: NDArray[np.float32], categories: list[str] | None
) -> tuple[Any, list[Any]]:
    """The axis of a feature, and where on it the values are: categories stand side by side."""
    if categories is None:
        return axis(text(name, 60)), values.tolist()
    return names_axis(categories, text(name, 60)), list(range(len(categories)))


def _shown_values(values: NDArray[np.float32], categories: list[str] | None) -> list[str]:
    """Return the values as the pointer shows them."""
    if categories is None:
        return [f"{value:.4g}" for value in values.tolist()]
    return [text(category) for category in categories]


def _heat(z: NDArray[np.float64], **more: Any) -> Any:
    return plotly("graph_objects").Heatmap(
        z=np.round(z, 6).tolist(),
        zmin=0,
        zmax=1,
        showscale=False,  # the page has a key that takes less room
        meta={"colorscale": ["strong-heat", EVEN_STEPS]},
        **more,
    )

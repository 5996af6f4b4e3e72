"""The figures of what matters to the answers; they know numbers and names, no forest."""

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
    name: str, label: str, values: NDArray[np.float32], probabilities: NDArray[np.float64]
) -> Any:
    trace = plotly("graph_objects").Scatter(
        x=values.tolist(),
        y=probabilities.tolist(),
        mode="lines+markers",
        line={"width": 2.5, "shape": "linear"},
        marker={"size": 5},
        hovertemplate="%{x:.4g}<br>%{y:.1%}<extra></extra>",
        meta={"line.color": "accent", "marker.color": "accent"},
    )
    return figure(
        [trace],
        xaxis=axis(text(name, 60)),
        yaxis=axis(f"probability of {text(label, 30)}", tickformat=".0%", range=[0, 1.02]),
    )


def dependence_heat(
    name: str,
    classes: list[str],
    values: NDArray[np.float32],
    probabilities: NDArray[np.float64],
) -> Any:
    """Classes down, values across."""
    heat = _heat(
        probabilities,
        x=values.tolist(),
        y=list(range(len(classes))),
        customdata=[[text(label)] * len(values) for label in classes],
        hovertemplate="%{customdata}<br>at %{x:.4g}: %{z:.1%}<extra></extra>",
    )
    return figure(
        [heat],
        height=110 + ROW * max(4, len(classes)),
        xaxis=axis(text(name, 60)),
        yaxis=names_axis(classes, autorange="reversed"),
    )


def category_bars(label: str, categories: list[str], probabilities: NDArray[np.float64]) -> Any:
    trace = plotly("graph_objects").Bar(
        x=probabilities.tolist(),
        y=list(range(len(categories))),
        orientation="h",
        customdata=[[text(category)] for category in categories],
        hovertemplate="%{customdata[0]}<br>%{x:.1%}<extra></extra>",
        meta={"marker.color": "accent"},
    )
    return named_bars([trace], categories, f"probability of {text(label, 30)}", row=ROW)


def category_heat(
    name: str, classes: list[str], categories: list[str], probabilities: NDArray[np.float64]
) -> Any:
    """Classes down, categories across."""
    heat = _heat(
        probabilities,
        x=list(range(len(categories))),
        y=list(range(len(classes))),
        customdata=[[[text(c), text(label)] for c in categories] for label in classes],
        hovertemplate="%{customdata[1]}<br>%{customdata[0]}: %{z:.1%}<extra></extra>",
    )
    return figure(
        [heat],
        height=150 + ROW * max(4, len(classes)),
        xaxis=names_axis(categories, text(name, 60), tickangle=-45),
        yaxis=names_axis(classes, autorange="reversed"),
    )


def plane(across: str, up: str, found: Plane, k: int) -> Any:
    heat = _heat(
        found.probabilities[:, :, k],
        x=found.values_across.tolist(),
        y=found.values_up.tolist(),
        hovertemplate="%{z:.1%}<br>at %{x:.4g}, %{y:.4g}<extra></extra>",
    )
    return figure(
        [heat], height=380, xaxis=axis(text(across, 60)), yaxis=axis(text(up, 60), showgrid=False)
    )


def _heat(z: NDArray[np.float64], **more: Any) -> Any:
    return plotly("graph_objects").Heatmap(
        z=np.round(z, 6).tolist(),
        zmin=0,
        zmax=1,
        showscale=False,  # the page has a key that takes less room
        meta={"colorscale": ["strong-heat", EVEN_STEPS]},
        **more,
    )

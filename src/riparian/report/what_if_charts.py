"""The figures of what affects predictions, made from numbers and names only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.report.charts import ROW, named_bars
from riparian.report.figure import axis, figure, names_axis, text
from riparian.tools.optional import plotly
from riparian.tools.text import percent

if TYPE_CHECKING:
    from riparian.explain.permutation import Importance, NumberImportance

MOST_DATES = 4  # on an axis
MOST_NAMES = 20  # of categories on an axis; a narrow one has no room for more
DAY = len("2024-05-31")
EVEN_STEPS = [i / 4 for i in range(5)]  # of a scale whose colours follow the probability


@dataclass(frozen=True)
class Unit:
    """How predictions and losses are written: shares as percentages, numbers as they are."""

    hover: str  # the format of a value under the pointer
    ticks: str  # of those along an axis
    written: Callable[[float], str]


SHARES = Unit(".2%", "~%", percent)
NUMBERS = Unit(".5g", "", "{:.4g}".format)


def permuted(
    names: list[str],
    importance: Sequence[Importance | NumberImportance] | Sequence[NumberImportance],
    title: str,
    unit: Unit,
) -> Any:
    losses = [each.lost for each in importance]
    trace = plotly("graph_objects").Bar(
        x=[loss.mean for loss in losses],
        y=list(range(len(names))),
        orientation="h",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [loss.high - loss.mean for loss in losses],
            "arrayminus": [loss.mean - loss.low for loss in losses],
            "thickness": 1.5,
            "width": 4,
        },
        customdata=[
            [text(name), f"{loss.low:{unit.hover}} to {loss.high:{unit.hover}}"]
            for name, loss in zip(names, losses, strict=True)
        ],
        hovertemplate=(
            f"%{{customdata[0]}}<br>%{{x:{unit.hover}}}<br>%{{customdata[1]}}<extra></extra>"
        ),
        meta={"marker.color": "accent", "error_x.color": "muted"},
    )
    return named_bars([trace], names, title, row=ROW, ticks=unit.ticks)


@dataclass(frozen=True)
class Along:
    """The values of a feature along an axis: numbers, categories side by side, or dates."""

    name: str
    values: NDArray[np.float32]
    categories: list[str] | None = None
    dates: list[str] | None = None  # the values as dates or times of day, if they are

    @property
    def axis(self) -> Any:
        if self.categories is not None:
            named = names_axis(self.categories, text(self.name, 60))
            step = -(-len(self.categories) // MOST_NAMES)
            return {**named, **{key: named[key][::step] for key in ("tickvals", "ticktext")}}
        if self.dates is None:
            return axis(text(self.name, 60))
        few = range(0, len(self.dates), max(1, len(self.dates) // MOST_DATES))
        days = [self.dates[i][:DAY] for i in few]
        shown = days if len(set(days)) == len(days) else [self.dates[i] for i in few]
        ticks = {"tickvals": [float(self.values[i]) for i in few]}
        return axis(text(self.name, 60), ticktext=shown, **ticks)

    @property
    def places(self) -> list[Any]:
        return self.values.tolist() if self.categories is None else [*range(len(self.categories))]

    @property
    def shown(self) -> list[str]:
        """Return the values as they are shown at the pointer."""
        if self.categories is not None:
            return [text(category) for category in self.categories]
        return self.dates or [f"{value:.4g}" for value in self.values.tolist()]


def dependence_line(
    along: Along, title: str, values: NDArray[np.float64], scale: tuple[float, float], unit: Unit
) -> Any:
    """A line over numbers; over categories, a point for each."""
    numbers = along.categories is None
    trace = plotly("graph_objects").Scatter(
        x=along.places,
        y=values.tolist(),
        mode="lines+markers" if numbers else "markers",
        line={"width": 2.5, "shape": "linear"},
        marker={"size": 5 if numbers else 9},
        customdata=along.shown,
        hovertemplate=f"%{{customdata}}<br>%{{y:{unit.hover}}}<extra></extra>",
        meta={"line.color": "accent", "marker.color": "accent"},
    )
    return figure(
        [trace],
        xaxis=along.axis,
        yaxis=axis(title, tickformat=unit.ticks, range=list(scale)),
    )


def dependence_heat(
    along: Along,
    classes: list[str],
    probabilities: NDArray[np.float64],
    scale: tuple[float, float],
) -> Any:
    """Classes down, values across."""
    heat = _heat(
        np.round(probabilities, 6),
        scale,
        x=along.places,
        y=list(range(len(classes))),
        customdata=[[f"{text(label)}<br>at {value}" for value in along.shown] for label in classes],
        hovertemplate="%{customdata}: %{z:.2%}<extra></extra>",
    )
    return figure(
        [heat],
        height=110 + ROW * max(4, len(classes)),
        xaxis=along.axis,
        yaxis=names_axis(classes, autorange="reversed"),
    )


def plane(
    across: Along, up: Along, values: NDArray[np.float64], scale: tuple[float, float], unit: Unit
) -> Any:
    heat = _heat(
        values,
        scale,
        x=across.places,
        y=up.places,
        customdata=[[f"{each}, {other}" for each in across.shown] for other in up.shown],
        hovertemplate=f"%{{z:{unit.hover}}}<br>at %{{customdata}}<extra></extra>",
    )
    return figure([heat], height=380, xaxis=across.axis, yaxis={**up.axis, "showgrid": False})


def _heat(z: NDArray[np.float64], scale: tuple[float, float], **more: Any) -> Any:
    return plotly("graph_objects").Heatmap(
        z=z.tolist(),
        zmin=scale[0],
        zmax=scale[1],
        showscale=False,  # the page has a smaller key
        meta={"colorscale": ["strong-heat", EVEN_STEPS]},
        **more,
    )

"""The figures of the report, one function each, made from numbers and names only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.report.figure import LONGEST_NAME, axis, figure, names_axis, text
from riparian.tools.optional import plotly
from riparian.tools.text import count, percent, size

if TYPE_CHECKING:
    from riparian.evaluation import Bin, CurvePoint
    from riparian.model.replacements import Replacement

LARGEST_TO_WRITE = 15  # classes of a confusion matrix whose cells say their counts
LARGEST_TO_WRITE_SHARES = 6  # and also the shares
STEPS = 100  # of the stream, in which replaced trees are counted
ROW = 24  # pixels that a bar or a cell with a name is high

# Few rows in a hundred are confused: the colours go with the square root of the share.
HEAT_STEPS = [(i / 4) ** 2 for i in range(5)]


# -- over the stream ------------------------------------------------------------------------------


def accuracy(
    curve: Sequence[CurvePoint],
    most_frequent: float | None,
    replacements: Sequence[Replacement] = (),
) -> Any:
    """Accuracy of the last window and of all rows so far; what always guessing one class would get.

    Where trees were replaced, bars below say how many.
    """
    traces = [
        line(curve, "last window", [point.window_accuracy for point in curve], "second", 1.5),
        line(curve, "all rows so far", [point.accuracy for point in curve], "accent", 2.5),
    ]
    if most_frequent is not None:
        level = [most_frequent] * len(curve)
        traces.append(line(curve, "always the most frequent class", level, "muted", 1.5, "dot"))
    for trace in traces:
        trace.hovertemplate = "%{y:.2%}"
    y = axis("accuracy", tickformat=".0%")
    inside = [point for point, _ in replacements if point <= curve[-1].row]
    if not inside:
        return along_the_stream(traces, y, height=380)
    return along_the_stream(
        [*traces, replaced(inside, curve[-1].row)],
        {**y, "domain": [0.3, 1]},
        height=460,
        yaxis2=axis("trees", domain=[0, 0.18], rangemode="tozero", nticks=3, tickformat=",d"),
        xanchor="y2",
    )


def replaced(points: Sequence[int], rows: int) -> Any:
    """How many trees were replaced, in steps of a hundredth of the stream."""
    step = max(1, rows // STEPS)
    places, counts = np.unique(np.array(points) // step, return_counts=True)
    return plotly("graph_objects").Bar(
        x=((places + 0.5) * step).tolist(),
        y=counts.tolist(),
        width=step,
        yaxis="y2",
        name="trees replaced",
        hovertemplate="%{y:,d}",
        meta={"marker.color": "ink"},
    )


def leaves(curve: Sequence[CurvePoint]) -> Any:
    traces = [
        line(curve, "leaves", [point.leaves for point in curve], "accent", 2.5),
        line(curve, "of them active", [point.active for point in curve], "second", 2.5, "dash"),
    ]
    for trace in traces:
        trace.hovertemplate = "%{y:,d}"
    return along_the_stream(traces, axis("leaves", rangemode="tozero", tickformat="~s"))


def held(curve: Sequence[CurvePoint]) -> Any:
    """The bytes that the forest held."""
    trace = line(curve, "memory", [point.memory for point in curve], "accent", 2.5)
    trace.customdata = [size(point.memory) for point in curve]
    trace.hovertemplate = "%{customdata}"
    y = axis("memory", rangemode="tozero", tickformat="~s", ticksuffix="B")
    return along_the_stream([trace], y)


def line(
    curve: Sequence[CurvePoint],
    name: str,
    values: Sequence[float],
    colour: str,
    width: float,
    dash: str = "solid",
) -> Any:
    return plotly("graph_objects").Scatter(
        x=[point.row for point in curve],
        y=list(values),
        name=name,
        mode="lines",
        line={"width": width, "dash": dash},
        meta={"line.color": colour},
    )


def along_the_stream(
    traces: list[Any], y: dict[str, Any], xanchor: str = "y", **layout: Any
) -> Any:
    x = axis("rows", tickformat="~s", hoverformat=",d", fixedrange=False, anchor=xanchor)
    return figure(traces, xaxis=x, yaxis=y, hovermode="x unified", dragmode="zoom", **layout)


# -- the answers ----------------------------------------------------------------------------------


def confusion(names: list[str], matrix: NDArray[np.int64]) -> Any:
    """Truth down, prediction across: the colour is the share of the truth's rows."""
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    cells = [
        [
            [text(truth), text(predicted), count(n), percent(part)]
            for predicted, n, part in zip(names, row.tolist(), row_shares.tolist(), strict=True)
        ]
        for truth, row, row_shares in zip(names, matrix, shares, strict=True)
    ]
    heat = plotly("graph_objects").Heatmap(
        z=shares.tolist(),
        zmin=0,
        zmax=1,
        xgap=1,
        ygap=1,
        customdata=cells,
        hovertemplate=(
            "truth %{customdata[0]}<br>predicted %{customdata[1]}<br>"
            "%{customdata[2]} rows, %{customdata[3]} of the truth<extra></extra>"
        ),
        showscale=False,  # the page has a key that takes less room
        meta={"colorscale": [heat_colours(names), HEAT_STEPS], "textfont.color": "ink"},
    )  # fmt: skip
    if len(names) <= LARGEST_TO_WRITE:
        written = slice(2, 4 if len(names) <= LARGEST_TO_WRITE_SHARES else 3)
        heat.text = [["<br>".join(cell[written]) for cell in row] for row in cells]
        heat.texttemplate = "%{text}"
    return figure(
        [heat],
        height=max(220, ROW * len(names)) + 70 + 6 * min(LONGEST_NAME, max(map(len, names))),
        xaxis=names_axis(names, "predicted"),
        yaxis=names_axis(names, "truth", autorange="reversed"),
    )


def heat_colours(names: list[str]) -> str:
    """Text must stay legible on a cell that has some; other cells may have any colour."""
    return "heat" if len(names) <= LARGEST_TO_WRITE else "strong-heat"


def calibration(bins: Sequence[Bin]) -> Any:
    """How often predictions of a confidence were right; below, how many there were."""
    go = plotly("graph_objects")
    confidence = [b.confidence for b in bins]
    diagonal = go.Scatter(
        x=[0, 1], y=[0, 1], name="as often as it says", mode="lines", hoverinfo="skip",
        line={"dash": "dot", "width": 1.5}, meta={"line.color": "muted"},
    )  # fmt: skip
    curve = go.Scatter(
        x=confidence, y=[b.accuracy for b in bins], name="this forest", mode="lines+markers",
        line={"width": 2.5}, marker={"size": 8}, customdata=[count(b.count) for b in bins],
        hovertemplate=(
            "confidence %{x:.1%}<br>right %{y:.1%}<br>%{customdata} rows<extra></extra>"
        ),
        meta={"line.color": "accent", "marker.color": "accent"},
    )  # fmt: skip
    counts = go.Bar(
        x=confidence, y=[b.count for b in bins], width=0.06, yaxis="y2", showlegend=False,
        hovertemplate="confidence %{x:.1%}<br>%{y:,d} rows<extra></extra>",
        meta={"marker.color": "accent"},
    )  # fmt: skip
    return figure(
        [diagonal, curve, counts],
        height=420,
        xaxis=axis("confidence", range=[0, 1.02], tickformat=".0%", anchor="y2"),
        yaxis=axis("right", range=[0, 1.02], tickformat=".0%", domain=[0.32, 1]),
        yaxis2=axis("rows", domain=[0, 0.2], tickformat="~s", nticks=3, rangemode="tozero"),
    )


def class_shares(
    names: list[str], truth: NDArray[np.int64], predicted: NDArray[np.int64], rows: int
) -> Any:
    """How often each class was the truth and how often it was predicted, of all rows."""
    traces = [
        bars(names, (truth / rows).tolist(), truth.tolist(), "truth", "accent"),
        bars(names, (predicted / rows).tolist(), predicted.tolist(), "predicted", "second"),
    ]
    return named_bars(
        traces, names, "share of the rows", row=34 if len(names) <= 20 else ROW, barmode="group"
    )


def bars(names: list[str], shares: list[float], counts: list[int], name: str, colour: str) -> Any:
    return plotly("graph_objects").Bar(
        x=shares,
        y=list(range(len(names))),
        orientation="h",
        name=name,
        customdata=[[text(label), count(n)] for label, n in zip(names, counts, strict=True)],
        hovertemplate=(
            "%{customdata[0]}<br>" + name + " %{x:.2%}, %{customdata[1]} rows<extra></extra>"
        ),
        meta={"marker.color": colour},
    )


# -- the trees ------------------------------------------------------------------------------------


def importances(names: list[str], values: list[float]) -> Any:
    trace = plotly("graph_objects").Bar(
        x=values,
        y=list(range(len(names))),
        orientation="h",
        customdata=[text(name) for name in names],
        hovertemplate="%{customdata}<br>%{x:.2%}<extra></extra>",
        meta={"marker.color": "accent"},
    )
    return named_bars([trace], names, "share of the gain", row=ROW)


def named_bars(traces: list[Any], names: list[str], title: str, row: int, **layout: Any) -> Any:
    """A row of bars for each name, the first at the top."""
    return figure(
        traces,
        height=90 + row * len(names),
        bargap=0.3,
        xaxis=axis(title, tickformat="~%", rangemode="tozero", nticks=6),
        yaxis=names_axis(names, autorange="reversed"),
        **layout,
    )


def histogram(labels: list[str], counts: list[int], title: str) -> Any:
    """How many leaves there are of each kind."""
    trace = plotly("graph_objects").Bar(
        x=list(range(len(labels))),
        y=counts,
        customdata=labels,
        hovertemplate=title + " %{customdata}<br>%{y:,d} leaves<extra></extra>",
        meta={"marker.color": "accent"},
    )
    shown = range(0, len(labels), -(-len(labels) // 10))
    x = axis(
        title, tickmode="array", tickvals=list(shown), ticktext=[labels[i] for i in shown],
        showgrid=False,
    )  # fmt: skip
    return figure([trace], bargap=0.12, xaxis=x, yaxis=axis("leaves", tickformat="~s"))

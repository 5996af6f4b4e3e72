"""The figures of the report, one function each, made from numbers and names only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.report.figure import LONGEST_NAME, axis, figure, names_axis, text
from riparian.tools.optional import plotly
from riparian.tools.text import count, percent, size

if TYPE_CHECKING:
    from riparian.evaluation import Bin, CurvePoint, NumberCurvePoint, RankingCurve
    from riparian.model.replacements import Replacement

LARGEST_TO_WRITE = 15  # classes of a confusion matrix whose cells show their counts
LARGEST_TO_WRITE_SHARES = 6  # and also the shares
STEPS = 100  # of the stream, in which replaced trees are counted
ROW = 24  # height in pixels of a bar or a cell with a name

# Few rows in a hundred are confused, so the colours follow the square root of the share.
HEAT_STEPS = [(i / 4) ** 2 for i in range(5)]


# -- over the stream ------------------------------------------------------------------------------


def accuracy(
    curve: Sequence[CurvePoint],
    most_frequent: float | None,
    replacements: Sequence[Replacement] = (),
) -> Any:
    """Accuracy of the last window, of all rows so far, and of always guessing one class.

    If trees were replaced, bars below show how many.
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
    return over_replacements(traces, axis("accuracy", tickformat="~%"), curve[-1].row, replacements)


def over_replacements(
    traces: list[Any], y: Any, rows: int, replacements: Sequence[Replacement]
) -> Any:
    """Lines along the stream. Where trees were replaced, bars below say how many."""
    inside = [point for point, _ in replacements if point <= rows]
    if not inside:
        return along_the_stream(traces, y, height=380)
    return along_the_stream(
        [*traces, replaced(inside, rows)],
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
    curve: Sequence[CurvePoint] | Sequence[NumberCurvePoint],
    name: str,
    values: Sequence[float | None],
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
        showscale=False,  # the page has a smaller key
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
    """Return the colours. Text must stay legible on cells that have some."""
    return "heat" if len(names) <= LARGEST_TO_WRITE else "strong-heat"


def calibration(bins: Sequence[Bin]) -> Any:
    """How often predictions of a confidence were right; below, how many there were."""
    go = plotly("graph_objects")
    confidence = [b.confidence for b in bins]
    diagonal = go.Scatter(
        x=[0, 1], y=[0, 1], name="perfectly calibrated", mode="lines", hoverinfo="skip",
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
        # Without bars, plotly gives the axis a range of NaN and writes errors to the console.
        x=confidence or [0.5], y=[b.count for b in bins] or [0], width=0.06, yaxis="y2",
        showlegend=False,
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


def named_bars(
    traces: list[Any], names: list[str], title: str, row: int, ticks: str = "~%", **layout: Any
) -> Any:
    """A row of bars for each name, the first at the top."""
    return figure(
        traces,
        height=90
        + row * max(2, len(names)),  # with less, nothing is left between the legend and the axis
        bargap=0.3,
        xaxis=axis(title, tickformat=ticks, rangemode="tozero", nticks=6),
        yaxis=names_axis(names, autorange="reversed"),
        **layout,
    )


def histogram(labels: list[str], counts: list[int], title: str) -> Any:
    """The number of leaves of each kind."""
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


def trust(names: list[str], weights: list[float]) -> Any:
    """The share of the answers that comes from cells of each size."""
    trace = plotly("graph_objects").Bar(
        x=list(range(len(names))),
        y=weights,
        customdata=names,
        hovertemplate="%{customdata}<br>%{y:.1%}<extra></extra>",
        meta={"marker.color": "accent"},
    )
    x = axis(
        "where answers come from",
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=names,
        showgrid=False,
    )
    y = axis("trust", range=[0, 1], tickformat=".0%")
    return figure([trace], height=260, bargap=0.3, xaxis=x, yaxis=y)


def replacements(replaced: Sequence[Replacement], points: int) -> Any:
    """A mark for each replaced tree, at the point of its replacement."""
    trace = plotly("graph_objects").Scatter(
        x=[point for point, _ in replaced],
        y=[tree for _, tree in replaced],
        mode="markers",
        marker={"size": 5},
        hovertemplate="tree %{y} after %{x:,d} points<extra></extra>",
        meta={"marker.color": "accent"},
    )
    x = axis("points", tickformat="~s", range=[0, points])
    return figure([trace], height=260, xaxis=x, yaxis=axis("tree", tickformat=",d"))


def trust_along(sizes: Sequence[str], x: Sequence[int], weights: Sequence[Sequence[float]]) -> Any:
    """The share of the answers from each head along the stream: bands that add up to one."""
    traces = [
        plotly("graph_objects").Scatter(
            x=list(x),
            y=[each[i] for each in weights],
            name=size,
            mode="lines",
            line={"width": 0.5},
            stackgroup="trust",
            hovertemplate="%{y:.0%}",
            meta={"fillcolor": ["bands", i / max(1, len(sizes) - 1)], "line.color": "paper"},
        )
        for i, size in enumerate(sizes)
    ]
    return along_the_stream(traces, axis("trust", range=[0, 1], tickformat=".0%"))


# -- one class, by all thresholds -----------------------------------------------------------------


def ranking(curve: Sequence[CurvePoint]) -> Any:
    """The ranking scores of all rows so far."""
    traces = [
        line(curve, "ROC AUC", [point.auc for point in curve], "accent", 2.5),
        line(
            curve, "average precision", [point.average_precision for point in curve], "second", 2.5
        ),
    ]
    for trace in traces:
        trace.hovertemplate = "%{y:.3f}"
    return along_the_stream(traces, axis("score"))


def roc(curve: RankingCurve) -> Any:
    x, y = [0.0, *curve.false_positive_rate], [0.0, *curve.recall]
    chance = thresholds([0, 1], [0, 1], "at random", None)
    return rates(
        [chance, thresholds(x, y, "this forest", curve, first=1)],
        "false positive rate",
        "recall",
    )


def precision_recall(curve: RankingCurve, base: float) -> Any:
    x, y = curve.recall.tolist(), curve.precision.tolist()
    chance = thresholds([0, 1], [base, base], "at random", None)
    return rates(
        [chance, thresholds([0.0, *x], [y[0], *y], "this forest", curve, first=1)],
        "recall",
        "precision",
    )


def lift(curve: RankingCurve) -> Any:
    made = thresholds(curve.share.tolist(), curve.lift.tolist(), "this forest", curve, "%{y:.2f}")
    chance = thresholds([0, 1], [1, 1], "at random", None)
    x = axis("share of the rows, highest probability first", range=[0, 1], tickformat=".0%")
    return figure([chance, made], height=360, xaxis=x, yaxis=axis("lift", rangemode="tozero"))


def thresholds(
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    curve: RankingCurve | None,
    shown: str = "%{y:.1%}",
    first: int = 0,
) -> Any:
    """A line with a threshold at each point; the first ones have one above all probabilities."""
    drawn = curve is not None
    at = [] if curve is None else ["none"] * first + [f"{t:.3g}" for t in curve.threshold.tolist()]
    return plotly("graph_objects").Scatter(
        x=list(x),
        y=list(y),
        name=name,
        mode="lines",
        line={"width": 2.5 if drawn else 1.5, "dash": "solid" if drawn else "dot"},
        customdata=at,
        hovertemplate=f"{shown} at %{{x:.1%}}<br>threshold %{{customdata}}<extra></extra>",
        hoverinfo=None if drawn else "skip",
        meta={"line.color": "accent" if drawn else "muted"},
    )


def rates(traces: list[Any], x: str, y: str) -> Any:
    ends = {"range": [0, 1.02], "tickformat": ".0%"}
    return figure(traces, height=360, xaxis=axis(x, **ends), yaxis=axis(y, **ends))


# -- features along the stream --------------------------------------------------------------------


def along_features(
    names: list[str],
    shares: NDArray[np.float64],
    last_row: NDArray[np.int64],
    scale: tuple[float, float],
) -> Any:
    """Features down, parts of the stream across."""
    edges = [0, *last_row.tolist()]
    heat = plotly("graph_objects").Heatmap(
        x=edges,
        y=list(range(len(names))),
        z=np.round(shares, 4).tolist(),
        zmin=scale[0],
        zmax=scale[1],
        ygap=1,
        showscale=False,  # the page has a smaller key
        customdata=[
            [
                f"{text(name)}<br>rows {count(first + 1)} to {count(last)}"
                for first, last in pairwise(edges)
            ]
            for name in names
        ],
        hovertemplate="%{customdata}: %{z:.1%}<extra></extra>",
        meta={"colorscale": ["strong-heat", [i / 4 for i in range(5)]]},
    )
    return figure(
        [heat],
        height=70 + ROW * max(3, len(names)),
        xaxis=axis("rows", tickformat="~s", showgrid=False),
        yaxis=names_axis(names, autorange="reversed"),
    )


# -- numbers --------------------------------------------------------------------------------------


def errors(curve: Sequence[NumberCurvePoint], replacements: Sequence[Replacement] = ()) -> Any:
    traces = [
        line(curve, "last window", [point.window_rmse for point in curve], "second", 1.5),
        line(curve, "all rows so far", [point.rmse for point in curve], "accent", 2.5),
    ]
    for trace in traces:
        trace.hovertemplate = "%{y:.4g}"
    y = axis("RMSE", rangemode="tozero")
    return over_replacements(traces, y, curve[-1].row, replacements)


def against(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> Any:
    ends = [float(min(truth.min(), predicted.min())), float(max(truth.max(), predicted.max()))]
    right = plotly("graph_objects").Scatter(
        x=ends, y=ends, name="right", mode="lines", hoverinfo="skip",
        line={"dash": "dot", "width": 1.5}, meta={"line.color": "muted"},
    )  # fmt: skip
    made = dots(truth, predicted, "true %{x:.5g}<br>predicted %{y:.5g}<extra></extra>")
    made.name = "rows"
    return figure([right, made], height=380, xaxis=axis("true"), yaxis=axis("predicted"))


def residuals(row: NDArray[np.float64], error: NDArray[np.float64]) -> Any:
    made = dots(row, error, "row %{x:,d}<br>error %{y:.4g}<extra></extra>")
    y = axis("true - predicted", zeroline=True)
    return figure([made], height=380, xaxis=axis("rows", tickformat="~s"), yaxis=y)


def dots(x: NDArray[np.float64], y: NDArray[np.float64], hover: str) -> Any:
    return plotly("graph_objects").Scatter(
        x=x.tolist(), y=y.tolist(), mode="markers", marker={"size": 4}, hovertemplate=hover,
        meta={"marker.color": "accent"},
    )  # fmt: skip


def by_range(names: list[str], values: list[float], rows: list[int]) -> Any:
    trace = plotly("graph_objects").Bar(
        x=list(range(len(names))),
        y=values,
        customdata=[[name, count(n)] for name, n in zip(names, rows, strict=True)],
        hovertemplate="%{customdata[0]}<br>%{y:.4g}, %{customdata[1]} rows<extra></extra>",
        meta={"marker.color": "accent"},
    )
    return figure(
        [trace], bargap=0.2, xaxis=names_axis(names, "true"), yaxis=axis("mean absolute error")
    )


def fan(
    row: NDArray[np.float64],
    truth: NDArray[np.float64],
    predicted: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    held: NDArray[np.bool_],
) -> Any:
    """A bar from end to end of each interval, a stroke for its prediction, a dot for the truth."""
    go = plotly("graph_objects")
    ends = [*zip(low.tolist(), high.tolist(), strict=True)]
    no_line = [None] * len(row)
    bars = go.Scatter(
        x=np.repeat(row, 3).tolist(),
        y=[value for pair in zip(low.tolist(), high.tolist(), no_line, strict=True) for value in pair],
        name="interval", mode="lines", hoverinfo="skip", line={"width": 3}, opacity=0.35,
        meta={"line.color": "accent"},
    )  # fmt: skip
    traces = [bars]
    for name, values, shown, symbol, across, colour in (
        ("predicted", predicted, np.ones_like(held), "line-ew-open", 7, "accent"),
        ("true, inside", truth, held, "circle", 5, "ink"),
        ("true, outside", truth, ~held, "x", 7, "second"),
    ):
        traces.append(
            go.Scatter(
                x=row[shown].tolist(), y=values[shown].tolist(), name=name, mode="markers",
                marker={"symbol": symbol, "size": across},
                customdata=[ends[i] for i in np.flatnonzero(shown)],
                hovertemplate=name + " %{y:.5g}<br>interval %{customdata[0]:.5g} to "
                "%{customdata[1]:.5g}<br>row %{x:,d}<extra></extra>",
                meta={"marker.color": colour},
            )
        )  # fmt: skip
    return figure(traces, height=380, xaxis=axis("rows", tickformat="~s"), yaxis=axis("target"))


def coverage(curve: Sequence[NumberCurvePoint], coverages: Sequence[str]) -> Any:
    """The share of targets inside, of the last window, and the intended ones."""
    traces = []
    for each, colour in zip(coverages, of_coverages(coverages), strict=True):
        shares = [(point.coverage or {}).get(each) for point in curve]
        made = line(curve, each, shares, colour, 2)
        made.hovertemplate = "%{y:.1%}"
        level = line(curve, f"intended {each}", [float(each)] * len(curve), "muted", 1.5, "dot")
        level.showlegend, level.hoverinfo = False, "skip"
        traces += [made, level]
    return along_the_stream(traces, axis("coverage", tickformat="~%"))


def width(curve: Sequence[NumberCurvePoint], coverages: Sequence[str]) -> Any:
    traces = []
    for each, colour in zip(coverages, of_coverages(coverages), strict=True):
        widths = [(point.width or {}).get(each) for point in curve]
        traces.append(line(curve, each, widths, colour, 2))
        traces[-1].hovertemplate = "%{y:.4g}"
    return along_the_stream(traces, axis("mean width", rangemode="tozero"))


def of_coverages(coverages: Sequence[str]) -> list[str]:
    """Return a colour for each line; there are few."""
    return [("accent", "second", "ink")[i % 3] for i in range(len(coverages))]

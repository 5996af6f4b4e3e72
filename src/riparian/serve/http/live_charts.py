"""Charts of the live page that several parts of it draw: as figures without data, and their data."""

from __future__ import annotations

from typing import Any

from riparian.report.figure import LONGEST_NAME, axis, figure, text
from riparian.serve.state.scores import LogScores
from riparian.tools.optional import plotly


def along(
    *names: tuple[str, str], x: str, y: dict[str, Any], hover: str, mode: str = "lines"
) -> Any:
    """Return a line chart without data: the name and the colour of each line."""
    traces = [
        plotly("graph_objects").Scatter(
            x=[], y=[], name=name, mode=mode, line={"width": 2}, hovertemplate=hover,
            marker={"size": 3},
            meta={"line.color": colour, "marker.color": colour},
        )
        for name, colour in names
    ]  # fmt: skip
    across = axis(x, tickformat="~s", hoverformat=",d")
    return figure(traces, xaxis=across, yaxis=y, hovermode="x unified")


def course(scores: LogScores) -> dict[str, Any]:
    """Return the recent score and the score of all predictions, by how many were scored."""
    marks = list(scores.curve)
    x = [mark[0] for mark in marks]
    return {"data": [{"x": x, "y": [mark[i] for mark in marks]} for i in (1, 2)]}


def named(names: list[str], values: list[list[float]]) -> dict[str, Any]:
    """Return bars with a name each."""
    hover = [text(name) for name in names]
    places = list(range(len(names)))
    traces = [{"x": list(each), "y": places, "customdata": hover} for each in values]
    return {"data": traces, "yaxis": ticks(names), "rows": len(names)}


def ticks(names: list[str]) -> dict[str, Any]:
    """Return the places and the names on an axis; plotly would read HTML in a name."""
    places = list(range(len(names)))
    return {"tickvals": places, "ticktext": [text(name, LONGEST_NAME) for name in names]}

"""The live page as HTML: the frame, style and script of the report, and a script for events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from riparian.report import charts
from riparian.report.figure import axis, chart, figure
from riparian.report.page import Section, page
from riparian.report.tables import columns, side_by_side
from riparian.serve.http.live_charts import along
from riparian.serve.http.view import View
from riparian.tools.optional import plotly

# The names of figures, and words. The view has those of "Is it right?".
FAST = {
    "p50": "half are answered within",
    "p99": "99 % are answered within",
    "predictions_rate": "predictions per second",
    "labels_rate": "labels per second",
    "backlog": "rows in the queue",
}
WELL = {
    "unsaved": "lessons since the last snapshot",
    "pending": "waiting for a label",
    "expired": "forgotten while waiting",
    "set_aside": "lessons set aside",
    "memory": "memory of the forest",
}
FOREST = {
    "points": "points learned",
    "leaves": "leaves",
    "features": "features",
}
ADAPTIVE_FOREST = {"drifts": "trees replaced"}

DELAY_NAMES = ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "more"]


def live_page(
    name: str, view: View, adaptive: bool = False, lazy: bool = False, sizes: Sequence[str] = ()
) -> str:
    """Return the page.

    `adaptive`: whether the forest replaces trees (R27); `sizes`: of the cells that it trusts (R25).
    """
    script = files("riparian.serve.http").joinpath("live.js").read_text(encoding="utf-8")
    style = files("riparian.serve.http").joinpath("live.css").read_text(encoding="utf-8")
    drawn = (trust(sizes) if sizes else "", drifts() if adaptive else "", importances())
    tiles = {**FOREST, **view.forest_tiles, **(ADAPTIVE_FOREST if adaptive else {})}
    sections = [
        Section("right", "Is it right?", numbers(view.tiles) + view.answers()),
        Section("fast", "Is it fast?", numbers(FAST) + speed()),
        Section("well", "Is it healthy?", numbers(WELL) + (LAZY if lazy else "") + delay()),
        Section("forest", "The forest", numbers(tiles) + side_by_side(*drawn)),
    ]
    return page(
        f"{name}, live", sections, above=STATE, more_style=style, more_script=script,
        connect="'self'",
    )  # fmt: skip


STATE = '<p id="state" role="status" data-state="waiting">Connecting.</p>'
LAZY = (
    "<p>Predictions are lazy: they are answered before they are on disk. A crash may forget the last of "
    "them, and their labels then find no id (404). Labels and lessons are on disk before they are "
    "answered.</p>"
)


def numbers(figures: Mapping[str, str]) -> str:
    items = "".join(
        f'<div id="tile-{name}"><dt>{escape(words)}</dt><dd id="now-{name}">–</dd></div>'
        for name, words in figures.items()
    )
    return f'<dl class="figures">{items}</dl>'


def speed() -> str:
    seconds = "seconds ago"
    return columns(
        chart("throughput", "Throughput", "Line chart of predictions and labels per second.",
              "Since the start, or the last five minutes.",
              along(("predictions", "accent"), ("labels", "second"), x=seconds,
                    y=axis("per second", rangemode="tozero", tickformat="~s"),
                    hover="%{y:,.0f}")),
        chart("latency", "Time to answer a prediction",
              "Line chart of the median and the 99th percentile of the time to answer.",
              "Within the process: without the network.",
              along(("half", "accent"), ("99 %", "second"), x=seconds,
                    y=axis("ms", rangemode="tozero"), hover="%{y:.2f} ms",
                    mode="lines+markers")),  # a second next to two without answers has no line
    )  # fmt: skip


def delay() -> str:
    return chart(
        "delay", "How late labels come", "Bar chart of the time from a prediction to its label.",
        "Time from a prediction to its label.", delays(),
    )  # fmt: skip


def trust(sizes: Sequence[str]) -> str:
    return chart(
        "trust", "Where the answers come from",
        f"Area chart of the trust in {', '.join(sizes)}, while this page is open.",
        "Which part of the answers comes from cells of each size, while this page is open.",
        charts.trust_along(sizes, [], []),
    )  # fmt: skip


def drifts() -> str:
    made = along(("trees replaced", "accent"), x="points learned",
                 y=axis("trees", rangemode="tozero", tickformat=",d"), hover="%{y:,d}")  # fmt: skip
    made.data[0].line.shape = "hv"
    return chart(
        "drifts", "Trees replaced", "Step chart of the trees replaced so far, by points learned.",
        "A tree is replaced when its error rises: a step up is a change of the stream.", made,
    )  # fmt: skip


def importances() -> str:
    return chart(
        "importances", "Importances", "Bar chart of the share of the gain of each feature.",
        "The share of each feature in the gain of all splits.", charts.importances([], []),
    )  # fmt: skip


def delays() -> Any:
    trace = plotly("graph_objects").Bar(
        x=list(range(len(DELAY_NAMES))), y=[], customdata=DELAY_NAMES,
        hovertemplate="within %{customdata}<br>%{y:,d} labels<extra></extra>",
        meta={"marker.color": "accent"},
    )  # fmt: skip
    x = axis("at most", tickmode="array", tickvals=list(range(len(DELAY_NAMES))),
             ticktext=DELAY_NAMES, showgrid=False)  # fmt: skip
    return figure([trace], bargap=0.12, xaxis=x, yaxis=axis("labels", tickformat="~s"))

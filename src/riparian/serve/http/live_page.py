"""The live page as HTML: frame, style and drawing code of the report, and a script that listens."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from riparian.report import charts
from riparian.report.chart import chart
from riparian.report.figure import axis, figure
from riparian.report.page import Section, page
from riparian.report.tables import columns
from riparian.tools.optional import plotly

FIGURES = {  # the name in the numbers, and in words
    "recent": "accuracy, last 1000",
    "accuracy": "accuracy, all",
    "scored": "predictions scored",
    "points": "points learned",
    "pending": "waiting for a label",
    "expired": "forgotten while waiting",
    "predictions_rate": "predictions per second",
    "labels_rate": "labels per second",
    "p50": "half are answered within",
    "p99": "99 % are answered within",
    "backlog": "rows in the queue",
    "leaves": "leaves",
    "memory": "memory of the forest",
    "features": "features",
    "classes": "classes",
    "saved": "lessons in the snapshot",
    "set_aside": "lessons set aside",
}
ADAPTIVE_FIGURES = {"drifts": "trees replaced"}

DELAY_NAMES = ["1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "more"]


def live_page(name: str, adaptive: bool = False, lazy: bool = False) -> str:
    """`adaptive`: whether the forest replaces trees, which has a chart then (R23)."""
    script = files("riparian.serve.http").joinpath("live.js").read_text(encoding="utf-8")
    sections = [
        Section("now", "Now", STATE + numbers(FIGURES | (ADAPTIVE_FIGURES if adaptive else {}))),
        Section("answers", "Answers", answers()),
        Section("service", "The service", (LAZY if lazy else "") + service()),
        Section("forest", "The forest", (drifts() if adaptive else "") + forest()),
    ]
    return page(f"{name}, live", sections, more_script=script, connect="'self'")


STATE = '<p id="state" role="status">Connecting.</p>'
LAZY = (
    "<p>Predictions are lazy: they are answered before they are on disk. A crash may forget the last of "
    "them, and their labels then find no id (404). Labels and lessons are on disk before they are "
    "answered.</p>"
)


def numbers(figures: dict[str, str]) -> str:
    items = "".join(
        f'<div><dt>{escape(words)}</dt><dd id="now-{name}">–</dd></div>'
        for name, words in figures.items()
    )
    return f'<dl class="figures">{items}</dl>'


def answers() -> str:
    return chart(
        "accuracy", "Accuracy of stored predictions",
        "Line chart of the accuracy of the last thousand scored predictions, and of all.",
        "A prediction is scored when its label comes, as it was answered then.",
        along(("last 1000", "second"), ("all", "accent"), x="predictions scored",
              y=axis("accuracy", tickformat=".0%"), hover="%{y:.2%}"),
    ) + columns(
        chart("mix", "Classes", "Bar chart of the share of each class in labels and predictions.",
              "Of the labels that came, and of the predictions that they scored.", class_mix()),
        chart("calibration", "Calibration",
              "Line chart: how often predictions of a confidence were right.",
              "On the dotted line the forest is right as often as it says.",
              charts.calibration([])),
    )  # fmt: skip


def service() -> str:
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
                    y=axis("ms", rangemode="tozero"), hover="%{y:.2f} ms")),
        chart("delay", "How late labels come",
              "Bar chart of the time from a prediction to its label.",
              "Time from a prediction to its label.", delays()),
    )  # fmt: skip


def drifts() -> str:
    made = along(("trees replaced", "accent"), x="points learned",
                 y=axis("trees", rangemode="tozero", tickformat=",d"), hover="%{y:,d}")  # fmt: skip
    made.data[0].line.shape = "hv"
    return chart(
        "drifts", "Trees replaced", "Step chart of the trees replaced so far, by points learned.",
        "A tree is replaced when its error rises: a step up is a change of the stream.", made,
    )  # fmt: skip


def forest() -> str:
    return chart(
        "importances", "Importances", "Bar chart of the share of the gain of each feature.",
        "The share of each feature in the gain of all splits.", charts.importances([], []),
    )  # fmt: skip


# -- figures without data: the script puts it in ---------------------------------------------------


def along(*names: tuple[str, str], x: str, y: dict[str, Any], hover: str) -> Any:
    traces = [
        plotly("graph_objects").Scatter(
            x=[], y=[], name=name, mode="lines", line={"width": 2}, hovertemplate=hover,
            meta={"line.color": colour},
        )
        for name, colour in names
    ]  # fmt: skip
    across = axis(x, tickformat="~s", hoverformat=",d")
    return figure(traces, xaxis=across, yaxis=y, hovermode="x unified")


def class_mix() -> Any:
    none = np.empty(0, dtype=np.int64)
    made = charts.class_shares([], none, none, 1)
    for trace, name in zip(made.data, ("labels", "predictions"), strict=True):
        trace.name = name
        trace.hovertemplate = "%{customdata}<br>" + name + " %{x:.2%}<extra></extra>"
    made.layout.xaxis.title.text = "share"
    return made


def delays() -> Any:
    trace = plotly("graph_objects").Bar(
        x=list(range(len(DELAY_NAMES))), y=[], customdata=DELAY_NAMES,
        hovertemplate="within %{customdata}<br>%{y:,d} labels<extra></extra>",
        meta={"marker.color": "accent"},
    )  # fmt: skip
    x = axis("at most", tickmode="array", tickvals=list(range(len(DELAY_NAMES))),
             ticktext=DELAY_NAMES, showgrid=False)  # fmt: skip
    return figure([trace], bargap=0.12, xaxis=x, yaxis=axis("labels", tickformat="~s"))

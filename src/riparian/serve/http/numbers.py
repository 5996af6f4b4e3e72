"""The view of a service for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from riparian.evaluation.fixed_point import or_none
from riparian.report import charts
from riparian.report.figure import axis, chart
from riparian.report.numbers import ranges
from riparian.report.tables import columns
from riparian.serve.http.live_charts import along, course, ticks
from riparian.serve.http.tensors import tensor
from riparian.serve.http.view import Gauge, Schemas
from riparian.serve.items import Label
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.scores import NumberLogScores
from riparian.serve.validation import number_label
from riparian.tools.text import count

SCORES = {  # properties of `NumberScores`
    "rmse": "root of the mean squared error",
    "mae": "mean absolute error",
    "r2": "share of the variance of the labels that predictions explain",
    "bias": "mean of label - prediction",
    "median_absolute_error": "median of the absolute errors",
}

DRAWN = 300  # predictions, the last ones, drawn over their labels


class NumberView:
    tiles: ClassVar[Mapping[str, str]] = {
        "recent_rmse": "RMSE, last 1000",
        "rmse": "RMSE, all",
        "recent_r2": "R², last 1000",
        "recent_mae": "mean absolute error, last 1000",
        "median_absolute_error": "median absolute error, all",
        "bias": "mean of label - prediction, all",
        "scored": "predictions scored",
    }
    forest_tiles: ClassVar[Mapping[str, str]] = {}
    schemas: ClassVar[Schemas] = Schemas(
        label={"type": "number", "minimum": -(2.0**500), "maximum": 2.0**500},
        predicted={},
        judged={"residual": {"type": ["number", "null"],
                             "description": "The label less the prediction."}},
        example=21.5,
        given={"interval": {"type": "object",
                            "description": "Both ends of the interval of each coverage that the model "
                            "learns; null where nothing is known.",
                            "additionalProperties": {"type": "array", "minItems": 2, "maxItems": 2,
                                                     "items": {"type": ["number", "null"]}}}},
    )  # fmt: skip

    def read_label(self, value: Any, limits: Limits) -> Label:
        return number_label(value, limits)

    def labels(self, catalogue: Catalogue) -> dict[str, Any]:
        return {}

    def about(self, catalogue: Catalogue, scores: NumberLogScores) -> dict[str, Any]:
        return {
            "rmse": or_none(scores.scores.rmse),
            "recent_rmse": or_none(scores.recent.scores.rmse),
        }

    def gauges(self, scores: NumberLogScores) -> Iterator[Gauge]:
        recent = scores.recent.scores
        about = "Of the last 1000 scored predictions: the mean"
        yield "riparian_absolute_error", f"{about} absolute error", recent.mae
        yield "riparian_squared_error", f"{about} squared error", recent.rmse**2
        for name, about in SCORES.items():
            about = f"Of all scored predictions: {about}"
            yield f"riparian_{name}", about, getattr(scores.scores, name)

    # -- the live page ----------------------------------------------------------------------------

    def figures(self, catalogue: Catalogue, scores: NumberLogScores) -> dict[str, Any]:
        recent = scores.recent.scores
        return {
            **{name: or_none(getattr(scores.scores, name)) for name in SCORES},
            **{f"recent_{name}": or_none(getattr(recent, name)) for name in ("rmse", "mae", "r2")},
        }

    def bad(self, figures: Mapping[str, Any]) -> list[str]:
        explained = figures["recent_r2"]
        return ["recent_r2"] if explained is not None and explained < 0 else []

    def charts(self, scores: NumberLogScores) -> dict[str, Any]:
        pairs = np.array(scores.recent.state()).reshape(-1, 2)
        truth, predicted = pairs.T
        last = pairs[-DRAWN:]
        ends = [float(last.min()), float(last.max())] if len(last) else []
        names, errors, rows = ranges(truth, predicted) if len(pairs) else ([], [], [])
        about = [[name, count(n)] for name, n in zip(names, rows, strict=True)]
        bars = {"x": list(range(len(names))), "y": errors, "customdata": about}
        return {
            "error": course(scores),
            "truth": {"data": [{"x": ends, "y": ends},
                               {"x": last[:, 0].tolist(), "y": last[:, 1].tolist()}]},
            "ranges": {"data": [bars], "xaxis": ticks(names)},
        }  # fmt: skip

    def answers(self) -> str:
        return chart(
            "error", "Error of stored predictions",
            "Line chart of the RMSE of the last thousand scored predictions, and of all.",
            "The root of the mean squared error. A prediction is scored when its label comes, as it "
            "was answered then.",
            along(("last 1000", "second"), ("all", "accent"), x="predictions scored",
                  y=axis("RMSE", rangemode="tozero"), hover="%{y:.4g}"),
        ) + columns(
            chart("truth", "Predicted against true",
                  f"Scatter chart of the last {DRAWN} scored predictions over their labels.",
                  f"The last {DRAWN} scored predictions. On the dotted line they are right.",
                  charts.against(np.zeros(1), np.zeros(1))),
            chart("ranges", "Error by range of the label",
                  "Bar chart of the mean absolute error of the last thousand, in ranges of the label.",
                  "The mean absolute error of the last 1000, in ranges of the label that hold about as "
                  "many predictions each.", charts.by_range([], [], [])),
        )  # fmt: skip

    # -- tensors ----------------------------------------------------------------------------------

    def outputs(self, catalogue: Catalogue) -> list[dict[str, Any]]:
        return [{"name": "label", "datatype": "FP64", "shape": [-1]}]

    def tensors(self, catalogue: Catalogue, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [tensor("label", "FP64", [len(answers)], [each["label"] for each in answers])]

"""The view of a service for classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from riparian.evaluation import Scores
from riparian.evaluation.fixed_point import or_none
from riparian.report import charts
from riparian.report.figure import axis, chart
from riparian.report.tables import columns
from riparian.serve.http.live_charts import along, course, named
from riparian.serve.http.tensors import tensor
from riparian.serve.http.view import Gauge, Schemas
from riparian.serve.items import Label
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.classes import ServedClasses
from riparian.serve.state.scores import ClassScores
from riparian.serve.validation import class_label

SCORES = {  # properties of `Scores`
    "auc": "area under the ROC curve; with more than two classes, the mean of each against the rest",
    "average_precision": "of the rarest class; with more than two, the mean over all",
    "log_loss": "mean of -log p(label), in nats",
    "brier": "mean of (p - truth)^2, summed over the classes if there are more than two",
    "balanced_accuracy": "mean recall of the classes",
}

DATATYPES = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}

LABEL = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200},
                   {"type": "number", "multipleOf": 1}, {"type": "boolean"}]}  # fmt: skip


class ClassView:
    tiles: ClassVar[Mapping[str, str]] = {
        "recent": "accuracy, last 1000",
        "accuracy": "accuracy, all",
        "always": "accuracy of always guessing the most frequent label",
        "rare": "of the rarest class are found",
        "auc": "ROC AUC",
        "average_precision": "average precision",
        "scored": "predictions scored",
    }
    forest_tiles: ClassVar[Mapping[str, str]] = {"classes": "classes"}
    schemas: ClassVar[Schemas] = Schemas(
        label=LABEL,
        predicted={"probabilities": {"type": ["object", "null"],
                                     "additionalProperties": {"type": "number"}}},
        judged={"correct": {"type": ["boolean", "null"]}},
        example="yes",
    )  # fmt: skip

    def read_label(self, value: Any, limits: Limits) -> Label:
        return class_label(value, limits)

    def labels(self, catalogue: Catalogue) -> dict[str, Any]:
        return {"classes": sorted(classes_of(catalogue).labels)}

    def about(self, catalogue: Catalogue, scores: ClassScores) -> dict[str, Any]:
        return {
            **self.labels(catalogue),
            "new_classes": classes_of(catalogue).open,
            "accuracy": or_none(scores.scores.accuracy),
            "recent_accuracy": or_none(scores.recent.accuracy),
        }

    def gauges(self, scores: ClassScores) -> Iterator[Gauge]:
        about = "Of the last 1000 scored predictions"
        yield "riparian_accuracy_ratio", about, scores.recent.accuracy
        for name, about in SCORES.items():
            about = f"Of all scored predictions: {about}"
            yield f"riparian_{name}", about, getattr(scores.scores, name)

    # -- the live page ----------------------------------------------------------------------------

    def figures(self, catalogue: Catalogue, scores: ClassScores) -> dict[str, Any]:
        return {
            "accuracy": or_none(scores.scores.accuracy),
            "recent": or_none(scores.recent.accuracy),
            "always": always(scores.scores),
            "rare": rarest_found(scores.scores),
            **{name: or_none(getattr(scores.scores, name)) for name in SCORES},
            "classes": len(classes_of(catalogue).labels),
        }

    def bad(self, figures: Mapping[str, Any]) -> list[str]:
        recent, always = figures["recent"], figures["always"]
        guessing = recent is not None and always is not None and recent < always
        return ["recent"] if guessing else []

    def charts(self, scores: ClassScores) -> dict[str, Any]:
        return {
            "accuracy": course(scores),
            "mix": mix(scores),
            "calibration": calibration(scores),
        }

    def answers(self) -> str:
        return chart(
            "accuracy", "Accuracy of stored predictions",
            "Line chart of the accuracy of the last thousand scored predictions, and of all.",
            "A prediction is scored when its label comes, as it was answered then.",
            along(("last 1000", "second"), ("all", "accent"), x="predictions scored",
                  y=axis("accuracy", tickformat="~%"), hover="%{y:.2%}"),
        ) + columns(
            chart("mix", "Classes",
                  "Bar chart of the share of each class in labels and predictions.",
                  "Of the labels that came, and of the predictions that they scored.", class_mix()),
            chart("calibration", "Calibration",
                  "Line chart: how often predictions of a confidence were right.",
                  "On the dotted line the forest is right as often as it says.",
                  charts.calibration([])),
        )  # fmt: skip

    # -- tensors ----------------------------------------------------------------------------------

    def outputs(self, catalogue: Catalogue) -> list[dict[str, Any]]:
        width = len(classes_of(catalogue).labels)
        return [
            {"name": "label", "datatype": datatype(catalogue), "shape": [-1]},
            {"name": "probabilities", "datatype": "FP64", "shape": [-1, width]},
        ]

    def tensors(self, catalogue: Catalogue, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        classes = list(dict.fromkeys(chain(*(answer["probabilities"] for answer in answers))))
        shares = [answer["probabilities"].get(name, 0.0) for answer in answers for name in classes]
        n = len(answers)
        labels = [answer["label"] for answer in answers]
        return [
            tensor("label", datatype(catalogue), [n], labels),
            {**tensor("probabilities", "FP64", [n, len(classes)], shares),
             "parameters": {"classes": classes}},
        ]  # fmt: skip


def classes_of(catalogue: Catalogue) -> ServedClasses:
    assert isinstance(catalogue.target, ServedClasses)
    return catalogue.target


def datatype(catalogue: Catalogue) -> str:
    return DATATYPES[type(next(iter(classes_of(catalogue).labels), ""))]


def always(scores: Scores) -> float | None:
    """Return the accuracy of always answering with the label that was most frequent."""
    most = max((each["support"] for each in scores.by_class()), default=0)
    return most / scores.rows if most else None


def rarest_found(scores: Scores) -> float | None:
    """Return the share of the rows of the rarest class that were predicted as such."""
    there = [each for each in scores.by_class() if each["support"]]
    return min(there, key=lambda each: each["support"])["recall"] if len(there) > 1 else None


def mix(scores: ClassScores) -> dict[str, Any]:
    labelled, predicted = dict(scores.labelled), dict(scores.predicted)
    names = sorted({*labelled, *predicted})
    return named(names, [shares(labelled, names), shares(predicted, names)])


def shares(counts: dict[str, int], names: list[str]) -> list[float]:
    total = sum(counts.values())
    return [counts.get(name, 0) / total if total else 0.0 for name in names]


def calibration(scores: ClassScores) -> dict[str, Any]:
    """Return the mean confidence of each bin, how often it was right, and how many there were."""
    filled = scores.scores.calibration
    x = [bin_.confidence for bin_ in filled]
    right = {"x": x, "y": [bin_.accuracy for bin_ in filled]}
    counts = {"x": x or [0.5], "y": [bin_.count for bin_ in filled] or [0]}  # as the chart begins
    return {"data": [{}, right, counts]}


def class_mix() -> Any:
    none = np.empty(0, dtype=np.int64)
    made = charts.class_shares([], none, none, 1)
    for trace, name in zip(made.data, ("labels", "predictions"), strict=True):
        trace.name = name
        trace.hovertemplate = "%{customdata}<br>" + name + " %{x:.2%}<extra></extra>"
    made.layout.xaxis.title.text = "share"
    return made

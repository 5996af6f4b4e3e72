"""The protocol of a view: what HTTP shows of the target of a service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from riparian.serve.items import Label
from riparian.serve.options import Limits
from riparian.serve.state.catalogue import Catalogue

Gauge = tuple[str, str, float]  # the name of a metric, what it means, its value
Schema = dict[str, Any]


@dataclass(frozen=True)
class Schemas:
    """The parts of the OpenAPI document that depend on the target."""

    label: Schema
    predicted: Mapping[str, Schema]  # what the answer to a prediction has besides the label
    judged: Mapping[str, Schema]  # what the answer to a label has besides both labels
    example: Any  # a label
    # What the answer to a prediction has as well where the model gives it.
    given: Mapping[str, Schema] = field(default_factory=dict)


class View(Protocol):
    """The view of classes (`classes.py`) or of numbers (`numbers.py`); each has its own scores."""

    tiles: ClassVar[Mapping[str, str]]  # of "Is it right?": the names of figures, and words
    forest_tiles: ClassVar[Mapping[str, str]]  # the same of "The forest"
    schemas: ClassVar[Schemas]

    def read_label(self, value: Any, limits: Limits) -> Label:
        """Return the label that a request has, or refuse it."""

    def labels(self, catalogue: Catalogue) -> dict[str, Any]:
        """Return the labels that there are, for /v2."""

    def about(self, catalogue: Catalogue, scores: Any) -> dict[str, Any]:
        """Return the labels and the scores for /v1/model."""

    def gauges(self, scores: Any) -> Iterator[Gauge]:
        """Return the scores for Prometheus."""

    def figures(self, catalogue: Catalogue, scores: Any) -> dict[str, Any]:
        """Return the scores for /v1/status, which the tiles show."""

    def bad(self, figures: Mapping[str, Any]) -> list[str]:
        """Return the names of scores that are worse than those of a constant answer."""

    def charts(self, scores: Any) -> dict[str, Any]:
        """Return the data of the charts of answers."""

    def answers(self) -> str:
        """Return the charts of answers as HTML, without data."""

    def outputs(self, catalogue: Catalogue) -> list[dict[str, Any]]:
        """Return the tensors that /v2 answers with, besides the ids, without data."""

    def tensors(self, catalogue: Catalogue, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return answers as these tensors."""

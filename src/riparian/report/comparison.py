"""Two runs over the same stream, as one HTML page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from riparian.evaluation import NumberScores
from riparian.report import charts
from riparian.report.figure import axis, chart, text
from riparian.report.page import Section, page
from riparian.report.tables import table
from riparian.tools.files import write_whole
from riparian.tools.notebook import framed
from riparian.tools.text import count

COLOURS = ("accent", "second")


class Run(Protocol):
    """An `Evaluation`, a `Prequential` or a `Report`."""

    @property
    def scores(self) -> Any: ...

    @property
    def curve(self) -> Any: ...


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs, by name: their scores side by side, and their curves in one chart.

    >>> from riparian import AdaptiveForestClassifier, OnlineForestClassifier
    >>> from riparian.evaluation import evaluate
    >>> from riparian.streams import GaussianMixture
    >>> X, y = GaussianMixture.paper().sample(500, random_state=0)
    >>> runs = {
    ...     "steady": evaluate(OnlineForestClassifier(5, random_state=0), X, y),
    ...     "adaptive": evaluate(AdaptiveForestClassifier(5, random_state=0), X, y),
    ... }
    >>> Comparison(runs)
    Comparison('steady' and 'adaptive': 499 rows)
    """

    runs: Mapping[str, Run]
    title: str = "Two runs compared"

    def __post_init__(self) -> None:
        if len(self.runs) != 2:
            raise ValueError(f"runs must be two runs by name, got {len(self.runs)}")
        for name, run in self.runs.items():
            if run.scores is None or not run.scores.rows or not run.curve:
                raise ValueError(f"run {name!r} has no scores along a stream: use evaluate()")
        first, second = self.runs.values()
        if isinstance(first.scores, NumberScores) != isinstance(second.scores, NumberScores):
            raise ValueError("one run predicts numbers and the other predicts classes")

    def __repr__(self) -> str:
        first, second = self.runs
        rows = " and ".join(sorted({count(run.scores.rows) for run in self.runs.values()}))
        return f"Comparison({first!r} and {second!r}: {rows} rows)"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        return framed(self.html())

    def html(self) -> str:
        """Return the page, which needs no other file and no network."""
        sections = [
            Section("scores", "Scores", self._scores()),
            Section("stream", "Along the stream", self._along()),
        ]
        return page(self.title, sections)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, atomically."""
        write_whole(path, self.html().encode(errors="backslashreplace"))

    def _scores(self) -> str:
        numbers = any(isinstance(run.scores, NumberScores) for run in self.runs.values())
        shown = ".4g" if numbers else "z.4f"  # errors have the unit of the target
        headlines = [run.scores.headline() for run in self.runs.values()]
        rows = [["rows scored", *(count(run.scores.rows) for run in self.runs.values()), ""]]
        for name in headlines[0]:
            if name in headlines[1]:
                first, second = (headline[name] for headline in headlines)
                rows.append(
                    [
                        name,
                        *(f"{value:{shown}}" for value in (first, second)),
                        f"{second - first:+{shown}}",
                    ]
                )
        head = ["score", *self.runs, "difference"]
        return table("Each row was predicted before it was learned.", head, rows, (1, 2, 3))

    def _along(self) -> str:
        numbers = isinstance(next(iter(self.runs.values())).scores, NumberScores)
        score, field = ("RMSE", "window_rmse") if numbers else ("accuracy", "window_accuracy")
        ends = ", ".join(
            f"{getattr(run.curve[-1], field):.4g} for {name}" for name, run in self.runs.items()
        )
        return chart(
            "both",
            f"{score[0].upper()}{score[1:]} of the last window",
            f"Line chart of the {score} of both runs: in the end {ends}.",
            "The window covers only the last rows, so it shows how good each forest is at that time.",
            both(score, field, {name: run.curve for name, run in self.runs.items()}),
        )


def both(score: str, field: str, curves: Mapping[str, Sequence[Any]]) -> Any:
    """Draw one line for each run."""
    traces = [
        charts.line(curve, text(name, 40), [getattr(at, field) for at in curve], colour, 2.0)
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=True)
    ]
    for trace in traces:
        trace.hovertemplate = "%{y:.4g}"
    return charts.along_the_stream(traces, axis(score), height=380)

"""Show the accuracy on each part of the body at the end of the runs, as a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from riparian.tools.optional import matplotlib
from riparian_experiments.figures import COLOURS, STYLE
from riparian_experiments.kinect.judging import BODY_PARTS
from riparian_experiments.kinect.settings import Method
from riparian_experiments.kinect.study import methods_of
from riparian_experiments.results import over_runs
from riparian_experiments.study import Row

MEASURES = {  # columns of the rows, and their names in the table
    "accuracy": "all pixels",
    "part_mean": "mean of the parts",
    **{name: name for name in BODY_PARTS},
}


class Spread(NamedTuple):
    """A measure over the runs."""

    mean: float
    sd: float
    runs: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.sd:.3f}" if self.runs > 1 else f"{self.mean:.3f}"


def parts_table(rows: Sequence[Row]) -> str:
    methods = methods_of(rows)
    ends = {method: _at_the_end(rows, method) for method in methods}
    lines = [
        "# Accuracy by part, at the end",
        "",
        "| part | " + " | ".join(method.label for method in methods) + " |",
        "|---|" + "---:|" * len(methods),
    ]
    for column, name in MEASURES.items():
        spreads = [str(_spread(ends[method], column)) for method in methods]
        lines.append(f"| {name} | " + " | ".join(spreads) + " |")
    over = over_runs([len(rows) for rows in ends.values()])
    return "\n".join([*lines, "", f"{over[0].upper()}{over[1:]}.", ""])


def draw_part_accuracies(rows: Sequence[Row]) -> Any:
    """Draw one bar per part and forest."""
    methods = methods_of(rows)
    thick = 0.8 / len(methods)
    places = np.arange(len(BODY_PARTS))
    with matplotlib("pyplot").rc_context(STYLE):
        figure = matplotlib("figure").Figure(figsize=(6.4, 6.4), layout="constrained")
        ax = figure.subplots()
        for i, method in enumerate(methods):
            ends = _at_the_end(rows, method)
            spreads = [_spread(ends, name) for name in BODY_PARTS]
            ax.barh(
                places + (i - (len(methods) - 1) / 2) * thick,
                [spread.mean for spread in spreads],
                height=thick,
                xerr=[spread.sd for spread in spreads] if len(ends) > 1 else None,
                color=COLOURS[i],
                error_kw={"elinewidth": 1, "ecolor": "#333333"},
                label=method.label,
            )
        ax.set_yticks(places, BODY_PARTS)
        ax.set_ylim(len(BODY_PARTS) - 0.5, -0.5)  # the head at the top
        ax.grid(axis="y", visible=False)
        ax.set_xlim(left=0)
        ax.set_xlabel("accuracy on the pixels of the part")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.07), ncols=len(methods))
    return figure


def _at_the_end(rows: Sequence[Row], method: Method) -> list[Row]:
    """Return the last row of each run."""
    last = {row["run"]: row for row in rows if row["forest"] == method}
    return list(last.values())


def _spread(rows: Sequence[Row], column: str) -> Spread:
    values = [float(row[column]) for row in rows]
    known = [
        value for value in values if not np.isnan(value)
    ]  # no picture of a run may show the part
    if not known:
        return Spread(float("nan"), 0.0, len(values))
    sd = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    return Spread(float(np.mean(known)), sd, len(values))

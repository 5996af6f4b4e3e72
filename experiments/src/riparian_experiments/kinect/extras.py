"""The files of experiment 3 that the other experiments do not write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riparian.tools.files import write_whole
from riparian_experiments.figures import write_figure
from riparian_experiments.kinect.examples import draw_predictions, read_examples
from riparian_experiments.kinect.features import draw_features
from riparian_experiments.kinect.part_accuracies import (
    draw_part_accuracies,
    parts_table,
)
from riparian_experiments.kinect.study import methods_of
from riparian_experiments.kinect.work import Work
from riparian_experiments.store import as_csv
from riparian_experiments.study import Row


def write_extras(rows: Sequence[Row], work: Work, out: Path) -> None:
    """Write the accuracy on each part, the costs of the runs, and pictures.

    Costs and pictures come from the folder `work`; those that it lacks are omitted.
    """
    write_whole(out / "parts.md", parts_table(rows).encode())
    write_figure(draw_part_accuracies(rows), out, "parts")
    _write_costs(rows, work, out)
    pictured = [method for method in methods_of(rows) if work.examples(method).exists()]
    for method in pictured:
        title = f"What the forest sees ({method.label})"
        figure = draw_predictions(read_examples(work.examples(method)), title)
        write_figure(figure, out, f"predictions-{method}", ("png",))
    for method in pictured[:1]:
        write_figure(draw_features(read_examples(work.examples(method))), out, "features", ("png",))


def _write_costs(rows: Sequence[Row], work: Work, out: Path) -> None:
    cells = dict.fromkeys((int(row["run"]), str(row["forest"])) for row in rows)
    costs = [
        {"run": run, "forest": forest, **row}
        for run, forest in cells
        for row in work.costs(run, forest)
    ]
    if costs:
        write_whole(out / "costs.csv", as_csv(costs).encode())

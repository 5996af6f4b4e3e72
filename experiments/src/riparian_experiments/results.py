"""Run a study and write `runs.csv`, `settings.json`, `figure.png`, `figure.svg` and `table.md`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from riparian.tools.files import write_whole
from riparian.tools.optional import matplotlib
from riparian.tools.text import number
from riparian_experiments.curves import Curve, Panel
from riparian_experiments.figures import draw, write_figure
from riparian_experiments.running import run
from riparian_experiments.study import Study


def write_all(
    study: Study, out: Path, *, jobs: int | None = None, fresh: bool = False
) -> Sequence[Panel]:
    """Compute the missing cells of the study, and write all results into the folder `out`.

    Return the panels of the figure and the table.
    """
    matplotlib("figure")  # if it is missing, raise the error before hours of computing, not after
    panels = study.panels(run(study, out, jobs=jobs, fresh=fresh))
    write_figure(draw(panels, study.title), out)
    write_whole(out / "table.md", (f"# {study.title}\n\n" + markdown(panels)).encode())
    return panels


def markdown(panels: Sequence[Panel]) -> str:
    """Return one table per panel, below its title."""
    return "\n".join(
        (f"## {panel.title}\n\n" if panel.title else "") + _table(panel) for panel in panels
    )


def _table(panel: Panel) -> str:
    """
    >>> curve = Curve("forest", np.array([10.0]), np.array([0.5]), np.array([0.01]), runs=3)
    >>> print(_table(Panel([curve], lines={"Bayes": 2 / 3})))
    | points | forest | Bayes |
    |---:|---:|---:|
    | 10 | 0.5000 ± 0.0100 | 0.6667 |
    <BLANKLINE>
    accuracy: mean ± one standard deviation over 3 runs.
    <BLANKLINE>
    """
    places = np.unique(np.concatenate([curve.x for curve in panel.curves]))
    header = [panel.x, *(curve.label for curve in panel.curves), *panel.lines]
    lines = [_line(header), "|" + "---:|" * len(header)]
    for place in places:
        levels = [f"{level:.4f}" for level in panel.lines.values()]
        lines.append(_line([number(place), *(_at(c, place) for c in panel.curves), *levels]))
    over = over_runs([curve.runs for curve in panel.curves])
    return "\n".join([*lines, "", f"{panel.y}: {over}.", ""])


def over_runs(counts: Sequence[int]) -> str:
    """Describe numbers that are means over these counts of runs.

    >>> over_runs([5, 2]), over_runs([1])
    ('mean ± one standard deviation over 2 to 5 runs', 'one run')
    """
    least, most = min(counts), max(counts)
    if most == 1:
        return "one run"
    runs = f"{most}" if least == most else f"{least} to {most}"
    return f"mean ± one standard deviation over {runs} runs"


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(values) + " |"


def _at(curve: Curve, place: float) -> str:
    at = np.flatnonzero(curve.x == place)
    if len(at) == 0:
        return ""
    mean, sd = curve.mean[at[0]], curve.sd[at[0]]
    digits = 4 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f} ± {sd:.{digits}f}" if curve.runs > 1 else f"{mean:.{digits}f}"

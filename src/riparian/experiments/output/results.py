"""A study run and shown: `runs.csv`, `settings.json`, `figure.png`, `figure.svg` and `table.md`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from riparian.experiments.output.curves import Panel
from riparian.experiments.output.figures import draw, write_figure
from riparian.experiments.output.tables import markdown
from riparian.experiments.running.run import run
from riparian.experiments.running.study import Study
from riparian.tools.files import write_whole
from riparian.tools.optional import matplotlib


def write_all(
    study: Study, out: Path, *, jobs: int | None = None, fresh: bool = False
) -> Sequence[Panel]:
    """Run what is missing of the study and write all of it into the folder `out`.

    The panels that figure and table show are returned.
    """
    matplotlib("figure")  # if it is missing, say so before hours of computing, not after
    panels = study.panels(run(study, out, jobs=jobs, fresh=fresh))
    write_figure(draw(panels, study.title), out)
    write_whole(out / "table.md", (f"# {study.title}\n\n" + markdown(panels)).encode())
    return panels

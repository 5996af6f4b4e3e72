"""The experiments of the paper, and studies like them: run, kept, resumed and shown in one way.

- `studies`: the experiments one by one.
- `running`: what a study is (`Study`, a list of independent cells), and `run`, which computes the cells
  side by side and keeps each as soon as it is done, so that a second start goes on where the first one
  stopped.
- `output`: rows as curves, figures and tables; `write_all` runs a study and writes all of them.
- `data`: data sets, fetched, found and read.
"""

from riparian.experiments.errors import DataError, StudyError
from riparian.experiments.output.curves import Curve, Panel, curve_of
from riparian.experiments.output.results import write_all
from riparian.experiments.running.run import Interrupted, run
from riparian.experiments.running.store import read_runs
from riparian.experiments.running.study import Cell, Row, Study, Value

__all__ = [
    "Study",
    "Cell",
    "Row",
    "Value",
    "run",
    "Interrupted",
    "read_runs",
    "StudyError",
    "DataError",
    "Curve",
    "Panel",
    "curve_of",
    "write_all",
]

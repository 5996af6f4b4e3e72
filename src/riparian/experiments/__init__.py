"""The experiments of the paper, and studies like them: run, kept, resumed and shown in one way.

A study (`study.py`) is a list of independent cells. `run` (`runs.py`) computes them side by side and
keeps each as soon as it is done (`store.py`), so that a second start goes on where the first one
stopped. `write_all` (`results.py`) runs a study and writes the figure and the table of it.
"""

from riparian.experiments.curves import Curve, Panel, curve_of
from riparian.experiments.errors import DataError, StudyError
from riparian.experiments.results import write_all
from riparian.experiments.runs import Interrupted, run
from riparian.experiments.study import Cell, Row, Study, Value

__all__ = [
    "Study",
    "Cell",
    "Row",
    "Value",
    "run",
    "Interrupted",
    "StudyError",
    "DataError",
    "Curve",
    "Panel",
    "curve_of",
    "write_all",
]

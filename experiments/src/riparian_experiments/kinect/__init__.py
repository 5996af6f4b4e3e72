"""Experiment 3 (fig:kinect): body parts from depth images, within bounded memory.

It compares our forest with a bounded fringe, Saffari's with a bounded depth, and ours with kept points.
All learn a few pixels of each picture of a stream, and are tested on every body pixel of other pictures.
"""

from riparian_experiments.kinect.extras import write_extras
from riparian_experiments.kinect.settings import (
    QUICK,
    QUICK_RUNS,
    RUNS,
    Common,
    Method,
    Ours,
    Saffari,
    Settings,
)
from riparian_experiments.kinect.stream import PoseSource
from riparian_experiments.kinect.study import panels, study
from riparian_experiments.kinect.work import Work

__all__ = [
    "study",
    "panels",
    "write_extras",
    "Settings",
    "Common",
    "Ours",
    "Saffari",
    "Method",
    "PoseSource",
    "Work",
    "QUICK",
    "RUNS",
    "QUICK_RUNS",
]

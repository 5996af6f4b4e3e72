"""How far a run has come, kept on the disk: a run that is killed goes on from there.

A forest of the full size takes hours to learn and gigabytes to hold. The file is a pickle that only
this program writes and reads; it is in the folder of the results only while its run is under way.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import riparian
from riparian.experiments.running.study import Row
from riparian.experiments.studies.kinect.learning.costs import Costs
from riparian.tools.files import whole_file


@dataclass
class Progress:
    """The state of a run."""

    forest: Any
    pictures: int = 0  # learned completely
    pixels: int = 0  # learned, including those of the next picture
    of_next: int = 0  # pixels of the next picture that are learned already
    rows: list[Row] = field(default_factory=list)
    costs: Costs = field(default_factory=Costs)
    cost_rows: list[Row] = field(default_factory=list)  # one per row of `rows`


def save(file: Path, of: object, progress: Progress) -> None:
    """Replace the file as a whole. `of` identifies the run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as target:
        pickle.dump((riparian.__version__, of), target)
        pickle.dump(progress, target, protocol=5)


def load(file: Path, of: object) -> Progress | None:
    """The progress of the same run, saved by the same version; else None."""
    if not file.exists():
        return None
    with file.open("rb") as source:
        if pickle.load(source) != (riparian.__version__, of):
            return None
        progress: Progress = pickle.load(source)
    return progress

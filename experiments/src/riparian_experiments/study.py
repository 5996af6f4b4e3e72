"""A study: cells that give rows, and can be computed in any order and in any process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riparian_experiments.curves import Panel

Value = int | float | str
Row = Mapping[str, Value]


@dataclass(frozen=True)
class Cell:
    """One independent piece of a study: a run, or a setting in a run."""

    key: Mapping[str, Value]  # which piece it is; these are the first columns of its rows
    task: Any  # all that its computation depends on: a frozen value that can be pickled

    @property
    def name(self) -> tuple[str, ...]:
        """Return the key as it is written in `runs.csv`."""
        return tuple(str(value) for value in self.key.values())


@dataclass(frozen=True)
class Study:
    """An experiment: what to compute, from what, and how to show it."""

    name: str  # of the command
    settings: Mapping[str, Any]  # what the rows depend on, as JSON; a folder holds one of them only
    extent: Mapping[str, Any]  # which cells were asked for (how many runs); a folder may get more
    cells: Sequence[Cell]  # all have the same columns in their keys
    compute: Callable[[Any], Sequence[Row]]  # of a task; pure, and found by name in its module
    panels: Callable[[Sequence[Row]], Sequence[Panel]]  # of all rows: what figure and table show
    title: str  # of the figure

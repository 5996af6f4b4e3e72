"""What every experiment can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer


@dataclass(frozen=True)
class StudyOptions:
    """How much to run, and where the results go."""

    out: Annotated[
        Path,
        typer.Option(
            file_okay=False,
            help="The folder for the results. If it holds runs already, they are kept and continued.",
        ),
    ]
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs, each with its own random numbers.")
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes. Default: one per processor.")
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a smaller experiment that takes a few minutes.")
    ] = False
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard the runs that the folder holds.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="The seed of all random numbers.")] = 0

    def n_runs(self, experiment: Any) -> int:
        """The number asked for, or that of the experiment."""
        return int(self.runs or (experiment.QUICK_RUNS if self.quick else experiment.RUNS))

    def settings(self, experiment: Any) -> Any:
        return experiment.QUICK if self.quick else experiment.Settings()

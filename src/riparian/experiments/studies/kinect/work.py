"""A folder beside the results, for what cells write besides their rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from riparian.experiments.running.study import Row
from riparian.experiments.studies.kinect.settings import Method
from riparian.tools.files import write_whole


@dataclass(frozen=True)
class Work:
    """Its files, by cell."""

    folder: Path

    def progress(self, run: int, method: Method) -> Path:
        """A forest that is being learned; removed when its cell is done."""
        return self.folder / f"run{run}-{method}.pickle"

    def examples(self, method: Method) -> Path:
        """The first test pictures, as the forest of the first run sees them."""
        return self.folder / f"examples-{method}.npz"

    def keep_costs(self, run: int, method: Method, rows: Sequence[Row]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._costs(run, method), json.dumps(list(rows)).encode())

    def costs(self, run: int, method: str) -> list[Row]:
        """The costs of a cell; none if the folder was not kept."""
        file = self._costs(run, method)
        return list(json.loads(file.read_text())) if file.exists() else []

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _costs(self, run: int, method: str) -> Path:
        return self.folder / f"run{run}-{method}-costs.json"

"""A folder beside the results, for what cells leave besides their rows."""

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
    """Its files, by the cell that they are of."""

    folder: Path

    def progress(self, run: int, method: Method) -> Path:
        """A forest that is being learned; gone when its cell is done."""
        return self.folder / f"run{run}-{method}.pickle"

    def shown(self, method: Method) -> Path:
        """What the forest of the first run says of some test pictures."""
        return self.folder / f"shown-{method}.npz"

    def keep_costs(self, run: int, method: Method, rows: Sequence[Row]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._costs(run, method), json.dumps(list(rows)).encode())

    def costs(self, run: int, method: str) -> list[Row]:
        """What was kept of the cell; nothing, if its folder was not kept."""
        file = self._costs(run, method)
        return list(json.loads(file.read_text())) if file.exists() else []

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _costs(self, run: int, method: str) -> Path:
        return self.folder / f"run{run}-{method}-costs.json"

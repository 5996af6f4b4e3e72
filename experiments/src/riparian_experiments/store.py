"""The results of a study so far, in a folder: `runs.csv` and `settings.json`.

Both files are replaced as a whole, so they are complete at any moment, even after a crash: a cell is in
`runs.csv` with all its rows or not at all. Rows are in the order of the study's cells, so the file does
not depend on the number of processes and restarts, or on the order in which cells were computed.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from riparian.tools.files import write_whole
from riparian_experiments.readers import DataError
from riparian_experiments.study import Cell, Row, Study, Value


class StudyError(ValueError):
    """The folder holds results of another study, so this study cannot continue there."""


RUNS, SETTINGS = "runs.csv", "settings.json"
PACKAGES = ("riparian", "numpy", "scikit-learn")  # whose code the rows depend on

Names = tuple[str, ...]


class Store:
    """The finished cells of a study, on disk."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.study = study
        self.folder = folder
        self.done: dict[Names, list[Row]] = {}  # by the name of the cell

    @classmethod
    def open(cls, study: Study, folder: Path, *, fresh: bool = False) -> Self:
        """Open the folder, with the finished cells that it holds or, with `fresh`, without them."""
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(study, folder)
        if fresh:
            (folder / RUNS).unlink(missing_ok=True)
        elif (folder / RUNS).exists():
            store._check_settings()
            store.done = _read(folder / RUNS, list(study.cells[0].key))
            store._check_cells()
        write_whole(folder / SETTINGS, _json(_described(study)).encode())
        return store

    def add(self, cell: Cell, rows: Sequence[Row]) -> None:
        """Store a cell that has just been computed: it is on disk when this returns."""
        self.done[cell.name] = [{**cell.key, **row} for row in rows]
        write_whole(self.folder / RUNS, as_csv(self.rows()).encode())

    def rows(self) -> list[Row]:
        """Return all rows, in the order of the study's cells."""
        return [row for cell in self.study.cells for row in self.done.get(cell.name, ())]

    def missing(self) -> list[Cell]:
        return [cell for cell in self.study.cells if cell.name not in self.done]

    def _check_settings(self) -> None:
        path = self.folder / SETTINGS
        try:
            before = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise StudyError(
                f"{self.folder} holds {RUNS} with unknown settings, as {SETTINGS} cannot be read "
                f"({error}): {_WAY_OUT}"
            ) from None
        now = json.loads(_json(_described(self.study)))
        for part in ("experiment", "versions", "settings"):
            difference = _difference(before.get(part), now[part], part)
            if difference:
                raise StudyError(
                    f"{self.folder} holds runs with other settings: {difference}; {_WAY_OUT}"
                )

    def _check_cells(self) -> None:
        extra = self.done.keys() - {cell.name for cell in self.study.cells}
        if extra:
            key = dict(zip(self.study.cells[0].key, min(extra), strict=True))
            raise StudyError(
                f"{self.folder} holds more than was asked for, such as {key}: ask for it as well, "
                f"or {_WAY_OUT}"
            )


_WAY_OUT = "give another --out, or --fresh to start again"


def _described(study: Study) -> dict[str, Any]:
    return {
        "experiment": study.name,
        "versions": {package: version(package) for package in PACKAGES},
        "settings": dict(study.settings),
        "extent": dict(study.extent),
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _difference(before: Any, now: Any, name: str) -> str:
    """Describe the first difference of two JSON values; empty if they are equal."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in [*now, *(before.keys() - now.keys())]:
            difference = _difference(before.get(key), now.get(key), f"{name}.{key}")
            if difference:
                return difference
        return ""
    return "" if before == now else f"{name} is {before!r} there and {now!r} here"


def as_csv(rows: Sequence[Row]) -> str:
    """Return the rows as CSV, with the columns of the first row as the header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _read(path: Path, key: Sequence[str]) -> dict[Names, list[Row]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        if header[: len(key)] != list(key):
            raise DataError(f"{path}, line 1: expected columns {list(key)} first, got {header}")
        done: dict[Names, list[Row]] = {}
        for fields in reader:
            if len(fields) != len(header):
                raise DataError(
                    f"{path}, line {reader.line_num}: expected {len(header)} values, "
                    f"got {len(fields)}"
                )
            row = dict(zip(header, map(_value, fields), strict=True))
            done.setdefault(tuple(fields[: len(key)]), []).append(row)
    return done


def _value(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_runs(path: Path) -> list[Row]:
    """Return the rows of a `runs.csv` of any study, for other analyses."""
    return [row for rows in _read(path, ()).values() for row in rows]

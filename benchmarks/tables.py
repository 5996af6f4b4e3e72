"""Compare categories as they are with ordinal and one-hot encoding, and with River, on tables.

    python -m benchmarks.tables --out benchmarks/record/tables.json

One pass over the rows to learn, then the rows to test on. Every cell is written to the record as soon as
it is there, and a cell of the record is not run again. `--page` puts the table of a record into a page.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.mixed_tables import REAL, TABLES, Table, there
from riparian import OnlineForestClassifier

TREES, FEW = 100, 10
SEEDS = (1, 2, 3)
BATCH = 1000  # rows that a forest of ours is given at a time
PACKAGES = ("river", "pandas")

Answers = NDArray[np.int64]
Encoded = tuple[Any, list[int] | None]  # the points, and which of their columns are categories


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    entrant: str
    table: str
    seed: int
    columns: int  # that the model is given
    accuracy: float
    seconds: float  # of the processor, to learn

    @property
    def key(self) -> tuple[str, str, int]:
        return self.entrant, self.table, self.seed


# -- encodings ---------------------------------------------------------------------------------------


def by_arrival(column: NDArray[Any]) -> NDArray[np.int64]:
    """Encode values as 0, 1, 2, ... in the order in which they first appear."""
    _, first, which = np.unique(column, return_index=True, return_inverse=True)
    return first.argsort().argsort()[which]


def native(table: Table) -> Encoded:
    """Return codes that the forest takes as categories."""
    places = [i for i, name in enumerate(table.columns) if name in table.categorical]
    return ordinal(table)[0], places


def ordinal(table: Table) -> Encoded:
    coded = [
        by_arrival(column) if name in table.categorical else column
        for name, column in table.columns.items()
    ]
    return np.column_stack(coded).astype(np.float32), None


def one_hot(table: Table) -> Encoded:
    parts = []
    for name, column in table.columns.items():
        if name not in table.categorical:
            parts.append(column[:, None])
            continue
        codes = by_arrival(column)
        parts.append(codes[:, None] == np.arange(codes.max() + 1))
    return np.concatenate(parts, axis=1).astype(np.float32), None


# -- entrants ----------------------------------------------------------------------------------------


def ours(encode: Callable[[Table], Encoded]) -> Callable[[Table, int], tuple[int, Answers, float]]:
    def measure(table: Table, seed: int) -> tuple[int, Answers, float]:
        X, places = encode(table)
        forest = OnlineForestClassifier(
            TREES, random_state=seed, n_jobs=1, categorical_features=places
        )
        start = time.process_time()
        for first in range(0, table.learn, BATCH):
            some = slice(first, min(first + BATCH, table.learn))
            forest.partial_fit(X[some], table.y[some])
        seconds = time.process_time() - start
        return X.shape[1], forest.predict(X[table.learn :]), seconds

    return measure


def river(start: Callable[[int, list[str]], Any]) -> Callable[..., tuple[int, Answers, float]]:
    def measure(table: Table, seed: int) -> tuple[int, Answers, float]:
        model = start(seed, table.categorical)
        rows = zip(*(column.tolist() for column in table.columns.values()), strict=True)
        points = [dict(zip(table.columns, row, strict=True)) for row in rows]
        begin = time.process_time()
        for x, y in zip(points[: table.learn], table.y[: table.learn].tolist(), strict=True):
            model.learn_one(x, y)
        seconds = time.process_time() - begin
        answers = [model.predict_one(x) for x in points[table.learn :]]
        return len(table.columns), np.array(answers), seconds

    return measure


def adaptive_tree(seed: int, nominal: list[str]) -> Any:
    from river.tree import HoeffdingAdaptiveTreeClassifier

    return HoeffdingAdaptiveTreeClassifier(seed=seed, nominal_attributes=nominal)


def adaptive_forest(seed: int, nominal: list[str]) -> Any:
    from river.forest import ARFClassifier

    return ARFClassifier(n_models=FEW, seed=seed, nominal_attributes=nominal)


ENTRANTS = {
    "native": ours(native),
    "ordinal": ours(ordinal),
    "one-hot": ours(one_hot),
    "river-hat": river(adaptive_tree),
    "river-arf": river(adaptive_forest),
}
TITLES = {
    "native": "categories as they are",
    "ordinal": "ordinal",
    "one-hot": "one-hot",
    "river-hat": "River's adaptive Hoeffding tree",
    "river-arf": "River's ARF, 10 trees",
}


# -- the record --------------------------------------------------------------------------------------


def cells_of(path: Path) -> list[Cell]:
    if not path.exists():
        return []
    return [Cell(**cell) for cell in record.read(path)["figures"]["cells"]]


def run(path: Path, tables: Iterable[str], entrants: Iterable[str], seeds: Iterable[int]) -> None:
    cells = cells_of(path)
    for seed in seeds:
        for name in tables:
            table = there()[name](seed)
            for entrant in entrants:
                if (entrant, name, seed) in {cell.key for cell in cells}:
                    continue
                columns, answers, seconds = ENTRANTS[entrant](table, seed)
                accuracy = round(float((answers == table.y[table.learn :]).mean()), 4)
                cells.append(Cell(entrant, name, seed, columns, accuracy, round(seconds, 2)))
                record.write(path, "tables", {"cells": [asdict(c) for c in cells]}, PACKAGES)
                print(
                    f"{name:12} {entrant:10} seed {seed}  {accuracy:.4f}  {seconds:7.1f} s",
                    flush=True,
                )


def accuracies(cells: list[Cell]) -> str:
    """Return the mean test accuracy over the seeds, and the number of columns of ours."""
    tables = [name for name in (*TABLES, *REAL) if any(cell.table == name for cell in cells)]
    head = ["table", *TITLES.values(), "columns, as they are", "columns, one-hot"]
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    for name in tables:
        means = {entrant: _mean(cells, name, entrant) for entrant in TITLES}
        best = max(value for value in means.values() if value is not None)
        figures = [_shown(means[entrant], best) for entrant in TITLES]
        widths = [_columns(cells, name, entrant) for entrant in ("native", "one-hot")]
        lines.append(f"| {' | '.join([name, *figures, *widths])} |")
    return "\n".join(lines) + "\n"


def write_into(page: Path, cells: list[Cell]) -> None:
    """Write the table into its place in the page."""
    mark, end = "<!-- tables -->", "<!-- end -->"
    before, match, after = page.read_text().partition(mark)
    if not match:
        raise ValueError(f"{page} has no place for the table: {mark}")
    page.write_text(f"{before}{mark}\n\n{accuracies(cells)}\n{end}{after.partition(end)[2]}")


def _of(cells: list[Cell], table: str, entrant: str) -> list[Cell]:
    return [cell for cell in cells if (cell.table, cell.entrant) == (table, entrant)]


def _mean(cells: list[Cell], table: str, entrant: str) -> float | None:
    accuracies = [cell.accuracy for cell in _of(cells, table, entrant)]
    return float(np.mean(accuracies)) if accuracies else None


def _shown(mean: float | None, best: float) -> str:
    if mean is None:
        return "-"
    text = f"{mean:.3f}".removeprefix("0")
    return f"**{text}**" if round(mean, 3) == round(best, 3) else text


def _columns(cells: list[Cell], table: str, entrant: str) -> str:
    """Return the numbers of columns, which may differ by seed, as categories do."""
    widths = sorted({cell.columns for cell in _of(cells, table, entrant)})
    return "-" if not widths else f"{widths[-1]:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=there(), default=list(there()))
    parser.add_argument("--entrants", nargs="+", choices=ENTRANTS, default=list(ENTRANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--out", type=Path, required=True, help="the record, which is added to")
    parser.add_argument("--page", type=Path, nargs="*", help="only put the table into these pages")
    options = parser.parse_args()
    if options.page is None:
        for name in REAL.keys() - there().keys():
            print(f"{name} is left out: its data are found by RIPARIAN_DATA")
        run(options.out, options.tables, options.entrants, options.seeds)
    for page in options.page or []:
        write_into(page, cells_of(options.out))
    print(accuracies(cells_of(options.out)))


if __name__ == "__main__":
    main()

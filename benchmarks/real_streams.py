"""Forests on two real streams, row by row: the whole of covtype, and labels that come late.

    python -m benchmarks.real_streams --out benchmarks/record/real-streams.json --data FOLDER

covtype is in the order of its file, elec in order of time. With a delay of d, a row is predicted once
the labels of all rows that are d or more before it are learned, as in `riparian.late_labels`: a delay of
1 is none. A cell is an entrant on a stream with a delay. It has a process of its own, so that memory can
be measured, and a limit of processor time; where it was stopped, others are compared on as many rows.
Each cell is written to the record as soon as it is measured, and not run again.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.drift import PACKAGES, can_run, kappa
from benchmarks.measure import forget_peak, resident, resident_peak
from benchmarks.peers import FEW, FOLLOWERS, MANY, Answers, Entrant, Labels, Points, Rows, Task
from benchmarks.standings import STOPPED, in_bold, markdown, rounded, share, write_into
from benchmarks.workloads import data_directory

BLOCK = 1000  # rows whose right answers are counted together, and between two readings of the clock
SECONDS = 300.0  # of the processor, for a cell
SEED = 1

ENTRANTS = {
    entrant.name: entrant
    for entrant in (
        Entrant("same-as-last", 1),
        Entrant("riparian-adaptive", FEW),
        Entrant("riparian-adaptive", MANY),
        Entrant("riparian-river", FEW),
        Entrant("riparian-river", MANY),
        Entrant("capymoa-arf", FEW),
        Entrant("capymoa-srp", FEW),
        Entrant("capymoa-bagging", FEW),
        Entrant("river-arf", FEW),
        Entrant("river-srp", FEW),
    )
}
OURS = f"riparian-adaptive-{FEW}", f"riparian-adaptive-{MANY}"
LONG = "covtype"


@dataclass(frozen=True)
class Study:
    stream: str
    rows: int | None = None  # from the beginning; None: all
    delay: int = 1

    @property
    def title(self) -> str:
        which = self.stream if self.rows is None else f"{self.stream}, {self.rows:,} rows"
        return f"{which}, no delay" if self.delay == 1 else f"{which}, {self.delay:,} late"


# elec has 48 rows a day.
LATE = (
    Study("elec"), Study("elec", delay=48), Study("elec", delay=336),
    Study(LONG, 20_000), Study(LONG, 20_000, delay=1000),
)  # fmt: skip
STUDIES = (Study(LONG), *LATE)


@dataclass(frozen=True)
class Cell:
    """One measurement."""

    entrant: str
    stream: str
    asked: int | None  # rows
    delay: int
    rows: int  # that were predicted and learned
    finished: bool
    accuracy: float
    kappa: float
    seconds: float  # of the processor: predicting and learning, all threads of the process
    right: str  # of each thousand rows, in order
    grown: int  # bytes: how much larger the process became
    snapshot: int | None  # bytes, of the model as it would be stored; None if the library cannot
    commit: str
    load: float  # of the machine at the end: the number of processes that were ready to run

    @property
    def place(self) -> tuple[str, Study]:
        return self.entrant, Study(self.stream, self.asked, self.delay)

    def until(self, rows: int) -> float:
        """Return the accuracy of the first rows: whole blocks, or all that it has."""
        blocks = [int(count) for count in self.right.split()]
        if rows == self.rows:
            return sum(blocks) / rows
        return sum(blocks[: rows // BLOCK]) / (rows // BLOCK * BLOCK)


def load(study: Study, data: Path) -> tuple[Rows, Labels]:
    with np.load(data / f"{study.stream}.npz") as arrays:
        X = arrays["X_train"][: study.rows].astype(np.float32)
        labels = arrays["y_train"][: study.rows]
    return X, np.unique(labels, return_inverse=True)[1].astype(np.int64)


def measure(entrant: Entrant, study: Study, limit: float, data: Path) -> Cell:
    X, y = load(study, data)
    task = Task(X.shape[1], np.arange(y.max() + 1), entrant.trees, seed=SEED)
    model: Any = FOLLOWERS[entrant.peer].model(task)
    forget_peak()
    before = resident()
    answers, seconds = along(model, X, y, study.delay, limit)
    grown = resident_peak() - before
    kept = model.snapshot()
    y = y[: len(answers)]
    return Cell(
        entrant=entrant.name,
        stream=study.stream,
        asked=study.rows,
        delay=study.delay,
        rows=len(y),
        finished=len(y) == len(X),
        accuracy=round(float((answers == y).mean()), 6),
        kappa=round(kappa(y, answers), 6),
        seconds=round(seconds, 3),
        right=" ".join(map(str, in_blocks(answers == y))),
        grown=grown,
        snapshot=None if kept is None else len(kept),
        commit=record.commit(),
        load=round(os.getloadavg()[0], 1),
    )


def along(model: Any, X: Rows, y: Labels, delay: int, limit: float) -> tuple[Answers, float]:
    """Return the answers, and the seconds that they and learning took. Past the limit, it stops."""
    answers: list[Answers] = []
    waiting: deque[Points] = deque()
    total = 0.0
    for first in range(0, len(y), BLOCK):
        block = X[first : first + BLOCK], y[first : first + BLOCK]
        size = len(block[0]) if delay == 1 else 1
        pieces = [
            model.points(*(part[i : i + size] for part in block))
            for i in range(0, len(block[0]), size)
        ]
        start = time.process_time()
        for piece in pieces:
            if delay == 1:
                answers.append(model.test_then_train(piece))
                continue
            answers.append(model.predict(piece))
            waiting.append(piece)
            if len(waiting) == delay:
                model.learn(waiting.popleft())
        total += time.process_time() - start
        if total > limit:
            break
    return np.concatenate(answers), total


def in_blocks(right: NDArray[np.bool_]) -> list[int]:
    return [int(right[i : i + BLOCK].sum()) for i in range(0, len(right), BLOCK)]


def alone(entrant: Entrant, study: Study, limit: float, data: Path) -> Cell:
    """Measure in a new process. Threads that a library leaves behind would keep it, so it is killed."""
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(there, entrant, study, limit, data))
    process.start()
    there.close()
    try:
        cell: Cell = here.recv()
    finally:
        process.kill()
        process.join()
    return cell


def _send(there: Any, *asked: Any) -> None:
    there.send(measure(*asked))


# -- the record ------------------------------------------------------------------------------------


def cells_of(path: Path) -> dict[tuple[str, Study], Cell]:
    if not path.exists():
        return {}
    cells = (Cell(**cell) for cell in record.read(path)["figures"]["cells"])
    return {cell.place: cell for cell in cells}


def add(path: Path, cell: Cell) -> None:
    """Add a cell, or replace it."""
    cells = list((cells_of(path) | {cell.place: cell}).values())
    record.write(path, "real streams", {"cells": [*map(asdict, cells)]}, PACKAGES, quiet=True)


# -- tables ----------------------------------------------------------------------------------------

Cells = dict[tuple[str, Study], Cell]


def long_table(cells: Cells) -> str:
    """Return a table of the long stream: a line per entrant, and ours on as many rows."""
    body = []
    for name in ENTRANTS:
        cell = cells.get((name, Study(LONG)))
        if cell is None:
            continue
        ours = [
            share(own.until(cell.rows))
            if (own := cells.get((our, Study(LONG)))) and own.rows >= cell.rows
            else ""
            for our in OURS
        ]
        body.append([
            ENTRANTS[name].title,
            f"{cell.rows:,}" + ("" if cell.finished else STOPPED),
            share(cell.accuracy),
            *ours,
            share(cell.kappa),
            rounded(cell.rows / cell.seconds) if FOLLOWERS[ENTRANTS[name].peer].trees else "",
            in_megabytes(cell.snapshot) if FOLLOWERS[ENTRANTS[name].peer].trees else "",
            in_megabytes(cell.grown) if FOLLOWERS[ENTRANTS[name].peer].trees else "",
        ])  # fmt: skip
    head = [
        "", "rows", "accuracy", f"ours, {FEW}, on these rows", f"ours, {MANY}", "kappa",
        "rows per second", "snapshot", "process grew by",
    ]  # fmt: skip
    return markdown(head, body)


def in_megabytes(size: int | None) -> str:
    return "" if size is None else f"{rounded(max(size, 1) / 1e6)} MB"


def late_table(cells: Cells) -> str:
    """Return a table of accuracies: a line per stream and delay, a column per entrant."""
    names = [name for name in ENTRANTS if any((name, study) in cells for study in LATE)]
    body = []
    for study in LATE:
        of_study = {name: cells.get((name, study)) for name in names}
        best = max(
            (
                cell.accuracy
                for name, cell in of_study.items()
                if cell and FOLLOWERS[ENTRANTS[name].peer].trees
            ),
            default=0.0,
        )
        body.append([study.title, *(accuracy_of(cell, best) for cell in of_study.values())])
    return markdown(["", *(ENTRANTS[name].title for name in names)], body)


def accuracy_of(cell: Cell | None, best: float) -> str:
    if cell is None:
        return ""
    return in_bold(share(cell.accuracy), cell.accuracy == best) + (
        "" if cell.finished else f"{STOPPED} ({cell.rows:,})"
    )


def page_tables(cells: Cells) -> dict[str, str]:
    """Return the tables by the name of their place in the page."""
    return {"real-long": long_table(cells), "real-late": late_table(cells)}


def wanted(path: Path, entrants: list[str], studies: list[Study]) -> Iterator[tuple[str, Study]]:
    for study in studies:
        for name in entrants:
            if (name, study) not in cells_of(path):
                yield name, study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entrants", nargs="+", choices=ENTRANTS, default=list(ENTRANTS))
    parser.add_argument("--studies", nargs="+", type=int, default=list(range(len(STUDIES))))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for a cell, at most")
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, required=True, help="the record, which is added to")
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    options = parser.parse_args()
    data = data_directory(options.data)
    entrants = [name for name in options.entrants if can_run(FOLLOWERS[ENTRANTS[name].peer])]
    studies = [STUDIES[i] for i in options.studies]
    if data is None:
        parser.error("--data or RIPARIAN_DATA must name the directory of the real sets")
    for name, study in wanted(options.out, entrants, studies):
        cell = alone(ENTRANTS[name], study, options.seconds, data)
        add(options.out, cell)
        print(
            f"{study.title:28} {name:22} {cell.rows:7,} rows  accuracy {cell.accuracy:.4f}  "
            f"{cell.seconds:8.1f} s",
            flush=True,
        )
    if options.page:
        write_into(options.page, page_tables(cells_of(options.out)))


if __name__ == "__main__":
    main()

"""How long forests for numbers take to learn and to predict, compared with others in one run.

    python -m benchmarks.number_times --data FOLDER

The table goes into numbers.md next to the record.

Ten trees each. On each set, the engines take turns: each learns the same first rows, and predicts the
next ones. Forests that take batches get 1,000 rows at a time, the others one row after the other.
Times are of the processor, over all threads of the process, so other work disturbs them little. Of the
turns of an engine on a set, the fastest counts, so Java has compiled its code.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.number_sets import NumberSet, available, load
from benchmarks.peers import FEW, NO_CLASSES, REGRESSORS, Task
from benchmarks.standings import geometric, markdown, write_into
from benchmarks.workloads import data_directory

OURS, OFFLINE = "riparian-numbers", "sklearn-numbers"
ENGINES = (OURS, "riparian-adaptive-numbers", "river-arf-numbers", "capymoa-arf-numbers", OFFLINE)
ROWS = 2_000  # that are learned, and then predicted
BATCH = 1_000
TURNS = 2

Row = dict[str, Any]


def rows(sets: list[str], data: Path | None, n: int = ROWS) -> Iterator[Row]:
    for name in sets:
        given = load(name, 2 * n, 1, data)
        for _ in range(TURNS):
            for engine in ENGINES:
                learn, predict = taken(engine, given)
                yield {"set": name, "engine": engine, "learn": learn, "predict": predict}


def taken(engine: str, given: NumberSet) -> tuple[float, float]:
    """Return the seconds per row of learning half of a set, and of predicting the other half."""
    model: Any = REGRESSORS[engine].model(Task(given.X.shape[1], NO_CLASSES, FEW))
    n = len(given.y) // 2
    size = n if engine == OFFLINE else BATCH
    batches = [
        model.points(given.X[i : min(n, i + size)], given.y[i : min(n, i + size)])
        for i in range(0, n, size)
    ]
    rest = model.points(given.X[n : 2 * n], given.y[n : 2 * n])

    def learn() -> None:
        for batch in batches:
            model.learn(batch)

    return seconds(learn) / n, seconds(lambda: model.predict(rest)) / n


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def table(figures: list[Row]) -> str:
    """Return microseconds per row, and how many times as long as ours: geometric means over sets."""
    sets = list(dict.fromkeys(row["set"] for row in figures))

    def fastest(engine: str, what: str) -> list[float]:
        return [
            min(row[what] for row in figures if (row["set"], row["engine"]) == (name, engine))
            for name in sets
        ]

    ours = {what: fastest(OURS, what) for what in ("learn", "predict")}
    body = []
    for engine in ENGINES:
        cells = [REGRESSORS[engine].title]
        for what in ("learn", "predict"):
            theirs = fastest(engine, what)
            times = [a / b for a, b in zip(theirs, ours[what], strict=True)]
            cells.append(f"{geometric(theirs) * 1e6:,.1f}")
            cells.append(f"{geometric(times):,.1f} ({min(times):,.1f} to {max(times):,.1f})")
        body.append(cells)
    return markdown(["", "learning, µs", "times ours", "predicting, µs", "times ours"], body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--out", type=Path, default=record.path("number-times"))
    options = parser.parse_args()
    data = data_directory(options.data)
    figures: list[Row] = []
    for row in rows(options.sets or available(data), data):
        figures.append(row)
        record.write(
            options.out, "number-times", {"rows": figures}, ("river", "capymoa"), quiet=True
        )
    made = table(figures)
    write_into(options.out.with_name("numbers.md"), {"times": made})
    print(made)


if __name__ == "__main__":
    main()

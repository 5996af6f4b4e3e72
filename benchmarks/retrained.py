"""Boosting that is trained again every 10,000 rows, compared with forests that learn each row.

    python -m benchmarks.retrained --out benchmarks/record/retrained.json --page docs/compare.md

This is how LightGBM and XGBoost are used on streams: a model answers until the next one has been
trained, on all rows so far. Each row is predicted before it is learned; a forest has learned all rows
before it, boosting those up to the last training. Rows before the first training are not scored, since
boosting has no answer there. Everything has its defaults except trees, threads and seed, and one thread.
Measurements that the record has are not made again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.generators import GENERATORS
from benchmarks.standings import in_bold, markdown, rounded, share, write_into
from benchmarks.streams_of_change import load as load_changing
from benchmarks.workloads import data_directory
from riparian import AdaptiveForestClassifier, OnlineForestClassifier

EVERY = 10_000
SEED = 1
POINTS = 60_000  # of a stream that is drawn
COVTYPE_POINTS = 100_000  # in the order of the file

Rows = NDArray[np.float32]
Labels = NDArray[np.int64]
Stream = tuple[Rows, Labels]


def streams(data: Path | None, points: int = POINTS) -> Iterator[tuple[str, Stream]]:
    yield "mixture", GENERATORS["mixture"](points, np.random.default_rng(SEED))
    yield "agrawal-abrupt", load_changing("agrawal-abrupt", points, seed=SEED)
    if data is None:
        return
    yield "elec", load_changing("elec", data=data)
    with np.load(data / "covtype.npz") as arrays:
        X, y = arrays["X_train"][:COVTYPE_POINTS], arrays["y_train"][:COVTYPE_POINTS]
    yield "covtype", (X.astype(np.float32), y.astype(np.int64) - 1)


def online(start: Callable[..., Any], trees: int) -> Callable[[Rows, Labels], Iterator[Labels]]:
    """Return a function that answers for blocks of rows, each row before it is learned."""

    def answers(X: Rows, y: Labels) -> Iterator[Labels]:
        forest = start(trees, random_state=SEED)
        for first in range(0, len(y), 1000):
            block = slice(first, first + 1000)
            shares = forest.predict_then_learn(X[block], y[block])
            yield forest.classes_[shares.argmax(axis=1)]

    return answers


def retrained(module: str, name: str, **options: Any) -> Callable[[Rows, Labels], Iterator[Labels]]:
    """Return a function that answers for blocks of rows, by a model of all rows before the block."""

    def answers(X: Rows, y: Labels) -> Iterator[Labels]:
        yield np.full(min(EVERY, len(y)), -1)
        for first in range(EVERY, len(y), EVERY):
            classes, codes = np.unique(y[:first], return_inverse=True)
            model = getattr(import_module(module), name)(n_jobs=1, random_state=SEED, **options)
            model.fit(X[:first], codes)
            yield classes[model.predict(X[first : first + EVERY])]

    return answers


ENGINES = {
    "riparian, 10": online(OnlineForestClassifier, 10),
    "riparian, 100": online(OnlineForestClassifier, 100),
    "riparian, adaptive, 10": online(AdaptiveForestClassifier, 10),
    "riparian, adaptive, 100": online(AdaptiveForestClassifier, 100),
    "LightGBM, retrained": retrained("lightgbm", "LGBMClassifier", verbose=-1),
    "XGBoost, retrained": retrained("xgboost", "XGBClassifier"),
}


def measured(engine: str, stream: str, X: Rows, y: Labels) -> dict[str, Any]:
    began = time.process_time()
    predicted = np.concatenate(list(ENGINES[engine](X, y)))
    seconds = time.process_time() - began
    scored = slice(EVERY, None)
    accuracy = float(np.mean(predicted[scored] == y[scored]))
    return {
        "stream": stream,
        "engine": engine,
        "points": len(y),
        "accuracy": round(accuracy, 5),
        "seconds": round(seconds, 2),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return accuracy and processor seconds, one line per stream."""
    engines = [engine for engine in ENGINES if any(row["engine"] == engine for row in rows)]
    body = []
    for stream in dict.fromkeys(row["stream"] for row in rows):
        here = {row["engine"]: row for row in rows if row["stream"] == stream}
        best = max(row["accuracy"] for row in here.values())
        line = [stream.replace("-", ", "), f"{next(iter(here.values()))['points']:,}"]
        for engine in engines:
            row = here.get(engine)
            line.append(
                f"{in_bold(share(row['accuracy']), row['accuracy'] == best)}"
                f" ({rounded(row['seconds'])} s)"
                if row
                else ""
            )
        body.append(line)
    return markdown(["", "rows", *engines], body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of elec.npz and covtype.npz")
    parser.add_argument("--out", type=Path, default=record.path("retrained"))
    parser.add_argument("--page", type=Path, help="put the table into this page")
    asked = parser.parse_args()
    rows = record.read(asked.out)["figures"]["rows"] if asked.out.exists() else []
    known = {(row["stream"], row["engine"]) for row in rows}
    for stream, (X, y) in streams(data_directory(asked.data)):
        for engine in ENGINES:
            if (stream, engine) in known:
                continue
            rows.append(measured(engine, stream, X, y))
            print(rows[-1], flush=True)
            record.write(
                asked.out, "retrained", {"rows": rows}, ("lightgbm", "xgboost-cpu"), quiet=True
            )
    print(table(rows))
    if asked.page:
        write_into(asked.page, {"retrained": table(rows)})


if __name__ == "__main__":
    main()

"""The accuracy of eager forests (R24, R25), of honest ones, and of scikit-learn's offline forest.

    python -m benchmarks.eager --out benchmarks/record/eager.json
    python -m benchmarks.eager --table benchmarks/record/eager.json

There are three studies. `streams` learns the streams of the comparison and tests on held-out points.
`files` learns the whole training part of real sets, shuffled. `turn` follows a forest beyond the turn,
at multiples of W: 1, 1.25, 2, 10 and, for small W, 50. The real sets are read as in
`benchmarks.workloads`. Times are not measured, so the machine need not be quiet.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks import record
from benchmarks.compare import FULL
from benchmarks.workloads import Workload, available, data_directory, load
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

Points = tuple[NDArray[np.float32], NDArray[np.int64]]
Draw = Callable[[int, np.random.Generator], Points]
Row = dict[str, Any]

SEEDS = 100, 101
FILES = "letter", "usps", "pendigits", "satimage", "dna"
SMALLEST_SHARE = 1e-3  # in the log loss: a tenth of a vote of 100 trees
TURN_TREES = 30
TURN_TEST = 50_000


# -- the forests ------------------------------------------------------------------------------------


def models(trees: int, seed: int) -> dict[str, Any]:
    return {
        "honest": OnlineForestClassifier(trees, random_state=seed, eager=False, n_jobs=1),
        "eager": OnlineForestClassifier(trees, random_state=seed, eager=True, n_jobs=1),
        "offline": RandomForestClassifier(trees, random_state=seed),
    }


def judged(model: Any, workload: Workload) -> Row:
    """Return accuracy and log loss of a model on the test points of a workload."""
    X, y = workload.X_test[: FULL.test_points], workload.y_test[: FULL.test_points]
    shares = model.predict_proba(X)
    places = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    known = model.classes_[places] == y
    true_shares = np.where(known, shares[np.arange(len(y)), places], 0.0)
    return {
        "accuracy": float(np.mean(model.classes_[shares.argmax(axis=1)] == y)),
        "log_loss": float(-np.log(np.maximum(true_shares, SMALLEST_SHARE)).mean()),
    }


# -- the studies ------------------------------------------------------------------------------------


def streams(data: Path | None, seeds: tuple[int, ...], points: int | None = None) -> Iterator[Row]:
    for seed in seeds:
        for name in available(data):
            length = points or FULL.length(name)
            workload = load(name, data, points=length, seed=seed).with_test().scaled()
            for trees in (10, 100):
                for which, model in models(trees, seed).items():
                    model.fit(workload.X, workload.y)
                    what = {"stream": name, "seed": seed, "trees": trees, "model": which}
                    yield what | judged(model, workload)


def files(data: Path | None, seeds: tuple[int, ...]) -> Iterator[Row]:
    for name in (name for name in FILES if name in available(data)):
        for seed in seeds:
            workload = load(name, data, seed=seed)
            for which, model in models(100, seed).items():
                accuracy = model.fit(workload.X, workload.y).score(workload.X_test, workload.y_test)
                yield {"stream": name, "seed": seed, "model": which, "accuracy": float(accuracy)}


def clouds(noise: float) -> Draw:
    """Return a stream of fifty clouds of five classes, with this share of the labels drawn at random."""
    rng = np.random.default_rng(5)
    centres, labels, widths = rng.random((50, 10)), rng.integers(0, 5, 50), rng.random(50)

    def draw(n: int, rng: np.random.Generator) -> Points:
        cloud = rng.integers(0, 50, n)
        X = centres[cloud] + rng.normal(size=(n, 10)) * (0.15 * widths[cloud, None] + 0.02)
        y = np.where(rng.random(n) < noise, rng.integers(0, 5, n), labels[cloud])
        return X.astype(np.float32), y

    return draw


def parity(n: int, rng: np.random.Generator) -> Points:
    """Draw from an exclusive or of three of eight columns; a tenth of the labels are inverted."""
    X = rng.random((n, 8)).astype(np.float32)
    y = (X[:, :3] > 0.5).sum(axis=1) % 2
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def mixture(n: int, rng: np.random.Generator) -> Points:
    return GaussianMixture.paper().sample(n, rng)


TURNS: dict[str, Draw] = {
    "mixture": mixture,
    "RBF": clouds(0.0),
    "RBF, 20 % noise": clouds(0.2),
    "RBF, 40 % noise": clouds(0.4),
    "xor of three, 10 % noise": parity,
}


def turn(kept_points: int, marks: tuple[float, ...], seeds: tuple[int, ...]) -> Iterator[Row]:
    for name, draw in TURNS.items():
        for seed in seeds:
            X_test, y_test = draw(TURN_TEST, np.random.default_rng([seed, 1]))
            forests = {
                which: model.set_params(kept_points=kept_points)
                for which, model in models(TURN_TREES, seed).items()
                if which != "offline"
            }
            rng, learned = np.random.default_rng([seed, 0]), 0
            for mark in marks:
                X, y = draw(int(mark * kept_points) - learned, rng)
                learned += len(y)
                row: Row = {"stream": name, "seed": seed, "kept_points": kept_points, "at": mark}
                for which, forest in forests.items():
                    row[which] = float(forest.partial_fit(X, y).score(X_test, y_test))
                yield row


# -- tables -----------------------------------------------------------------------------------------


def mean(rows: list[Row], value: str, **of: Any) -> float:
    return statistics.mean(
        row[value] for row in rows if all(row[key] == each for key, each in of.items())
    )


def table(figures: dict[str, list[Row]]) -> str:
    """Return the tables of a record, as Markdown."""
    lines = ["| | honest | eager | offline |", "| --- | ---: | ---: | ---: |"]
    which = "honest", "eager", "offline"
    for trees in (10, 100):
        for value in ("accuracy", "log_loss"):
            means = (mean(figures["streams"], value, trees=trees, model=each) for each in which)
            title = value.replace("_", " ")
            lines.append(f"| streams, {trees} trees, {title} | {cells(means)} |")
    for name in sorted({row["stream"] for row in figures["files"]}):
        means = (mean(figures["files"], "accuracy", stream=name, model=each) for each in which)
        lines.append(f"| {name}, whole file, 100 trees | {cells(means)} |")
    lines += ["", "| | W | points / W | honest | eager |", "| --- | ---: | ---: | ---: | ---: |"]
    for key in dict.fromkeys((r["stream"], r["kept_points"], r["at"]) for r in figures["turn"]):
        of = dict(zip(("stream", "kept_points", "at"), key, strict=True))
        means = (mean(figures["turn"], each, **of) for each in ("honest", "eager"))
        lines.append(f"| {key[0]} | {key[1]:,} | {key[2]:g} | {cells(means)} |")
    return "\n".join(lines)


def cells(values: Iterator[float]) -> str:
    return " | ".join(f"{value:.4f}".lstrip("0") for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the real sets (RIPARIAN_DATA)")
    parser.add_argument("--out", type=Path, default=record.path("eager"))
    parser.add_argument("--table", type=Path, help="print the tables of this record and stop")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.table.read_text())["figures"]))
        return
    data = data_directory(options.data)
    figures = {
        "streams": list(streams(data, SEEDS)),
        "files": list(files(data, SEEDS)),
        "turn": [
            *turn(1_000, (1, 1.25, 2, 10, 50), (1, 2, 3)),
            *turn(20_000, (1, 1.25, 2, 10), (1,)),
        ],
    }
    record.write(options.out, "eager", figures)
    print(table(figures))


if __name__ == "__main__":
    main()

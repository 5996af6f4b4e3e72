"""How much faster a point is learned than by River's own forests, in River's own terms.

    python -m benchmarks.river_speed --out benchmarks/record/river_speed.json

Every forest has ten trees and its default settings, and gets the same dicts, one at a time. They take
turns, a hundred points each, so that whatever else the machine does falls on all of them alike. Each
point is predicted before it is learned. Features are scaled to 0..1, as River's Mondrian forest asks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from river import forest, metrics
from river.base import Classifier

from benchmarks import record
from benchmarks.generators import GENERATORS
from riparian.river import OnlineForestClassifier

STREAMS = ("mixture", "sea", "rbf", "waveform", "led")
TREES = 10
TURN = 100  # points

FORESTS: dict[str, Callable[[], Classifier]] = {
    "riparian": lambda: OnlineForestClassifier(n_estimators=TREES, seed=0),
    "ARF": lambda: forest.ARFClassifier(n_models=TREES, seed=0),
    "AMF": lambda: forest.AMFClassifier(n_estimators=TREES, seed=0),
}

Point = tuple[dict[str, float], int]


@dataclass
class Row:
    stream: str
    features: int
    forest: str
    points: int
    learn: float = 0.0  # microseconds a point
    predict: float = 0.0
    learn_ratio: float = 1.0  # of this time to ours
    predict_ratio: float = 1.0
    accuracy: float = 0.0  # prequential

    def __str__(self) -> str:
        return (
            f"{self.stream:10} {self.features:8} {self.forest:10} {self.points:7,} {self.learn:10.1f} "
            f"{self.predict:10.1f} {self.learn_ratio:8.1f} {self.predict_ratio:8.1f} "
            f"{self.accuracy:9.4f}"
        )


HEADER = (
    f"{'':38} {'µs a point':^21} {'times as long as ours':^17}\n"
    f"{'stream':10} {'features':>8} {'forest':10} {'points':>7} {'learn':>10} {'predict':>10} "
    f"{'learn':>8} {'predict':>8} {'accuracy':>9}"
)


def measure(stream: str, points: int) -> list[Row]:
    drawn = as_points(stream, points)
    models = {name: start() for name, start in FORESTS.items()}
    right = {name: metrics.Accuracy() for name in FORESTS}
    rows = {name: Row(stream, len(drawn[0][0]), name, points) for name in FORESTS}
    for first in range(0, points, TURN):
        turn = drawn[first : first + TURN]
        for name, model in models.items():
            answers, seconds = timed(lambda x, y, model=model: model.predict_one(x), turn)
            rows[name].predict += seconds / points * 1e6
            for (_, y), answer in zip(turn, answers, strict=True):
                right[name].update(y, answer)
            _, seconds = timed(lambda x, y, model=model: model.learn_one(x, y), turn)
            rows[name].learn += seconds / points * 1e6
    ours = rows["riparian"]
    for name, row in rows.items():
        row.learn_ratio, row.predict_ratio = row.learn / ours.learn, row.predict / ours.predict
        row.accuracy = right[name].get()
    return list(rows.values())


def timed(work: Callable[[Any, Any], Any], turn: list[Point]) -> tuple[list[Any], float]:
    start = time.perf_counter()
    answers = [work(x, y) for x, y in turn]
    return answers, time.perf_counter() - start


def as_points(stream: str, points: int) -> list[Point]:
    X, y = GENERATORS[stream](points, np.random.default_rng(0))
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    names = [f"x{i}" for i in range(X.shape[1])]
    return [
        (dict(zip(names, row, strict=True)), label)
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS)
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    options = parser.parse_args()

    print(HEADER)
    measured = []
    for stream in options.streams:
        for row in measure(stream, options.points):
            print(row, flush=True)
            measured.append(asdict(row))
    least = min(row["learn_ratio"] for row in measured if row["forest"] != "riparian")
    print(f"learn_one is at least {least:.0f} times as fast as River's forests")
    if options.out:
        figures = {"river": version("river"), "trees": TREES, "least_learn_ratio": least}
        record.write(options.out, "river_speed", {**figures, "rows": measured})


if __name__ == "__main__":
    main()

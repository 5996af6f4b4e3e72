"""How often intervals hold the target along streams of numbers, and how wide they are (R28).

    python -m benchmarks.intervals --data FOLDER --out RECORD

Each point is tested by the intervals of all coverages and then learned, one by one, by the forest for
streams that stay the same and by the one for streams that change. FOLDER holds `reg_NAME.npz` files with
X and y; without one, two streams are drawn: noise that depends on x, and a target that drifts. Tables
are shuffled with one seed, streams stay in their order.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from riparian import AdaptiveForestRegressor, OnlineForestRegressor
from riparian.evaluation import IntervalScores

SEED = 0
IN_ORDER = {"bike", "etth1", "pm25", "fried_stream"}  # the other files are tables
COVERAGES = (0.5, 0.8, 0.9, 0.95)
WINDOW = 5_000

Rows, Targets = NDArray[np.float32], NDArray[np.float64]
Stream = tuple[Rows, Targets]
Forest = OnlineForestRegressor | AdaptiveForestRegressor
FORESTS: dict[str, type[Forest]] = {
    "OnlineForestRegressor": OnlineForestRegressor,
    "AdaptiveForestRegressor": AdaptiveForestRegressor,
}


def noise_that_depends_on_x(n: int) -> Stream:
    rng = np.random.default_rng(SEED)
    X = rng.random((n, 4)).astype(np.float32)
    return X, 4 * X[:, 1] + (0.1 + X[:, 0]) * rng.normal(size=n)


def target_that_drifts(n: int) -> Stream:
    X, y = noise_that_depends_on_x(n)
    return X, y + np.cumsum(np.random.default_rng(SEED + 1).normal(size=n)) / 10


DRAWN = {"noise": noise_that_depends_on_x, "drift": target_that_drifts}


def streams(folder: Path | None, most: int) -> dict[str, Stream]:
    """Return the streams of a folder, or those that are drawn."""
    if folder is None:
        return {name: draw(most) for name, draw in DRAWN.items()}
    return {
        path.stem.removeprefix("reg_"): of_file(path, most)
        for path in sorted(folder.glob("reg_*.npz"))
    }


def of_file(path: Path, most: int) -> Stream:
    with np.load(path) as data:
        X, y = data["X"].astype(np.float32), data["y"].astype(np.float64)
    if path.stem.removeprefix("reg_") not in IN_ORDER:
        order = np.random.default_rng(SEED).permutation(len(y))
        X, y = X[order], y[order]
    return X[:most], (y[:most] - y.mean()) / y.std()


def measured(kind: type[Forest], X: Rows, y: Targets, trees: int) -> dict[str, Any]:
    """Test and learn a stream; return scores per coverage, and the worst window of each."""
    forest = kind(trees, random_state=SEED, intervals=COVERAGES)
    began = time.process_time()
    _, ends = forest.give_intervals_then_learn(X, y)
    seconds = time.process_time() - began
    return {
        "points": len(y),
        "seconds": round(seconds, 1),
        # Before the first point nothing is known.
        "coverages": {str(c): scored(c, y[1:], ends[1:, i]) for i, c in enumerate(COVERAGES)},
    }


def scored(c: float, y: Targets, ends: NDArray[np.float64]) -> dict[str, float]:
    whole = IntervalScores(c)
    whole.update(y, ends)
    worst = 0.0
    for first in range(0, len(y) - WINDOW + 1, WINDOW):
        window = IntervalScores(c)
        window.update(y[first : first + WINDOW], ends[first : first + WINDOW])
        worst = max(worst, abs(window.coverage - c))
    return {
        "coverage": round(whole.coverage, 4),
        "worst_window": round(worst, 4),
        "mean_width": round(whole.mean_width, 4),
        "interval_score": round(whole.interval_score, 4),
    }


def as_table(results: dict[str, dict[str, Any]]) -> str:
    """Return the scores of each stream, per coverage."""
    names = [f"{c} | worst | width | score" for c in COVERAGES]
    lines = [f"| stream | points | {' | '.join(names)} |", "|---|" + "---:|" * (4 * len(names) + 1)]
    for stream, result in results.items():
        cells = [
            f"{each['coverage']:.3f} | {each['worst_window']:.3f} | {each['mean_width']:.3f} | "
            f"{each['interval_score']:.3f}"
            for each in result["coverages"].values()
        ]
        lines.append(f"| {stream} | {result['points']:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("RIPARIAN_DATA"))
    parser.add_argument("--streams", nargs="*", help="which (default: all)")
    parser.add_argument("--forests", nargs="+", choices=FORESTS, default=list(FORESTS))
    parser.add_argument("--points", type=int, default=50_000, help="of a stream, at most")
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--out", type=Path, default=record.path("intervals"))
    asked = parser.parse_args()
    results: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in asked.forests}
    for name, (X, y) in streams(asked.data and Path(asked.data), asked.points).items():
        if asked.streams and name not in asked.streams:
            continue
        for forest, of_streams in results.items():
            of_streams[name] = measured(FORESTS[forest], X, y, asked.trees)
            print(forest, name, of_streams[name], flush=True)
        figures = {"trees": asked.trees, "forests": results}
        record.write(asked.out, "intervals", figures, quiet=True)
    for forest, of_streams in results.items():
        print(f"{forest}\n\n{as_table(of_streams)}\n")


if __name__ == "__main__":
    main()

"""Whether a memory budget holds, and what it costs.

    python -m benchmarks.budget resident --points 20_000_000
    python -m benchmarks.budget accuracy --data DIR

`resident` learns a long stream under several budgets, each in a process of its own, and compares what
the process holds with the budget. `accuracy` learns a data set under budgets from far too little to
plenty, and draws hold-out accuracy against the budget.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import record, workloads
from benchmarks.steady import resident_bytes
from riparian import OnlineForestClassifier
from riparian.streams import GaussianMixture

TREES = 20
CURVE_TREES = 50  # whose accuracy is recorded
BATCH = 50_000
WARM_UP = 3  # batches drawn and predicted before, so that what a batch takes is not counted


def watch(budget: int, points: int) -> dict[str, Any]:
    """The most memory that the process gained while it learned within one budget."""
    mixture = GaussianMixture.paper()
    forest = OnlineForestClassifier(TREES, max_memory=budget, random_state=0, n_jobs=2)
    forest.partial_fit(*mixture.sample(1, random_state=0))
    for batch in range(WARM_UP):
        forest.predict(mixture.sample(BATCH, random_state=batch)[0])
    before, most, most_formula = resident_bytes(), 0, 0
    for batch in range(points // BATCH):
        forest.partial_fit(*mixture.sample(BATCH, random_state=batch))
        most = max(most, resident_bytes() - before)
        most_formula = max(most_formula, forest.memory()["total"])
    stats = forest.stats()
    X, y = mixture.sample(100_000, random_state=10**6)
    return {
        "budget": budget,
        "points": points,
        "resident_most": most,
        "resident_over_budget": most / budget,
        "formula_most": most_formula,
        "leaves_per_tree": stats["leaves"] / TREES,
        "active_per_tree": stats["active"] / TREES,
        "evictions_per_tree": stats["evictions"] / TREES,
        "trees_stopped": stats["stopped"],
        "below_bayes": mixture.bayes_accuracy(X, y) - forest.score(X, y),
    }


def resident(options: argparse.Namespace) -> None:
    rows = []
    for megabytes in options.megabytes:
        command = [sys.executable, "-m", "benchmarks.budget", "watch", str(megabytes * 10**6)]
        run = subprocess.run(
            [*command, "--points", str(options.points)], capture_output=True, text=True, check=True
        )
        rows.append(json.loads(run.stdout))
        print(
            f"{megabytes:6} MB: held {rows[-1]['resident_most'] / 1e6:8.2f} MB, "
            f"formula {rows[-1]['formula_most'] / 1e6:8.2f} MB, "
            f"{rows[-1]['leaves_per_tree']:8.0f} leaves per tree, "
            f"{rows[-1]['below_bayes']:.4f} below Bayes",
            flush=True,
        )
    if options.out:
        record.write(options.out, "budget, resident memory", {"trees": TREES, "budgets": rows})


def accuracy(options: argparse.Namespace) -> None:
    figures: dict[str, Any] = {}
    for name in options.sets:
        task = workloads.load(name, workloads.data_directory(options.data))
        rows = figures[name] = []
        for megabytes in [*options.megabytes, None]:
            budget = None if megabytes is None else megabytes * 10**6
            forest = OnlineForestClassifier(
                CURVE_TREES, max_memory=budget, random_state=0, n_jobs=2
            )
            forest.partial_fit(task.X, task.y)
            score = float(forest.score(task.X_test, task.y_test))
            held = forest.memory()["total"]
            rows.append({"megabytes": megabytes, "accuracy": score, "held": held})
            print(f"{name}: {megabytes} MB, accuracy {score:.4f}, held {held / 1e6:.1f} MB")
    if options.out:
        record.write(options.out, "budget, accuracy", figures)
        draw(figures, options.out.with_suffix(".png"))


def draw(figures: dict[str, Any], target: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, rows in figures.items():
        bounded = [row for row in rows if row["megabytes"]]
        (line,) = axes.semilogx(
            [row["megabytes"] for row in bounded],
            [row["accuracy"] for row in bounded],
            marker="o",
            label=name,
        )
        free = rows[-1]
        axes.axhline(free["accuracy"], color=line.get_color(), linestyle=":", linewidth=1)
        axes.annotate(
            f"no budget: {free['held'] / 1e6:.0f} MB",
            (bounded[-1]["megabytes"], free["accuracy"]),
            textcoords="offset points",
            xytext=(0, 3),
            ha="right",
            fontsize=8,
            color=line.get_color(),
        )
    axes.set_xlabel(f"memory budget of {CURVE_TREES} trees (MB)")
    axes.set_ylabel("hold-out accuracy after one pass")
    axes.margins(y=0.1)
    axes.grid(alpha=0.3)
    axes.legend(loc="center right")
    figure.savefig(target, dpi=120)
    print(f"wrote {target.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)

    one = commands.add_parser("watch", help="one budget, in this process")
    one.add_argument("budget", type=int)
    one.add_argument("--points", type=int, default=20_000_000)
    one.set_defaults(run=lambda options: print(json.dumps(watch(options.budget, options.points))))

    several = commands.add_parser("resident", help="several budgets against the process")
    several.add_argument("--points", type=int, default=20_000_000)
    several.add_argument("--megabytes", type=int, nargs="+", default=[5, 20, 80])
    several.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    several.set_defaults(run=resident)

    curve = commands.add_parser("accuracy", help="hold-out accuracy against the budget")
    curve.add_argument("--sets", nargs="+", default=["digits"])
    curve.add_argument("--data", type=Path, help="directory of data sets; or RIPARIAN_DATA")
    curve.add_argument("--megabytes", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    curve.add_argument("--out", type=Path, help="where record and figure go; default: none is kept")
    curve.set_defaults(run=accuracy)

    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()

"""Compare explanations with `shap` and exports with our predictions, and measure calibration.

    OMP_NUM_THREADS=1 python -m benchmarks.explain --out benchmarks/record/explain.json

All with one thread (set OMP_NUM_THREADS=1), on one forest per data set; the best of a few repeats, taken
in turn. At the end come the tables of docs/tutorials/explain.md. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks import record
from riparian import OnlineForestClassifier
from riparian.calibration import OnlineTemperature
from riparian.evaluation import Scores
from riparian.explain import Explainer
from riparian.streams import GaussianMixture

TREES = 100
BLOCK = 50  # rows that are predicted, then learned
BACKGROUND = 100  # rows
PASSES = {"digits": 5, "cancer": 5, "mixture": 1}


def data(name: str) -> tuple[Any, Any]:
    if name == "mixture":
        return GaussianMixture.paper().sample(6000, random_state=1)
    X, y = {"digits": load_digits, "cancer": load_breast_cancer}[name](return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order].astype(np.float32), y[order]


def best(repeats: int, works: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest time of each; they take turns, so that disturbances hit all of them."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name].append(time.perf_counter() - start)
    return {name: min(each) for name, each in times.items()}


def explanations(name: str, rows: int, repeats: int) -> dict[str, Any]:
    import shap

    X, y = data(name)
    forest = OnlineForestClassifier(TREES, random_state=0, passes=PASSES[name], n_jobs=1).fit(X, y)
    asked, background = X[:rows].astype(np.float32), X[-BACKGROUND:].astype(np.float32)
    stats = forest.stats()
    figures: dict[str, Any] = {
        "rows": rows, "leaves_per_tree": stats["leaves"] / TREES, "depth": stats["depth"],
        "features": X.shape[1], "classes": len(forest.classes_),
    }  # fmt: skip
    for method, given in (("tree_path_dependent", None), ("interventional", background)):
        few = asked if given is None else asked[: max(1, rows // 10)]
        ours = Explainer(forest, given)
        theirs = shap.TreeExplainer(forest.to_shap(), given, feature_perturbation=method)
        seconds = best(repeats, {
            "riparian": lambda o=ours, f=few: o.contributions(f),
            "shap": lambda t=theirs, f=few: t.shap_values(f, check_additivity=False),
        })  # fmt: skip
        difference = np.abs(ours.contributions(few).values - theirs.shap_values(few)).max()
        contributions = ours.contributions(few)
        figures[method] = {
            **{f"{library}_rows_per_second": len(few) / each for library, each in seconds.items()},
            "times_as_fast": seconds["shap"] / seconds["riparian"],
            "largest_difference": float(difference),
            "additive_to": float(
                np.abs(contributions.probabilities - forest.predict_proba(few)).max()
            ),
        }
    return figures


def exports(name: str, repeats: int) -> dict[str, Any]:
    import onnxruntime
    import treelite

    X, y = data(name)
    forest = OnlineForestClassifier(TREES, random_state=0, passes=PASSES[name], n_jobs=1).fit(X, y)
    rows = np.tile(X, (max(1, 20_000 // len(X)), 1)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        sizes = {}
        for suffix in ("onnx", "treelite", "h"):
            path = Path(folder) / f"forest.{suffix}"
            forest.export(path)
            sizes[suffix] = path.stat().st_size
        forest.save(Path(folder) / "snapshot", prediction_only=True)
        sizes["snapshot, prediction only"] = (Path(folder) / "snapshot").stat().st_size
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            Path(folder) / "forest.onnx", options, providers=["CPUExecutionProvider"]
        )
        model = treelite.Model.deserialize(str(Path(folder) / "forest.treelite"))
    exact = rows.astype(np.float64)
    seconds = best(repeats, {
        "riparian": lambda: forest.predict_proba(rows),
        "onnxruntime": lambda: session.run(["probabilities"], {"X": rows}),
        "treelite gtil": lambda: treelite.gtil.predict(model, exact, nthread=1),
    })  # fmt: skip
    proba = session.run(["probabilities"], {"X": rows})[0]
    return {
        "bytes": sizes,
        "rows_per_second": {library: len(rows) / each for library, each in seconds.items()},
        "onnx_largest_difference": float(np.abs(proba - forest.predict_proba(rows)).max()),
    }


def blocks(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    for first in range(0, len(y), BLOCK):
        yield X[first : first + BLOCK], y[first : first + BLOCK]


def summary(scores: Scores) -> dict[str, float]:
    return {
        "accuracy": scores.accuracy,
        "log_loss": scores.log_loss,
        "calibration_error": scores.calibration_error,
    }


def calibration(name: str) -> dict[str, Any]:
    X, y = data(name)
    forest, temperature = OnlineForestClassifier(TREES, random_state=0), OnlineTemperature()
    plain, warm = Scores(), Scores()
    for rows, labels in blocks(X, y):
        if len(getattr(forest, "classes_", ())):
            proba = forest.predict_proba(rows)
            plain.update(labels, proba, forest.classes_)
            warm.update(labels, temperature.transform(proba), forest.classes_)
            temperature.update(proba, labels, forest.classes_)
        forest.partial_fit(rows, labels)
    cut = 2 * len(y) // 3
    held_out, sigmoid = Scores(), Scores()
    forest = OnlineForestClassifier(TREES, random_state=0).fit(X[:cut], y[:cut])
    held_out.update(y[cut:], forest.predict_proba(X[cut:]), forest.classes_)
    folds = CalibratedClassifierCV(OnlineForestClassifier(TREES, random_state=0), cv=3)
    folds.fit(X[:cut], y[:cut])
    sigmoid.update(y[cut:], folds.predict_proba(X[cut:]), folds.classes_)
    return {
        "stream": summary(plain),
        "stream, with a temperature": {**summary(warm), "temperature": temperature.temperature},
        "last third": summary(held_out),
        "last third, with CalibratedClassifierCV": summary(sigmoid),
    }


def markdown(figures: dict[str, Any]) -> str:
    """Return the tables of the page on explaining, from the results of all data sets."""
    return "\n\n".join(
        "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---"] * len(head), *rows])
        for head, rows in (
            _speeds(figures), _calibrated(figures, "stream", "a temperature"),
            _calibrated(figures, "last third", "CalibratedClassifierCV"), _exported(figures),
        )
    )  # fmt: skip


Cells = tuple[list[str], list[list[str]]]


def _speeds(figures: dict[str, Any]) -> Cells:
    def row(name: str, measured: dict[str, Any]) -> list[str]:
        cells = [name, f"{measured['features']}, {measured['classes']}"]
        for method in ("tree_path_dependent", "interventional"):
            of = measured[method]
            cells += [rate(of[f"{library}_rows_per_second"]) for library in ("riparian", "shap")]
            cells.append(f"{of['times_as_fast']:.0f} times")
        return cells

    def rate(rows: float) -> str:
        return f"{rows:,.0f}" if rows >= 10 else f"{rows:.1f}"

    head = ["data", "features, classes", "by paths, rows/s", "shap", ""]
    head += [f"background of {BACKGROUND}, rows/s", "shap", ""]
    return head, [row(name, each["explanations"]) for name, each in figures.items()]


def _calibrated(figures: dict[str, Any], part: str, how: str) -> Cells:
    def row(name: str, measured: dict[str, Any]) -> list[str]:
        both = (measured[part], measured[f"{part}, with {how}"])
        kinds = ("log_loss", "calibration_error")
        return [name, *(f"{each[kind]:.3f}" for kind in kinds for each in both)]

    head = ["data", "log loss", f"with {how}", "calibration error", f"with {how}"]
    return head, [row(name, each["calibration"]) for name, each in figures.items()]


def _exported(figures: dict[str, Any]) -> Cells:
    def row(name: str, each: dict[str, Any]) -> list[str]:
        speeds, sizes = each["exports"]["rows_per_second"], each["exports"]["bytes"]
        return [
            name,
            f"{each['explanations']['leaves_per_tree']:.0f}",
            *(f"{speed:,.0f}" for speed in speeds.values()),
            *(f"{size / 1e6:.2f} MB" for size in sizes.values()),
        ]

    head = ["data", "leaves per tree", "rows/s, ours", "onnxruntime", "treelite gtil"]
    head += [".onnx", ".treelite", ".h", "snapshot"]
    return head, [row(name, each) for name, each in figures.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400, help="rows to explain")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="where to keep the record")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of shap and its libraries
    figures: dict[str, Any] = {}
    for name in PASSES:
        figures[name] = {
            "explanations": explanations(name, options.rows, options.repeats),
            "exports": exports(name, options.repeats),
            "calibration": calibration(name),
        }
        print(name, record.pretty(figures[name]), flush=True)
    print(markdown(figures))
    if options.out is not None:
        packages = ("shap", "onnx", "onnxruntime", "treelite")
        record.write(options.out, "explain", figures, packages)


if __name__ == "__main__":
    main()

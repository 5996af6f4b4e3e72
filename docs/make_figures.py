"""The figures of these pages, made from runs: `python docs/make_figures.py`.

Each figure is written twice, for light pages and for dark ones. `--quick` makes all of them from
streams too short to say anything, which is how a test knows that they can still be made.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from riparian import Geometric, OnlineForestClassifier, OnlineForestRegressor
from riparian.streams import GaussianMixture

SEED = 0
FOLDER = Path(__file__).parent / "figures"
LIGHT = {"text": "#33383f", "faint": "#d5d9de", "best": "#777d85"}
DARK = {"text": "#c9ced6", "faint": "#3d434d", "best": "#9aa1ab"}
COLOURS = ("#3f83b8", "#e07b2c", "#3c9a50", "#b0529a", "#8c7a1f")


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    points: int
    trees: int
    test: int


FULL = Scale(points=30_000, trees=50, test=50_000)
QUICK = Scale(points=300, trees=3, test=200)


@dataclass(frozen=True)
class Curve:
    label: str
    x: list[float]
    y: list[float]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    curves: list[Curve]
    x: str = "points of the stream"
    best: float | None = None  # a level that no forest can exceed
    log_x: bool = True
    log_y: bool = False


@dataclass(frozen=True)
class Moment:
    """A forest on its way."""

    points: int
    accuracy: float
    mean_tree: float
    leaves: float  # of a tree
    active: float  # of them
    megabytes: float


# -- runs ------------------------------------------------------------------------------------------


def mixture(n: int, seed: int, noise: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The paper's mixture, with additional features of pure noise."""
    X, y = GaussianMixture.paper().sample(n, random_state=seed)
    nothing = np.random.default_rng(seed).normal(size=(n, noise))
    return np.column_stack([X, nothing]).astype(np.float32), y


def moments(points: int, test: int, noise: int = 0, **parameters: Any) -> Iterator[Moment]:
    """A forest that learns the mixture, looked at ten times on the way."""
    X, y = mixture(points, SEED, noise)
    X_test, y_test = mixture(test, SEED + 1, noise)
    forest = OnlineForestClassifier(random_state=SEED, eager=False, **parameters)
    done = 0
    for size in np.unique(np.geomspace(100, points, 10).round().astype(int)):
        forest.partial_fit(X[done:size], y[done:size])
        done = int(size)
        stats, trees = forest.stats(), forest.n_estimators
        yield Moment(
            points=done,
            accuracy=forest.score(X_test, y_test),
            mean_tree=float((forest.predict_trees(X_test) == y_test[:, None]).mean()),
            leaves=stats["leaves"] / trees,
            active=stats["active"] / trees,
            megabytes=forest.memory()["total"] / 1e6,
        )


def curve(label: str, run: list[Moment], what: str) -> Curve:
    return Curve(label, [m.points for m in run], [getattr(m, what) for m in run])


def bayes(test: int) -> float:
    return GaussianMixture.paper().bayes_accuracy(*mixture(test, SEED + 1))


# -- figures ---------------------------------------------------------------------------------------


def parameter(name: str, symbol: str, values: dict[str, Any]) -> Callable[[Scale], list[Panel]]:
    """What a parameter does, all others being as they are by default."""

    def panels(scale: Scale) -> list[Panel]:
        runs = {
            f"{symbol} = {label}": list(
                moments(
                    scale.points, scale.test, noise=6, n_estimators=scale.trees, **{name: value}
                )
            )
            for label, value in values.items()
        }
        right = [curve(label, run, "accuracy") for label, run in runs.items()]
        held = [curve(label, run, "megabytes") for label, run in runs.items()]
        return [
            Panel("accuracy", right, best=bayes(scale.test)),
            Panel("megabytes held", held, log_y=True),
        ]

    return panels


def fringe(scale: Scale) -> list[Panel]:
    run = list(moments(scale.points, scale.test, n_estimators=scale.trees, fringe_size=20))
    leaves = [curve("leaves of a tree", run, "leaves"), curve("active ones", run, "active")]
    free = list(moments(scale.points, scale.test, n_estimators=scale.trees))
    right = [
        curve("all leaves active", free, "accuracy"),
        curve("a fringe of 20", run, "accuracy"),
    ]
    return [
        Panel("leaves", leaves, log_y=True),
        Panel("accuracy", right, best=bayes(scale.test)),
    ]


def budget(scale: Scale) -> list[Panel]:
    budgets = ("500kB", "1MB", "2MB", "5MB", "10MB", "20MB", "50MB", "100MB")
    ends = [
        list(moments(scale.points, scale.test, n_estimators=scale.trees, max_memory=size))[-1]
        for size in budgets
    ]
    x = [float(size.replace("kB", "e-3").replace("MB", "")) for size in budgets]
    return [
        Panel(
            f"accuracy after {scale.points:,} points",
            [Curve("forest", x, [m.accuracy for m in ends])],
            x="megabytes allowed",
            best=bayes(scale.test),
        ),
        Panel(
            "megabytes held",
            [Curve("forest", x, [m.megabytes for m in ends]), Curve("the bound", x, x)],
            x="megabytes allowed",
            log_y=True,
        ),
    ]


def intervals(scale: Scale) -> list[Panel]:
    """Noise that grows with x, and the intervals that a forest gives."""
    rng = np.random.default_rng(SEED)
    X = rng.random((scale.few, 1))
    y = (0.1 + X[:, 0]) * rng.normal(size=scale.few)
    forest = OnlineForestRegressor(scale.few_trees, random_state=SEED, intervals=(0.9,))
    forest.partial_fit(X, y)
    x = np.linspace(0.02, 0.98, 33)
    low, high = forest.predict_interval(x[:, np.newaxis], 0.9).T
    true = 1.645 * (0.1 + x)  # quantile .95 of the noise
    places = x.tolist()
    ends = [
        Curve("upper end", places, high.tolist()),
        Curve("lower end", places, low.tolist()),
        Curve("true quantile .95", places, true.tolist()),
        Curve("true quantile .05", places, (-true).tolist()),
    ]
    widths = [
        Curve("forest", places, (high - low).tolist()),
        Curve("true quantiles", places, (2 * true).tolist()),
    ]
    return [
        Panel("intervals for a coverage of .9", ends, x="x", log_x=False),
        Panel("their width", widths, x="x", log_x=False),
    ]


FIGURES: dict[str, Callable[[Scale], list[Panel]]] = {
    "lambda": parameter("candidate_dims", "λ", {"0": 0.0, "1": 1.0, "√8": "sqrt", "8": 8.0}),
    "m": parameter("split_points", "m", {"1": 1, "3": 3, "10": 10, "40": 40}),
    "tau": parameter("min_gain", "τ", {"0.01": 0.01, "0.1": 0.1, "0.3": 0.3, "2": 2.0}),
    "alpha": parameter(
        "alpha",
        "α",
        {
            "0.5·1.1^d": Geometric(0.5, 1.1),
            "0.5·1.5^d": Geometric(0.5, 1.5),
            "5·1.1^d": Geometric(5, 1.1),
            "50·1.1^d": Geometric(50, 1.1),
        },
    ),
    "beta": parameter("beta", "β", {"5α": 5.0, "20α": 20.0, "100α": 100.0, "1000α": 1000.0}),
    "fringe-size": parameter("fringe_size", "fringe", {"3": 3, "20": 20, "100": 100, "all": None}),
    "kept": parameter("kept_points", "W", {"0": 0, "300": 300, "3000": 3000, "20000": 20_000}),
    "fringe": fringe,
    "budget": budget,
    "intervals": intervals,
}


# -- drawing ---------------------------------------------------------------------------------------


def in_powers(set_scale: Callable[[str], None], axis: Any) -> None:
    """A logarithmic scale that says 1,000 and not 10³."""
    set_scale("log")
    axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    axis.set_minor_formatter(NullFormatter())


def plain(axes: Any, colours: dict[str, str]) -> None:
    """A faint grid and no frame."""
    axes.tick_params(which="both", colors=colours["text"], labelsize=8)
    axes.grid(color=colours["faint"], linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(colours["faint"])


def draw(panels: list[Panel], colours: dict[str, str]) -> Figure:
    figure = Figure(figsize=(8.4, 3.1), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels)), panels, strict=True):
        for line, colour in zip(panel.curves, COLOURS, strict=False):
            axes.plot(line.x, line.y, color=colour, marker="o", markersize=3, label=line.label)
        if panel.best is not None:
            axes.axhline(panel.best, color=colours["best"], linestyle="--", label="best possible")
        if panel.log_x:
            in_powers(axes.set_xscale, axes.xaxis)
        if panel.log_y:
            in_powers(axes.set_yscale, axes.yaxis)
        axes.set_title(panel.title, loc="left", color=colours["text"], fontsize=10)
        axes.set_xlabel(panel.x, color=colours["text"], fontsize=9)
        plain(axes, colours)
        axes.legend(frameon=False, fontsize=8, labelcolor=colours["text"])
    return figure


def write(name: str, panels: list[Panel], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # Text stays text, and the same runs give the same bytes.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        for page, colours in (("light", LIGHT), ("dark", DARK)):
            path = folder / f"{name}-{page}.svg"
            draw(panels, colours).savefig(path, transparent=True, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*FIGURES, []], help="which (default: all)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the figures")
    parser.add_argument("--quick", action="store_true", help="from streams too short to say much")
    asked = parser.parse_args()
    for name in asked.names or FIGURES:
        write(name, FIGURES[name](QUICK if asked.quick else FULL), asked.out)
        print(name)


if __name__ == "__main__":
    main()

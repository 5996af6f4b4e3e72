"""How the cost of a point grows: with the points seen, dims, classes, trees, and active leaves.

    python -m benchmarks.growth --out benchmarks/record/growth.json --figures docs/figures
    python -m benchmarks.growth --from benchmarks/record/growth.json --figures FOLDER

Times are processor times, on one thread, per point and tree, through the public interface; drawing the
points is not timed. Each line of costs gets the exponent of the power that fits it best, by least
squares on logarithms, for all of it and for its upper half, because some lines bend.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.engines import Estimator, Task
from benchmarks.times import Times
from riparian.streams import GaussianMixture

BLOCK = 100_000  # points drawn and learned at a time
BOUNDED = {"fringe_size": 100}
FIXED_DIMS = 2.0  # λ where it does not grow with the dims: about its default at four of them
LONG_RUNS = 2  # of a stream to its end
BEND = 0.1  # an upper half whose exponent differs by more is reported

Block = tuple[NDArray[np.float32], NDArray[np.int64]]


@dataclass(frozen=True)
class Scale:
    """How large the runs are."""

    points: tuple[int, ...]  # seen, where a forest is looked at
    dims: tuple[int, ...]
    classes: tuple[int, ...]
    trees: tuple[int, ...]
    fringe: tuple[int, ...]
    learned: int  # points, on the axes that are not about them
    learned_fringe: int  # larger, so that there are more leaves than places in the fringe
    test: int  # points predicted
    repeats: int
    long: int  # points beyond which there are few repeats: long runs vary little


FULL = Scale(
    points=tuple(round(10 ** (power / 2)) for power in range(6, 15)),
    dims=(2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000),
    classes=(2, 5, 10, 20, 50, 100, 200, 500, 1000),
    trees=(1, 2, 5, 10, 20, 50, 100, 200, 300),
    fringe=(1, 3, 10, 30, 100, 300, 1000, 3000, 10_000),
    learned=50_000,
    learned_fringe=1_000_000,
    test=10_000,
    repeats=3,
    long=1_000_000,
)
QUICK = Scale(
    points=(1000, 3162, 10_000, 31_623, 100_000, 316_228),
    dims=(2, 10, 50, 200, 1000),
    classes=(2, 5, 20, 100, 500),
    trees=(1, 3, 10, 30, 100),
    fringe=(1, 10, 100, 1000, 3000),
    learned=10_000,
    learned_fringe=100_000,
    test=5000,
    repeats=2,
    long=100_000,
)


# -- streams ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    dims: int
    classes: int
    draw: Callable[[int, np.random.Generator], Block]


MIXTURE = Stream(2, 5, GaussianMixture.paper().sample)


def bands(dims: int) -> Stream:
    """Three classes by the sum of the first two columns, with a tenth of the labels drawn at random."""

    def draw(n: int, rng: np.random.Generator) -> Block:
        X = rng.standard_normal((n, dims), dtype=np.float32)
        y = np.digitize(X[:, 0] + X[:, 1], (-0.6, 0.6))
        return X, np.where(rng.random(n) < 0.1, rng.integers(3, size=n), y)

    return Stream(dims, 3, draw)


def clouds(classes: int) -> Stream:
    """A round cloud for each class, at a random place of the unit cube in ten dimensions."""
    dims = 10
    centres = np.random.default_rng(classes).random((classes, dims), dtype=np.float32)

    def draw(n: int, rng: np.random.Generator) -> Block:
        y = rng.integers(classes, size=n)
        return centres[y] + rng.normal(0, 0.15, (n, dims)).astype(np.float32), y

    return Stream(dims, classes, draw)


# -- measuring -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A forest to be measured, and the stream it learns."""

    stream: Stream
    trees: int
    setting: dict[str, Any]  # parameters that are not at their defaults

    def blocks(self, ends: Sequence[int]) -> Iterator[Block]:
        """Yield the stream in blocks that end at each of these numbers of points."""
        rng = np.random.default_rng(0)
        stops = sorted({*range(BLOCK, ends[-1], BLOCK), *ends})
        for start, stop in pairwise([0, *stops]):
            yield self.stream.draw(stop - start, rng)

    def test(self, n: int) -> NDArray[np.float32]:
        return self.stream.draw(n, np.random.default_rng(1))[0]

    def forest(self) -> Estimator:
        classes = np.arange(self.stream.classes)
        return Estimator(Task(self.stream.dims, classes, self.trees, self.setting))


@dataclass(frozen=True)
class Look:
    """A forest at one moment, and its cost since the moment before."""

    points: int  # seen by now
    learned: int  # since the look before
    learn: float  # seconds
    predict: list[float]  # seconds, a call each
    stats: dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """What a point costs at one size on one line."""

    line: str
    size: int | None  # None: without bound
    trees: int
    points: int  # seen
    learn: Times
    predict: Times
    bytes: int  # held by the forest
    leaves: float  # of a tree
    active_leaves: float  # of a tree
    depth: int  # of the deepest tree

    def __str__(self) -> str:
        size = "all" if self.size is None else f"{self.size:,}"
        return (
            f"{self.line:24} {size:>10} {self.points:10,} {self.trees:5} {self.learn.min:9.4f} "
            f"{self.predict.min:9.4f} {self.bytes / self.trees / 1e3:10,.1f} {self.leaves:9,.0f} "
            f"{self.active_leaves:9,.0f} {self.depth:5}"
        )


HEADER = (
    f"{'':52} {'µs per point and tree':^19}\n{'line':24} {'size':>10} {'points':>10} {'trees':>5} "
    f"{'learn':>9} {'predict':>9} {'kB/tree':>10} {'leaves':>9} {'active':>9} {'depth':>5}"
)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def looks(
    forest: Estimator,
    blocks: Iterable[Block],
    at: Sequence[int],
    X_test: NDArray[np.float32],
    repeats: int,
) -> Iterator[Look]:
    """Learn the blocks, and measure the forest at each of these numbers of points."""
    points, learned, took = 0, 0, 0.0
    for X, y in blocks:
        took += seconds(partial(forest.learn, X, y))
        points += len(y)
        learned += len(y)
        if points in at:
            predict = [seconds(partial(forest.predict_proba, X_test)) for _ in range(repeats)]
            yield Look(points, learned, took, predict, forest.forest.stats())
            learned, took = 0, 0.0


def cost(line: str, size: int | None, case: Case, runs: Sequence[Look], test: int) -> Cost:
    """Return the mean of the same moment in several runs."""
    last = runs[-1]
    return Cost(
        line=line,
        size=size,
        trees=case.trees,
        points=last.points,
        learn=Times.of([look.learn for look in runs], last.learned, case.trees),
        predict=Times.of([s for look in runs for s in look.predict], test, case.trees),
        bytes=last.stats["bytes"],
        leaves=last.stats["leaves"] / case.trees,
        active_leaves=last.stats["active"] / case.trees,
        depth=last.stats["depth"],
    )


def from_empty(line: str, size: int | None, case: Case, points: int, scale: Scale) -> Cost:
    """Return the cost of learning the first n points, and of predicting with that forest."""
    blocks, X_test = list(case.blocks([points])), case.test(scale.test)
    runs = [
        look
        for _ in range(scale.repeats)
        for look in looks(case.forest(), blocks, [points], X_test, scale.repeats)
    ]
    return cost(line, size, case, runs, scale.test)


def along_stream(line: str, case: Case, scale: Scale) -> Iterator[Cost]:
    """Return the costs of a forest along its stream, each for the points since the one before."""
    X_test = case.test(scale.test)
    runs: list[list[Look]] = [[] for _ in scale.points]
    for repeat in range(scale.repeats):
        ends = [end for end in scale.points if repeat < LONG_RUNS or end <= scale.long]
        seen = looks(case.forest(), case.blocks(ends), ends, X_test, scale.repeats)
        for run, look in zip(runs, seen, strict=False):
            run.append(look)
    for run in runs:
        yield cost(line, run[0].points, case, run, scale.test)


def warm_up() -> None:
    """Warm up: otherwise the first time would include what is loaded on the first call."""
    case = Case(MIXTURE, 2, {})
    list(looks(case.forest(), case.blocks([2000]), [2000], case.test(2000), repeats=1))


# -- axes ------------------------------------------------------------------------------------------


def points_axis(scale: Scale) -> Iterator[Cost]:
    for name, stream in (("mixture", MIXTURE), ("10 dims", bands(10))):
        yield from along_stream(f"{name}, fringe of 100", Case(stream, 5, BOUNDED), scale)
        yield from along_stream(f"{name}, all leaves", Case(stream, 5, {}), scale)


def dims_axis(scale: Scale) -> Iterator[Cost]:
    for line, setting in (("λ = √D", {}), (f"λ = {FIXED_DIMS:g}", {"candidate_dims": FIXED_DIMS})):
        for dims in scale.dims:
            yield from_empty(line, dims, Case(bands(dims), 10, setting), scale.learned, scale)


def classes_axis(scale: Scale) -> Iterator[Cost]:
    for classes in scale.classes:
        case = Case(clouds(classes), 10, {})
        yield from_empty("a cloud for each class", classes, case, scale.learned, scale)


def trees_axis(scale: Scale) -> Iterator[Cost]:
    for trees in scale.trees:
        yield from_empty("mixture", trees, Case(MIXTURE, trees, {}), scale.learned, scale)


def fringe_axis(scale: Scale) -> Iterator[Cost]:
    for size in (*scale.fringe, None):
        case = Case(MIXTURE, 5, {"fringe_size": size})
        yield from_empty("mixture", size, case, scale.learned_fringe, scale)


AXES: dict[str, Callable[[Scale], Iterator[Cost]]] = {
    "points": points_axis,
    "dims": dims_axis,
    "classes": classes_axis,
    "trees": trees_axis,
    "fringe": fringe_axis,
}


# -- exponents -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Power:
    """y = factor · x^exponent."""

    exponent: float
    standard_error: float  # of the exponent
    factor: float
    first: float  # the range of x that it was fitted on
    last: float

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.standard_error:.2f}"


def fit_exponent(x: Sequence[float], y: Sequence[float]) -> Power:
    """Return the power that fits best, by least squares on logarithms."""
    if len(x) < 3:
        raise ValueError(f"an exponent and its error take three points or more, got {len(x)}")
    log_x, log_y = np.log(x), np.log(y)
    spread = log_x - log_x.mean()
    exponent = float(spread @ log_y / (spread @ spread))
    level = float(log_y.mean() - exponent * log_x.mean())
    missed = log_y - level - exponent * log_x
    error = math.sqrt(missed @ missed / (len(x) - 2) / (spread @ spread))
    return Power(exponent, error, math.exp(level), float(min(x)), float(max(x)))


@dataclass(frozen=True)
class Fit:
    whole: Power
    end: Power  # of the upper half
    bends: bool  # whether the two exponents differ

    def __str__(self) -> str:
        return f"{self.whole}, in the end {self.end}" if self.bends else str(self.whole)


def fit(x: Sequence[float], y: Sequence[float]) -> Fit:
    """x must rise."""
    half = max(3, math.ceil(len(x) / 2))
    whole, end = fit_exponent(x, y), fit_exponent(x[-half:], y[-half:])
    apart = abs(whole.exponent - end.exponent)
    return Fit(whole, end, bends=apart > max(BEND, end.standard_error))


@dataclass(frozen=True)
class Line:
    name: str
    costs: list[Cost]
    learn: Fit
    predict: Fit
    bytes: Fit


def as_lines(costs: Iterable[Cost]) -> list[Line]:
    named: dict[str, list[Cost]] = {}
    for cost in costs:
        named.setdefault(cost.line, []).append(cost)
    return [as_line(name, of_line) for name, of_line in named.items()]


def as_line(name: str, costs: list[Cost]) -> Line:
    sized = {float(cost.size): cost for cost in costs if cost.size is not None}
    x, measured = list(sized), sized.values()
    return Line(
        name,
        costs,
        learn=fit(x, [cost.learn.min for cost in measured]),
        predict=fit(x, [cost.predict.min for cost in measured]),
        bytes=fit(x, [float(cost.bytes) for cost in measured]),
    )


# -- the command -----------------------------------------------------------------------------------


def measure(names: Iterable[str], scale: Scale) -> dict[str, Any]:
    """Return the lines of each axis, as a record keeps them, and print costs as they come."""
    warm_up()
    axes = {}
    for name in names:
        print(f"\n{name}\n{HEADER}")
        lines = as_lines(map(printed, AXES[name](scale)))
        for line in lines:
            print(f"{line.name}: learn {line.learn}; predict {line.predict}; bytes {line.bytes}")
        axes[name] = [asdict(line) for line in lines]
    return {"scale": asdict(scale), "axes": axes}


def printed(cost: Cost) -> Cost:
    print(cost, flush=True)
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axes", nargs="+", choices=AXES, default=list(AXES))
    parser.add_argument("--quick", action="store_true", help="sizes too small to say much")
    parser.add_argument("--out", type=Path, help="where the record goes; default: none is kept")
    parser.add_argument(
        "--from", dest="source", type=Path, help="draw this record; measure nothing"
    )
    parser.add_argument("--figures", type=Path, help="folder for the figures; default: none")
    options = parser.parse_args()
    if options.source:
        figures = record.read(options.source)["figures"]
    else:
        figures = measure(options.axes, QUICK if options.quick else FULL)
        if options.out:
            record.write(options.out, "growth", figures)
    if options.figures:
        from benchmarks.growth_figures import write  # which needs matplotlib

        write(figures["axes"], options.figures)


if __name__ == "__main__":
    main()

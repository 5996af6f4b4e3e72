"""Whether what trees with kept points count of themselves fits the kept points (R19 to R21).

The stream and the rounded weight of a point are functions of its number, so what each tree has received
of the kept points is known. The rest came before them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plausible.errors import every
from riparian import _core
from riparian.engine.draws import GOLDEN, key, mixed
from riparian.engine.rules import cut
from riparian.reference import STREAM_DRAW, WEIGHT_DRAW


@dataclass(frozen=True)
class KeptPoints:
    """The kept points, by time."""

    first: int  # the number of the first one (R13)
    label: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, arrays, header):
        label, weight = arrays["kept_label"], arrays["kept_weight"]
        n = len(label)
        return cls(header.points - n, label, weight if len(weight) else np.ones(n))

    def __len__(self):
        return len(self.label)


class Received(NamedTuple):
    """What a tree has received of the kept points: weights, and the number of arrivals."""

    structure: int
    estimation: int
    ignored: int
    structure_arrivals: int


def check_growth(trees, nodes, planted, replacements, kept, header):
    """Check totals. A tree that replaced another (R27) has its own number and only later points."""
    number = np.array(header.trees) + header.parameters.n_trees * replacements
    received = [
        received_by(int(mine), kept, header.parameters, int(since))
        for mine, since in zip(number, planted, strict=True)
    ]
    of_kept, lost = _columns(received), planted < kept.first
    _check_totals(trees, of_kept, lost)
    totals, growth = trees.totals, trees.growth
    arrivals = growth.structure_arrivals
    _check_includes("growth: structure_arrivals", arrivals, of_kept.structure_arrivals, lost)
    _check_classes(trees, kept, header)

    since = np.uint64(header.points) - planted.astype(np.uint64)
    points = totals.structure_points + (totals.estimation_points if header.eager else np.uint64(0))
    every(arrivals <= points, "growth: more structure arrivals than points")
    every(arrivals <= since, "growth: more structure arrivals than were received")

    # A tree that was rebuilt may have had no room for its first split.
    once_split = (nodes > 1) | (growth.growth > 0)
    every((growth.bound > 0) == once_split, "growth: bound must be 0 before the first split only")
    every(growth.bound <= 4 * arrivals, "growth: bound must be at most four times the arrivals")
    every(growth.growth <= arrivals, "growth: growth must have been reached")
    every(2 * growth.growth <= growth.bound, "growth: bound must be at least twice the growth")


def _columns(received):
    return Received(*np.array(received, dtype=np.uint64).reshape(-1, len(Received._fields)).T)


def _check_totals(trees, of_kept, lost):
    """`lost`: of each tree, whether it has received points that are not kept any more."""
    for name in ("structure", "estimation", "ignored"):
        total, mine = getattr(trees.totals, f"{name}_points"), getattr(of_kept, name)
        _check_includes(f"totals: {name}_points", total, mine, lost)


def _check_includes(name, total, mine, lost):
    every(total >= mine, f"{name} must include the kept points")
    every((total == mine) | lost, f"{name} must be those of the kept points, which are all")


def _check_classes(trees, kept, header):
    if header.numbers:  # they have a scale
        most = _core.scale_of(float(np.abs(kept.label).max(initial=0)))
    else:
        most = int(kept.label.max(initial=0)) + 1 if len(kept) else 0
    every(trees.totals.classes >= most, "totals: classes must include those of the kept points")


def received_by(tree, kept, parameters, since=0):
    """Apply R1 and R17 to the kept points, from this one on."""
    p, first = parameters, max(0, since - kept.first)
    number = np.uint64(kept.first) + np.arange(first, len(kept), dtype=np.uint64)
    weights = kept.weight[first:]
    weight = weights.astype(np.uint64)
    fraction = weights - weight
    weight = weight + (uniforms(key(p.seed, tree, WEIGHT_DRAW), number) * 2.0**-53 < fraction)
    u = uniforms(key(p.seed, tree, STREAM_DRAW), number)
    structure = u < np.uint64(cut(p.structure_fraction))
    ignored = ~structure & (u < np.uint64(cut(p.structure_fraction + p.ignore_fraction)))
    estimation = ~structure & ~ignored
    arrives = structure | (
        estimation & p.eager & (number < np.uint64(since + p.kept_points))
    )  # R24
    return Received(
        structure=int(weight[structure].sum()),
        estimation=int(weight[estimation].sum()),
        ignored=int(weight[ignored].sum()),
        structure_arrivals=int((weight[arrives] > 0).sum()),
    )


def uniforms(start, number):
    """Return the 53 bits of the uniform of each point; its number is the last word of the key (R13)."""
    return mixed((start ^ number) + GOLDEN) >> np.uint64(11)

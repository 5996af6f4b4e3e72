"""Whether what trees with kept points count of themselves fits the points at hand (R19 to R21).

The stream and the rounded weight of a point are functions of its number, so what each tree has received
of the points at hand is known. The rest came before them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.engine.rules import cut
from riparian.parameters.forests import PaperParameters
from riparian.reference import GOLDEN, STREAM_DRAW, WEIGHT_DRAW, key
from riparian.snapshot.arrays import Integers, Trees
from riparian.snapshot.errors import every
from riparian.snapshot.header import Header
from riparian.snapshot.kept import KeptPoints

Words = NDArray[np.uint64]


class Received(NamedTuple):
    """What a tree has received of the points at hand; weights, but for the arrivals."""

    structure: int
    estimation: int
    ignored: int
    structure_arrivals: int


def check_growth(
    trees: Trees,
    nodes: Integers,
    planted: Integers,
    replacements: Integers,
    kept: KeptPoints,
    header: Header,
) -> None:
    """A tree that has replaced another (R23) has a number of its own, and received what came since."""
    number = np.array(header.trees) + header.parameters.n_trees * replacements
    received = [
        received_by(int(mine), kept, header.parameters, int(since))  # type: ignore[arg-type]
        for mine, since in zip(number, planted, strict=True)
    ]
    at_hand, lost = _at_hand(received), planted < kept.first
    _check_totals(trees, at_hand, lost)
    totals, growth = trees.totals, trees.growth
    arrivals = growth.structure_arrivals
    _check_includes("growth: structure_arrivals", arrivals, at_hand.structure_arrivals, lost)
    _check_classes(trees, kept)

    since = np.uint64(header.points) - planted.astype(np.uint64)
    every(arrivals <= totals.structure_points, "growth: more structure arrivals than points")
    every(arrivals <= since, "growth: more structure arrivals than were received")

    # A tree that was grown anew may have had no room for its first split.
    once_split = (nodes > 1) | (growth.growth > 0)
    every((growth.bound > 0) == once_split, "growth: bound must be 0 before the first split only")
    every(growth.bound <= 4 * arrivals, "growth: bound must be at most four times the arrivals")
    every(growth.growth <= arrivals, "growth: growth must have been reached")
    every(2 * growth.growth <= growth.bound, "growth: bound must be at least twice the growth")


def _at_hand(received: list[Received]) -> Received:
    return Received(*np.array(received, dtype=np.uint64).reshape(-1, len(Received._fields)).T)


def _check_totals(trees: Trees, at_hand: Received, lost: Any) -> None:
    """`lost`: of each tree, whether it has received points that are not at hand any more."""
    for name in ("structure", "estimation", "ignored"):
        total, mine = getattr(trees.totals, f"{name}_points"), getattr(at_hand, name)
        _check_includes(f"totals: {name}_points", total, mine, lost)


def _check_includes(name: str, total: Words, mine: Any, lost: Any) -> None:
    every(total >= mine, f"{name} must include the kept points")
    every((total == mine) | lost, f"{name} must be those of the kept points, which are all")


def _check_classes(trees: Trees, kept: KeptPoints) -> None:
    most = int(kept.label.max(initial=0)) + 1 if len(kept) else 0
    every(trees.totals.classes >= most, "totals: classes must include those of the kept points")


def received_by(
    tree: int, kept: KeptPoints, parameters: PaperParameters, since: int = 0
) -> Received:
    """R1 and R17 over the points at hand, from this one on."""
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
    return Received(
        structure=int(weight[structure].sum()),
        estimation=int(weight[estimation].sum()),
        ignored=int(weight[ignored].sum()),
        structure_arrivals=int((weight[structure] > 0).sum()),
    )


def uniforms(start: int, number: Words) -> Words:
    """The 53 bits of the uniform of each point, whose number is the last word of the key (R13)."""
    z = (np.uint64(start) ^ number) + np.uint64(GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words: Words = (z ^ (z >> np.uint64(31))) >> np.uint64(11)
    return words

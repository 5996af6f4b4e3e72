"""Whether learning could have produced a snapshot, as far as its arrays show.

Loading only checks what keeps the core safe. These are the other checks, of what riparian itself has
saved: tests and the fuzzer apply them to every type of forest. A rule that changes what trees hold
changes a check here, and no code that reads snapshots.

    trees.py        totals, histograms, the fringe and the leaves that wait
    fringe.py       what the candidates of active leaves have counted
    growth.py       what trees have received of the kept points
    eager.py        votes of eager trees
    sums.py         sums of numbers, in leaves, candidates and heads
    adaptation.py   what trees of a stream that changes remember
"""

from __future__ import annotations

import numpy as np

from plausible.adaptation import check_adaptation, planted
from plausible.eager import check_votes
from plausible.errors import Implausible
from plausible.fringe import fringe_of
from plausible.growth import KeptPoints, check_growth
from plausible.sums import check_following, check_heads, check_sums, check_waiting
from plausible.trees import (
    Leaves,
    check_activity,
    check_bags,
    check_keys,
    check_leaves,
    check_totals,
)
from riparian.engine.trees import TreeArrays
from riparian.snapshot.state import read

__all__ = ["Implausible", "check_plausible"]


def check_plausible(data: bytes) -> None:
    """Raise `Implausible` if no stream of points leads to the forest in these bytes."""
    header, _, arrays, lengths, points = read(data, 2**40)
    trees = TreeArrays.end_to_end(arrays)
    depth = arrays["leaf_depth"].astype(np.int64)
    check_totals(trees, lengths, header)
    check_leaves(trees, lengths, depth, header)
    if header.numbers:
        check_sums(trees, lengths, header)
    if header.one_stream:
        check_bags(arrays["bag"], trees, header)
    if header.adaptive:
        check_adaptation(trees, lengths, header)
    if header.eager:
        check_votes(trees, lengths, header, planted(trees, lengths))
    if header.eager and header.numbers:
        check_heads(trees, points["trust"], header)
    if header.parameters.lag:
        check_following(points["trust"], header)
    if "kept_label" in points:
        kept = KeptPoints.of(points, header)
        replaced = lengths.arrays["replaced"]
        check_growth(trees, lengths.nodes, planted(trees, lengths), replaced, kept, header)
    if not header.prediction_only:
        leaves = Leaves.of(trees, lengths, header)
        check_activity(trees, lengths, depth, header)
        if header.numbers:
            check_waiting(trees, leaves)
        elif not header.one_stream:
            check_keys(trees, leaves)
        fringe_of(trees, leaves, header).check_plausible()

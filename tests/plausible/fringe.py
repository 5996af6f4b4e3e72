"""Whether learning could have produced the active leaves, young or with candidates."""

from __future__ import annotations

import numpy as np

from plausible.errors import check_sum, every
from plausible.sums import CandidateSums
from riparian import _core
from riparian.engine.pieces import begins, numbers
from riparian.parameters.forests import SaffariParameters
from riparian.snapshot.arrays import shapes
from riparian.snapshot.candidates import Candidates


class Fringe(Candidates):
    """The active leaves of all trees, as the paper has it.

    With kept points or of one stream, a few rules are others.
    """

    def __init__(self, trees, leaves, header):
        super().__init__(trees, header)
        self.leaf = np.flatnonzero(trees.leaf_active)  # of each active leaf
        tree = leaves.tree[self.leaf]
        self.n_classes = leaves.n_classes[tree].astype(np.int64)
        self.structure_points = leaves.structure_points[tree]
        self.now = leaves.estimation_points[tree]  # E
        self.points = leaves.points[self.leaf]
        self.histogram_starts = leaves.starts[self.leaf]

    def check_plausible(self):
        self.check_settled()
        self.check_split_points()
        for stream in self.streams:
            self.check_kept_lengths(stream)
        for shape in self.shapes():
            self.check_shape(shape)

    def check_shape(self, shape):
        self.check_kept_structure(shape)
        self.check_kept_estimation(shape)
        self.check_counted_structure(shape)
        self.check_counted_estimation(shape)

    def check_settled(self):
        self.check_received()
        check_sum(self.trees.planned, "planned")
        if self.header.depth:
            return
        owner = np.repeat(np.arange(len(self.dims), dtype=np.uint64), self.dims)
        keys = np.sort(owner * np.uint64(self.header.n_dims) + self.trees.candidate_dims)
        every(keys[1:] > keys[:-1], "candidate_dims must be distinct in a leaf")

    def check_received(self):
        every(self.trees.received <= self.points, "received must be points of the leaf")

    def check_split_points(self):
        born = self.trees.split_point_born
        owner = np.repeat(np.arange(len(self.dims)), self.split_points)
        self.check_first_born(born, owner)
        every(born <= self.now[owner], "split_point_born must not be later than now")
        later = (born[1:] >= born[:-1]) | (owner[1:] != owner[:-1])
        every(later, "split_point_born must not fall")

    def check_first_born(self, born, owner):
        leaf_born = self.trees.leaf_born[self.leaf]
        every(born >= leaf_born[owner], "split_point_born must be in the life of its leaf")

    def check_kept_lengths(self, stream):
        """Check that leaves keep as many points as the engine does, of classes that have arrived."""
        length, counted = self.length[stream], self.counted[stream]
        every((length <= self.n_classes)[counted], f"{stream}_length: more rows than classes")
        counters, words = shapes(self.dims, self.most_split_points)
        room = self.n_classes * counters // (8 * words + 4)
        kept = length <= np.maximum(_core.few_points, room)
        every(kept[~counted], f"{stream}_length: more points are kept than counting would cost")
        owner = np.repeat(np.arange(len(length)), np.where(counted, 0, length))
        labels = self.streams[stream].label
        arrived = labels < self.n_classes[owner]
        every(arrived, f"{stream}_label must be a class that has arrived at the tree")

    # -- points that are kept ------------------------------------------------------------------------

    def check_kept_structure(self, shape):
        """Check that each of the first m points added a split point, and the last met all (R3)."""
        kept = self.check_bits("structure", shape)
        leaves, n, met = shape.leaves[kept.inside], kept.length, kept.met
        every(n >= 1, "structure_length: a split point, but no point that brought it")
        most = self.most_structure(leaves)
        every(n <= most, "structure_length: more points than the tree has received")
        first = begins(n)
        rise = np.diff(met, prepend=0)
        rise[first] = 0
        every((rise >= 0) & (rise <= 1), "structure_bits: split points must come one by one")
        self.check_first_met(met[first])
        every(met[first + n - 1] == shape.split_points, "structure_bits: a split point is missing")
        return kept

    def check_first_met(self, met):
        """Check that the first point of each leaf met the first split point."""
        every(met == 1, "structure_bits: the first point must meet the first split point")

    def most_structure(self, leaves):
        """Return the number of points that a leaf can have counted."""
        return self.structure_points[leaves]

    def check_kept_estimation(self, shape):
        """Check that each point met the split points of its time: at least one, and never fewer."""
        kept = self.check_bits("estimation", shape)
        leaves, n, met = shape.leaves[kept.inside], kept.length, kept.met
        every(met >= 1, "estimation_bits: a point must meet a split point")
        owner = np.repeat(np.arange(len(leaves)), n)
        grows = (met[1:] >= met[:-1]) | (owner[1:] != owner[:-1])
        every(grows, "estimation_bits: split points must not vanish")
        # How many have met the newest split point of each point: all from here on.
        left = (n + begins(n))[owner] - np.arange(len(owner))
        age = self.now[leaves][owner] - shape.born[kept.inside[owner], met - 1]
        every(left <= age, "estimation_bits: more points than came since split_point_born")
        self.check_counts(leaves, n.astype(np.uint64), "estimation_length")
        self.check_histogram(*pairs(leaves[owner], kept.labels))

    def check_counts(self, leaves, n, name):
        """Of estimation points."""
        every(n <= self.trees.received[leaves], f"{name}: more points than received")

    # -- points that are counted ---------------------------------------------------------------------

    def check_counted_structure(self, shape):
        rows = self.check_rows("structure", shape)
        seen = seen_by(rows)
        every((seen >= 1).all(axis=1), "structure_count: a split point without its own point")
        most = self.most_structure(shape.leaves[rows.inside])
        every(seen[:, 0] <= most, "structure_count: more points than the tree has received")
        return rows

    def check_counted_estimation(self, shape):
        rows = self.check_rows("estimation", shape)
        leaves, seen = shape.leaves[rows.inside], seen_by(rows)
        self.check_counts(leaves, seen[:, 0], "estimation_count")
        age = self.now[leaves, None] - shape.born[rows.inside]
        every(
            (seen <= age).all(axis=1), "estimation_count: more points than since split_point_born"
        )
        self.check_row_histogram(leaves, rows)

    def check_row_histogram(self, leaves, rows):
        labels = numbers(rows.length)
        self.check_histogram(np.repeat(leaves, rows.length), labels, rows.everyone[:, 0])

    def check_histogram(self, leaves, labels, count):
        """Check that no class has more points among the candidates of a leaf than in the leaf."""
        n_classes = self.trees.leaf_classes[self.leaf[leaves]]
        inside = labels < n_classes
        held = np.zeros(len(labels), dtype=np.uint64)
        at = self.histogram_starts[leaves] + labels
        held[inside] = self.trees.histogram[at[inside]]
        every(count <= held, "estimation counts of a leaf must be in its histogram")


class KeptFringe(Fringe):
    """With kept points (R20): a young leaf looks and has no candidates; a settled one has counted its
    list first, which can hold more than its histogram and began before it was born."""

    def check_plausible(self):
        self.check_young()
        super().check_plausible()

    def check_young(self):
        trees, young, header = self.trees, self.young, self.header
        n = min(header.kept_points, header.points)
        most = max(n + 1, (13 * n + 9) // 10)
        every(trees.next_look <= most, f"next_look must be at most {most}")
        every(trees.had_lost <= young, "had_lost must be 0 or 1, and 0 in a leaf that has settled")
        if header.points <= header.kept_points:
            every(trees.had_lost == 0, "had_lost must be 0 while all points are kept")
        for name in ("received", "planned"):
            every(getattr(trees, name)[young] == 0, f"{name} must be 0 in a young leaf")

    def check_received(self):
        every(self.trees.received <= self.now, "received must be points of the tree")

    def check_first_born(self, born, owner):
        """Allow E0 of listed points to lie before that of the leaf."""

    def check_first_met(self, met):
        every(met >= 1, "structure_bits: the first point must meet a split point")

    def check_counts(self, leaves, n, name):
        """R8's count starts again when candidates are drawn again; the list is counted all the same."""

    def check_histogram(self, leaves, labels, count):
        """R10 lets a child list more points than its histogram holds."""


class NumberFringe(CandidateSums, Fringe):
    """Of numbers (R26)."""


class KeptNumberFringe(CandidateSums, KeptFringe):
    """Of numbers, with kept points."""


class OneStreamFringe(Fringe):
    """Saffari's leaves (R18), in which every counted point also predicts."""

    def __init__(self, trees, leaves, header):
        super().__init__(trees, leaves, header)
        p = header.parameters
        self.range = isinstance(p, SaffariParameters) and p.thresholds == "range"

    def check_shape(self, shape):
        if self.range and shape.split_points < self.most_split_points:
            self.check_nothing_counted(shape)
            return
        self.check_kept_structure(shape)
        self.check_counted_structure(shape)

    def check_nothing_counted(self, shape):
        """Before there are thresholds; there may be rows already, since the leaf looks all the same."""
        nothing = self.check_bits("structure", shape).length == 0
        every(nothing, "structure_length: points are kept before there are thresholds (R18)")
        nothing = (seen_by(self.check_rows("structure", shape)) == 0).all(axis=1)
        every(nothing, "structure_count: points are counted before there are thresholds (R18)")

    def check_first_met(self, met):
        first = self.most_split_points if self.range else 1
        every(met == first, "structure_bits: the first point must meet the first split point")

    def most_structure(self, leaves):
        return self.trees.received[leaves]

    def check_kept_structure(self, shape):
        kept = super().check_kept_structure(shape)
        owner = np.repeat(shape.leaves[kept.inside], kept.length)
        self.check_histogram(*pairs(owner, kept.labels))

    def check_counted_structure(self, shape):
        rows = super().check_counted_structure(shape)
        self.check_row_histogram(shape.leaves[rows.inside], rows)


def fringe_of(trees, leaves, header):
    if header.one_stream:
        return OneStreamFringe(trees, leaves, header)
    kinds = (NumberFringe, KeptNumberFringe) if header.numbers else (Fringe, KeptFringe)
    return kinds[header.kept_points > 0](trees, leaves, header)


def seen_by(rows):
    """Return what each split point has seen, of all classes (leaves x split points)."""
    if len(rows.inside) == 0:
        return rows.everyone
    return np.add.reduceat(rows.everyone, begins(rows.length), axis=0)


def pairs(leaves, labels):
    """Return every leaf and label that occurs, and how often."""
    both, count = np.unique(leaves * np.int64(2**31) + labels, return_counts=True)
    return both // 2**31, both % 2**31, count.astype(np.uint64)

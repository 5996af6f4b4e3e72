"""Whether the active leaves, young or with candidates, are such that learning could have led to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.engine.pieces import begins, numbers, places
from riparian.engine.trees import StreamCounts
from riparian.parameters.forests import SaffariParameters
from riparian.snapshot.arrays import Integers, Trees, counters, words
from riparian.snapshot.errors import check_sum, every
from riparian.snapshot.header import Header

Words = NDArray[np.uint64]

SET_BITS = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class Leaves:
    """What is known of the leaves by now: the first three by tree, the others by leaf."""

    n_classes: Words  # that have arrived at the tree
    structure_points: Words
    estimation_points: Words  # E
    tree: Integers
    points: Words  # N^e(A)
    errors: Words  # those not of the commonest class
    starts: Integers  # where its histogram begins


@dataclass(frozen=True)
class Shape:
    """The active leaves with the same number of dimensions and split points: all is rectangular."""

    leaves: Integers  # among the active ones
    dims: int
    split_points: int
    born: Words  # leaves x split points
    unused: NDArray[np.bool_]  # leaves x dims x split points: the threshold is NaN (R4)


class Fringe:
    """The active leaves of all trees, and the checks on what their candidates have counted.

    As the paper has it; with kept points or of one stream, a few rules are others.
    """

    streams: tuple[str, ...] = ("structure", "estimation")

    def __init__(self, trees: Trees, leaves: Leaves, header: Header) -> None:
        self.trees = trees
        self.header = header
        self.counts: dict[str, StreamCounts] = {
            stream: getattr(trees, stream) for stream in self.streams
        }
        self.most_split_points = header.parameters.split_points  # m
        self.leaf = np.flatnonzero(trees.leaf_active)  # of each active leaf
        self.tree = leaves.tree[self.leaf]
        self.n_classes = leaves.n_classes[self.tree].astype(np.int64)
        self.structure_points = leaves.structure_points[self.tree]
        self.now = leaves.estimation_points[self.tree]  # E
        self.points = leaves.points[self.leaf]
        self.histogram_starts = leaves.starts[self.leaf]
        self.dims = trees.dims.astype(np.int64)
        self.split_points = trees.split_points.astype(np.int64)
        self.length = {s: mine.length.astype(np.int64) for s, mine in self.counts.items()}
        self.counted = {s: mine.counted > 0 for s, mine in self.counts.items()}
        self.starts = {s: self.begin(s) for s in self.counts}

    def begin(self, stream: str) -> dict[str, Integers]:
        """Where the points, words and counts of each active leaf begin."""
        kept = np.where(self.counted[stream], 0, self.length[stream])
        rows = np.where(self.counted[stream], self.length[stream], 0)
        return {
            "point": begins(kept),
            "word": begins(kept * words(self.dims, self.most_split_points)),
            "count": begins(rows * (self.dims + 1) * self.split_points),
        }

    def check(self) -> None:
        self.check_leaves()
        self.check_split_points()
        for stream in self.counts:
            self.check_lengths(stream)
        for shape in self.shapes():
            self.check_shape(shape)

    def check_shape(self, shape: Shape) -> None:
        self.check_kept_structure(shape)
        self.check_kept_estimation(shape)
        self.check_counted_structure(shape)
        self.check_counted_estimation(shape)

    def check_leaves(self) -> None:
        trees, dims, most = self.trees, self.dims, self.header.n_dims
        every((dims >= self.least_dims()) & (dims <= most), f"dims must be from 1 to {most}")
        every(self.split_points <= self.most_split_points, "split_points must be at most m")
        self.check_received()
        every(
            trees.summed <= self.counted["structure"],
            "summed must be 0 or 1, and 0 where no structure points are counted",
        )
        check_sum(trees.planned, "planned")
        drawn = trees.candidate_dims
        check_features(drawn, self.header, "candidate_dims")
        if self.header.depth:
            return
        owner = np.repeat(np.arange(len(dims), dtype=np.uint64), dims)
        keys = np.sort(owner * np.uint64(most) + drawn)
        every(keys[1:] > keys[:-1], "candidate_dims must be distinct in a leaf")

    def least_dims(self) -> Any:
        """How many candidate dimensions each leaf must have."""
        return 1

    def check_received(self) -> None:
        every(self.trees.received <= self.points, "received must be points of the leaf")

    def check_split_points(self) -> None:
        trees, born = self.trees, self.trees.split_point_born
        owner = np.repeat(np.arange(len(self.dims)), self.split_points)
        self.check_first_born(born, owner)
        every(born <= self.now[owner], "split_point_born must not be later than now")
        later = (born[1:] >= born[:-1]) | (owner[1:] != owner[:-1])
        every(later, "split_point_born must not fall")
        every(~np.isinf(trees.split_threshold), "split_threshold must not be infinite")

    def check_first_born(self, born: Words, owner: Integers) -> None:
        leaf_born = self.trees.leaf_born[self.leaf]
        every(born >= leaf_born[owner], "split_point_born must be in the life of its leaf")

    def check_lengths(self, stream: str) -> None:
        """As many points kept as the engine keeps, or a row of counts for a class that arrived."""
        length, counted, n_classes = self.length[stream], self.counted[stream], self.n_classes
        every((length >= 1)[counted], f"{stream}_length must not be 0 where points are counted")
        every((length <= n_classes)[counted], f"{stream}_length: more rows than classes")
        every((self.split_points >= 1)[counted], f"{stream}_counted without a split point")
        keeps = (length > 0) & ~counted
        every((self.split_points >= 1)[keeps], f"{stream}_length: points, but no split point")
        point_bytes = 8 * words(self.dims, self.most_split_points) + 4
        room = n_classes * counters(self.dims, self.most_split_points) // point_bytes
        kept = length <= np.maximum(_core.few_points, room)
        every(kept[~counted], f"{stream}_length: more points are kept than counting would cost")
        owner = np.repeat(np.arange(len(length)), np.where(counted, 0, length))
        labels = self.counts[stream].label
        every(labels < n_classes[owner], f"{stream}_label must be a class that has arrived")

    def shapes(self) -> Iterator[Shape]:
        """Leaves without a split point have nothing more to check."""
        born_at = begins(self.split_points)
        thresholds_at = begins(self.dims * self.split_points)
        started = np.flatnonzero(self.split_points)
        order = started[np.lexsort((self.split_points[started], self.dims[started]))]
        kinds = np.stack([self.dims[order], self.split_points[order]])
        cuts = np.flatnonzero((kinds[:, 1:] != kinds[:, :-1]).any(axis=0)) + 1
        for leaves in np.split(order, cuts) if len(order) else []:
            dims, points = int(self.dims[leaves[0]]), int(self.split_points[leaves[0]])
            at = thresholds_at[leaves, None] + np.arange(dims * points)
            thresholds = self.trees.split_threshold[at].reshape(-1, dims, points)
            yield Shape(
                leaves=leaves,
                dims=dims,
                split_points=points,
                born=self.trees.split_point_born[born_at[leaves, None] + np.arange(points)],
                unused=np.isnan(thresholds),
            )

    # -- points that are kept ------------------------------------------------------------------------

    def check_kept_structure(self, shape: Shape) -> None:
        """R3: each of the first m points has brought a split point, and the last has met them all."""
        kept = shape.leaves[~self.counted["structure"][shape.leaves]]
        n = self.length["structure"][kept]
        every(n >= 1, "structure_length: a split point, but no point that brought it")
        every(
            n <= self.most_structure(kept),
            "structure_length: more points than the tree has received",
        )
        _, met = self.check_bits("structure", shape)
        first = begins(n)
        rise = np.diff(met, prepend=0)
        rise[first] = 0
        every((rise >= 0) & (rise <= 1), "structure_bits: split points must come one by one")
        self.check_first_met(met[first])
        every(met[first + n - 1] == shape.split_points, "structure_bits: a split point is missing")

    def check_first_met(self, met: Integers) -> None:
        """By the first point of each leaf."""
        every(met == 1, "structure_bits: the first point must meet the first split point")

    def most_structure(self, leaves: Integers) -> Words:
        """Points that a leaf can have counted."""
        return self.structure_points[leaves]

    def check_kept_estimation(self, shape: Shape) -> None:
        """Each point has met the split points that there were: at least one, and never fewer."""
        inside = np.flatnonzero(~self.counted["estimation"][shape.leaves])
        kept = shape.leaves[inside]
        n = self.length["estimation"][kept]
        labels, met = self.check_bits("estimation", shape)
        every(met >= 1, "estimation_bits: a point must meet a split point")
        owner = np.repeat(np.arange(len(kept)), n)
        grows = (met[1:] >= met[:-1]) | (owner[1:] != owner[:-1])
        every(grows, "estimation_bits: split points must not vanish")
        # How many have met the newest split point of each point: all from here on.
        left = (n + begins(n))[owner] - np.arange(len(owner))
        age = self.now[kept][owner] - shape.born[inside[owner], met - 1]
        every(left <= age, "estimation_bits: more points than came since split_point_born")
        self.check_counts(kept, n.astype(np.uint64), "estimation_length")
        self.check_histogram(*pairs(kept[owner], labels))

    def check_counts(self, leaves: Integers, n: Words, name: str) -> None:
        """Of estimation points."""
        every(n <= self.trees.received[leaves], f"{name}: more points than received")

    def check_bits(self, stream: str, shape: Shape) -> tuple[Integers, Integers]:
        """For each kept point its label and how many split points it has met.

        Everyone's bits are set for the split points it has met; a candidate's bit may be set for
        one of these, if its threshold is a number; and no bit beyond.
        """
        inside = np.flatnonzero(~self.counted[stream][shape.leaves])
        kept = shape.leaves[inside]
        n, width = self.length[stream][kept], words(shape.dims, self.most_split_points)
        labels = self.counts[stream].label[places(self.starts[stream]["point"][kept], n)]
        where = places(self.starts[stream]["word"][kept], n * width)
        bits = self.counts[stream].bits[where].reshape(-1, width)

        everyone = np.zeros((1, shape.dims + 1, self.most_split_points), dtype=bool)
        everyone[:, -1] = True
        met = set_bits(bits & as_words(everyone))
        every(met <= shape.split_points, f"{stream}_bits: more split points than there are")
        several, which = np.unique(met, return_inverse=True)
        allowed = np.zeros((len(several), *everyone.shape[1:]), dtype=bool)
        allowed[:] = (np.arange(self.most_split_points) < several[:, None])[:, None, :]
        strays = bits & ~as_words(allowed)[which]
        every(~strays.any(axis=1), f"{stream}_bits: a bit is set where nobody counts")

        nan = np.flatnonzero(shape.unused[inside].any(axis=(1, 2)))
        if len(nan):
            never = np.zeros((len(nan), *everyone.shape[1:]), dtype=bool)
            never[:, :-1, : shape.split_points] = shape.unused[inside[nan]]
            place = np.full(len(kept), -1)
            place[nan] = np.arange(len(nan))
            mine = np.repeat(place, n)
            left = bits[mine >= 0] & as_words(never)[mine[mine >= 0]]
            every(~left.any(axis=1), f"{stream}_bits: nobody goes left of NaN (R4)")
        return labels.astype(np.int64), met

    # -- points that are counted ---------------------------------------------------------------------

    def check_counted_structure(self, shape: Shape) -> None:
        leaves, _, seen = self.check_rows("structure", shape)
        every((seen >= 1).all(axis=1), "structure_count: a split point without its own point")
        every(
            seen[:, 0] <= self.most_structure(leaves),
            "structure_count: more points than the tree has received",
        )

    def check_counted_estimation(self, shape: Shape) -> None:
        leaves, first, seen = self.check_rows("estimation", shape)
        self.check_counts(leaves, seen[:, 0], "estimation_count")
        born = shape.born[self.counted["estimation"][shape.leaves]]
        age = self.now[leaves, None] - born
        every(
            (seen <= age).all(axis=1), "estimation_count: more points than since split_point_born"
        )
        self.check_row_histogram("estimation", leaves, first)

    def check_row_histogram(self, stream: str, leaves: Integers, first: Words) -> None:
        rows = self.length[stream][leaves]
        self.check_histogram(np.repeat(leaves, rows), numbers(rows), first)

    def check_rows(self, stream: str, shape: Shape) -> tuple[Integers, Words, Words]:
        """The leaves that count, what the first split point has seen of each of their classes, and
        what each split point has seen in all."""
        inside = self.counted[stream][shape.leaves]
        leaves = shape.leaves[inside]
        rows, size = self.length[stream][leaves], (shape.dims + 1) * shape.split_points
        where = places(self.starts[stream]["count"][leaves], rows * size)
        table = self.counts[stream].count[where]
        table = table.reshape(-1, shape.dims + 1, shape.split_points)
        left, everyone = table[:, :-1], table[:, -1]
        less = (left <= everyone[:, None]).all(axis=(1, 2))
        every(less, f"{stream}_count: more points go left than come")
        falls = (everyone[:, 1:] <= everyone[:, :-1]).all(axis=1)
        every(falls, f"{stream}_count: a later split point has seen more")
        unused = np.repeat(shape.unused[inside], rows, axis=0)
        every(~left[unused].astype(bool), f"{stream}_count: nobody goes left of NaN (R4)")
        check_sum(everyone[:, 0], f"{stream}_count")
        if len(leaves) == 0:
            return leaves, everyone[:, 0], everyone
        return leaves, everyone[:, 0], np.add.reduceat(everyone, begins(rows), axis=0)

    def check_histogram(self, leaves: Integers, labels: Integers, count: Words) -> None:
        """No class has more points among the candidates of a leaf than in the leaf."""
        n_classes = self.trees.leaf_classes[self.leaf[leaves]]
        inside = labels < n_classes
        held = np.zeros(len(labels), dtype=np.uint64)
        at = self.histogram_starts[leaves] + labels
        held[inside] = self.trees.histogram[at[inside]]
        every(count <= held, "estimation counts of a leaf must be in its histogram")


class KeptFringe(Fringe):
    """With kept points (R20): a young leaf looks and has no candidates; a settled one has counted its
    list first, which can hold more than its histogram and began before it was born."""

    def __init__(self, trees: Trees, leaves: Leaves, header: Header) -> None:
        super().__init__(trees, leaves, header)
        self.young = self.dims == 0

    def check(self) -> None:
        self.check_young()
        super().check()

    def check_young(self) -> None:
        trees, young, header = self.trees, self.young, self.header
        every(
            (trees.next_look > 0) == young, "next_look must be set where dims is 0 and only there"
        )
        if not header.adaptive:  # which knows the arrivals of each leaf
            n = min(header.kept_points, header.points)
            most = max(n + 1, (13 * n + 9) // 10)
            every(trees.next_look <= most, f"next_look must be at most {most}")
        every(trees.had_lost <= young, "had_lost must be 0 or 1, and 0 in a leaf that has settled")
        if header.points <= header.kept_points:
            every(trees.had_lost == 0, "had_lost must be 0 while all points are at hand")
        for name in ("split_points", "received", "planned", "summed"):
            every(getattr(trees, name)[young] == 0, f"{name} must be 0 in a young leaf")
        for stream, mine in self.counts.items():
            every(mine.counted[young] == 0, f"{stream}_counted must be 0 in a young leaf")
            every(mine.length[young] == 0, f"{stream}_length must be 0 in a young leaf")

    def least_dims(self) -> Any:
        return np.where(self.young, 0, 1)

    def check_received(self) -> None:
        every(self.trees.received <= self.now, "received must be points of the tree")

    def check_first_born(self, born: Words, owner: Integers) -> None:
        """E0 of what a leaf lists can lie before its own."""

    def check_first_met(self, met: Integers) -> None:
        every(met >= 1, "structure_bits: the first point must meet a split point")

    def check_counts(self, leaves: Integers, n: Words, name: str) -> None:
        """R8's count starts anew when candidates are drawn again; the list is counted all the same."""

    def check_histogram(self, leaves: Integers, labels: Integers, count: Words) -> None:
        """R10 lets a child list more points than its histogram holds."""


class OneStreamFringe(Fringe):
    """Saffari's (R18): whatever is counted also predicts."""

    streams = ("structure",)

    def __init__(self, trees: Trees, leaves: Leaves, header: Header) -> None:
        super().__init__(trees, leaves, header)
        p = header.parameters
        self.range = isinstance(p, SaffariParameters) and p.thresholds == "range"

    def check_shape(self, shape: Shape) -> None:
        if self.range and shape.split_points < self.most_split_points:
            self.check_nothing_counted(shape)
            return
        self.check_kept_structure(shape)
        self.check_counted_structure(shape)

    def check_nothing_counted(self, shape: Shape) -> None:
        """Before there are thresholds; there may be rows already, since the leaf looks all the same."""
        keeps = shape.leaves[~self.counted["structure"][shape.leaves]]
        nothing = self.length["structure"][keeps] == 0
        every(nothing, "structure_length: points are kept before there are thresholds (R18)")
        _, _, seen = self.check_rows("structure", shape)
        nothing = (seen == 0).all(axis=1)
        every(nothing, "structure_count: points are counted before there are thresholds (R18)")

    def check_first_met(self, met: Integers) -> None:
        first = self.most_split_points if self.range else 1
        every(met == first, "structure_bits: the first point must meet the first split point")

    def most_structure(self, leaves: Integers) -> Words:
        return self.trees.received[leaves]

    def check_kept_structure(self, shape: Shape) -> None:
        super().check_kept_structure(shape)
        kept = shape.leaves[~self.counted["structure"][shape.leaves]]
        n = self.length["structure"][kept]
        labels = self.counts["structure"].label[places(self.starts["structure"]["point"][kept], n)]
        self.check_histogram(*pairs(np.repeat(kept, n), labels.astype(np.int64)))

    def check_counted_structure(self, shape: Shape) -> None:
        super().check_counted_structure(shape)
        leaves, first, _ = self.check_rows("structure", shape)
        self.check_row_histogram("structure", leaves, first)


def fringe_of(trees: Trees, leaves: Leaves, header: Header) -> Fringe:
    if header.one_stream:
        return OneStreamFringe(trees, leaves, header)
    return (KeptFringe if header.kept_points else Fringe)(trees, leaves, header)


def check_features(features: NDArray[Any], header: Header, name: str) -> None:
    """A column that is there, or offsets that are numbers."""
    if header.depth:
        every(np.isfinite(features).all(axis=1), f"{name} must be finite")
    else:
        every(features < header.n_dims, f"{name} must be below {header.n_dims}")


def pairs(leaves: Integers, labels: Integers) -> tuple[Integers, Integers, Words]:
    """Every leaf and label that there is, and how often."""
    both, count = np.unique(leaves * np.int64(2**31) + labels, return_counts=True)
    return both // 2**31, both % 2**31, count.astype(np.uint64)


def as_words(bits: NDArray[np.bool_]) -> Words:
    """Bits (items x dims + 1 x m) as the core packs them: 64 per word, the first one lowest."""
    items, rest = len(bits), int(np.prod(bits.shape[1:]))
    padded = np.zeros((items, -(-rest // 64) * 64), dtype=bool)
    padded[:, :rest] = bits.reshape(items, rest)
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64, copy=False)


def set_bits(rows: Words) -> Integers:
    """How many bits of each row are set."""
    octets: NDArray[Any] = np.ascontiguousarray(rows).view(np.uint8)
    counts: Integers = SET_BITS[octets].sum(axis=1, dtype=np.int64)
    return counts

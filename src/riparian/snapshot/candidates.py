"""Whether the candidates of active leaves are safe: the core uses their counts as indices of tables.

For few points, the core looks up F(n) (R14) at the counts of either side of each candidate. So no
candidate may have more points on its left than its split point has seen, and no split point more than
the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian.engine.pieces import begins, places
from riparian.engine.trees import StreamCounts
from riparian.snapshot.arrays import Integers, Trees, shapes
from riparian.snapshot.errors import check_sum, every
from riparian.snapshot.header import Header

Words = NDArray[np.uint64]

SET_BITS = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
MOST_POINTS = 2**31  # that a leaf keeps: their capacity is a 32-bit power of two


@dataclass(frozen=True)
class Shape:
    """The active leaves with equal numbers of dimensions and split points, as rectangular arrays."""

    leaves: Integers  # among the active ones
    dims: int
    split_points: int
    words: int  # of the bits of a point
    born: Words  # leaves x split points
    unused: NDArray[np.bool_]  # leaves x dims x split points: the threshold is NaN (R4)


@dataclass(frozen=True)
class Kept:
    """The points that some leaves of a shape keep, leaf after leaf."""

    inside: Integers  # the indices of these leaves in the shape
    length: Integers  # how many points each keeps
    labels: Integers
    met: Integers  # how many split points existed when each point arrived


@dataclass(frozen=True)
class RowCounts:
    """The counts of some leaves of a shape."""

    inside: Integers  # the indices of these leaves in the shape
    length: Integers  # how many rows each has, one per class
    everyone: Words  # rows x split points: points of the class that the split point has seen


class Candidates:
    """The active leaves of all trees: young ones, which have no candidates, and settled ones."""

    def __init__(self, trees: Trees, header: Header) -> None:
        self.trees = trees
        self.header = header
        self.streams: dict[str, StreamCounts] = {
            "structure": trees.structure,
            "estimation": trees.estimation,
        }
        self.most_split_points = header.parameters.split_points  # m
        self.dims = trees.dims.astype(np.int64)
        self.words = shapes(trees.dims, self.most_split_points)[1].astype(np.int64)
        self.split_points = trees.split_points.astype(np.int64)
        self.young = trees.next_look > 0
        self.length = {s: mine.length.astype(np.int64) for s, mine in self.streams.items()}
        self.counted = {s: mine.counted > 0 for s, mine in self.streams.items()}

    def check(self) -> None:
        self.check_leaves()
        if self.header.numbers:
            for shape in self.shapes():
                for stream in self.streams:
                    self.check_sums(stream, shape)
            return
        for stream in self.streams:
            self.check_lengths(stream)
        for shape in self.shapes():
            for stream in self.streams:
                self.check_bits(stream, shape)
                self.check_rows(stream, shape)

    def check_leaves(self) -> None:
        trees, dims, most, young = self.trees, self.dims, self.header.n_dims, self.young
        if self.header.kept_points:
            every(young == (dims == 0), "next_look must be set exactly where dims is 0")
        every(young | (dims >= 1) & (dims <= most), f"dims must be from 1 to {most}")
        every(self.split_points <= self.most_split_points, "split_points must be at most m")
        # Young leaves have no entries: the core would read those of the next leaves instead.
        for name in ("split_points", "summed"):
            every(getattr(trees, name)[young] == 0, f"{name} must be 0 in a young leaf")
        for stream, mine in self.streams.items():
            every(mine.counted[young] == 0, f"{stream}_counted must be 0 in a young leaf")
            every(mine.length[young] == 0, f"{stream}_length must be 0 in a young leaf")
        every(
            trees.summed <= self.counted["structure"],
            "summed must be 0 or 1, and 0 where no structure points are counted",
        )
        check_features(trees.candidate_dims, self.header, "candidate_dims")
        every(~np.isinf(trees.split_threshold), "split_threshold must not be infinite")

    def check_lengths(self, stream: str) -> None:
        """Check that rows and labels are those of classes that have arrived."""
        length, counted, arrived = self.length[stream], self.counted[stream], self.header.arrived
        every((length >= 1)[counted], f"{stream}_length must not be 0 where points are counted")
        every((length <= arrived)[counted], f"{stream}_length: more rows than classes")
        every((self.split_points >= 1)[counted], f"{stream}_counted without a split point")
        keeps = (length > 0) & ~counted
        every((self.split_points >= 1)[keeps], f"{stream}_length: points, but no split point")
        every((length < MOST_POINTS)[keeps], f"{stream}_length must be below 2^31")
        labels = self.streams[stream].label
        every(labels < arrived, f"{stream}_label must be a class that has arrived")

    def shapes(self) -> Iterator[Shape]:
        """Yield the leaves by shape, without those that have no split point to check."""
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
                words=int(self.words[leaves[0]]),
                born=self.trees.split_point_born[born_at[leaves, None] + np.arange(points)],
                unused=np.isnan(thresholds),
            )

    def check_bits(self, stream: str, shape: Shape) -> Kept:
        """Check the bits of the kept points of these leaves, and return the points.

        The bits of the last row say which split points a point has met. The bit of a candidate may be
        set only for one of these, and only if its threshold is a number. No other bit may be set.
        """
        mine, counted = self.streams[stream], self.counted[stream]
        inside = np.flatnonzero(~counted[shape.leaves])
        kept = shape.leaves[inside]
        points = np.where(counted, 0, self.length[stream])
        n, width = points[kept], shape.words
        labels = mine.label[places(begins(points)[kept], n)]
        where = places(begins(points * self.words)[kept], n * width)
        bits = mine.bits[where].reshape(-1, width)

        everyone = np.zeros((1, shape.dims + 1, self.most_split_points), dtype=bool)
        everyone[:, -1] = True
        met = set_bits(bits & as_words(everyone))
        every(met <= shape.split_points, f"{stream}_bits: more split points than there are")
        several, which = np.unique(met, return_inverse=True)
        allowed = np.zeros((len(several), *everyone.shape[1:]), dtype=bool)
        allowed[:] = (np.arange(self.most_split_points) < several[:, None])[:, None, :]
        strays = bits & ~as_words(allowed)[which]
        every(~strays.any(axis=1), f"{stream}_bits: a bit is set that has no meaning")

        nan = np.flatnonzero(shape.unused[inside].any(axis=(1, 2)))
        if len(nan):
            never = np.zeros((len(nan), *everyone.shape[1:]), dtype=bool)
            never[:, :-1, : shape.split_points] = shape.unused[inside[nan]]
            place = np.full(len(kept), -1)
            place[nan] = np.arange(len(nan))
            owner = np.repeat(place, n)
            left = bits[owner >= 0] & as_words(never)[owner[owner >= 0]]
            every(~left.any(axis=1), f"{stream}_bits: no point may go left of NaN (R4)")
        return Kept(inside, n, labels.astype(np.int64), met)

    def check_rows(self, stream: str, shape: Shape) -> RowCounts:
        """Check the counts of these leaves, and return them. No point is left of a threshold NaN."""
        mine, counted = self.streams[stream], self.counted[stream]
        inside = np.flatnonzero(counted[shape.leaves])
        leaves = shape.leaves[inside]
        lengths = np.where(counted, self.length[stream], 0)
        rows, size = lengths[leaves], (shape.dims + 1) * shape.split_points
        starts = begins(lengths * (self.dims + 1) * self.split_points)
        table = mine.count[places(starts[leaves], rows * size)]
        table = table.reshape(-1, shape.dims + 1, shape.split_points)
        left, everyone = table[:, :-1], table[:, -1]
        less = (left <= everyone[:, None]).all(axis=(1, 2))
        every(less, f"{stream}_count: more points go left than arrive")
        falls = (everyone[:, 1:] <= everyone[:, :-1]).all(axis=1)
        every(falls, f"{stream}_count: a later split point has seen more")
        unused = np.repeat(shape.unused[inside], rows, axis=0)
        every(~left[unused].astype(bool), f"{stream}_count: no point may go left of NaN (R4)")
        check_sum(everyone[:, 0], f"{stream}_count")
        return RowCounts(inside, rows, everyone)

    def check_sums(self, stream: str, shape: Shape) -> Words:
        """Check the weights and sums of numbers left of each candidate of these leaves (R26).

        Return the weights: leaves x dims x split points, and after the last dimension those of all
        points that the split point has seen.
        """
        weight, sums, squares = (
            getattr(self.trees, f"{stream}_{name}") for name in ("weight", "sum", "squares")
        )
        size = (shape.dims + 1) * shape.split_points
        starts = begins((self.dims + 1) * self.split_points)
        at = starts[shape.leaves, None] + np.arange(size)
        table: Words = weight[at].reshape(-1, shape.dims + 1, shape.split_points)
        left, everyone = table[:, :-1], table[:, -1]
        less = (left <= everyone[:, None]).all(axis=(1, 2))
        every(less, f"{stream}_weight: more points go left than arrive")
        falls = (everyone[:, 1:] <= everyone[:, :-1]).all(axis=1)
        every(falls, f"{stream}_weight: a later split point has seen more")
        every(
            ~left[shape.unused].astype(bool), f"{stream}_weight: no point may go left of NaN (R4)"
        )
        check_sum(everyone[:, 0], f"{stream}_weight")
        every(np.isfinite(sums), f"{stream}_sum must be finite")
        every(squares >= 0, f"{stream}_squares must be at least 0")
        return table


def check_features(features: NDArray[Any], header: Header, name: str) -> None:
    """Check that features are existing columns, or finite offsets."""
    if header.depth:
        every(np.isfinite(features).all(axis=1), f"{name} must be finite")
    else:
        every(features < header.n_dims, f"{name} must be below {header.n_dims}")


def as_words(bits: NDArray[np.bool_]) -> Words:
    """Pack bits (items x dims + 1 x m) as the core does: 64 per word, the first one lowest."""
    items, rest = len(bits), int(np.prod(bits.shape[1:]))
    padded = np.zeros((items, -(-rest // 64) * 64), dtype=bool)
    padded[:, :rest] = bits.reshape(items, rest)
    packed = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(packed).view("<u8").astype(np.uint64, copy=False)


def set_bits(rows: Words) -> Integers:
    """Return how many bits of each row are set."""
    octets: NDArray[Any] = np.ascontiguousarray(rows).view(np.uint8)
    counts: Integers = SET_BITS[octets].sum(axis=1, dtype=np.int64)
    return counts

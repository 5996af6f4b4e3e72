"""Trust in shards (R25): what the trees of each shard say of the points, added up to T of the forest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riparian import _core
from riparian.parameters.forests import NumberParameters, StreamParameters


@dataclass(frozen=True)
class Mark:
    """T before a point of the stream; of answers that follow the last targets, also these (R29)."""

    point: int
    evidence: tuple[float, ...]

    @classmethod
    def first(cls, width: int) -> Mark:
        return cls(0, (0.0,) * width)


@dataclass(frozen=True)
class Judged:
    """What trees say of consecutive points before they learn them.

    A row is a point: for each head, the sum of the shares that the trees give to the true class, and
    then the number of trees that do not abstain. A row of numbers (R26) has two more entries: the
    target, less the first one, as the bits of a float64; and the scale before the point.
    """

    first: int  # the number of the first point
    sums: NDArray[np.int64]

    @property
    def stop(self) -> int:
        return self.first + len(self.sums)

    def between(self, first: int, stop: int) -> Judged:
        """Return the part of it from one point to another."""
        first = max(first, self.first)
        return Judged(first, self.sums[first - self.first : max(0, stop - self.first)])


class Log:
    """What the trees of a shard say of the points from `start` to `stop`, in pieces.

    >>> log = Log(10, width=6)
    >>> log.add(Judged(10, np.full((4, 6), 1)))
    >>> log.add(Judged(12, np.full((5, 6), 2)))  # 12 and 13 are known
    >>> log.forget(before=13)
    >>> log.start, log.stop, log.since(13).sums[:, 0].tolist()
    (13, 17, [1, 2, 2, 2])
    """

    def __init__(self, start: int, width: int) -> None:
        self.start = self.stop = start
        self._nothing = np.zeros((0, width), dtype=np.int64)
        self._pieces: deque[Judged] = deque()

    def add(self, judged: Judged) -> None:
        """Add what is new in it. A shard sends the same points again after it was restored."""
        assert judged.first <= self.stop, "points are missing"
        new = judged.between(self.stop, judged.stop)
        if len(new.sums):
            self._pieces.append(new)
            self.stop = new.stop

    def since(self, point: int) -> Judged:
        return self.between(point, self.stop)

    def between(self, first: int, stop: int) -> Judged:
        first = max(first, self.start)
        overlapping = (each for each in self._pieces if each.stop > first and each.first < stop)
        parts = [each.between(first, stop).sums for each in overlapping]
        return Judged(first, np.concatenate([self._nothing, *parts]))

    def forget(self, before: int) -> None:
        while self._pieces and self._pieces[0].stop <= before:
            self._pieces.popleft()
        if self._pieces:
            self._pieces[0] = self._pieces[0].between(before, self._pieces[0].stop)
        self.start = max(self.start, before)


class Trust:
    """T of a forest in shards, as far as all shards have reported.

    A shard that is restored, and a driver that attaches, start at a checkpoint. So earlier values of T
    are kept, back to the oldest checkpoint of any shard.
    """

    def __init__(self, n_shards: int, mark: Mark, parameters: StreamParameters) -> None:
        self._marks = deque([mark])
        self._numbers = isinstance(parameters, NumberParameters)  # rather than classes
        self._lag = parameters.lag
        width = len(parameters.heads) + 1 + 2 * self._numbers
        self._logs = [Log(mark.point, width) for _ in range(n_shards)]

    @property
    def now(self) -> Mark:
        return self._marks[-1]

    def add(self, shard: int, judged: Judged) -> None:
        """Add what a shard has reported, and update T point by point."""
        self._logs[shard].add(judged)
        first, stop = self.now.point, min(log.stop for log in self._logs)
        if stop == first:
            return
        parts = [log.between(first, stop).sums for log in self._logs]
        evidence = self._after([*self.now.evidence], parts)
        # Marks with many targets must not take more memory than what the shards say in between.
        if len(self._marks) > 1 and self.now.point - self._marks[-2].point < self._lag:
            self._marks.pop()
        self._marks.append(Mark(stop, tuple(evidence)))
        for log in self._logs:
            log.forget(stop)

    def _after(self, evidence: list[float], parts: list[NDArray[np.int64]]) -> list[float]:
        """Return T after these points, given what each shard says of them."""
        if not self._numbers:
            sums: Any = sum(parts)
            return _core.judged(evidence, sums)
        # Every shard has the same targets and scales (R26).
        sums = sum(part[:, :-2] for part in parts)
        targets, scales = np.ascontiguousarray(parts[0][:, -2:].T)
        numbers = targets.view(np.float64)
        return _core.judged_numbers(evidence, sums, numbers, int(scales[0]), self._lag)

    def oldest(self, saved: int) -> Mark:
        """Return the last T that no checkpoint is before, and forget earlier ones.

        Every shard has a checkpoint with at least `saved` points.
        """
        while len(self._marks) > 1 and self._marks[1].point <= saved:
            self._marks.popleft()
        return self._marks[0]


def truths(targets: NDArray[np.float64], scale: int) -> tuple[NDArray[np.int64], int]:
    """Return the last two columns of `Judged` for numbers, and the scale after these points."""
    scales = [*accumulate(map(_core.scale_of, targets.tolist()), max, initial=scale)]
    return np.column_stack([targets.view(np.int64), scales[:-1]]), scales[-1]


def recovered(marks: list[Mark], judged: list[Judged], parameters: StreamParameters) -> Trust:
    """Return T at the last point that all shards have learned, from what the shards know."""
    trust = Trust(len(marks), max(marks, key=lambda mark: mark.point), parameters)
    for shard, mine in enumerate(judged):
        trust.add(shard, mine)
    return trust

"""Rows whose labels come late: each waits until `delay` rows have come after it.

MOA and CapyMOA define a delay in the same way: with a delay of d, row i is predicted after the labels of
rows 0 to i - d were learned, and no others. So a delay of 1 is no delay: a label is known when the next
row comes.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from numpy.typing import ArrayLike

__all__ = ["LateLabels"]

Block = tuple[Any, Any, Any]  # points, labels, and the classes given with them


class LateLabels:
    """The rows that wait, in the order of the stream.

    >>> from riparian import OnlineForestClassifier
    >>> forest, late = OnlineForestClassifier(5, random_state=0), LateLabels(delay=3)
    >>> late.add([[0.1], [0.2], [0.3], [0.4]], [0, 0, 1, 1])
    >>> late.learn_due(forest)  # row 4 comes next: rows 0 and 1 are three or more before it
    >>> len(late), forest.classes_.tolist()
    (2, [0])
    """

    def __init__(self, delay: int) -> None:
        if delay < 0:
            raise ValueError(f"delay must be >= 0, got {delay!r}")
        self.delay = delay
        self.absent = 0  # rows that wait and have to be given again: only their number is known
        self._blocks: deque[Block] = deque()
        self._rows = 0

    def __len__(self) -> int:
        """Return how many rows wait."""
        return self._rows + self.absent

    def add(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> None:
        """Add rows that have just been predicted. `classes` is passed to `partial_fit`."""
        if self.absent:
            raise ValueError(
                f"{self.absent} earlier rows must be given again first: pass them to wait_again"
            )
        rows = _length(X, y)
        if rows:
            self._blocks.append((X, y, classes))
            self._rows += rows

    def add_again(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> None:
        """Add all rows of which only the number is known, after a restart."""
        if _length(X, y) != self.absent:
            raise ValueError(f"expected all {self.absent} rows that wait, got {_length(X, y)}")
        self.absent = 0
        self.add(X, y, classes)

    def learn_due(self, forest: Any) -> None:
        """Learn the rows whose labels are known when the next row comes."""
        self._learn(forest, keep=max(0, self.delay - 1))

    def learn_rest(self, forest: Any) -> None:
        """Learn all rows that wait, at the end of the stream."""
        self._learn(forest, keep=0)

    def _learn(self, forest: Any, keep: int) -> None:
        """Learn the oldest rows until `keep` are left. Rows that the forest refuses are dropped."""
        while self._rows > keep:
            X, y, classes = self._blocks.popleft()
            rows, due = len(y), self._rows - keep
            if rows > due:
                self._blocks.appendleft((rows_of(X, due, rows), rows_of(y, due, rows), classes))
                X, y = rows_of(X, 0, due), rows_of(y, 0, due)
            self._rows -= min(rows, due)
            more = () if classes is None else (classes,)  # forests of numbers have none
            forest.partial_fit(X, y, *more)


def _length(X: Any, y: ArrayLike) -> int:
    from sklearn.utils import check_consistent_length
    from sklearn.utils.validation import _num_samples

    check_consistent_length(X, y)
    return int(_num_samples(y))


def rows_of(values: Any, first: int, last: int) -> Any:
    """Return some rows of a list, an array, a sparse matrix or a table."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(values, slice(first, last))

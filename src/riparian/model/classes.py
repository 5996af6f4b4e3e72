"""The target of a classifier: it checks and numbers labels, and keeps classes in two orders.

The engine uses the order of arrival; the public order is sorted.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, column_or_1d

from riparian import _core
from riparian.engine.categories import is_missing
from riparian.engine.engine import Engine
from riparian.model import in_turn
from riparian.snapshot.labels import ClassesState
from riparian.tools.checks import LABEL_FAMILIES, label_family

SMALL = 2**12  # labels that are integers from 0 to here are looked up in a table
NOT_ARRIVED = 2**32 - 1  # in that table


class Classes:
    """The classes of a stream.

    If classes are given and not `open`, there are no others. Otherwise new classes join.
    """

    def __init__(self, classes: NDArray[Any] | None, *, open: bool = False) -> None:
        self.closed = classes is not None and not open
        self.classes: NDArray[Any] = np.array([]) if classes is None else classes
        self.known = self.classes  # before the first point
        self.joined: list[Any] = []  # those that were not known, in order of arrival
        self.arrived: list[Any] = []  # all that have arrived, in order; never shrinks
        self._number: dict[Any, int] = {}  # of each in that order
        self._family = None if classes is None else label_family(classes)
        self._table = self._make_table()  # of numbers, by label

    def __copy__(self) -> Classes:
        other = object.__new__(Classes)
        other.__dict__ = {
            **self.__dict__,
            "joined": [*self.joined],
            "arrived": [*self.arrived],
            "_number": {**self._number},
        }
        return other

    @classmethod
    def of_state(cls, state: ClassesState) -> Classes:
        target = cls(state.classes[state.known] if state.known else None, open=not state.closed)
        target.join(state.classes[state.arrived])
        return target

    def state(self) -> ClassesState:
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        known = [place[label] for label in self.known.tolist()]
        return ClassesState(self.classes, self.closed, known, [place[a] for a in self.arrived])

    def join(self, y: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the number of each label in order of arrival. All are checked before any joins."""
        if len(y) == 0:
            return np.empty(0, dtype=np.uint32)
        looked_up = self._look_up(y)
        if looked_up is not None:
            numbers, new = looked_up
            if new:
                ordered = sorted(new)
                self._check_allowed(ordered)
                self._arrive(new, np.array(ordered, dtype=y.dtype))
            return numbers
        unique, first, inverse = np.unique(y, return_index=True, return_inverse=True)
        labels = unique.tolist()
        self._family = self._checked_family(unique, labels)
        new = [labels[i] for i in np.argsort(first) if labels[i] not in self._number]
        if new:
            self._arrive(new, unique)
        numbers = np.array([self._number[label] for label in labels], dtype=np.uint32)
        return numbers[inverse]

    def join_values(self, labels: list[Any]) -> list[int]:
        """Return what `join` does, for Python values, each of which becomes an array of its type."""
        arrays = [_as_array(label) for label in labels]
        trial = copy.copy(self) if len(arrays) > 1 else self  # all of them join, or none
        numbers = [int(trial.join(array)[0]) for array in arrays]
        self.__dict__ = trial.__dict__
        return numbers

    def number(self, y: NDArray[Any]) -> int | None:
        """Return the number of a label that is an integer and has arrived; otherwise None."""
        if self._family != "int" or y.dtype.kind not in "iu":
            return None
        return self._number.get(y.item())

    @property
    def outputs(self) -> int:
        return len(self.classes)

    def standing(self) -> int:
        return len(self.arrived)

    def tell(self, engine: Engine) -> None:
        """Pass the classes to the engine."""
        engine.set_classes(self.rank(), len(self.classes))

    def answers(self, engine: Engine, points: Any, workers: int) -> NDArray[np.float64]:
        """Return the probability of each class."""
        return engine.predict_proba(points, workers)

    def labels_of(self, joined: NDArray[Any]) -> NDArray[Any]:
        """Return the labels of these numbers."""
        labels: NDArray[Any] = self.classes[self.rank()[joined]]
        return labels

    def predicted(self, answers: NDArray[np.float64]) -> NDArray[Any]:
        """Return the most probable class of each point, the first among equals."""
        labels: NDArray[Any] = self.classes_when(answers.shape[1])[answers.argmax(axis=1)]
        return labels

    def answers_in_turn(
        self,
        before: Classes,
        answers: NDArray[np.float64],
        y: NDArray[Any],
        joins: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return probabilities: 0 for a class that was not known yet."""
        known = set(before.classes.tolist())
        joined = [
            -1 if label in known else int(np.argmax(joins & (y == label)))
            for label in self.classes.tolist()
        ]
        return in_turn.of_known_classes(answers, np.array(joined, dtype=np.intp))

    def rank(self) -> NDArray[np.intp]:
        """Return the index in `classes` of each label that has arrived."""
        if not self.arrived:
            return np.empty(0, dtype=np.intp)
        return self.classes.searchsorted(np.array(self.arrived, dtype=self.classes.dtype))

    def classes_when(self, n_classes: int) -> NDArray[Any]:
        """Return the classes as of when there were `n_classes`; others may have joined since."""
        classes = self.classes
        if len(classes) == n_classes:
            return classes
        joined = np.array(self.joined[: n_classes - len(self.known)], dtype=classes.dtype)
        return merge(self.known, np.sort(joined))

    def check_same(self, classes: NDArray[Any]) -> None:
        if not self.closed:
            raise ValueError(
                "classes must be given in the first call or not at all, got "
                f"{classes.tolist()!r} when the forest had already started without them"
            )
        if not np.array_equal(classes, self.classes):
            raise ValueError(
                f"classes must stay as in the first call, {self.classes.tolist()!r}, "
                f"got {classes.tolist()!r}"
            )

    def check(self, y: NDArray[Any]) -> None:
        """Raise an error if a label may not join; nothing changes."""
        if len(y) == 0:
            return
        looked_up = self._look_up(y)
        if looked_up is None:
            unique = np.unique(y)
            self._checked_family(unique, unique.tolist())
        elif looked_up[1]:
            self._check_allowed(sorted(looked_up[1]))

    def _look_up(self, y: NDArray[Any]) -> tuple[NDArray[np.uint32], list[int]] | None:
        """Return what `join` would, and the new labels in order; None if one is not in the table.

        Most labels are small integers, and sorting them would take longer.
        """
        table = self._table  # another thread may replace it
        if len(table) == 0 or y.dtype.kind not in "iu" or y.dtype == np.uint64:
            return None
        return _core.arrivals(y.astype(np.int64, copy=False), table, NOT_ARRIVED, len(self.arrived))

    def _arrive(self, new: list[Any], ordered: NDArray[Any]) -> None:
        """Number new labels in their order. `ordered`: they and maybe others, sorted."""
        known = set(self.classes.tolist())
        unknown = [label for label in new if label not in known]
        if unknown:
            joining = set(unknown)
            self.classes = merge(
                self.classes, ordered[[label in joining for label in ordered.tolist()]]
            )
        for label in new:
            self._number[label] = len(self.arrived)
            self.arrived.append(label)
        self.joined += unknown
        self._table = self._make_table()

    def _make_table(self) -> NDArray[np.uint32]:
        """Make a table of the numbers of small classes, indexed by label."""
        classes = self.classes.tolist() if self._family == "int" else []
        size = max((label for label in classes if 0 <= label < SMALL), default=-1) + 1
        table = np.full(size, NOT_ARRIVED, dtype=np.uint32)
        if size:
            for number, label in enumerate(self.arrived):
                if 0 <= label < size:
                    table[label] = number
        return table

    def _checked_family(self, unique: NDArray[Any], labels: list[Any]) -> str:
        kind = label_family(unique)
        if self._family is not None and kind != self._family:
            raise ValueError(f"y must hold labels of type {self._family}, got {kind}")
        self._check_allowed(labels)
        return kind

    def _check_allowed(self, labels: list[Any]) -> None:
        if not self.closed:
            return
        known = set(self.classes.tolist())
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise ValueError(
                f"y must hold only the classes that were given, {self.classes.tolist()!r}, "
                f"got {unknown!r}"
            )


def distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return what `np.unique` does, in half the time for a few integers."""
    if labels.dtype.kind in "iu":
        return np.array(sorted({*labels.tolist()}), dtype=labels.dtype)
    return np.unique(labels)


def merge(known: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
    """Return both arrays as one, sorted. Integers of any width stay integers."""
    if len(known) == 0 or len(new) == 0:
        return new if len(known) == 0 else known
    if known.dtype.kind in "iu" and new.dtype.kind in "iu" and known.dtype != new.dtype:
        exact = sorted({*known.tolist(), *new.tolist()})
        if exact[0] < 0 and exact[-1] >= 2**63:
            raise ValueError(f"labels must fit int64 or uint64, got {exact[0]} and {exact[-1]}")
        return np.array(exact, dtype=np.uint64 if exact[-1] >= 2**63 else np.int64)
    return np.union1d(known, new)


def checked_labels(y: Any, name: str) -> NDArray[Any]:
    """Return labels as an array, or raise an error that names `name`."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y
    if isinstance(y, list | tuple) and len({isinstance(label, str) for label in y}) > 1:
        y = np.array(y, dtype=object)  # otherwise numbers and NaN among texts become texts
    if getattr(getattr(y, "dtype", None), "kind", None) == "O":
        labels: NDArray[Any] = np.ravel(y)
        gone = [row for row, label in enumerate(labels.tolist()) if is_missing(label)]
        if gone:
            raise ValueError(
                f"y must have a label for every row, got {labels[gone[0]]!r} in row {gone[0]}; leave "
                f"out the rows without one, {len(gone)} of {len(labels)}"
            )
        label_family(labels)
    y = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    labels = column_or_1d(y, warn=True)
    # scikit-learn's own check of targets warns of many classes in few rows; batches are like that.
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        fraction = labels[labels != np.floor(labels)][0]
        raise ValueError(f"Unknown label type: continuous. y must hold classes, got {fraction}")
    return labels


def checked_classes(classes: Any) -> NDArray[Any]:
    """Return the distinct labels, sorted, or raise an error."""
    unique = distinct(checked_labels(classes, name="classes"))
    if len(unique) == 0:
        raise ValueError("classes must name at least one label, got none")
    return unique


def _as_array(label: Any) -> NDArray[Any]:
    array = np.array([label.item() if isinstance(label, np.generic) else label])
    if array.shape != (1,) or array.dtype.kind not in LABEL_FAMILIES or label != label:
        raise ValueError(f"y must be a bool, an int, a float or a str, got {label!r}")
    return array

"""Labels and their two orders: that of arrival, which the engine uses, and the public, sorted one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Labels of one of these families can be sorted among each other; numpy would mix them silently.
FAMILIES = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str", "S": "bytes"}


class Labels:
    """The labels of a stream. Given beforehand they are all there is; otherwise new ones join."""

    def __init__(self, classes: NDArray[Any] | None) -> None:
        self.closed = classes is not None
        self.classes: NDArray[Any] = np.array([]) if classes is None else classes
        self.arrived: list[Any] = []  # in order of arrival; never shrinks
        self._number: dict[Any, int] = {}  # of each in that order
        self._family = family(self.classes) if self.closed else None

    def __copy__(self) -> Labels:
        other = object.__new__(Labels)
        other.__dict__ = {**self.__dict__, "arrived": [*self.arrived], "_number": {**self._number}}
        return other

    def join(self, y: NDArray[Any]) -> NDArray[np.uint32]:
        """The number of each label in order of arrival; all of them are checked before any joins."""
        if len(y) == 0:
            return np.empty(0, dtype=np.uint32)
        unique, first, inverse = np.unique(y, return_index=True, return_inverse=True)
        labels = unique.tolist()
        self._check(unique, labels)
        new = [i for i in np.argsort(first) if labels[i] not in self._number]
        for i in new:
            self._number[labels[i]] = len(self.arrived)
            self.arrived.append(labels[i])
        if new and not self.closed:
            known = unique[np.sort(new)]
            self.classes = np.union1d(self.classes, known) if len(self.classes) else known
        numbers = np.array([self._number[label] for label in labels], dtype=np.uint32)
        return numbers[inverse]

    def rank(self) -> NDArray[np.intp]:
        """The place among `classes` of each label that has arrived."""
        if not self.arrived:
            return np.empty(0, dtype=np.intp)
        return np.searchsorted(self.classes, np.array(self.arrived, dtype=self.classes.dtype))

    def classes_when(self, n_classes: int) -> NDArray[Any]:
        """The classes as they were when there were so many: others may have joined meanwhile."""
        classes = self.classes
        if len(classes) == n_classes:
            return classes
        return np.sort(np.array(self.arrived[:n_classes], dtype=classes.dtype))

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

    def _check(self, unique: NDArray[Any], labels: list[Any]) -> None:
        kind = family(unique)
        if self._family is None:
            self._family = kind
        elif kind != self._family:
            raise ValueError(f"y must hold labels of type {self._family}, got {kind}")
        if self.closed:
            known = set(self.classes.tolist())
            unknown = [label for label in labels if label not in known]
            if unknown:
                raise ValueError(
                    f"y must hold only the classes that were given, {self.classes.tolist()!r}, "
                    f"got {unknown!r}"
                )


def family(labels: NDArray[Any]) -> str:
    if labels.dtype.kind == "O":
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        if len(kinds) != 1:
            raise ValueError(f"labels must all be of one type, got {', '.join(kinds)}")
        return kinds[0]
    try:
        return FAMILIES[labels.dtype.kind]
    except KeyError:
        raise ValueError(f"labels must be numbers, strings or bools, got {labels.dtype}") from None

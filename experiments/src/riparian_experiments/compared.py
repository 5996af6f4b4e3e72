"""The list of forests that a study compares, and the votes of their trees."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class Compared(StrEnum):
    """A list of forests: a study has one member per forest, in the order of its figure.

    A member names the field of the study's settings that makes the forest, and its label in figures
    and tables. So a new curve is one member and one field.

    >>> class Method(Compared):
    ...     ONLINE = "online", "online (ours)"
    >>> Method("online").label, f"{Method.ONLINE}"
    ('online (ours)', 'online')
    """

    label: str

    def __new__(cls, field: str, label: str = "") -> Self:
        member = str.__new__(cls, field)
        member._value_ = field
        member.label = label
        return member

    def of(self, settings: Any) -> Any:
        """Return the settings of this forest."""
        return getattr(settings, self.value)


Classes = NDArray[np.int64]  # an index per point; -1: no answer


def tree_accuracies(answers: NDArray[np.int64], truth: Classes) -> NDArray[np.float64]:
    """Return the accuracy of each tree, a column of `answers`. Abstaining counts as a mistake.

    >>> tree_accuracies(np.array([[0, 1], [1, -1]]), np.array([0, 1])).tolist()
    [1.0, 0.0]
    """
    return np.asarray((answers == truth[:, None]).mean(axis=0))


def majority(answers: NDArray[np.int64], n_classes: int) -> Classes:
    """Return the class that most trees answer, the smallest in a tie (R11).

    >>> majority(np.array([[2, 0, 2], [1, 0, -1]]), n_classes=3).tolist()
    [2, 0]
    """
    counts = np.stack([(answers == k).sum(axis=1) for k in range(n_classes)], axis=1)
    return np.asarray(counts.argmax(axis=1), dtype=np.int64)

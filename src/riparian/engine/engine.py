"""The protocol of an engine, which drives the trees of a forest.

The native engine has the trees in this process, `riparian.ray` has them in the processes of a cluster.
A model needs only this protocol.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import CategoryTables
from riparian.engine.trees import Arrays, Tree


class State(NamedTuple):
    """What an engine has learned. Parameters, classes and this state define it completely."""

    points: int  # received
    trees: list[Arrays]  # named in core/state_fields.hpp
    kept: Arrays | None  # the kept points (R19)


class Correction(NamedTuple):
    """How answers follow the last learned point (R29)."""

    error_share: float  # φ: how much of its error joins an answer
    target_share: float  # ψ: how much of an answer is its target
    target: float  # less the first target of the stream
    answer: float  # of the trees, before they learned it

    def of(self, plain: Any) -> Any:
        """Return answers of the forest, given those of the trees."""
        error = self.error_share * (self.target - self.answer)
        return plain + error + self.target_share * (self.target - plain)


class Engine(Protocol):
    """The trees of a forest. Classes are numbered in the order of their arrival; from numbers,
    the first of the stream is subtracted (R26).

    Points are rows of float32 or pixels, which the caller has checked. Learning is not part of the
    protocol: shards need to know the state of the model after each batch (`Model._feed`).
    """

    trees: range  # the numbers of the trees
    learning: threading.Lock  # held by the caller that learns, so that batches are whole

    @property
    def parameters(self) -> Any:
        """Return the parameters of the forest, checked and resolved."""

    @property
    def n_dims(self) -> int:
        """Return the number of dimensions from which a leaf draws its candidates."""

    @property
    def sparse(self) -> bool:
        """Return whether only the nonzero values of a kept point are stored."""

    @property
    def categories(self) -> CategoryTables | None:
        """Return the tables of the categorical columns (R22)."""

    @property
    def points(self) -> int:
        """Return the number of points received."""

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        """Set the place of each class that has arrived (`rank`) among the `n_classes` public ones."""

    def predict_proba(self, points: Any, workers: int) -> NDArray[np.float64]:
        """Return the probability of each class, in the public order (R11)."""

    def predict_trees(self, points: Any) -> NDArray[Any]:
        """Return the public index of the class that each tree predicts, -1 where it abstains.

        Of numbers, return the mean of each tree minus the first target; NaN where it abstains.
        """

    def apply(self, points: Any) -> NDArray[np.int64]:
        """Return the node number of the leaf of each point in each tree."""

    def stats(self) -> list[dict[str, int]]:
        """Return the counts of each tree."""

    def sizes(self) -> dict[str, int]:
        """Return the numbers of leaves and bytes of all trees, without visiting every leaf."""

    def importance(self) -> NDArray[np.int64]:
        """Return the gain of each column, summed over all splits (R14)."""

    def replacements(self) -> list[tuple[int, int]]:
        """Return the points at which a tree was replaced, each with the place of the tree (R27)."""

    def trust(self) -> dict[float, float] | None:
        """R25: the weight of each head in an answer; None if trees have no heads.

        A head is named by its size of cell, or by the factor of its memory (R27).
        """

    def correction(self) -> Correction | None:
        """R29: how answers follow the last learned point; None if they do not."""

    def set_judging(self, judging: bool) -> None:
        """R25: whether points judge the heads before they are learned, as they do at first."""

    def tree(self, i: int) -> Tree: ...

    def leaf_answers(self, i: int, nodes: NDArray[Any], n_classes: int) -> Any:
        """Return the answers of leaves of tree i, which are given by their nodes."""

    def kept(self) -> Arrays | None:
        """Return the kept points (R19), or None if the forest keeps none."""

    def kept_values(self, feature: int, draws: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Return values of a feature, drawn from the kept points."""

    def kept_bytes(self) -> int:
        """Return the size of the kept points, as the budget counts them (R19)."""

    def list_bytes(self) -> int:
        """Return the size of the lists that the trees have of them."""

    def save(self) -> State: ...

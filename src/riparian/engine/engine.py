"""What an engine is: the trees of a forest, wherever they live.

The native engine has them in this process, `riparian.ray` in the processes of a cluster. A model needs
nothing but this protocol.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import CategoryTables
from riparian.engine.trees import Arrays, Tree


class State(NamedTuple):
    """What an engine has learned. With its parameters and classes, this is all that it is."""

    points: int  # received
    trees: list[Arrays]  # named in core/state_fields.hpp
    kept: Arrays | None  # the kept points (R19)


class Engine(Protocol):
    """The trees of a forest. Labels are numbered in the order of their arrival.

    Points are rows of float32 or pixels; input has been checked before it arrives here. How points are
    learned is not part of it: shards need to know what the model is after each batch (`Model._feed`).
    """

    trees: range  # the numbers of the trees
    learning: threading.Lock  # held by the caller that learns, so that batches are whole

    @property
    def parameters(self) -> Any:
        """The parameters of the forest, checked and resolved."""

    @property
    def n_dims(self) -> int:
        """How many dimensions a leaf draws its candidates from."""

    @property
    def sparse(self) -> bool:
        """Whether only the non-zero values of a kept point are kept."""

    @property
    def categories(self) -> CategoryTables | None:
        """The tables of the categorical columns (R22)."""

    @property
    def points(self) -> int:
        """The number of points received."""

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        """`rank`: the place of each class that has arrived among the `n_classes` public ones."""

    def predict_proba(self, points: Any, workers: int) -> NDArray[np.float64]:
        """The probability of each class, in the public order (R11)."""

    def predict_trees(self, points: Any) -> NDArray[np.int64]:
        """The public place of the class that each tree answers, -1 where it abstains."""

    def apply(self, points: Any) -> NDArray[np.int64]:
        """The node number of the leaf of each point in each tree."""

    def stats(self) -> list[dict[str, int]]:
        """Counts per tree."""

    def sizes(self) -> dict[str, int]:
        """Leaves and bytes of all trees, without a look at every leaf."""

    def importance(self) -> NDArray[np.int64]:
        """The gain of each column, summed over all splits (R14)."""

    def replacements(self) -> list[tuple[int, int]]:
        """R23: the points at which a tree was replaced, each with the place of the tree."""

    def trust(self) -> dict[int, float] | None:
        """R25: the weight of each size of cell in an answer; None if trees have no heads."""

    def set_judging(self, judging: bool) -> None:
        """R25: whether points judge the heads before they are learned, as they do at first."""

    def tree(self, i: int) -> Tree: ...

    def leaf_answers(self, i: int, nodes: NDArray[Any], n_classes: int) -> Any:
        """What the leaves of tree i answer, given by their nodes."""

    def kept(self) -> Arrays | None:
        """The kept points (R19); None if there are none."""

    def kept_values(self, feature: int, draws: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Values of a feature, drawn from the kept points."""

    def kept_bytes(self) -> int:
        """The size of the kept points, as the budget counts them (R19)."""

    def list_bytes(self) -> int:
        """The size of the lists that the trees have of them."""

    def save(self) -> State: ...

"""The nodes on the path of a point to its leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, hstack

from riparian.inspection.view import TreeView, tree_view

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier


@overload
def decision_path(
    forest: OnlineForestClassifier, X: ArrayLike, tree: None = None
) -> tuple[Any, NDArray[np.int64]]: ...
@overload
def decision_path(forest: OnlineForestClassifier, X: ArrayLike, tree: int) -> Any: ...
def decision_path(forest: OnlineForestClassifier, X: ArrayLike, tree: int | None = None) -> Any:
    """Return the nodes that each point passes, from the root to its leaf.

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    X : array-like of shape (n_samples, n_features)
        The points.
    tree : int or None
        One tree, or all of them.

    Returns
    -------
    indicator : csr_matrix of shape (n_samples, n_nodes)
        1 where the point passes the node. Where `tree` is None, the nodes of all trees side by
        side.
    n_nodes_ptr : ndarray of shape (n_estimators + 1,)
        Only where `tree` is None: the columns from `n_nodes_ptr[i]` to `n_nodes_ptr[i + 1]` are
        those of tree i.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=2, eager=False, random_state=1)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> decision_path(forest, [[1], [4]], tree=0).toarray()
    array([[1, 1, 0, 1, 0],
           [1, 0, 1, 0, 0]])
    >>> indicator, n_nodes_ptr = decision_path(forest, [[1], [4]])
    >>> indicator.shape == (2, n_nodes_ptr[-1])
    True
    """
    # The leaves first: should another thread be learning, the trees seen later still have them.
    leaves = forest.apply(X)
    if tree is not None:
        view = tree_view(forest, tree)
        return _paths(leaves[:, tree], view)
    paths = [_paths(leaves[:, i], tree_view(forest, i)) for i in range(leaves.shape[1])]
    n_nodes_ptr = np.cumsum([0, *(path.shape[1] for path in paths)], dtype=np.int64)
    return hstack(paths, format="csr"), n_nodes_ptr


def _paths(leaves: NDArray[np.int64], view: TreeView) -> Any:
    """Go up from the leaf, for all points at once: a node has one parent, so its path is unique."""
    ends = np.cumsum(view.depth[leaves] + 1)
    indices = np.empty(ends[-1] if len(ends) else 0, dtype=np.int64)
    nodes, places = leaves, ends - 1
    while len(nodes):
        indices[places] = nodes
        below_root = nodes > 0
        nodes, places = view.parent[nodes[below_root]], places[below_root] - 1
    ones = np.ones(len(indices), dtype=np.int64)
    return csr_matrix((ones, indices, np.r_[0, ends]), shape=(len(leaves), view.node_count))

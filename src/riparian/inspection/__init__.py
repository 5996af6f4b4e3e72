"""Look inside a forest: its trees as text and figures, and the paths of points through them.

Everything here takes a fitted forest over rows and changes nothing in it. The figures need
matplotlib (`pip install "riparian[plot]"`); the rest does not.
"""

from riparian.inspection.export import export_graphviz, export_text
from riparian.inspection.partition import plot_partition
from riparian.inspection.paths import decision_path
from riparian.inspection.plot import plot_tree
from riparian.inspection.view import TreeView, tree_view

__all__ = [
    "TreeView",
    "tree_view",
    "export_text",
    "export_graphviz",
    "plot_tree",
    "plot_partition",
    "decision_path",
]

"""One tree as text: to read, or for Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riparian.inspection.colours import hexadecimal, shades_of_nodes
from riparian.inspection.view import TreeView
from riparian.inspection.words import Names, Words

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier


def export_text(
    forest: OnlineForestClassifier,
    tree: int = 0,
    *,
    feature_names: Names = None,
    class_names: Names = None,
    max_depth: int | None = 10,
    decimals: int = 2,
    show_counts: bool = False,
) -> str:
    """Return one tree as indented text, like scikit-learn's `export_text`.

    A leaf says which class it answers, from how many estimation points (N^e), and whether it is
    active: only an active leaf collects what it needs to split. A young leaf is active, and looks
    among the points that the forest keeps (R20). A missing value follows `>`, or `!=` or `not in`
    where the feature is categorical. After `in` come categories that are known now; the split also
    decides where one goes that joins later (R22).

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    tree : int
        Which tree.
    feature_names, class_names : sequence or None
        Names for the features, and for the classes in the order of `classes_`. None: the names that
        came with the data, else x[0], x[1], ...; the labels themselves.
    max_depth : int or None
        The depth of the deepest nodes shown; deeper branches are summed up. None: show all.
    decimals : int
        Of the thresholds.
    show_counts : bool
        Whether leaves show their estimation points class by class.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=1, eager=False, random_state=0)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> print(export_text(forest, feature_names=["height"]), end="")
    |--- height <= 1.00
    |   |--- class: ash, 5 estimation points, young
    |--- height >  1.00
    |   |--- height <= 2.00
    |   |   |--- class: ash, 6 estimation points, young
    |   |--- height >  2.00
    |   |   |--- class: oak, 8 estimation points, young
    """
    words = Words(forest, tree, feature_names, class_names, max_depth, decimals)
    view = words.view
    lines = []
    for node in words.shown():
        indent = "|   " * int(view.depth[node])
        if node > 0:
            parent = int(view.parent[node])
            sign = "<=" if node == view.left[parent] else "> "
            lines.append(f"{indent[4:]}|--- {words.condition(parent, sign)}")
        if words.cut(node):
            lines.append(f"{indent}|--- truncated: {words.leaves(node)}, {_summary(words, node)}")
        elif view.is_leaf[node]:
            counts = f"counts: {words.counts(node)} " if show_counts else ""
            lines.append(f"{indent}|--- {counts}{_summary(words, node)}, {words.state(node)}")
    return "\n".join(lines) + "\n"


def _summary(words: Words, node: int) -> str:
    return f"{words.best(node, ': ')}, {words.points(node, words.voter)}"


def export_graphviz(
    forest: OnlineForestClassifier,
    tree: int = 0,
    *,
    feature_names: Names = None,
    class_names: Names = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_counts: bool = False,
) -> str:
    r"""Return one tree in the DOT language, for Graphviz.

    A box has the colour of its class, stronger if it is purer; for numbers, stronger if the mean is
    larger. That of an inactive leaf is dashed. The points in it are estimation points, of an inner
    node those of the leaves below it. Graphviz itself is not needed here.

    Parameters
    ----------
    forest : OnlineForestClassifier
        A fitted forest.
    tree : int
        Which tree.
    feature_names, class_names : sequence or None
        Names for the features, and for the classes in the order of `classes_`. None: the names that
        came with the data, else x[0], x[1], ...; the labels themselves.
    max_depth : int or None
        The depth of the deepest nodes shown; one with branches shows the number of leaves below.
        None: show all.
    decimals : int
        Of the thresholds.
    show_counts : bool
        Whether boxes show their estimation points class by class.

    Examples
    --------
    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=1, eager=False, random_state=1)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> print(export_graphviz(forest, feature_names=["height"]), end="")
    digraph tree {
    node [shape=box, style="filled,rounded", fontname="helvetica"];
    edge [fontname="helvetica"];
    0 [label="height <= 2.00\n23 points\nclass ash", fillcolor="#d0ddea"];
    1 [label="height <= 1.00\n14 points\nclass ash", fillcolor="#789dc2"];
    0 -> 1 [labeldistance=2.5, labelangle=45, headlabel="True"];
    3 [label="young\n8 points\nclass ash", fillcolor="#789dc2"];
    1 -> 3;
    4 [label="young\n6 points\nclass ash", fillcolor="#789dc2"];
    1 -> 4;
    2 [label="young\n9 points\nclass oak", fillcolor="#f39d6c"];
    0 -> 2 [labeldistance=2.5, labelangle=-45, headlabel="False"];
    }
    """
    words = Words(forest, tree, feature_names, class_names, max_depth, decimals)
    view = words.view
    colours = shades_of_nodes(view)
    lines = [
        "digraph tree {",
        'node [shape=box, style="filled,rounded", fontname="helvetica"];',
        'edge [fontname="helvetica"];',
    ]
    for node in words.shown():
        label = "\\n".join(_escaped(line) for line in words.box(node, "<=", show_counts))
        inactive = view.is_leaf[node] and not view.active[node]
        style = ', style="filled,rounded,dashed"' if inactive else ""
        lines.append(f'{node} [label="{label}", fillcolor="{hexadecimal(colours[node])}"{style}];')
        if node > 0:
            parent = int(view.parent[node])
            lines.append(f"{parent} -> {node}{_answer(view, parent, node)};")
    return "\n".join([*lines, "}"]) + "\n"


def _answer(view: TreeView, parent: int, node: int) -> str:
    """The edges of the root name the sides."""
    if parent != 0:
        return ""
    angle, answer = (45, "True") if node == view.left[parent] else (-45, "False")
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{answer}"]'


def _escaped(text: str) -> str:
    """Escape a text for a quoted string of DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

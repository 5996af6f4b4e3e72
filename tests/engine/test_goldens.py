"""Seeded trees as text: a change of any rule, draw or rounding shows up in a diff that can be read.

The files under `goldens` are what the reference says;
`PYTHONPATH=tests python tests/engine/test_goldens.py` writes them again. A golden that changes
is a forest that users will not get again: say so in the changelog.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riparian.parameters.schedules import Geometric
from riparian.reference import Draws, key

from engines import Reference, both_engines, learned, parameters

pytestmark = pytest.mark.engine

GOLDENS = Path(__file__).parents[1] / "goldens"


MEANS = ((2, 2), (6, 2), (4, 0), (8, 0), (5, 2))


def mixture(n, seed=0):
    """Five overlapping classes, from our own draws: numpy's may change with its version."""
    draws = Draws(key(seed))
    y = [draws.below(5) for _ in range(n)]
    X = [[mean + 1.5 * nearly_normal(draws) for mean in MEANS[label]] for label in y]
    return np.array(X, dtype=np.float32), np.array(y)


def nearly_normal(draws):
    return sum(draws.uniform() for _ in range(12)) - 6.0


def mixture_with_a_fringe_of_three():
    X, y = mixture(400)
    return parameters(seed=1, fringe_size=3, alpha=Geometric(2, 1.2)), X, y


def ties_and_missing_values():
    X, y = mixture(300, seed=1)
    X = np.round(X / 4)  # many ties, so that candidates are drawn again (R8)
    X[::7, 0] = np.nan
    return parameters(seed=2, candidate_dims=0.0, min_gain=0.5, beta=4), X, y


def names_that_come_late():
    X, y = mixture(300, seed=2)
    y = np.array(["oak", "ash", "elm", "fir", "yew"])[np.where(np.arange(300) < 150, y % 2, y)]
    return parameters(seed=3, fringe_size=2, alpha=Geometric(4, 1.2), ignore_fraction=0.2), X, y


def eager():
    X, y = mixture(250, seed=4)
    return parameters(seed=4, n_trees=3, eager=True, kept_points=400), X, y


def eager_then_honest():
    X, y = mixture(500, seed=5)
    X[::7, 1] = np.nan
    return parameters(seed=5, n_trees=3, eager=True, kept_points=150, beta=20), X, y


CASES = {
    case.__name__: case
    for case in (
        mixture_with_a_fringe_of_three,
        ties_and_missing_values,
        names_that_come_late,
        eager,
        eager_then_honest,
    )
}


def render(engine):
    """The first tree on paper, and what heads say (R25) if it has any."""
    heads = engine.heads()
    return render_tree(engine.tree()) + (render_heads(heads) if heads else "")


def render_heads(heads):
    trust, tree = heads
    lines = [f"trust in {size}: {weight!r}" for size, weight in trust.items()]
    lines += [f"floor {tree['floor']}, scores {tree['scores']}"]
    lines += [f"{node}: votes {votes}" for node, votes in sorted(tree["votes"].items())]
    lines += [f"{node}: eager {votes}" for node, votes in sorted((tree["eager"] or {}).items())]
    return "\n".join(lines) + "\n"


def render_tree(tree):
    """A line a node, children indented below their parent, left before right."""
    lines = []

    def visit(number, indent):
        node = tree[number]
        lines.append("  " * indent + f"{number}: " + describe(node))
        if node[0] == "split":
            visit(node[3], indent + 1)
            visit(node[3] + 1, indent + 1)

    visit(0, 0)
    return "\n".join(lines) + "\n"


def describe(node):
    if node[0] == "split":
        _, dim, threshold, _ = node
        return f"x[{dim}] <= {as_float(threshold)}"
    _, _, born, counts, active, *fringe = node
    line = " ".join(f"{label}:{n}" for label, n in counts.items()) + f", born {born}"
    if not active:
        return line + ", inactive"
    attempt, received, dims, candidates = fringe
    drawn = f"attempt {attempt}, received {received}, dims {dims}, candidates {len(candidates)}"
    return f"{line}, {drawn}"


def as_float(bits):
    return "nan" if bits == -1 else repr(float(np.uint32(bits).view(np.float32)))


def golden(name):
    return GOLDENS / f"{name}.txt"


@both_engines
@pytest.mark.parametrize("name", CASES)
def test_a_seeded_tree_is_as_it_was_written_down(Engine, name):
    assert render(learned(Engine, *CASES[name]())) == golden(name).read_text("utf-8")


def test_every_golden_is_of_a_case():
    assert {path.stem for path in GOLDENS.glob("*.txt")} == set(CASES)


def test_the_goldens_show_what_they_are_for():
    full, ties, late, eager, honest = (golden(name).read_text("utf-8") for name in CASES)
    assert full.count("attempt") == 3
    assert full.count("inactive") > 3
    assert "attempt 1" in ties
    assert "yew" in late
    assert "floor 1" in eager and "eager" not in eager
    assert "floor None" in honest and "eager 0" in honest and "eager 1" in honest


if __name__ == "__main__":
    for name, case in CASES.items():
        golden(name).write_text(render(learned(Reference, *case())), "utf-8")

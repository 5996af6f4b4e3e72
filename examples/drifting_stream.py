"""A stream that changes: compare a forest that follows it with one that does not.

    python examples/drifting_stream.py             # five classes that change places twice
    python examples/drifting_stream.py FILE.csv    # numbers, and the class in the last column

Every row is predicted before it is learned. One forest assumes a steady stream, and its old
points keep counting; the adaptive one replaces the trees whose error rises.
"""

import sys

import numpy as np

from riparian import AdaptiveForestClassifier, OnlineForestClassifier
from riparian.evaluation import Prequential
from riparian.streams import GaussianMixture

BLOCK = 20  # rows that are predicted, then learned
TELL = 1000  # rows from one line to the next


def changing() -> tuple[np.ndarray, np.ndarray]:
    """Points whose classes turn round after 4,000 of them, and turn back after 8,000."""
    X, y = GaussianMixture.paper().sample(12_000, random_state=0)
    y[4000:8000] = 4 - y[4000:8000]
    return X, y


def from_file(path: str) -> tuple[np.ndarray, np.ndarray]:
    table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
    return table[:, :-1].astype(np.float32), table[:, -1]


def main() -> None:
    X, y = from_file(sys.argv[1]) if len(sys.argv) > 1 else changing()
    forests = {
        "steady": OnlineForestClassifier(20, random_state=0),
        "adaptive": AdaptiveForestClassifier(20, random_state=0),
    }
    tests = {name: Prequential(window=TELL) for name in forests}
    print("accuracy of the last", TELL, "rows\n   rows", *(f"{name:>9}" for name in forests))
    for first in range(0, len(y), BLOCK):
        some = slice(first, first + BLOCK)
        for name, forest in forests.items():
            tests[name].test_then_train(forest, X[some], y[some])
        if (first + BLOCK) % TELL == 0:
            shown = (f"{test.window_accuracy:9.3f}" for test in tests.values())
            print(f"{first + BLOCK:7,}", *shown)
    print("    all", *(f"{test.scores.accuracy:9.3f}" for test in tests.values()))

    adaptive = forests["adaptive"]
    for point, tree in adaptive.replacements_[:3]:
        print(f"point {point:,}: tree {tree} was replaced")
    print(f"{len(adaptive.replacements_)} in all")


if __name__ == "__main__":
    main()

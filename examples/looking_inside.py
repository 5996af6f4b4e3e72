"""Look inside a forest: which features matter, the splits of a tree, and its cells in the plane.

The stream is the paper's mixture of five Gaussians, with two features of pure noise added. Needs
matplotlib (`pip install "riparian[plot]"`).
"""

import argparse
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write files, open no window

import matplotlib.pyplot as plt
import numpy as np

from riparian import Geometric, OnlineForestClassifier
from riparian.inspection import export_text, plot_partition, plot_tree
from riparian.streams import GaussianMixture

FEATURES = ["east", "north", "noise 1", "noise 2"]
TREES = ["ash", "elm", "fir", "oak", "yew"]


def stream(n, seed):
    X, y = GaussianMixture.paper().sample(n, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(n, 2))
    return np.column_stack([X, noise]), np.array(TREES)[y]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="folder for the figures (default: a new one)")
    output = parser.parse_args().output or Path(tempfile.mkdtemp(prefix="riparian-"))
    output.mkdir(parents=True, exist_ok=True)

    X, y = stream(10_000, seed=0)
    # Leaves wait for points: among a handful, any feature seems to gain something, even noise.
    forest = OnlineForestClassifier(50, alpha=Geometric(20, 1.2), min_gain=0.1, random_state=0)
    forest.partial_fit(X, y)

    print("Which features matter:")
    for name, importance in zip(FEATURES, forest.feature_importances_, strict=True):
        print(f"{name:>9}  {importance:.3f}  {'#' * round(60 * importance)}")

    print("\nThe first tree, down to depth 2:")
    print(export_text(forest, 0, feature_names=FEATURES, max_depth=2))

    texts = plot_tree(forest, 0, feature_names=FEATURES, max_depth=3)
    texts[0].figure.savefig(output / "tree.png", dpi=150)

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    shown = {"X": X[:400], "y": y[:400], "fixed": {"noise 1": 0.0, "noise 2": 0.0}}
    shown |= {"feature_names": FEATURES, "extent": (-3, 12, -5, 7)}
    plot_partition(forest, ("east", "north"), tree=0, ax=left, legend=False, **shown)
    plot_partition(forest, ("east", "north"), ax=right, **shown)
    left.set_title("the leaves of one tree")
    right.set_title("what 50 trees predict")
    figure.savefig(output / "partition.png", dpi=150)
    print(f"Figures: {output / 'tree.png'}, {output / 'partition.png'}")


if __name__ == "__main__":
    main()

"""Snapshots written by earlier versions: every later one must load them, and go on from there.

`goldens/NAME.riparian` is the file, `goldens/NAME.json` what it predicted when it was written. They are
never written anew, as the files that users have are not either. A new format gets new files:
`PYTHONPATH=tests python tests/snapshot/test_snapshot_goldens.py` writes those that are missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import riparian
from riparian import Geometric, OnlineForestClassifier
from riparian.estimator.history import History
from riparian.reference import Draws, key

from snapshots import same_forest

pytestmark = pytest.mark.engine

GOLDENS = Path(__file__).parents[1] / "goldens"

NAMES = np.array(["oak", "ash", "elm", "yew"])


def stream(n, seed, n_classes):
    """Overlapping classes, from our own draws: numpy's may change with its version."""
    draws = Draws(key(seed))
    y = [draws.below(n_classes) for _ in range(n)]
    X = [[draws.uniform() + label / 2 * (d < 2) for d in range(3)] for label in y]
    X = np.array(X, dtype=np.float32)
    X[::9, 1] = np.nan
    return X, np.array(y)


def fringe_of_three_and_a_late_class():
    X, y = stream(400, seed=1, n_classes=3)
    y = np.where(np.arange(400) < 250, y % 2, y)
    parameters = {"fringe_size": 3, "min_gain": 0.02, "alpha": Geometric(2, 1.2), "beta": 20}
    return OnlineForestClassifier(3, random_state=1, **parameters).partial_fit(X, y)


def weights_and_names():
    X, y = stream(300, seed=2, n_classes=3)
    forest = OnlineForestClassifier(
        3, random_state=2**40, class_weight={"oak": 2.5, "elm": 0.75}, voting="majority",
        ignore_fraction=0.1, split_points=4, candidate_dims=2.0, min_gain=0.3,
    )  # fmt: skip
    return forest.partial_fit(X, NAMES[y], classes=NAMES[[1, 2, 0, 3]])


def balanced_within_a_budget():
    X, y = stream(900, seed=3, n_classes=3)
    forest = OnlineForestClassifier(
        3, random_state=3, class_weight="balanced", max_memory=40_000, min_gain=0.05
    )
    return forest.fit(X, y)


def predicting_only():
    forest = weights_and_names()
    return riparian.from_bytes(forest.to_bytes(prediction_only=True))


CASES = {
    f"{case.__name__}_1": case  # the number is that of the format
    for case in (
        fringe_of_three_and_a_late_class, weights_and_names, balanced_within_a_budget,
        predicting_only,
    )
}  # fmt: skip


def answers(forest):
    X = stream(20, seed=9, n_classes=4)[0]
    stats = forest.stats()
    return {
        "classes": forest.classes_.tolist(),
        "predict_proba": forest.predict_proba(X).tolist(),
        "apply": forest.apply(X).tolist(),
        "points": stats["points"],
        "leaves": stats["leaves"],
        "active": stats["active"],
    }


def load(name):
    return riparian.load(GOLDENS / f"{name}.riparian")


def as_old(forest):
    """Snapshots of that time do not say what a forest has been through."""
    forest._history = History()
    return forest


def test_every_file_has_a_case():
    assert {path.stem for path in GOLDENS.glob("*.riparian")} == set(CASES)
    assert {path.stem for path in GOLDENS.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_an_old_snapshot_predicts_what_it_predicted_when_it_was_written(name):
    told = json.loads((GOLDENS / f"{name}.json").read_text("utf-8"))
    assert answers(load(name)) == told


@pytest.mark.parametrize("name", CASES)
def test_an_old_snapshot_is_the_forest_that_is_learned_today(name):
    assert load(name).to_bytes() == as_old(CASES[name]()).to_bytes()


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("predicting")])
def test_an_old_snapshot_goes_on_as_if_it_had_been_learned_today(name):
    X, y = stream(400, seed=4, n_classes=4)
    forest, today = load(name), as_old(CASES[name]())
    labels = NAMES[y] if forest.classes_.dtype.kind == "U" else y
    assert same_forest(forest.partial_fit(X, labels), today.partial_fit(X, labels))


def test_an_old_snapshot_for_predicting_still_refuses_to_learn():
    with pytest.raises(riparian.SnapshotError, match="prediction_only"):
        load("predicting_only_1").partial_fit([[0, 0, 0]], ["oak"])


def test_the_goldens_are_small_and_show_what_they_are_for():
    assert all(path.stat().st_size < 20_000 for path in GOLDENS.glob("*.riparian"))
    fringe, weights, budget, only = (load(name) for name in CASES)
    assert fringe.stats()["active"] == 9 < fringe.stats()["leaves"]
    assert len(fringe._labels.arrived) == 3
    assert weights._labels.closed
    assert budget.stats()["evictions"] > 0
    assert only.stats()["active"] == 0


if __name__ == "__main__":
    for name, case in CASES.items():
        path = GOLDENS / f"{name}.riparian"
        if not path.exists():
            forest = case()
            forest.save(path)
            path.with_suffix(".json").write_text(json.dumps(answers(forest)) + "\n", "utf-8")
            print(f"wrote {path.name} and what it predicts")

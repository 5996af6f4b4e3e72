"""The crash test of shards: killed at random moments of a stream, they end with the same forest.

`fuzz/kills.py` runs it for long, `test_shards.py` briefly.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.ray import RayForestClassifier, RayForestRegressor

from ray_clusters import cuts, kill, stream

X, Y = stream(6000, seed=5)
WEIGHTS = np.random.default_rng(1).choice([0.0, 1.0, 1.5], size=len(Y))
NUMBERS = (X[:, 0] + Y) * np.repeat([1.0, 1e3, 2e6], 2000)
OF_ANY = {"n_estimators": 6, "random_state": 2, "kept_points": 800, "eager": True}
PARAMETERS = {**OF_ANY, "class_weight": "balanced"}

# Of each target: the forest, the same in shards, and its parameters.
KINDS = {
    "classes": (OnlineForestClassifier, RayForestClassifier, PARAMETERS),
    "numbers": (OnlineForestRegressor, RayForestRegressor, OF_ANY),
}


def learn(forest, rows):
    labels = NUMBERS if isinstance(forest, OnlineForestRegressor) else Y
    return forest.partial_fit(X[rows], labels[rows], sample_weight=WEIGHTS[rows])


def uninterrupted(kind: str = "classes") -> bytes:
    forest, _, parameters = KINDS[kind]
    return learn(forest(**parameters), slice(None)).to_bytes()


def run(folder: Path, wanted: int, seed: int, kind: str = "classes") -> tuple[bytes, int]:
    """Learn a stream while shards are killed; return the forest and the number of restarts."""
    random = np.random.default_rng(seed)
    _, spread, parameters = KINDS[kind]
    forest = spread(
        **parameters, n_shards=2, checkpoint_dir=folder, checkpoint_every=700, in_flight=3
    )
    kills = 0
    batches = cuts(len(Y), 60, seed)
    for number, rows in enumerate(batches):
        learn(forest, rows)
        if kills < wanted and number >= kills * len(batches) // wanted:
            time.sleep(random.uniform(0, 0.03))  # it is somewhere in its batches
            kills += kill_some(forest, random)
    while kills < wanted:
        kills += kill_some(forest, random)
        forest.predict(X[:1])
    result = forest.to_bytes()
    restarts = sum(shard["restarts"] for shard in forest.shards())
    forest.shutdown()
    return result, restarts


def kill_some(forest, random) -> bool:
    """Kill a shard, and return whether there was one."""
    shard = forest.shards()[random.integers(len(forest.shards()))]
    try:
        kill(shard["pid"])
    except ProcessLookupError:  # it is still starting again
        return False
    return True

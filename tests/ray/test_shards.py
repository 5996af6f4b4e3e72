"""If shards are killed, nodes are removed or programs end, the forest is still the same."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import ray

from riparian.ray import (
    CheckpointError,
    ClusterError,
    RayForestClassifier,
    RayForestError,
    ShardLost,
)

from ray_clusters import FULL, cuts, kill
from ray_crash import KINDS, PARAMETERS, X, Y, learn, run, uninterrupted


@pytest.fixture(scope="module")
def whole() -> bytes:
    return uninterrupted()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5 if FULL else 1))
def test_shards_that_are_killed_at_random_moments_change_nothing(two_cpus, tmp_path, seed, kind):
    result, restarts = run(tmp_path, 10 if FULL else 3, seed, kind)
    assert result == uninterrupted(kind)
    assert restarts >= 2
    assert [*tmp_path.iterdir()] == []  # nothing is left of its checkpoints


def test_a_lost_shard_is_an_error_without_checkpoints(two_cpus):
    forest = learn(RayForestClassifier(**PARAMETERS, n_shards=2), slice(0, 500)).wait()
    kill(forest.shards()[1]["pid"])
    with pytest.raises(ShardLost, match=r"shard 1 \(trees 3 to 5, on 127.0.0.2\) has died"):
        forest.predict(X[:1])
    with pytest.raises(ShardLost, match="give a checkpoint_dir"):  # and so it stays
        learn(forest, slice(500, 600))
    forest.shutdown()
    with pytest.raises(ShardLost):
        forest.stats()


DRIVER = """
import sys
import numpy as np, ray
from ray_crash import KINDS, learn

ray.init(address=sys.argv[1], log_to_driver=False, logging_level="error")
_, spread, parameters = KINDS[sys.argv[3]]
forest = spread(
    **parameters, n_shards=2, name="taxis", checkpoint_dir=sys.argv[2], checkpoint_every=900
)
print("started", flush=True)
for start in range(0, 4000, 37):
    learn(forest, slice(start, start + 37))
    print(forest.points_, flush=True)
input()
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_driver_that_is_killed_can_be_followed_by_another(two_cpus, tmp_path, kind):
    whole, (_, spread, parameters) = uninterrupted(kind), KINDS[kind]
    here = Path(__file__).parent
    address = ray.get_runtime_context().gcs_address
    program = subprocess.Popen(
        [sys.executable, "-c", DRIVER, address, str(tmp_path), kind],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": f"{here}:{here.parent}"},
    )  # fmt: skip
    with program:
        assert program.stdout.readline() == "started\n"
        for line in program.stdout:
            if int(line) > 1500:
                break
        program.send_signal(signal.SIGKILL)
        program.wait()
    with pytest.raises(
        ClusterError, match=r"taxis' already runs on this cluster.*attach\('taxis'\)"
    ):
        learn(spread(**parameters, name="taxis"), slice(0, 10))

    forest = RayForestClassifier.attach("taxis")
    assert type(forest) is spread
    assert 0 < forest.points_ <= 4000
    assert forest.get_params()["checkpoint_every"] == 900
    kill(forest.shards()[0]["pid"])  # a checkpoint was written when it was attached
    for rows in cuts(len(Y) - forest.points_, 7, seed=3):
        learn(forest, slice(forest.points_, forest.points_ + rows.stop - rows.start))
    assert forest.to_bytes() == whole

    # The cluster ends, and the checkpoints stay.
    forest.checkpoint().shutdown(keep_checkpoints=True)
    with pytest.raises(ClusterError, match="no shard 0 of a forest named 'taxis'"):
        RayForestClassifier.attach("taxis")
    with pytest.raises(CheckpointError, match="holds checkpoints of an earlier forest"):
        fresh = spread(**parameters, name="taxis", checkpoint_dir=tmp_path)
        learn(fresh, slice(0, 10))
    again = RayForestClassifier.from_checkpoints(tmp_path, "taxis")
    assert again.points_ == len(Y)
    assert again.to_bytes() == whole
    again.shutdown()


def test_shards_that_are_not_after_the_same_row_do_not_answer(two_cpus, tmp_path, whole):
    """As after a driver that died while it sent a batch."""
    forest = RayForestClassifier(
        **PARAMETERS, n_shards=2, name="uneven", checkpoint_dir=tmp_path, checkpoint_every=10**6
    )
    learn(forest, slice(0, 1000)).wait()
    first, second = forest.model_.engine._lines
    forest.model_.engine._lines = [first]
    learn(forest, slice(1000, 1300)).wait()
    forest.model_.engine._lines = [first, second]

    other = RayForestClassifier.attach("uneven")
    assert other.points_ == 1000
    with pytest.raises(RayForestError, match="learn the rows 1000 to 1299 of the stream again"):
        other.predict(X[:1])
    learn(other, slice(1000, 1200))
    with pytest.raises(RayForestError, match="learn the rows 1200 to 1299"):
        other.predict(X[:1])
    learn(other, slice(1200, 6000))
    assert other.to_bytes() == whole
    other.shutdown()


def test_readers_see_all_trees_after_the_same_batch(two_cpus):
    """A batch is of one class: after k of them there are k voters' worth of points in every tree."""
    forest = RayForestClassifier(4, random_state=0, n_shards=2, kept_points=0, in_flight=8)
    rows = np.zeros((50, 1))
    forest.partial_fit(rows, np.zeros(50, int), classes=range(40))
    seen, over = [], threading.Event()

    def read():
        while not over.is_set():
            stats = forest.stats()
            totals = {
                tree["structure_points"] + tree["estimation_points"] for tree in stats["trees"]
            }
            seen.append((len(totals), totals.pop() % 50))

    reader = threading.Thread(target=read)
    reader.start()
    for label in range(1, 40):
        forest.partial_fit(rows, np.full(50, label))
    over.set()
    reader.join()
    assert len(seen) > 3 and set(seen) == {(1, 0)}
    forest.shutdown()


def test_no_more_batches_are_under_way_than_allowed(two_cpus):
    forest = RayForestClassifier(4, random_state=0, n_shards=1, in_flight=2)
    most = 0
    for start in range(0, 6000, 500):
        learn(forest, slice(start, start + 500))
        most = max(most, len(forest.model_.engine._lines[0]._under_way))
        behind = forest.points_ - forest.model_.engine._lines[0].rows
        assert behind <= 2 * 500
    assert 1 <= most <= 2
    assert (
        len(forest.model_.engine._journal.entries) <= 2
    )  # without checkpoints nothing else is held
    forest.shutdown()


def test_checkpoints_that_cannot_be_written_are_told_and_nothing_is_lost(two_cpus, tmp_path, whole):
    place = tmp_path / "checkpoints"
    forest = RayForestClassifier(
        **PARAMETERS, n_shards=1, checkpoint_dir=place, checkpoint_every=500
    )
    learn(forest, slice(0, 100)).wait()
    shutil.rmtree(place)
    place.write_text("in the way")
    with pytest.raises(CheckpointError, match="Nothing is lost"):
        learn(forest, slice(100, 700)).wait()
    place.unlink()
    learn(forest, slice(700, 6000)).wait()
    assert forest.shards()[0]["checkpoint"] == 6000
    assert forest.to_bytes() == whole
    forest.shutdown()

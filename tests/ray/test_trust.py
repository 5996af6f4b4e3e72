"""Trust of a forest in shards (R25), without Ray: T is that of the whole forest, whatever is lost."""

from __future__ import annotations

import pickle
from importlib.metadata import version

import numpy as np
import pytest

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.ray.journal import Batch
from riparian.ray.plan import Options, Plan
from riparian.ray.shard import Order, Shard
from riparian.ray.trust import Judged, Log, Mark, Trust, recovered, truths
from riparian.sklearn.base import origin_of
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.state import read

from ray_clusters import stream
from snapshots import opened, sealed

pytestmark = pytest.mark.engine

X, Y = stream(600)
NUMBERS = (X[:, 0] + Y) * np.repeat([1.0, 1e6, 2e6], 200)  # their scale grows along the stream
PARTS = range(0, 2), range(2, 5)
ROWS = 60  # of a batch


def evidence_of(forest):
    return tuple(forest.model_.engine.kept()["trust"].tolist())


@pytest.fixture(params=["classes", "numbers", "numbers that follow"])
def target(request):
    return request.param


def forest_after(rows, target):
    parameters = {"n_estimators": 5, "random_state": 0, "eager": True, "kept_points": 200}
    if target != "classes":
        lag = 0 if target == "numbers" else 70  # longer than a batch
        forest = OnlineForestRegressor(**parameters, lag=lag)
        return forest.partial_fit(X[:rows], NUMBERS[:rows])
    forest = OnlineForestClassifier(**parameters)
    return forest.partial_fit(X[:rows], Y[:rows], classes=range(5))


class Driver:
    """Two shards and their T, driven by hand."""

    def __init__(self, folder, target="classes"):
        self.forest = forest_after(0, target)
        self.labels = Y if target == "classes" else NUMBERS
        self.folder = folder
        self.header = self.forest.model_.header(origin_of(self.forest), 0)
        self.shards = [self.started(i) for i in (0, 1)]
        self.trust = Trust(2, Mark.first(self.header.least_trust), self.header.parameters)
        self.saved = [0, 0]

    def started(self, i):
        plan = Plan("forest", 2, Options(checkpoint_dir=self.folder, checkpoint_every=10**9))
        order = Order(i, PARTS[i], self.header, plan, False)
        return Shard(version("riparian"), pickle.dumps(order))

    def batch(self, start, judging=True):
        rows = slice(start, start + ROWS)
        arrivals = self.forest.model_.target.join(self.labels[rows])
        self.forest.model_._tell_target()
        header = pickle.dumps(self.forest.model_.header(origin_of(self.forest), 0))
        return Batch(
            start, start + ROWS, start, X[rows].astype(np.float32), arrivals, None,
            self.forest.model_.engine.classes, header, None, 1, judging,
            self.trust.oldest(min(self.saved)),
        )  # fmt: skip

    def learn(self, i, batch):
        self.heard(i, self.shards[i].learn(batch))

    def checkpoint(self, i):
        self.heard(i, self.shards[i].checkpoint())

    def kill(self, i):
        self.shards[i] = self.started(i)
        self.heard(i, self.shards[i].position())

    def heard(self, i, ack):
        self.saved[i] = ack.saved_points
        self.trust.add(i, ack.judged)


def test_the_sums_of_the_shards_give_the_trust_of_the_forest(tmp_path, target):
    driver = Driver(tmp_path, target)
    for start in range(0, 600, ROWS):
        batch = driver.batch(start)
        for i in (0, 1):
            driver.learn(i, batch)
        whole = forest_after(start + ROWS, target)
        assert driver.trust.now == Mark(start + ROWS, evidence_of(whole))


def test_points_that_do_not_judge_leave_it_as_it_is(tmp_path, target):
    driver = Driver(tmp_path, target)
    batches = [driver.batch(0), driver.batch(ROWS, judging=False)]
    for batch in batches:
        for i in (0, 1):
            driver.learn(i, batch)
    assert driver.trust.now == Mark(2 * ROWS, evidence_of(forest_after(ROWS, target)))


@pytest.mark.parametrize("seed", range(4))
def test_kills_and_checkpoints_in_any_order_change_nothing(tmp_path, seed, target):
    """A shard that comes back learns again what it has lost, and so does another driver."""
    random = np.random.default_rng(seed)
    driver = Driver(tmp_path, target)
    start, journal = 0, []
    while start < 600:
        journal.append(driver.batch(start))
        start += ROWS
        for i in (0, 1):
            for batch in journal:  # a shard skips what it has
                driver.learn(i, batch)
            event = random.integers(4)
            if event == 0:
                driver.checkpoint(i)
            if event == 1:
                driver.kill(i)
        acks = [shard.position() for shard in driver.shards]
        least = min(ack.points for ack in acks)
        # What another driver finds, which attaches now.
        attached = recovered(
            [ack.oldest for ack in acks],
            [ack.judged for ack in acks],
            driver.header.parameters,
        )
        assert attached.now == Mark(least, evidence_of(forest_after(least, target)))
    for i in (0, 1):
        for batch in journal:
            driver.learn(i, batch)
    assert driver.trust.now == Mark(600, evidence_of(forest_after(600, target)))


def test_a_shard_forgets_what_is_older_than_every_checkpoint(tmp_path):
    driver = Driver(tmp_path)
    for start in range(0, 300, ROWS):
        batch = driver.batch(start)
        for i in (0, 1):
            driver.learn(i, batch)
        driver.checkpoint(0)
    assert driver.shards[1].position().judged.first == 0  # shard 1 may start over
    driver.checkpoint(1)
    batch = driver.batch(300)
    for i in (0, 1):
        driver.learn(i, batch)
    ack = driver.shards[0].position()
    assert (ack.judged.first, ack.judged.stop, ack.oldest.point) == (300, 360, 300)


def test_a_gap_in_what_a_shard_reports_is_an_error():
    with pytest.raises(AssertionError, match="points are missing"):
        Log(5, width=6).add(Judged(6, np.zeros((1, 6), dtype=np.int64)))


def test_the_scale_of_numbers_is_that_before_each_point():
    columns, after = truths(np.array([0.5, -4.0, 1.0]), 900)
    assert columns[:, 0].view(np.float64).tolist() == [0.5, -4.0, 1.0]
    assert (columns[:, 1].tolist(), after) == ([900, 900, 902], 902)


def bits(number):
    return int(np.float64(number).view(np.uint64))


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        (5, 3, "more voters than trees"),
        (2, -(2**40), "a share must be at most 2\\^28"),
        (6, bits(2.0**502), "a target must be a number"),
        (6, bits(np.nan), "a target must be a number"),
        (7, 1402, "a scale must be at most that of 2\\^501"),
    ],
)
def test_a_checkpoint_of_numbers_with_sums_that_cannot_be_is_refused(
    tmp_path, entry, value, message
):
    driver = Driver(tmp_path, "numbers")
    driver.learn(0, driver.batch(0))
    driver.checkpoint(0)
    (path,) = (tmp_path / "forest").iterdir()
    header, arrays = opened(path.read_bytes())
    judged = arrays["judged"].astype(np.uint64).reshape(ROWS, 8)
    read(sealed(header, arrays), 2**30)
    judged[30, entry] = value % 2**64
    with pytest.raises(SnapshotError, match=message):
        read(sealed(header, {**arrays, "judged": judged.ravel()}), 2**30)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda judged: judged[:-1], "judged must hold 6 numbers per point"),
        (lambda judged: np.tile(judged, 2), "judged: more points than were received"),
        (lambda judged: np.where(np.arange(len(judged)) % 6 == 5, 3, judged), "more voters"),
        (lambda judged: judged + np.uint64(2**40) * (np.arange(len(judged)) == 6), "a share must"),
    ],
)
def test_a_checkpoint_with_sums_that_cannot_be_is_refused(tmp_path, change, message):
    driver = Driver(tmp_path)
    driver.learn(0, driver.batch(0))
    driver.checkpoint(0)
    (path,) = (tmp_path / "forest").iterdir()
    header, arrays = opened(path.read_bytes())
    judged = arrays["judged"].astype(np.uint64)
    assert len(judged) == 6 * ROWS
    read(sealed(header, arrays), 2**30)
    with pytest.raises(SnapshotError, match=message):
        read(sealed(header, {**arrays, "judged": change(judged).astype(np.uint64)}), 2**30)

"""A shard as a plain object, without Ray: known rows, missing rows, and checkpoints."""

from __future__ import annotations

import pickle
from dataclasses import replace
from importlib.metadata import version
from itertools import pairwise

import numpy as np
import pytest

from riparian import OnlineForestClassifier
from riparian.ray.folder import NAME
from riparian.ray.journal import Batch
from riparian.ray.plan import Options, Plan
from riparian.ray.shard import Order, Shard
from riparian.sklearn.base import origin_of

from ray_clusters import stream

pytestmark = pytest.mark.engine

TREES = range(2, 5)


class Driver:
    """Validates rows and makes batches of them, as a spread forest does."""

    def __init__(self, **parameters):
        self.rows = self.points = 0
        self.forest = OnlineForestClassifier(6, random_state=0, **parameters)
        self.batches = []

    def start(self, X, y):
        self.forest.partial_fit(X[:0], y[:0])
        self.forest.model_._feed = self._feed
        return self.forest.model_.header(origin_of(self.forest), 0)

    def send(self, X, y, weights=None):
        self.forest.partial_fit(X, y, sample_weight=weights)
        return self.batches[-1]

    def _feed(self, points, arrivals, weights, rows, workers):
        if rows == 0:
            return
        engine = self.forest.model_.engine
        header = pickle.dumps(self.forest.model_.header(origin_of(self.forest), 0))
        start, first = self.rows, self.points
        self.rows, self.points = start + rows, first + len(arrivals)
        self.batches.append(
            Batch(
                start, self.rows, first, points, arrivals, weights, engine.classes, header, None, 1
            )
        )


def shard_of(header, folder=None, every=10**9, restored=False):
    plan = Plan("forest", 3, Options(checkpoint_dir=folder, checkpoint_every=every))
    order = Order(1, TREES, header, plan, restored)
    return Shard(version("riparian"), pickle.dumps(order))


def arrays(shard):
    return pickle.dumps(shard._engine.save())


X, Y = stream(900)
WEIGHTS = np.random.default_rng(0).choice([0.0, 1.0, 1.5], size=len(Y))


def batches(*ends):
    driver = Driver(class_weight="balanced")
    header = driver.start(X, Y)
    for start, stop in pairwise((0, *ends)):
        rows = slice(start, stop)
        driver.send(X[rows], Y[rows], WEIGHTS[rows])
    return header, driver.batches


@pytest.fixture(scope="module")
def learned():
    """A shard that has learned all rows at once."""
    header, (batch,) = batches(900)
    shard = shard_of(header)
    assert shard.learn(batch).rows == 900
    return shard


def test_a_batch_that_comes_twice_is_learned_once(learned):
    header, sent = batches(300, 600, 900)
    shard = shard_of(header)
    for batch in (sent[0], sent[0], sent[1], sent[0], sent[1], sent[2]):
        ack = shard.learn(batch)
    assert ack.rows == 900
    assert arrays(shard) == arrays(learned)


def test_rows_that_a_shard_has_are_skipped_however_the_rest_is_cut(learned):
    header, sent = batches(100, 450)
    _, again = batches(400, 449, 460, 900)
    shard = shard_of(header)
    for batch in (*sent, *again):
        shard.learn(batch)
    assert arrays(shard) == arrays(learned)


def test_a_gap_is_refused_and_nothing_is_learned():
    header, sent = batches(300, 600, 900)
    shard = shard_of(header)
    shard.learn(sent[0])
    before = arrays(shard)
    assert shard.learn(sent[2]).rows == 300
    assert arrays(shard) == before


def test_the_header_of_a_shard_is_that_of_its_last_row():
    """Also if a batch that it has had comes again."""
    header, sent = batches(300, 600)
    shard = shard_of(header)
    for batch in (*sent, sent[0]):
        shard.learn(batch)
    ack, plan, last, _ = shard.about()
    assert (ack.rows, plan.n_shards, last) == (600, 3, sent[1].header)


def test_a_shard_goes_on_from_its_checkpoint(learned, tmp_path):
    header, sent = batches(300, 600, 900)
    shard = shard_of(header, tmp_path, every=500)
    saved = [shard.learn(batch).saved for batch in sent[:2]]
    assert saved == [0, 600]
    again = shard_of(header, tmp_path)
    assert again.position().rows == again.position().saved == 600
    assert again.about()[2] is not None and again.learn(sent[1]).rows == 600
    assert again.learn(sent[2]).rows == 900
    assert arrays(again) == arrays(learned)


def test_there_is_one_checkpoint_and_a_torn_one_is_passed_over(learned, tmp_path):
    header, sent = batches(300, 600, 900)
    shard = shard_of(header, tmp_path, every=1)
    for batch in sent[:2]:
        shard.learn(batch)
    (path,) = (tmp_path / "forest").iterdir()
    assert NAME.fullmatch(path.name)[3] == f"{600:016}"
    path.with_name(f".{path.name}.0123.tmp").write_bytes(b"of a writer that was killed")
    torn = path.with_name(path.name.replace("600", "700"))
    torn.write_bytes(path.read_bytes()[:1000])
    again = shard_of(header, tmp_path)
    assert again.learn(sent[2]).rows == 900
    assert arrays(again) == arrays(learned)
    again.checkpoint()
    assert len([*path.parent.iterdir()]) == 1


def test_a_checkpoint_that_cannot_be_written_is_told_and_tried_again(tmp_path):
    header, sent = batches(300, 600)
    shard = shard_of(header, tmp_path, every=1)
    (tmp_path / "forest").write_text("a file, where a folder should be")
    ack = shard.learn(sent[0])
    assert (ack.rows, ack.saved) == (300, 0) and "FileExistsError" in ack.trouble
    (tmp_path / "forest").unlink()
    ack = shard.learn(sent[1])
    assert (ack.rows, ack.saved, ack.trouble) == (600, 600, None)


def test_a_shard_that_must_have_a_checkpoint_does_not_start_without(tmp_path):
    header, _ = batches(300)
    with pytest.raises(FileNotFoundError, match="no complete checkpoint in"):
        shard_of(header, tmp_path, restored=True)


def test_a_shard_of_another_version_reads_nothing():
    shard = Shard("0.0.1", b"what only that version can read")
    assert not shard._version_is_right()


def test_a_shard_that_failed_in_the_middle_of_a_batch_answers_no_more():
    header, (batch,) = batches(300)
    shard = shard_of(header)
    with pytest.raises(TypeError):
        shard.learn(replace(batch, points=batch.points.astype(str)))
    for ask in (lambda: shard.learn(batch), lambda: shard.ask(0, None, "engine", "stats")):
        with pytest.raises(RuntimeError, match="failed in the middle of a batch"):
            ask()


def test_a_question_is_answered_after_the_right_row_only(learned):
    rows, trees = learned.ask(900, None, "engine", "stats")
    assert rows == 900 and len(trees) == len(TREES)
    assert learned.ask(800, None, "engine", "stats") == (900, None)

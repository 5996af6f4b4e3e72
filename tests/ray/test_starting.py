"""Errors of shards that cannot start."""

from __future__ import annotations

import pytest

from riparian import SaffariForestClassifier
from riparian.depth import DepthForestClassifier
from riparian.ray import (
    CheckpointError,
    ClusterError,
    MemoryShort,
    RayForestClassifier,
    VersionsDiffer,
    starting,
)

from ray_clusters import stream

X, Y = stream(100)


def test_versions_that_differ_are_named(two_cpus, monkeypatch):
    here = starting.version("riparian")
    monkeypatch.setattr(starting, "version", lambda name: "9.9.9")
    with pytest.raises(
        VersionsDiffer, match=rf"127.0.0.2 has riparian {here}, .* riparian 9\.9\.9"
    ):
        RayForestClassifier(2, n_shards=1).partial_fit(X, Y)


def test_a_checkpoint_dir_that_workers_do_not_see_is_refused(two_cpus):
    """Every process has a memory of its own."""
    forest = RayForestClassifier(2, n_shards=1, checkpoint_dir="memory://checkpoints")
    with pytest.raises(
        CheckpointError, match="not the same place for this program and for shard 0"
    ):
        forest.partial_fit(X, Y)


def test_a_checkpoint_dir_that_cannot_be_written_to_is_refused(two_cpus, tmp_path):
    (tmp_path / "file").write_text("")
    forest = RayForestClassifier(2, n_shards=1, checkpoint_dir=tmp_path / "file")
    with pytest.raises(CheckpointError, match="cannot be written to"):
        forest.partial_fit(X, Y)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ModuleNotFoundError: No module named 'riparian'", VersionsDiffer),
        ("ModuleNotFoundError: No module named 'riparian.ray'", VersionsDiffer),
        ("MemoryError: std::bad_alloc", MemoryShort),
        ("something else", ClusterError),
    ],
)
def test_why_a_shard_did_not_start_is_said_in_words(words, kind):
    assert type(starting.not_started(RuntimeError(words))) is kind


def test_forests_that_look_across_trees_or_have_no_rows_are_refused():
    saffari = SaffariForestClassifier(2).partial_fit(X, Y)
    with pytest.raises(TypeError, match=r"SaffariForestClassifier .* depends on all trees \(R18\)"):
        RayForestClassifier.from_forest(saffari)
    with pytest.raises(TypeError, match=r"depends on all trees"):
        RayForestClassifier.from_forest(SaffariForestClassifier(2))
    depth = DepthForestClassifier(2)
    depth.partial_fit([[[1.0, 2.0]]], [[0, 0, 0], [0, 0, 1]], [0, 1])
    with pytest.raises(TypeError, match="only forests over rows"):
        RayForestClassifier.from_forest(depth)

"""Shards on several nodes, and errors if there is not enough memory, or no cluster."""

from __future__ import annotations

import pytest
import ray

from riparian import OnlineForestClassifier
from riparian.ray import ClusterError, MemoryShort, RayForestClassifier
from riparian.ray.cluster import alive, check_joined, near, node_of_each, trees_of_each

from ray_clusters import FULL, NODE, cuts, stream, until

X, Y = stream(5000, seed=8)


@pytest.fixture
def three_nodes(two_cpus):
    """The cluster with two more nodes for a while, by their addresses."""
    places = ("127.0.0.3", "127.0.0.4")
    nodes = {
        place: two_cpus.add_node(**{**NODE, "node_ip_address": place}, num_cpus=1)
        for place in places
    }
    nowhere = ray.remote(lambda: None)
    for node in alive():  # work for each, so that everybody knows of it
        ray.get(nowhere.options(num_cpus=0, scheduling_strategy=near(node)).remote())
    yield nodes
    for node in nodes.values():
        if node in two_cpus.worker_nodes:
            two_cpus.remove_node(node)
    until(lambda: len(alive()) == 1)


@pytest.mark.skipif(not FULL, reason="nodes start and go slowly: make ray-full")
def test_a_node_that_goes_changes_nothing(two_cpus, three_nodes, tmp_path):
    """A cluster of three nodes, of which one is removed in the middle of the stream."""
    alone = OnlineForestClassifier(5, random_state=0).partial_fit(X, Y)
    forest = RayForestClassifier(
        5, random_state=0, n_shards=4, checkpoint_dir=tmp_path, checkpoint_every=800
    )
    for number, rows in enumerate(cuts(len(Y), 12, seed=0)):
        forest.partial_fit(X[rows], Y[rows])
        if number == 6:
            places = [shard["node"] for shard in forest.shards()]
            gone = max(three_nodes, key=places.count)
            assert len({*places}) > 1 and gone in places
            two_cpus.remove_node(three_nodes[gone], allow_graceful=False)
    assert forest.to_bytes() == alone.to_bytes()
    assert gone not in {shard["node"] for shard in forest.shards()}
    assert sum(shard["restarts"] for shard in forest.shards()) >= 1
    forest.shutdown()


@pytest.mark.parametrize("n_trees", [1, 2, 10, 97])
@pytest.mark.parametrize("n_shards", [1, 2, 7])
def test_every_tree_is_in_one_shard_and_shards_are_as_even_as_they_can_be(n_trees, n_shards):
    n_shards = min(n_shards, n_trees)
    shards = trees_of_each(n_trees, n_shards)
    assert [tree for shard in shards for tree in shard] == [*range(n_trees)]
    sizes = [len(shard) for shard in shards]
    assert min(sizes) >= 1 and max(sizes) - min(sizes) <= 1


def test_where_no_node_has_a_cpu_all_get_shards():
    nodes = [{"NodeID": name, "Resources": {}} for name in "ab"]
    assert [node["NodeID"] for node in node_of_each(4, nodes)] == ["a", "a", "b", "b"]


def test_a_shard_that_does_not_fit_its_node_is_told_before_it_starts(two_cpus):
    forest = RayForestClassifier(4, max_memory="500TB", kept_points=0, n_shards=2)
    with pytest.raises(MemoryShort, match=r"may need 500\.0 TB, but it has .* GB: lower"):
        forest.partial_fit(X, Y)
    assert not hasattr(forest, "classes_")


def test_kept_points_count_once_for_every_shard(two_cpus):
    kept = 2 * 10**9  # of 24 bytes each; the trees have the rest
    forest = RayForestClassifier(2, max_memory="65GB", kept_points=kept, n_shards=2)
    with pytest.raises(MemoryShort, match=r"may need 113\.0 GB"):
        forest.partial_fit(X, Y)


def test_without_a_cluster_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    forest = RayForestClassifier(3)
    with pytest.raises(
        ClusterError, match=r"not joined a Ray cluster: call ray.init\(\) to start one"
    ):
        forest.partial_fit(X, Y)
    assert not hasattr(forest, "n_features_in_")

    def refuse(**_):
        raise ConnectionError("refused")

    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(ClusterError, match=r"RAY_ADDRESS must name .* '10\.0\.0\.1:6379': refused"):
        forest.partial_fit(X, Y)


def test_a_program_that_has_left_its_cluster_is_told_so(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(ClusterError, match="has left the Ray cluster"):
        check_joined()

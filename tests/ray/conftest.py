"""One small cluster for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ray.cluster_utils import Cluster

from ray_clusters import cluster_of


@pytest.fixture(scope="session")
def two_cpus() -> Iterator[Cluster]:
    with cluster_of(2) as cluster:
        yield cluster

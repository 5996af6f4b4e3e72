"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def two_cpus() -> Iterator[Any]:
    """One small cluster of Ray for all tests that need one.

    They are not marked as tests of the engine: Ray's processes do not run under the sanitizers.
    """
    from ray_clusters import cluster_of  # which needs Ray

    with cluster_of(2) as cluster:
        yield cluster

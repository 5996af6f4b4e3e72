"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# On a busy machine any example may take long: that is no mistake of ours.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def two_cpus() -> Iterator[Any]:
    """One small cluster of Ray for all tests that need one.

    They are not marked as tests of the engine: Ray's processes do not run under the sanitizers.
    """
    from ray_clusters import cluster_of  # which needs Ray

    with cluster_of(2) as cluster:
        yield cluster

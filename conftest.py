"""What every test can rely on, and what is not collected."""

import shutil
import signal

import pytest

# Without Java, CapyMOA cannot even be imported.
collect_ignore = [] if shutil.which("java") else ["src/riparian/capymoa.py"]

# A shell starts what runs in the background deaf to interrupts, and every process started from there
# would be too; some tests interrupt theirs.
signal.signal(signal.SIGINT, signal.default_int_handler)

ON_RAY = ("tests/ray/", "test_cli_on_ray.py", "riparian/ray/", "/ray.md")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what joins a cluster: Ray and Java both handle signals, and one process cannot have both."""
    for item in items:
        if any(part in item.nodeid for part in ON_RAY):
            item.add_marker(pytest.mark.ray)

"""The profile of the command line follows the functions that do the work, whatever they are called."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

from benchmarks.cli_profile import measure, write_files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_all_of_its_parts_are_timed(tmp_path, kind):
    row = measure(write_files(tmp_path, 300)[kind], 300, threads=1, trees=2)
    for part in ("imports", "read", "encode", "core", "save"):
        assert 0 < getattr(row, part) < row.seconds
    assert 0 < row.core_cpu_seconds <= row.cpu_seconds
    assert 0 < row.forest_bytes < row.peak_learning_bytes <= row.peak_bytes

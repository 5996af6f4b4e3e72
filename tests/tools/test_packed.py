"""Arrays as text take no more memory than their readers expect."""

import base64
import tracemalloc
import zlib

import numpy as np
import pytest

from riparian.tools import packed as module
from riparian.tools.packed import packed, unpacked


def test_an_array_comes_back():
    numbers = np.array([0.0, -1.5, np.nan], dtype=np.float32)
    np.testing.assert_array_equal(unpacked(packed(numbers), np.float32, 3), numbers)
    assert len(unpacked(packed(numbers[:0]), np.float32, 0)) == 0


def test_more_numbers_than_expected_are_refused_before_they_are_there():
    bomb = base64.b64encode(zlib.compress(bytes(2**27), 9)).decode()
    tracemalloc.start()
    with pytest.raises(ValueError, match="at most 4000 bytes of compressed numbers, got more"):
        unpacked(bomb, np.float32, 1000)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_no_array_is_larger_than_the_bound(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="at most 100 bytes can be saved as text, got 104"):
        packed(np.zeros(26, dtype=np.float32))
    bomb = base64.b64encode(zlib.compress(bytes(104))).decode()
    with pytest.raises(ValueError, match="at most 100 bytes"):
        unpacked(bomb, np.float32, 26)


def test_data_that_is_not_compressed_is_refused():
    with pytest.raises(ValueError, match="expected compressed numbers"):
        unpacked(base64.b64encode(b"plain").decode(), np.float32, 10)

"""Reading ahead changes only the time at which rows are read."""

from __future__ import annotations

import threading
import time

import pytest

from riparian.cli.learning.read_ahead import MOST_AHEAD, Ahead


def counted(n, log):
    """Numbers, with a log of which were made and that the end was reached."""
    try:
        for i in range(n):
            log.append(i)
            yield i
    finally:
        log.append("closed")


def test_items_come_in_their_order_and_end():
    log = []
    ahead = Ahead(counted(100, log))
    assert list(ahead) == list(range(100))
    assert next(ahead, "over") == next(ahead, "over") == "over"
    ahead.close()
    assert log[-1] == "closed"


def test_they_are_made_in_another_thread_and_only_a_few_ahead():
    log, threads = [], set()

    def items():
        for i in counted(100, log):
            threads.add(threading.current_thread())
            yield i

    ahead = Ahead(items())
    assert next(ahead) == 0
    time.sleep(0.3)
    assert len(log) <= MOST_AHEAD + 3
    ahead.close()
    assert threading.current_thread() not in threads


def test_an_exception_of_the_thread_is_raised_after_the_items_before_it():
    def items():
        yield 1
        raise OSError("no such disk")

    ahead = Ahead(items())
    assert next(ahead) == 1
    for _ in range(2):
        with pytest.raises(OSError, match="no such disk"):
            next(ahead)
    ahead.close()


def test_a_caller_that_stops_leaves_no_thread_and_no_open_generator():
    log = []
    before = threading.active_count()
    ahead = Ahead(counted(10**9, log))
    next(ahead)
    ahead.close()
    assert threading.active_count() == before
    assert log[-1] == "closed"


def test_a_reader_that_blocks_for_ever_does_not_block_the_end():
    hold = threading.Event()

    def items():
        yield 1
        hold.wait()
        yield 2

    ahead = Ahead(items())
    next(ahead)
    start = time.monotonic()
    ahead.close()
    assert time.monotonic() - start < 5
    hold.set()

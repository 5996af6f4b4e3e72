"""Signal handlers wait until some work is whole."""

import signal
import threading
import time

import pytest

from riparian.tools.signals import HandlersWait


@pytest.fixture
def handler():
    """Restore the handler of SIGALRM and of Ctrl-C after a test."""
    before = {number: signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT)}
    yield signal.signal
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_handler_runs_at_the_end_and_once(handler):
    calls = []
    handler(signal.SIGALRM, lambda number, _: calls.append(number))
    with HandlersWait():
        signal.raise_signal(signal.SIGALRM)
        assert calls == []
    assert calls == [signal.SIGALRM]


def test_an_exception_of_a_handler_comes_after_the_work(handler):
    handler(signal.SIGINT, signal.default_int_handler)
    done = []
    with pytest.raises(KeyboardInterrupt), HandlersWait():
        signal.raise_signal(signal.SIGINT)
        done.append(True)
    assert done


def test_handlers_are_put_back_even_if_one_of_them_raises(handler):
    def stop(number, frame):
        raise TimeoutError

    handler(signal.SIGINT, stop)
    handler(signal.SIGALRM, stop)
    with pytest.raises(TimeoutError), HandlersWait():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGALRM)
    assert signal.getsignal(signal.SIGINT) is stop
    assert signal.getsignal(signal.SIGALRM) is stop


def test_a_thread_other_than_the_main_one_changes_no_handler(handler):
    handler(signal.SIGINT, signal.default_int_handler)
    seen = []

    def work():
        with HandlersWait():
            seen.append(signal.getsignal(signal.SIGINT))
            time.sleep(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]

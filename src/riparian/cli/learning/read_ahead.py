"""Reading ahead: the next rows are read and encoded while the previous ones are learned."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

MOST_AHEAD = 2  # items
PATIENCE = 0.5  # seconds for the other thread to notice that it should end


class Ahead(Iterator[T]):
    """The items of a generator, which runs in a thread of its own.

    pyarrow releases the GIL while it reads, and the core while it learns. An exception of the generator
    is raised again here. A signal can interrupt the wait for an item.
    """

    def __init__(self, items: Generator[T, None, None]) -> None:
        self._items = items
        self._queue: Queue[Any] = Queue(MOST_AHEAD)
        self._over = Event()
        # A thread that waits for a pipe cannot be ended, so the process must be able to end without it.
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def __next__(self) -> T:
        item: T | _End = self._queue.get()
        if isinstance(item, _End):
            self._queue.put(item)  # for the next call
            raise item.error or StopIteration
        return item

    def close(self) -> None:
        """Stop reading."""
        self._over.set()
        try:
            while True:
                self._queue.get_nowait()
        except Empty:
            pass
        self._thread.join(PATIENCE)

    def _work(self) -> None:
        error = None
        try:
            for item in self._items:
                if not self._put(item):
                    break
            self._items.close()
        except BaseException as raised:
            error = raised
        self._put(_End(error))

    def _put(self, item: Any) -> bool:
        """Put an item into the queue; return whether reading should go on."""
        while not self._over.is_set():
            try:
                self._queue.put(item, timeout=PATIENCE / 5)
                return True
            except Full:
                continue
        return False


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error

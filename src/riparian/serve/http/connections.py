"""A connection: the limits of its request heads and of its silence.

Uvicorn's parser takes headers of any size before it knows their sender, and waits for a request without
limit. A connection that waits for a request is worth less than a new one: when there are too many, the
one that has waited longest is closed.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from riparian.serve.options import Limits

TOO_LARGE = "431 Request Header Fields Too Large"
TOO_SLOW = "408 Request Timeout"
TOO_MANY = "503 Service Unavailable"


class Connection(HttpToolsProtocol):
    limits = Limits()  # of the process; `limited` makes a class with others

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head = 0  # bytes of the head that is being read
        self._reading_head = True
        self._timer: TimerHandle | None = None
        if len(self.connections) > self.limits.connections:
            self._make_room()
        self._wait_for_head()

    @property
    def waits(self) -> bool:
        """Whether it waits for a request: no answer is being made."""
        return self._timer is not None

    def _make_room(self) -> None:
        others = [other for other in self.connections if isinstance(other, Connection)]
        waiting = [other for other in others if other is not self and other.waits]
        if waiting:
            min(waiting, key=lambda other: other.since).transport.abort()
        else:
            self._refuse(TOO_MANY)

    def _wait_for_head(self) -> None:
        self.since = self.loop.time()
        self._timer = self.loop.call_later(self.limits.timeout, self._too_slow)

    def _too_slow(self) -> None:
        if self._head:
            self._refuse(TOO_SLOW)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if self._reading_head:
            self._head += len(data)
        if not self.transport.is_closing():
            super().data_received(data)
        # The parser holds a header until it ends; the bytes that came are an upper bound.
        if self._reading_head and self._head > self.limits.head:
            self._refuse(TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading_head = True

    def on_headers_complete(self) -> None:
        self._reading_head = False
        head = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if head > self.limits.head:  # all of it arrived at once
            self._refuse(TOO_LARGE)
            return
        self._head = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.transport.is_closing():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._stop_timer()  # the rest of a refused body, or the next head, gets its own time
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: str) -> None:
        if not self.transport.is_closing():
            head = f"HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            self.transport.write(head.encode())
            self.transport.close()


def limited(limits: Limits) -> type[Connection]:
    return type("LimitedConnection", (Connection,), {"limits": limits})

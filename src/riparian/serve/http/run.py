"""The server: uvicorn, one process."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette

from riparian.serve.http.connections import limited
from riparian.serve.options import Limits

GRACE = 10  # seconds for requests to end after a signal


class Server(uvicorn.Server):
    """A server that closes the streams of open pages before it waits for requests to end."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        app: Any = self.config.app
        app.state.live.stop()
        super().handle_exit(sig, frame)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that has its port, or raise an OSError that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError:
        taken.close()
        raise
    return taken


def serve(app: Starlette, taken: socket.socket, ready: Callable[[], None], limits: Limits) -> None:
    """Serve until a signal; then store, learn and save what was accepted."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=limited(limits),
        timeout_graceful_shutdown=GRACE,
        server_header=False,
    )
    # uvicorn raises the signal again when it has stopped; by then nothing is left to do.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    Server(config, ready).run([taken])

"""A web server on this machine, for tests of downloads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

POLL = 0.01  # seconds that a server needs at most to notice that it is to stop


@contextmanager
def serving(files: Mapping[str, bytes], missing_bytes: int = 0) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that has these files, and the paths it was asked for.

    It ends each answer `missing_bytes` before the length that it has promised.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            content = files.get(self.path.removeprefix("/data/"))
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) - missing_bytes])

        def log_message(self, *args: object) -> None:
            """Tests print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(POLL,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/data", asked
        server.shutdown()
        thread.join()


def closed() -> str:
    """Return an address on this machine at which no server listens."""
    with serving({}) as (site, _):
        return site

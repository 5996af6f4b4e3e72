"""Access: tokens, hosts and origins, checked before anything else of a request.

A token is sent as `Authorization: Bearer TOKEN`, or as the password of Basic, for which browsers ask.
Without tokens, only this machine is served, and only under its own name, so that a page of another
site, open in a browser here, has no access.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from riparian.serve.http.body import json_answer, refusal
from riparian.serve.refused import Overloaded

MOST_REQUESTS = 1000  # that are answered at the same time
LOCAL = {"localhost", "127.0.0.1", "[::1]", "::1"}
OPEN = {"/v2/health/live", "/v2/health/ready"}  # for monitoring, without a token
WRITES = {"/v1/label", "/v1/learn"}
READER = "riparian.reader"  # in the scope of a request: whether its token may only read
PROTECTION = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
PLAIN = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}


@dataclass(frozen=True)
class Tokens:
    """The token for reading, and the one for reading and writing. None: no token is needed."""

    read: str | None = None
    write: str | None = None

    def __post_init__(self) -> None:
        if self.read is not None and self.write is None:
            raise ValueError("a read token needs a write token: without one, all may write")


class Guard:
    def __init__(self, app: Any, tokens: Tokens, most: int = MOST_REQUESTS) -> None:
        self.app, self.tokens, self.most = app, tokens, most
        self.active = 0  # requests that are being answered

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            refused = self.refused(scope["method"], scope["path"], Headers(scope=scope))
            if refused is None and self.active >= self.most:
                refused = refusal(
                    Overloaded(f"{self.active} requests at once; try again in a second")
                )
            if refused is not None:
                await refused(scope, receive, send)
                return
            scope[READER] = not self.allowed(True, credential(Headers(scope=scope)))
        self.active += 1
        try:
            await self.app(scope, receive, protected(send))
        finally:
            self.active -= 1

    def refused(self, method: str, path: str, headers: Headers) -> Any:
        if len(headers.getlist("host")) > 1:
            return error(400, "the request has more than one Host; send one")
        if path in OPEN:
            return None
        if self.tokens.write is None and without_port(headers.get("host", "")) not in LOCAL:
            return error(403, "without a token, only this machine is served, as localhost")
        if not from_here(method, headers):
            return error(403, "pages of other sites are not served")
        if method == "POST" and content_type(headers) in PLAIN:
            return error(415, "the body must be application/json")
        if not self.allowed(writes(method, path), credential(headers)):
            challenge = {"WWW-Authenticate": 'Basic realm="riparian"'}
            return json_answer({"status": 401, "error": "a token is needed"}, 401, challenge)
        return None

    def allowed(self, writing: bool, given: str) -> bool:
        if self.tokens.write is None:
            return True
        tokens = [self.tokens.write] if writing else [self.tokens.write, self.tokens.read]
        return any([token is not None and same(given, token) for token in tokens])


def protected(send: Any) -> Any:
    """Add the headers with which a browser guesses no types and shows no answer in a foreign frame."""

    async def send_protected(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            for name, value in PROTECTION.items():
                headers.setdefault(name, value)
        await send(message)

    return send_protected


def may_only_read(scope: Any) -> bool:
    return bool(scope.get(READER, False))


def writes(method: str, path: str) -> bool:
    return path in WRITES or (method == "POST" and path == "/v1/snapshot")


def same(given: str, token: str) -> bool:
    """Compare tokens in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(), token.encode())


def credential(headers: Headers) -> str:
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


def from_here(method: str, headers: Headers) -> bool:
    """Return whether no page of another site sent the request, unless a browser followed a link."""
    if headers.get("sec-fetch-site") == "cross-site":
        followed = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        if method != "GET" or followed != ("navigate", "document"):
            return False
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host", "")


def content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def without_port(host: str) -> str:
    """Return a host without its port.

    >>> without_port("localhost:8000"), without_port("[::1]:80"), without_port("::1")
    ('localhost', '[::1]', '::1')
    """
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and not name.endswith(":") else host


def error(status: int, message: str) -> Any:
    return json_answer({"status": status, "error": message}, status)

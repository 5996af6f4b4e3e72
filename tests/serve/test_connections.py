"""Limits on what a client may send before and while it is served, against a real process."""

from __future__ import annotations

import json
import re
import socket
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from serve_process import Process

OPTIONS = ("--new", "--trees", "1", "--timeout", "1", "--connections", "20", "--max-head", "8")


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with Process(tmp_path_factory.mktemp("state"), *OPTIONS) as started:
        yield started


def connected(process):
    parts = urlsplit(process.address)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def status(process, data, *more):
    """The status line that the service answers with; b"" if it closes the connection."""
    with connected(process) as client:
        try:
            client.sendall(data)
            for part in more:
                client.sendall(part)
        except OSError:  # it has answered and gone
            pass
        try:
            return client.recv(1000).split(b"\r\n")[0]
        except ConnectionResetError:
            return b"reset"


def post(path, body, declared=None):
    length = len(body) if declared is None else declared
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {length}\r\n\r\n".encode() + body


def alive(process):
    return status(process, b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")


def resident(process):
    """Bytes, as Linux reports them."""
    try:
        status = Path(f"/proc/{process.process.pid}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        pytest.skip("the system does not report the memory of a process in /proc")
    return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nA: ", b"GET / HTTP/1.1\r\n"])
def test_a_head_that_is_too_long_is_refused_before_memory_grows(process, start):
    before = resident(process)
    piece = b"x" * 2**16 if not start.endswith(b"\n") else b"A: b\r\n" * 2**13
    answer = status(process, start, *[piece] * 320)  # 20 MB, or 16
    assert answer in (b"HTTP/1.1 431 Request Header Fields Too Large", b"reset")
    assert resident(process) - before < 8e6
    assert alive(process) == b"HTTP/1.1 200 OK"


def test_a_head_that_fits_is_served_also_after_another_one(process):
    client = HTTPConnection(urlsplit(process.address).netloc, timeout=10)
    for _ in range(3):
        client.request("GET", "/v2", headers={"A": "x" * 6000})
        answer = client.getresponse()
        assert (answer.status, json.loads(answer.read())["name"]) == (200, "riparian")
    client.close()


def test_silent_connections_keep_no_other_client_out(process):
    silent = [connected(process) for _ in range(40)]
    assert alive(process) == b"HTTP/1.1 200 OK"
    for client in silent:
        client.close()


def test_a_connection_that_says_nothing_or_half_a_head_is_closed(process):
    began = time.monotonic()
    assert status(process, b"") == b""
    assert status(process, b"GET / HTTP/1.1\r\nHost") == b"HTTP/1.1 408 Request Timeout"
    assert time.monotonic() - began < 8


def test_a_body_that_stalls_is_refused_and_blocks_no_other_request(process):
    part = b'[{"features": {"a": "' + b"x" * (15 * 2**20)
    stalled = [connected(process) for _ in range(10)]
    for client in stalled:
        client.sendall(post("/v1/learn", b"", declared=2**24 - 1))
    for client in stalled:
        client.settimeout(5)
        try:
            client.sendall(part)
        except OSError:
            continue
    small = json.dumps({"features": {"a": 1}}).encode()
    assert status(process, post("/v1/predict", small)) == b"HTTP/1.1 200 OK"
    answers = {client.recv(100).split(b"\r\n")[0] for client in stalled}
    assert answers <= {b"HTTP/1.1 408 Request Timeout", b"HTTP/1.1 503 Service Unavailable"}
    assert b"HTTP/1.1 408 Request Timeout" in answers
    for client in stalled:
        client.close()


def test_a_client_that_sends_all_of_a_refused_body_gets_the_answer(process):
    client = HTTPConnection(urlsplit(process.address).netloc, timeout=10)
    client.request("POST", "/v1/predict", b"x" * 2**25, {"Content-Type": "application/json"})
    assert client.getresponse().status == 413
    client.close()

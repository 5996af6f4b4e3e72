"""Who may ask what."""

from __future__ import annotations

import asyncio
import base64

import pytest

from riparian.serve.http.guard import Guard, Tokens
from riparian.serve.options import ServiceOptions

from serve_running import running

READ, WRITE = "r" * 20, "w" * 20
ROW = {"features": {"a": 1}, "label": "x"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with running(tmp_path_factory.mktemp("state"), tokens=Tokens(READ, WRITE)) as service:
        yield service


@pytest.mark.parametrize(
    ("token", "reads", "writes"),
    [(None, 401, 401), ("x" * 20, 401, 401), (READ, 200, 401), (WRITE, 200, 200)],
)
def test_one_token_reads_and_another_writes(guarded, token, reads, writes):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    assert guarded.post("/v1/predict", {"features": {"a": 1}}, **headers).status_code == reads
    assert guarded.web.get("/metrics", headers=headers).status_code == reads
    assert guarded.web.get("/", headers=headers).status_code == reads
    assert guarded.post("/v1/learn", ROW, **headers).status_code == writes
    assert guarded.web.post("/v1/snapshot", headers=headers).status_code == writes


def test_a_browser_asks_for_the_token_as_a_password(guarded):
    assert "Basic" in guarded.web.get("/").headers["www-authenticate"]
    password = base64.b64encode(f"anyone:{READ}".encode()).decode()
    headers = {"Authorization": f"Basic {password}"}
    assert guarded.web.get("/v1/status", headers=headers).status_code == 200
    assert guarded.web.get("/", headers={"Authorization": "Basic ???"}).status_code == 401


def test_health_needs_no_token(guarded):
    assert guarded.web.get("/v2/health/live").status_code == 200


def test_without_tokens_pages_of_other_sites_have_no_way_in(tmp_path):
    with running(tmp_path) as served:
        assert served.post("/v1/learn", ROW, Host="evil.example").status_code == 403
        assert served.post("/v1/learn", ROW, Origin="http://evil.example").status_code == 403
        assert served.post("/v1/learn", ROW, Origin="http://localhost").status_code == 200
        plain = served.web.post("/v1/learn", content=b"{}", headers={"content-type": "text/plain"})
        assert plain.status_code == 415


def test_a_token_to_read_alone_would_let_everybody_write():
    with pytest.raises(ValueError, match="a read token needs a write token"):
        Tokens(read=READ)


def test_too_many_requests_at_once_are_asked_to_come_again():
    """Those beyond the limit; when the others are done, there is room again."""

    async def ask():
        inside, go, answers = asyncio.Event(), asyncio.Event(), []

        async def slow(scope, receive, send):
            inside.set()
            await go.wait()

        async def send(message):
            answers.append(message)

        guard = Guard(slow, Tokens(), most=1)
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/v2",
            "headers": [(b"host", b"localhost")],
        }
        first = asyncio.create_task(guard(scope, None, send))
        await inside.wait()
        await guard(scope, None, send)
        assert answers[0]["status"] == 503
        assert (b"retry-after", b"1") in answers[0]["headers"]
        go.set()
        await first
        assert guard.active == 0

    asyncio.run(ask())


def test_a_client_that_may_only_read_pushes_out_no_id_of_a_writer(tmp_path):
    tokens, options = Tokens(READ, WRITE), ServiceOptions(pending=3)
    reader, writer = ({"Authorization": f"Bearer {token}"} for token in (READ, WRITE))
    with running(tmp_path, tokens=tokens, options=options) as served:

        def ask(id, who):
            row = {"id": id, "features": {"a": 1}}
            assert served.post("/v1/predict", row, **who).status_code == 200

        def labelled(id):
            return served.post("/v1/label", {"id": id, "label": "x"}, **writer).status_code

        for number in range(3):
            ask(f"w{number}", writer)
        for number in range(5):
            ask(f"r{number}", reader)
        assert served.service.writer.waiting == 6
        assert [labelled(f"w{number}") for number in range(3)] == [200] * 3
        assert [labelled(f"r{number}") for number in range(5)] == [404] * 2 + [200] * 3
        assert served.service.folder.log.waiting() == (0, 0)


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/status", "/metrics", "/nowhere"])
def test_answers_are_taken_for_what_they_are_and_shown_in_no_frame(guarded, path):
    headers = guarded.web.get(path, headers={"Authorization": f"Bearer {READ}"}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "site", "mode", "dest", "status"),
    [
        ("GET", "cross-site", "no-cors", "image", 403),
        ("GET", "cross-site", "navigate", "iframe", 403),
        ("POST", "cross-site", "navigate", "document", 403),
        ("GET", "cross-site", "navigate", "document", 200),
        ("GET", "same-origin", "cors", "empty", 200),
        ("GET", "none", "navigate", "document", 200),
    ],
)
def test_a_page_of_another_site_may_link_here_and_no_more(
    guarded, method, site, mode, dest, status
):
    fetch = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    headers = {"Authorization": f"Bearer {WRITE}", **fetch}
    assert guarded.web.request(method, "/v1/snapshot", headers=headers).status_code == status


def test_two_hosts_are_refused(guarded):
    headers = [("Host", "localhost"), ("Host", "elsewhere"), ("Authorization", f"Bearer {WRITE}")]
    assert guarded.web.get("/v1/status", headers=headers).status_code == 400

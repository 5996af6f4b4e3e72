"""The client tries again, and cannot be made to learn twice."""

from __future__ import annotations

import json
import threading
from datetime import date, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest

from riparian.client import Client, ServiceError


@pytest.fixture
def lossy():
    """A service that forgets to answer: it plays a list of statuses, None being a lost connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        statuses: list[int | None] = []  # noqa: RUF012
        seen: list[tuple[str, bytes]] = []  # noqa: RUF012

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.seen.append((self.headers["Idempotency-Key"], body))
            status = self.statuses.pop(0)
            if status is None:
                self.close_connection = True
                return
            data = json.dumps({"status": status, "error": "no", "field": "label"}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *about):
            pass

    Handler.statuses, Handler.seen = [], []
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with Client(f"http://127.0.0.1:{server.server_port}") as client:
        yield client, Handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_attempt_after_a_lost_answer_has_the_same_key(lossy):
    client, handler = lossy
    handler.statuses += [None, 503, 200]
    assert client.learn({"a": 1.0}, "x")["status"] == 200
    assert len(handler.seen) == 3
    assert len(set(handler.seen)) == 1


def test_two_requests_have_two_keys(lossy):
    client, handler = lossy
    handler.statuses += [200, 200]
    client.label("p", "x")
    client.label("p", "x")
    assert len({key for key, _ in handler.seen}) == 2


def test_a_refused_request_is_not_sent_again(lossy):
    client, handler = lossy
    handler.statuses += [409]
    with pytest.raises(ServiceError, match="409: label: no") as refused:
        client.label("p", "x")
    assert (refused.value.status, refused.value.field) == (409, "label")
    assert len(handler.seen) == 1


def test_nan_is_a_missing_value(lossy):
    client, handler = lossy
    handler.statuses += [200]
    client.predict({"a": float("nan"), "b": None, "c": 1.5})
    assert json.loads(handler.seen[0][1]) == {"features": {"a": None, "b": None, "c": 1.5}}


def test_patience_ends():
    client = Client("http://127.0.0.1:9", patience=0.1)
    with pytest.raises(OSError):
        client.model()


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://x", ""])
def test_an_address_names_its_protocol(address):
    with pytest.raises(ValueError, match="address must be like"):
        Client(address)


def test_a_prediction_has_no_key_since_lazy_ones_would_wait_for_the_disk(lossy):
    client, handler = lossy
    handler.statuses += [200, 200]
    client.predict({"a": 1.0})
    client.label("an id", "x")
    assert [key is None for key, _ in handler.seen] == [True, False]


def test_a_row_that_is_not_a_dict_is_refused_with_advice():
    client = Client("http://localhost")
    with pytest.raises(TypeError, match=r"a dict of names and values, got a list; predict_many"):
        client.predict([1.0, 2.0])
    with pytest.raises(TypeError, match="got one dict; predict takes one"):
        client.predict_many({"a": 1.0})


def test_dates_and_numbers_of_other_libraries_become_json(lossy):
    client, handler = lossy
    handler.statuses += [200]
    client.predict({
        "a": date(2024, 5, 1), "b": np.datetime64("2024-05-01T10:00"), "c": timedelta(hours=1),
        "d": np.float32(0.5), "e": Decimal("1.5"), "f": pd.NA, "g": pd.NaT, "h": np.int64(3),
    })  # fmt: skip
    assert json.loads(handler.seen[0][1])["features"] == {
        "a": "2024-05-01", "b": "2024-05-01T10:00", "c": 3600.0,
        "d": 0.5, "e": 1.5, "f": None, "g": None, "h": 3,
    }  # fmt: skip

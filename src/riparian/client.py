"""A client for `riparian serve` that can retry without learning twice.

It needs nothing but Python. Every request that teaches has a key, which stays the same when the request
is sent again: whether the first attempt or only its answer was lost, the service learns once. A
prediction has no key: sent again without an id, it is a new one, and the first never gets a label.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Client", "ServiceError"]

Answer = dict[str, Any]
Features = Mapping[str, float | str | None]  # None is a missing value
AGAIN = {429, 500, 502, 503, 504}  # nothing was done, or it is unknown what was done
TEACHING = {"/v1/label", "/v1/learn"}
LONGEST_PAUSE = 10.0  # seconds


class ServiceError(Exception):
    """The service refused a request. `status` is the HTTP status, `field` the invalid field, if any."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        where = "" if field is None else f"{field}: "
        super().__init__(f"{status}: {where}{message}")
        self.status, self.field = status, field


class Client:
    """A connection to a service. Use one per thread.

    >>> client = Client("http://127.0.0.1:8000")
    >>> answer = client.predict({"length": 1.4, "width": 0.2})  # doctest: +SKIP
    >>> client.label(answer["id"], "setosa")  # hours later  # doctest: +SKIP

    Parameters
    ----------
    address : str
        Where the service is, such as "http://127.0.0.1:8000".
    token : str or None
        What it asks for, if it does.
    patience : float
        Seconds to go on trying while the service is away or overloaded.
    timeout : float
        Seconds to wait for an answer before trying again.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        patience: float = 30.0,
        timeout: float = 10.0,
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"address must be like http://127.0.0.1:8000, got {address!r}")
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self._connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        self._path = parts.path.rstrip("/")
        self._token, self._patience = token, patience

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    # -- predict, label, learn --------------------------------------------------------------------

    def predict(self, features: Features, id: str | None = None) -> Answer:
        """Return the label, the probabilities, and the id for sending the true label later."""
        return self._one("/v1/predict", ask(features, id))

    def predict_many(self, points: Iterable[Features]) -> list[Answer]:
        return self._many("/v1/predict", [ask(features, None) for features in points])

    def label(self, id: str, label: Any) -> Answer:
        """Send the true label of a prediction. Sending it again changes nothing."""
        return self._one("/v1/label", {"id": id, "label": label})

    def label_many(self, labels: Mapping[str, Any]) -> list[Answer]:
        """Send labels by id. Each answer has its own status."""
        return self._many("/v1/label", [{"id": id, "label": y} for id, y in labels.items()])

    def learn(self, features: Features, label: Any, weight: float = 1.0) -> Answer:
        """Send a row with its label: the service predicts it, then learns it."""
        return self._one("/v1/learn", {**ask(features, None), "label": label, "weight": weight})

    def learn_many(self, points: Iterable[tuple[Features, Any]]) -> list[Answer]:
        """Send pairs of features and label."""
        return self._many("/v1/learn", [{**ask(x, None), "label": y} for x, y in points])

    # -- the model --------------------------------------------------------------------------------

    def model(self) -> Answer:
        return dict(json.loads(self._send("GET", "/v1/model")))

    def snapshot(self) -> int:
        """Take a snapshot now, and return the number of the last lesson in it."""
        return int(json.loads(self._send("POST", "/v1/snapshot"))["lessons"])

    def download(self, path: str | os.PathLike[str]) -> None:
        """Save the last snapshot to a file, which `riparian.load` reads."""
        from riparian.tools.files import write_whole

        write_whole(path, self._send("GET", "/v1/snapshot"))

    # -- how --------------------------------------------------------------------------------------

    def _one(self, path: str, row: Answer) -> Answer:
        return dict(json.loads(self._send("POST", path, row)))

    def _many(self, path: str, rows: list[Answer]) -> list[Answer]:
        return list(json.loads(self._send("POST", path, rows)))

    def _send(self, method: str, path: str, value: Any = None) -> bytes:
        """Send, and retry with the same key until there is an answer."""
        body = None if value is None else json.dumps(value, allow_nan=False).encode()
        headers = self._headers(path)
        give_up = time.monotonic() + self._patience
        pause = 0.05
        while True:
            try:
                status, retry_after, data = self._attempt(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                self._connection.close()
                if time.monotonic() + pause > give_up:
                    raise
                retry_after = 0.0
            else:
                if status < 300:
                    return data
                if status not in AGAIN or time.monotonic() + pause > give_up:
                    raise error_of(status, data)
            time.sleep(max(pause, retry_after))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _headers(self, path: str) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if path in TEACHING:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _attempt(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, float, bytes]:
        self._connection.request(method, self._path + path, body, headers)
        answer = self._connection.getresponse()
        given = answer.headers.get("Retry-After", "0")
        wait = min(float(given), LONGEST_PAUSE) if given.isdigit() else 0.0
        return answer.status, wait, answer.read()


def ask(features: Features, id: str | None) -> Answer:
    """Send NaN as null, a missing value: JSON has no NaN."""
    given = {name: None if value != value else value for name, value in features.items()}
    return {"features": given} if id is None else {"id": id, "features": given}


def error_of(status: int, data: bytes) -> ServiceError:
    try:
        answer = json.loads(data)
        return ServiceError(status, answer["error"], answer.get("field"))
    except (ValueError, KeyError, TypeError):
        return ServiceError(status, data[:200].decode(errors="replace"))

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
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Client", "RowsRefused", "ServiceError"]

Answer = dict[str, Any]
Features = Mapping[str, Any]  # numbers, texts, dates and times; None is a missing value
AGAIN = {429, 500, 502, 503, 504}  # nothing was done, or it is unknown what was done
TEACHING = {"/v1/label", "/v1/learn"}
LONGEST_PAUSE = 10.0  # seconds
MOST_ROWS = 2000  # of one request


class ServiceError(Exception):
    """The service refused a request. `status` is the HTTP status, `field` the invalid field, if any."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        where = "" if field is None else f"{field}: "
        super().__init__(f"{status}: {where}{message}")
        self.status, self.field = status, field


class RowsRefused(ServiceError):
    """The service refused some rows of a request, and has done what was asked with the others.

    `answers` has the answer to each row, `rows` the numbers of those that were refused, from 0.
    """

    def __init__(self, answers: list[Answer], rows: list[int]) -> None:
        first = answers[rows[0]]
        which = f"row {rows[0]}" + (", the first" if len(rows) > 1 else "")
        super().__init__(
            first["status"],
            f"{first['error']} ({which} of {len(rows):,} that were refused, of {len(answers):,} rows)",
            first.get("field"),
        )
        self.answers, self.rows = answers, rows


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
        The token that the service requires, if any.
    patience : float
        Seconds for which it tries again while the service is unavailable or overloaded.
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

    def predict_many(self, points: Iterable[Features], *, check: bool = True) -> list[Answer]:
        """Return the answer to each row of a frame, or to each of several dicts.

        If the service refuses a row, this raises `RowsRefused`, which has all answers; with
        `check=False` it returns them, each with its own status.
        """
        return self._many("/v1/predict", [ask(row, None) for row in rows_of(points)], check)

    def label(self, id: str, label: Any) -> Answer:
        """Send the true label of a prediction. Sending it again changes nothing."""
        return self._one("/v1/label", {"id": id, "label": plain(label)})

    def label_many(self, labels: Mapping[str, Any], *, check: bool = True) -> list[Answer]:
        """Send labels by id; `check` as in `predict_many`."""
        rows = [{"id": id, "label": plain(y)} for id, y in labels.items()]
        return self._many("/v1/label", rows, check)

    def learn(self, features: Features, label: Any, weight: float = 1.0) -> Answer:
        """Send a row with its label: the service predicts it, then learns it."""
        return self._one(
            "/v1/learn", {**ask(features, None), "label": plain(label), "weight": weight}
        )

    def learn_many(
        self,
        points: Iterable[tuple[Features, Any]] | Iterable[Features],
        labels: Iterable[Any] | None = None,
        *,
        check: bool = True,
    ) -> list[Answer]:
        """Send pairs of features and label, or a frame and its labels; `check` as in `predict_many`."""
        pairs: Any = points if labels is None else zip(rows_of(points), labels, strict=True)
        rows = [{**ask(features, None), "label": plain(label)} for features, label in pairs]
        return self._many("/v1/learn", rows, check)

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

    # -- requests ---------------------------------------------------------------------------------

    def _one(self, path: str, row: Answer) -> Answer:
        return dict(json.loads(self._send("POST", path, row)))

    def _many(self, path: str, rows: list[Answer], check: bool) -> list[Answer]:
        answers: list[Answer] = []
        for first in range(0, len(rows), MOST_ROWS):
            answers += json.loads(self._send("POST", path, rows[first : first + MOST_ROWS]))
        refused = [row for row, answer in enumerate(answers) if "error" in answer]
        if check and refused:
            raise RowsRefused(answers, refused)
        return answers

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
    if not isinstance(features, Mapping):
        raise TypeError(
            f"features must be a dict of names and values, got a {type(features).__name__}; "
            "predict_many and learn_many take several rows"
        )
    given = {name: plain(value) for name, value in features.items()}
    return {"features": given} if id is None else {"id": id, "features": given}


def rows_of(points: Any) -> Iterable[Features]:
    """Return the rows of a frame of pandas, polars or pyarrow as dicts; dicts stay as they are."""
    if hasattr(points, "to_pylist"):  # pyarrow
        return list(points.to_pylist())
    if hasattr(points, "to_dicts"):  # polars
        return list(points.to_dicts())
    if hasattr(points, "to_dict") and hasattr(points, "columns"):  # pandas
        return list(points.to_dict("records"))
    if isinstance(points, Mapping):
        raise TypeError("points must be several dicts or a frame, got one dict; predict takes one")
    return points  # type: ignore[no-any-return]


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a date as a text, a span in seconds, NaN and NA as null.

    >>> import datetime
    >>> plain(datetime.datetime(2024, 5, 1, 10)), plain(datetime.time(10, 30)), plain(float("nan"))
    ('2024-05-01 10:00:00', '10:30:00', None)
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas
        return None
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    if hasattr(value, "isoformat"):
        return value.isoformat(" ") if hasattr(value, "timestamp") else value.isoformat()
    if hasattr(value, "dtype") and value.dtype.kind == "M":  # numpy
        return None if value != value else str(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    return None if value != value else value


def error_of(status: int, data: bytes) -> ServiceError:
    try:
        answer = json.loads(data)
        return ServiceError(status, answer["error"], answer.get("field"))
    except (ValueError, KeyError, TypeError):
        return ServiceError(status, data[:200].decode(errors="replace"))

"""Answers as bytes of JSON."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

from riparian.serve.refused import Refused

JSON = "application/json"
RETRY_AFTER = {"Retry-After": "1"}


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, status, headers, media_type=JSON)


def refusal(refused: Refused) -> Response:
    headers = RETRY_AFTER if refused.status == 503 else None
    return json_answer(refused.answer(), refused.status, headers)

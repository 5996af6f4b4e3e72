"""The description of all requests, for programs (OpenAPI 3.1) and for people."""

from __future__ import annotations

from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import orjson
from starlette.responses import HTMLResponse, Response

from riparian.serve.http.body import json_answer
from riparian.serve.http.view import Schemas, View
from riparian.serve.state.catalogue import Catalogue

ID = {"type": "string", "minLength": 1, "maxLength": 200}
FEATURES = {
    "type": "object", "minProperties": 1,
    "propertyNames": {"minLength": 1, "maxLength": 200},
    "additionalProperties": {"type": ["number", "boolean", "string", "null"], "maxLength": 1000},
    "description": "Numbers by name, and texts where the model has text columns. Null, and a feature "
    "that is not there, is a missing value.",
}  # fmt: skip
WEIGHT = {"type": "number", "exclusiveMinimum": 0, "maximum": 2**20, "default": 1}


def record(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {**record(required, **properties), "additionalProperties": False}


ERROR = record(["status", "error"], status={"type": "integer"}, error={"type": "string"},
               field={"type": "string"}, id={"type": ["string", "null"]})  # fmt: skip
ASK = closed(["features"], id=ID, features=FEATURES)
STATUS = {"type": "integer"}
LEARNED = {"type": "boolean", "description": "False if it had been learned before."}
TENSOR = record(
    ["name", "shape", "datatype", "data"],
    name={"type": "string"}, datatype={"type": "string"}, data={"type": "array"},
    shape={"type": "array", "items": {"type": "integer"}},
)  # fmt: skip
BULK = (
    "Also as JSON lines (application/x-ndjson), answered line by line, and as an Arrow stream "
    "(application/vnd.apache.arrow.stream), answered by one."
)
KEY = {
    "name": "Idempotency-Key", "in": "header", "required": False, "schema": ID,
    "description": "The same request under the same key is done once and answered the same.",
}  # fmt: skip


def openapi(name: str, schemas: Schemas) -> Any:
    return _answer(json_answer(document(name, schemas)))


async def _answer(answer: Response) -> Response:
    return answer


def document(name: str, schemas: Schemas) -> dict[str, Any]:
    label = schemas.label
    guess = {"anyOf": [label, {"type": "null"}]}
    tell = closed(["id", "label"], id=ID, label=label)
    teach = closed(["features", "label"], id=ID, features=FEATURES, label=label, weight=WEIGHT)
    asked = record(
        ["id", "status", "label", *schemas.predicted, "points"],
        id=ID, status=STATUS, label=guess, **schemas.predicted, **schemas.given,
        points={"type": "integer"},
    )  # fmt: skip
    judged = record(
        ["id", "status", "label", "predicted", *schemas.judged, "learned"],
        id=ID, status=STATUS, label=label, predicted=guess, **schemas.judged, learned=LEARNED,
    )  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {"title": "riparian serve", "version": version("riparian"),
                 "description": "A service that predicts at once and learns when labels arrive."},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],  # without tokens, only this machine is served
        "paths": {
            "/v1/predict": post("Predict, and wait for the label", ASK, asked),
            "/v1/label": post("The label of a prediction: score it, then learn", tell, judged),
            "/v1/learn": post("A point with its label: test, then learn", teach, judged),
            "/v1/model": get("What the model is"),
            "/v1/status": get("The numbers of the live page"),
            "/v1/snapshot": {
                **get("The last snapshot, as riparian.load reads it", "application/octet-stream"),
                "post": operation("Take a snapshot now", record(["lessons"]), {}),
            },
            "/v2": get("About the server (Open Inference Protocol)"),
            "/v2/health/live": get("Whether the process works"),
            "/v2/health/ready": get("Whether it answers"),
            f"/v2/models/{name}": get("About the model"),
            f"/v2/models/{name}/ready": get("Whether it has learned anything"),
            f"/v2/models/{name}/infer": {"post": operation(
                "Predict", record(["model_name", "outputs"]),
                {"requestBody": body(record(["inputs"], id={"type": "string", "maxLength": 150},
                                            inputs={"type": "array", "items": TENSOR}))},
            )},
            "/metrics": get("Numbers for Prometheus", "text/plain"),
        },
    }  # fmt: skip


def post(summary: str, row: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Describe a request with a row or a list of rows, and its answer, which is alike."""
    several = {"type": "array", "items": {"anyOf": [answer, ERROR]}}
    asked = {"anyOf": [row, {"type": "array", "items": row, "maxItems": 10_000}]}
    more = {"description": BULK, "parameters": [KEY], "requestBody": body(asked)}
    return {"post": operation(summary, {"anyOf": [answer, several]}, more)}


def get(summary: str, media: str = "application/json") -> dict[str, Any]:
    return {"get": operation(summary, {} if media == "application/json" else None, {}, media)}


def operation(
    summary: str, answer: Any, more: dict[str, Any], media: str = "application/json"
) -> dict[str, Any]:
    fine = {"description": "Done", "content": {media: {} if answer is None else {"schema": answer}}}
    refused = {"description": "Refused: the answer says why and names the field",
               "content": {"application/json": {"schema": ERROR}}}  # fmt: skip
    return {"summary": summary, **more, "responses": {"200": fine, "4XX": refused, "503": refused}}


def body(schema: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


# -- for people ------------------------------------------------------------------------------------


# A value of each kind of column.
EXAMPLES = {
    "a number": 1.5,
    "a text": "a text",
    "a date": "2024-05-31 10:30",
    "a time of day": "10:30",
}
MOST_IN_AN_EXAMPLE = 20  # features; the others are missing values


def examples(view: View, catalogue: Catalogue) -> dict[str, Any]:
    """Return a body of each POST, to start from, with features and a label of the model."""
    encoders = [*catalogue.raw.encoders.items()][:MOST_IN_AN_EXAMPLE]
    features = {name: EXAMPLES[each.takes] for name, each in encoders} or {"a": 1.5, "b": 0}
    label = [*view.labels(catalogue).get("classes", []), view.schemas.example][0]
    return {
        "/v1/predict": {"id": "first", "features": features},
        "/v1/label": {"id": "first", "label": label},
        "/v1/learn": {"features": features, "label": label},
        "/v1/snapshot": None,
    }


def docs_page(name: str, view: View, catalogue: Catalogue) -> Any:
    about, bodies = document(name, view.schemas), examples(view, catalogue)
    rows = "".join(
        f'<section class="route"><h2><code>{method.upper()} {escape(path)}</code></h2>'
        f"<p>{escape(what['summary'])}</p>{_schema(what)}{_form(method, path, bodies)}</section>"
        for path, methods in about["paths"].items()
        for method, what in methods.items()
    )
    style = files("riparian.report").joinpath("style.css").read_text(encoding="utf-8")
    here = files("riparian.serve.http")
    style += here.joinpath("docs.css").read_text(encoding="utf-8")
    script = here.joinpath("docs.js").read_text(encoding="utf-8")
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>riparian serve</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><h1>riparian serve</h1>"
        "<p>All requests of this service; for programs, they are described in "
        '<a href="/openapi.json">openapi.json</a>. "Send" sends a real request: the service learns '
        "what you send.</p>"
        f"{rows}<script>{script}</script></body></html>"
    )
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return _answer(HTMLResponse(page, headers={"Content-Security-Policy": policy}))


def _form(method: str, path: str, bodies: dict[str, Any]) -> str:
    """Return a body to change, if there is one, a button that sends it, and room for the answer."""
    example = bodies.get(path, {"inputs": [
        {"name": "input", "shape": [1, 2], "datatype": "FP32", "data": [1.5, 0.0]}
    ]})  # fmt: skip
    body = ""
    if method == "post" and example is not None:
        text = orjson.dumps(example, option=orjson.OPT_INDENT_2).decode()
        label = f"Body of {method.upper()} {path}"
        lines = text.count("\n") + 1
        body = (
            f'<textarea rows="{lines}" spellcheck="false" aria-label="{escape(label)}">'
            f"{escape(text)}</textarea>"
        )
    return (
        f'<div class="try" data-method="{method.upper()}" data-path="{escape(path)}">{body}'
        '<button type="button">Send</button><output></output></div>'
    )


def _schema(what: dict[str, Any]) -> str:
    if "requestBody" not in what:
        return ""
    schema = what["requestBody"]["content"]["application/json"]["schema"]
    shown = schema["anyOf"][0] if "anyOf" in schema else schema
    text = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()
    summary = "<summary>The body: one of these, or a list</summary>"
    return f"<details>{summary}<pre>{escape(text)}</pre></details>"

"""What there is, for machines (OpenAPI 3.1) and for people."""

from __future__ import annotations

from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import orjson
from starlette.responses import HTMLResponse, Response

from riparian.serve.http.body import json_answer

ID = {"type": "string", "minLength": 1, "maxLength": 200}
LABEL = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200},
                   {"type": "number", "multipleOf": 1}, {"type": "boolean"}]}  # fmt: skip
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
TELL = closed(["id", "label"], id=ID, label=LABEL)
TEACH = closed(["features", "label"], id=ID, features=FEATURES, label=LABEL, weight=WEIGHT)
ASKED = record(
    ["id", "status", "label", "probabilities", "points"],
    id=ID, status={"type": "integer"}, label={"anyOf": [*LABEL["anyOf"], {"type": "null"}]},
    probabilities={"type": ["object", "null"], "additionalProperties": {"type": "number"}},
    points={"type": "integer"},
)  # fmt: skip
TOLD = record(
    ["id", "status", "label", "predicted", "correct", "learned"],
    id=ID, status={"type": "integer"}, label=LABEL,
    predicted={"anyOf": [*LABEL["anyOf"], {"type": "null"}]},
    correct={"type": ["boolean", "null"]},
    learned={"type": "boolean", "description": "False if it had been learned before."},
)  # fmt: skip
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


def openapi(name: str) -> Any:
    return _answer(json_answer(document(name)))


async def _answer(answer: Response) -> Response:
    return answer


def document(name: str) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "riparian serve", "version": version("riparian"),
                 "description": "Predict now, learn when the label comes, lose nothing."},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],  # without tokens, only this machine is served
        "paths": {
            "/v1/predict": post("Predict, and wait for the label", ASK, ASKED),
            "/v1/label": post("The label of a prediction: score it, then learn", TELL, TOLD),
            "/v1/learn": post("A point with its label: test, then learn", TEACH, TOLD),
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
    """A row, or a list of them, and the same back."""
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


def docs_page(name: str) -> Any:
    about = document(name)
    rows = "".join(
        f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>"
        f"<p>{escape(what['summary'])}</p>{_schema(what)}</section>"
        for path, methods in about["paths"].items()
        for method, what in methods.items()
    )
    style = files("riparian.report").joinpath("style.css").read_text(encoding="utf-8")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>riparian serve</title>'
        f"<style>{style} pre {{ overflow-x: auto }}</style><h1>riparian serve</h1>"
        f"<p>{escape(about['info']['description'])} The same for machines: "
        f'<a href="/openapi.json">openapi.json</a>.</p>{rows}</html>'
    )
    policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return _answer(HTMLResponse(page, headers=policy))


def _schema(what: dict[str, Any]) -> str:
    if "requestBody" not in what:
        return ""
    schema = what["requestBody"]["content"]["application/json"]["schema"]
    shown = schema["anyOf"][0] if "anyOf" in schema else schema
    text = orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()
    summary = "<summary>The body: one of these, or a list</summary>"
    return f"<details>{summary}<pre>{escape(text)}</pre></details>"

"""`/v2`: the Open Inference Protocol, so that its clients work.

A point is a row of one tensor [rows, features], in the order of the model's features, or there is
one tensor [rows] per feature, by name. Each row is a prediction whose label may come later: its id is
that of the request, and with several rows that and its number (`id/0`, `id/1`).
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from riparian.serve import validation
from riparian.serve.http.body import Bodies, json_answer
from riparian.serve.http.guard import may_only_read
from riparian.serve.items import Features, Label
from riparian.serve.refused import Refused
from riparian.serve.service import Service
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.validation import AskRow

NUMBERS = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
           "FP16", "FP32", "FP64"}  # fmt: skip
TEXTS = "BYTES"
LABELS = {bool: "BOOL", int: "INT64", float: "FP64", str: "BYTES"}


class V2:
    def __init__(self, service: Service, bodies: Bodies, name: str) -> None:
        self.service, self.bodies, self.name = service, bodies, name

    async def server(self, request: Request) -> Response:
        from importlib.metadata import version

        about = {"name": "riparian", "version": version("riparian"), "extensions": []}
        return json_answer(about)

    async def live(self, request: Request) -> Response:
        alive = self.service.backlog.closed is None
        return json_answer({"live": alive}, 200 if alive else 503)

    async def ready(self, request: Request) -> Response:
        """It can store what it is asked: it answers predictions, if only that nothing is learned yet."""
        trouble = self.service.backlog.closed or self.service.writer.trouble
        about = {"ready": True} if trouble is None else {"ready": False, "error": trouble}
        return json_answer(about, 200 if trouble is None else 503)

    async def model(self, request: Request) -> Response:
        self._check_name(request)
        catalogue = self.service.model.catalogue
        return json_answer({
            "name": self.name,
            "platform": "riparian",
            "inputs": inputs_of(catalogue),
            "outputs": [
                {"name": "label", "datatype": self._datatype(), "shape": [-1]},
                {"name": "probabilities", "datatype": "FP64",
                 "shape": [-1, len(catalogue.labels)]},
                {"name": "id", "datatype": "BYTES", "shape": [-1]},
            ],
            "parameters": {"features": list(catalogue.columns), "points": self.service.model.points,
                           "classes": sorted(catalogue.labels)},
        })  # fmt: skip

    async def model_ready(self, request: Request) -> Response:
        """A status of 4xx is what the protocol calls not ready."""
        self._check_name(request)
        ready = self.service.model.points > 0
        return json_answer({"name": self.name, "ready": ready}, 200 if ready else 400)

    async def infer(self, request: Request) -> Response:
        self._check_name(request)
        limits = self.service.options.limits
        asked = validation.parsed(await self.bodies.read(request), limits)
        if not isinstance(asked, dict):
            raise Refused(400, f"the request must be an object, got {validation.kind(asked)}")
        given = asked.get("id")
        id = None if given in (None, "") else validation.text(given, "id", limits)
        points = points_of(asked.get("inputs"), list(self.service.model.catalogue.columns), limits)
        if self.service.model.points == 0:
            raise Refused(400, "the model has not learned anything yet")
        answers = await self.service.predict(
            [AskRow(name, point) for name, point in zip(ids(id, len(points)), points, strict=True)],
            reader=may_only_read(request.scope),
        )
        for answer in answers:
            if answer["status"] != 200:
                raise Refused(answer["status"], answer["error"], answer.get("field"))
        return json_answer(
            {"model_name": self.name, "id": id or answers[0]["id"], "outputs": self._out(answers)}
        )

    def _out(self, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        classes = list(dict.fromkeys(chain(*(answer["probabilities"] for answer in answers))))
        shares = [answer["probabilities"].get(name, 0.0) for answer in answers for name in classes]
        n = len(answers)
        return [
            tensor("label", self._datatype(), [n], [answer["label"] for answer in answers]),
            {**tensor("probabilities", "FP64", [n, len(classes)], shares),
             "parameters": {"classes": classes}},
            tensor("id", "BYTES", [n], [answer["id"] for answer in answers]),
        ]  # fmt: skip

    def _datatype(self) -> str:
        labels: frozenset[Label] = self.service.model.catalogue.labels
        return LABELS[type(next(iter(labels), ""))]

    def _check_name(self, request: Request) -> None:
        name = request.path_params["name"]
        if name != self.name:
            raise Refused(404, f"there is no model {name!r}; it is called {self.name!r}")


def inputs_of(catalogue: Catalogue) -> list[dict[str, Any]]:
    """A matrix; a tensor per feature where some are texts."""
    if not catalogue.texts:
        return [{"name": "input", "datatype": "FP32", "shape": [-1, len(catalogue.columns)]}]
    return [
        {"name": name, "datatype": "BYTES" if name in catalogue.texts else "FP32", "shape": [-1]}
        for name in catalogue.columns
    ]


def ids(id: str | None, rows: int) -> list[str | None]:
    """
    >>> ids("a", 1), ids("a", 2), ids(None, 2)
    (['a'], ['a/0', 'a/1'], [None, None])
    """
    if id is None or rows == 1:
        return [id] * rows
    return [f"{id}/{number}" for number in range(rows)]


def tensor(name: str, datatype: str, shape: list[int], data: list[Any]) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def points_of(inputs: Any, columns: list[str], limits: Any) -> list[Features]:
    """The rows of the tensors of a request."""
    if not isinstance(inputs, list) or not inputs:
        raise Refused(400, "must be a list of tensors", "inputs")
    read = [read_tensor(each, f"inputs[{i}]") for i, each in enumerate(inputs)]
    rows = read[0][1][0]
    if not 0 < rows <= limits.rows:
        raise Refused(400, f"there may be 1 to {limits.rows} rows, got {rows}", "inputs[0].shape")
    if len(read) == 1 and len(read[0][1]) == 2 and read[0][0] not in columns:
        return matrix_points(read[0], columns, limits)
    return named_points(read, rows, limits)


def matrix_points(read: Any, columns: list[str], limits: Any) -> list[Features]:
    _, (rows, width), data = read
    if width != len(columns):
        raise Refused(400, f"there are {len(columns)} features, got {width}", "inputs[0].shape")
    cells = [data[first : first + width] for first in range(0, rows * width, width)]
    return [checked(dict(zip(columns, row, strict=True)), limits) for row in cells]


def named_points(read: list[Any], rows: int, limits: Any) -> list[Features]:
    for i, (_, shape, _) in enumerate(read):
        if shape not in ([rows], [rows, 1]):
            raise Refused(
                400, f"must be [{rows}] or [{rows}, 1], got {shape}", f"inputs[{i}].shape"
            )
    named = {name: data for name, _, data in read}
    if len(named) < len(read):
        raise Refused(400, "two tensors have the same name", "inputs")
    return [checked({name: named[name][row] for name in named}, limits) for row in range(rows)]


def checked(point: dict[str, Any], limits: Any) -> Features:
    return validation.features({"features": point}, limits)


def read_tensor(given: Any, field: str) -> tuple[str, list[int], list[Any]]:
    """Its name, its shape and its numbers in one list."""
    if not isinstance(given, dict):
        raise Refused(400, f"must be a tensor, got {validation.kind(given)}", field)
    name, shape, kind, data = (given.get(part) for part in ("name", "shape", "datatype", "data"))
    if not isinstance(name, str):
        raise Refused(400, f"must be a string, got {validation.kind(name)}", f"{field}.name")
    if not isinstance(kind, str) or kind not in {*NUMBERS, TEXTS}:
        raise Refused(
            400,
            f"must be {TEXTS} or a type of numbers such as FP32, got {validation.kind(kind)}",
            f"{field}.datatype",
        )
    if not isinstance(shape, list) or len(shape) not in (1, 2) or not all(map(is_size, shape)):
        raise Refused(400, "must be one or two whole numbers", f"{field}.shape")
    if not isinstance(data, list):
        raise Refused(400, f"must be a list, got {validation.kind(data)}", f"{field}.data")
    flat = list(chain(*data)) if data and all(isinstance(row, list) for row in data) else data
    size = shape[0] * (shape[1] if len(shape) == 2 else 1)
    if len(flat) != size:
        raise Refused(400, f"must have {size} values, got {len(flat)}", f"{field}.data")
    wrong = [v for v in flat if v is not None and isinstance(v, str) != (kind == TEXTS)]
    if wrong:
        wanted = "texts" if kind == TEXTS else "numbers"
        raise Refused(400, f"must be {wanted}, got {validation.kind(wrong[0])}", f"{field}.data")
    return name, shape, flat


def is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0

"""`/v2`: the Open Inference Protocol, so that its clients work.

A point is a row of one tensor [rows, features], in the order of the model's features, or there is
one tensor [rows] per feature, by name. Each row is a prediction whose label may come later: its id is
that of the request, and with several rows that and its number (`id/0`, `id/1`).
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from riparian.serve import validation
from riparian.serve.http.body import Bodies, json_answer
from riparian.serve.http.guard import may_only_read
from riparian.serve.http.tensors import points_of, tensor
from riparian.serve.http.view import View
from riparian.serve.refused import Refused
from riparian.serve.service import Service
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.validation import AskRow


class V2:
    def __init__(self, service: Service, view: View, bodies: Bodies, name: str) -> None:
        self.service, self.view, self.bodies, self.name = service, view, bodies, name

    async def server(self, request: Request) -> Response:
        from importlib.metadata import version

        about = {"name": "riparian", "version": version("riparian"), "extensions": []}
        return json_answer(about)

    async def live(self, request: Request) -> Response:
        alive = self.service.backlog.closed is None
        return json_answer({"live": alive}, 200 if alive else 503)

    async def ready(self, request: Request) -> Response:
        """Answer whether requests can be stored; before the first lesson, predictions are null."""
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
            "outputs": [*self.view.outputs(catalogue),
                        {"name": "id", "datatype": "BYTES", "shape": [-1]}],
            "parameters": {"features": list(catalogue.columns), "points": self.service.model.points,
                           **self.view.labels(catalogue)},
        })  # fmt: skip

    async def model_ready(self, request: Request) -> Response:
        """Answer whether the model has learned anything: a status of 4xx means that it has not."""
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
        ids_out = tensor("id", "BYTES", [len(answers)], [answer["id"] for answer in answers])
        outputs = [*self.view.tensors(self.service.model.catalogue, answers), ids_out]
        return json_answer(
            {"model_name": self.name, "id": id or answers[0]["id"], "outputs": outputs}
        )

    def _check_name(self, request: Request) -> None:
        name = request.path_params["name"]
        if name != self.name:
            raise Refused(404, f"there is no model {name!r}; it is called {self.name!r}")


def inputs_of(catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return the inputs: a matrix, or a tensor per feature where some are texts."""
    if not catalogue.texts:
        return [{"name": "input", "datatype": "FP32", "shape": [-1, len(catalogue.columns)]}]
    return [
        {"name": name, "datatype": "BYTES" if name in catalogue.texts else "FP32", "shape": [-1]}
        for name in catalogue.columns
    ]


def ids(id: str | None, rows: int) -> list[str | None]:
    """Return the id of each row of a request with this id.

    >>> ids("a", 1), ids("a", 2), ids(None, 2)
    (['a'], ['a/0', 'a/1'], [None, None])
    """
    if id is None or rows == 1:
        return [id] * rows
    return [f"{id}/{number}" for number in range(rows)]

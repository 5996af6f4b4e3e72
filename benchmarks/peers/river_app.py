"""River's forests behind the plainest FastAPI app: `python -m benchmarks.peers.river_app arf`.

It stores nothing on disk, checks nothing, and learns while other requests wait. Labels come in lists.
"""

from __future__ import annotations

import socket
import sys
import uuid
from typing import Any

import uvicorn
from fastapi import Body, FastAPI
from river import forest

FORESTS = {
    "arf": lambda: forest.ARFClassifier(n_models=10, seed=0),
    "amf": lambda: forest.AMFClassifier(n_estimators=10, seed=0),
}


def app(kind: str) -> FastAPI:
    made, model, waiting = FastAPI(), FORESTS[kind](), {}

    def predicted(row: dict[str, Any]) -> dict[str, Any]:
        id = uuid.uuid4().hex
        waiting[id] = row["features"]
        return {"id": id, "label": model.predict_one(row["features"])}

    @made.post("/v1/predict")
    async def predict(rows: Any = Body()) -> Any:  # noqa: B008, FastAPI requires it
        return [predicted(row) for row in rows] if isinstance(rows, list) else predicted(rows)

    @made.post("/v1/label")
    async def label(rows: list[dict[str, Any]]) -> Any:
        for row in rows:
            model.learn_one(waiting.pop(row["id"]), row["label"])
        return {}

    @made.post("/v1/learn")
    async def learn(rows: list[dict[str, Any]]) -> Any:
        for row in rows:
            model.learn_one(row["features"], row["label"])
        return {}

    return made


def main() -> None:
    config = uvicorn.Config(app(sys.argv[1]), log_level="error")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        print(f"serving at {address}", file=sys.stderr, flush=True)
        uvicorn.Server(config).run([taken])


if __name__ == "__main__":
    main()

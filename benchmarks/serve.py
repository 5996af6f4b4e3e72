"""`riparian serve` beside River's ARF and AMF behind the plainest FastAPI app: time per request.

    python -m benchmarks.serve --seconds 20 --out benchmarks/record/serve.json

One client and 64 predict as fast as they can; then eight predict while labels come in lists of 20, at a
given rate. Ours has 100 trees and is durable, theirs have 10 and keep nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from benchmarks import record

FEATURES = [f"x{i}" for i in range(10)]
LEARN_FIRST = 5000  # points, so that there are trees to ask
LIST = 20  # labels that come together

PLAIN_APP = """
import sys, uuid, uvicorn
from fastapi import FastAPI
from river import forest
app, waiting = FastAPI(), {}
model = {"arf": forest.ARFClassifier, "amf": forest.AMFClassifier}[sys.argv[1]]
model = model(n_models=10, seed=0) if sys.argv[1] == "arf" else model(n_estimators=10, seed=0)
@app.post("/v1/predict")
async def predict(row: dict):
    id = uuid.uuid4().hex
    waiting[id] = row["features"]
    return {"id": id, "label": model.predict_one(row["features"])}
@app.post("/v1/label")
async def label(rows: list[dict]):
    for row in rows:
        model.learn_one(waiting.pop(row["id"]), row["label"])
    return {}
@app.post("/v1/learn")
async def learn(rows: list[dict]):
    for row in rows:
        model.learn_one(row["features"], row["label"])
    return {}
print("serving at http://127.0.0.1:" + sys.argv[2], file=sys.stderr, flush=True)
uvicorn.run(app, port=int(sys.argv[2]), log_level="error")
"""


def point(draw: random.Random) -> tuple[dict[str, float], int]:
    label = draw.randrange(5)
    return {name: draw.gauss(label if i < 2 else 0, 1) for i, name in enumerate(FEATURES)}, label


class Contender:
    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = None
        while not found:
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"{command} did not start")
            found = re.search(r"serving at (\S+)", line)
        self.address = found[1]

    def memory(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def busy(self) -> float:
        """Seconds of processor time so far."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)


class Connection:
    """As little HTTP as a client can do with: the cores are for the services."""

    def __init__(self, address: str) -> None:
        self.host, self.port = urlsplit(address).hostname, urlsplit(address).port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def post(self, path: str, value: Any) -> tuple[int, Any]:
        body = json.dumps(value)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write((head + body).encode())
        answer = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(re.search(rb"content-length: (\d+)", answer)[1])  # type: ignore[index]
        return int(answer.split()[1]), json.loads(await self.reader.readexactly(length))


async def ready(address: str) -> None:
    draw = random.Random(0)
    for _ in range(100):
        try:
            async with Connection(address):
                break
        except OSError:
            await asyncio.sleep(0.1)
    async with Connection(address) as connection:
        for _ in range(LEARN_FIRST // 100):
            await connection.post("/v1/learn", lessons(draw, 100))


def lessons(draw: random.Random, count: int) -> list[Any]:
    return [dict(zip(("features", "label"), point(draw), strict=True)) for _ in range(count)]


async def predicting(
    address: str, until: float, seconds: list[float], labels: Any, seed: int, pause: float = 0.0
) -> None:
    draw = random.Random(seed)
    async with Connection(address) as connection:
        while time.perf_counter() < until:
            features, label = point(draw)
            began = time.perf_counter()
            _, answer = await connection.post("/v1/predict", {"features": features})
            seconds.append(time.perf_counter() - began)
            labels.append({"id": answer["id"], "label": label})
            if pause:
                await asyncio.sleep(pause)


async def labelling(
    address: str, until: float, rate: float, labels: list[Any]
) -> tuple[int, float]:
    """Points at a given rate in lists, as labels as far as there are any, otherwise as lessons."""
    draw, sent, began = random.Random(99), 0, time.perf_counter()
    async with Connection(address) as connection:
        while (now := time.perf_counter()) < until:
            early = sent / rate - (now - began)
            if early > 0:
                await asyncio.sleep(early)
            if len(labels) >= LIST:
                path, rows = "/v1/label", labels[:LIST]
                del labels[:LIST]
            else:
                path, rows = "/v1/learn", lessons(draw, LIST)
            status, _ = await connection.post(path, rows)
            if status == 200:
                sent += LIST
    return sent, time.perf_counter() - began


def summary(seconds: list[float], duration: float, busy: float) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "per_second": round(len(ordered) / duration, 1),
        "p50_ms": round(1000 * ordered[len(ordered) // 2], 3),
        "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 3),
        "processors": round(busy / duration, 2),  # that the service kept busy
    }


async def measured(contender: Contender, seconds: float, rate: float) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    address = contender.address
    await ready(address)
    for clients in (1, 64):
        times: list[float] = []
        until, busy = time.perf_counter() + seconds, contender.busy()
        await asyncio.gather(*(predicting(address, until, times, [], i) for i in range(clients)))
        kept[f"{clients} clients"] = summary(times, seconds, contender.busy() - busy)
    labels: list[Any] = []
    times, before, busy = [], contender.memory(), contender.busy()
    until = time.perf_counter() + seconds
    *_, (sent, took) = await asyncio.gather(
        *(predicting(address, until, times, labels, i, pause=0.02) for i in range(8)),
        labelling(address, until, rate, labels),
    )
    kept["while learning"] = {
        **summary(times, seconds, contender.busy() - busy),
        "labels_per_second": round(sent / took, 1), "asked_for": rate,
        "memory_before": before, "memory_after": contender.memory(),
    }  # fmt: skip
    return kept


def commands(state: str) -> dict[str, list[str]]:
    ours = [sys.executable, "-m", "riparian.cli", "serve", "--new", "--port", "0", "--state"]
    plain = [sys.executable, "-c", PLAIN_APP]
    return {
        "riparian, 100 trees": [*ours, f"{state}/durable"],
        "riparian, 100 trees, lazy": [*ours, f"{state}/lazy", "--predictions", "lazy"],
        "River ARF, 10 trees": [*plain, "arf", "8731"],
        "River AMF, 10 trees": [*plain, "amf", "8732"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=2000.0, help="labels per second")
    parser.add_argument("--only", help="contenders whose name contains this")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as state:
        for name, command in commands(state).items():
            if given.only and given.only not in name:
                continue
            contender = Contender(command)
            try:
                found[name] = asyncio.run(measured(contender, given.seconds, given.rate))
            finally:
                contender.stop()
            print(name, json.dumps(found[name], indent=1), flush=True)
    if given.out:
        figures = {"seconds": given.seconds, "services": found}
        record.write(given.out, "serve", figures, ("riparian", "river", "fastapi", "uvicorn"))


if __name__ == "__main__":
    main()

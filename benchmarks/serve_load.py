"""Load for a service over HTTP: contenders as processes, and clients that do little work."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import urlsplit

FEATURES = [f"x{i}" for i in range(10)]
CLASSES = 5
LIST = 20  # labels that come together
START, STOP = 60.0, 60.0  # seconds that a service has to start in, and to stop
ANSWER = 120.0  # seconds that an answer may take


def point(draw: random.Random) -> tuple[dict[str, float], int]:
    """Five classes that lie apart in two of ten dimensions."""
    label = draw.randrange(CLASSES)
    return {name: draw.gauss(label if i < 2 else 0, 1) for i, name in enumerate(FEATURES)}, label


class Contender:
    """A service in a process of its own, with its memory and its times."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.said: list[str] = []
        self.address = ""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        give_up = time.monotonic() + START
        while not self.address:
            if self.process.poll() is not None or time.monotonic() > give_up:
                self.process.kill()
                raise SystemExit(f"{command} did not start: {''.join(self.said)}")
            time.sleep(0.05)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            match = re.search(r"serving at (\S+)", line)
            if match:
                self.address = match[1]

    def memory(self) -> int:
        """Return the resident bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def scheduled(self) -> tuple[float, float]:
        """Return the seconds that its threads ran, and that they waited for a core."""
        return scheduled(self.process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()


def scheduled(pid: int) -> tuple[float, float]:
    ran = waited = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            first, second, _ = (task / "schedstat").read_text().split()
        except (FileNotFoundError, ProcessLookupError):  # a thread that has ended
            continue
        ran, waited = ran + int(first), waited + int(second)
    return ran / 1e9, waited / 1e9


# -- clients ---------------------------------------------------------------------------------------


class Connection:
    """A minimal HTTP client, since the cores are needed for the services."""

    def __init__(self, address: str) -> None:
        self.host, self.port = urlsplit(address).hostname, urlsplit(address).port

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def post(self, path: str, value: Any) -> tuple[int, Any]:
        return await self.send(request("POST", path, json.dumps(value)))

    async def get(self, path: str) -> Any:
        return (await self.send(request("GET", path, "")))[1]

    async def send(self, data: bytes) -> tuple[int, Any]:
        self.writer.write(data)
        async with asyncio.timeout(ANSWER):
            head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
            length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
            body = await self.reader.readexactly(length)
        return int(head.split(maxsplit=2)[1]), json.loads(body)


def request(method: str, path: str, body: str) -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return (head + body).encode()


@dataclass
class Load:
    """What clients share while they run."""

    address: str
    until: float  # on the clock of `perf_counter`
    seconds: list[float] = field(default_factory=list)  # of each prediction
    waiting: deque[dict[str, Any]] = field(default_factory=deque)  # rows that /v1/label takes
    growing: bool = False  # other clients predict while labels are sent, so there will be more
    labels: int = 0  # that were accepted
    refused: int = 0  # requests with another status than 200
    lag: list[float] = field(default_factory=list)  # of this process itself

    @property
    def over(self) -> bool:
        return time.perf_counter() >= self.until


class Pace:
    """Send n rows per second; a late client catches up."""

    def __init__(self, rate: float | None) -> None:
        self.rate, self.began, self.rows = rate, time.perf_counter(), 0

    async def next(self, rows: int) -> None:
        if self.rate:
            early = self.began + self.rows / self.rate - time.perf_counter()
            await asyncio.sleep(max(0.0, early))
        self.rows += rows


async def reachable(address: str) -> None:
    for _ in range(100):
        try:
            async with Connection(address):
                return
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit(f"no service answers at {address}")


async def teach(address: str, count: int) -> None:
    draw = random.Random(0)
    async with Connection(address) as connection:
        for _ in range(count // 100):
            points = [point(draw) for _ in range(100)]
            rows = [{"features": features, "label": label} for features, label in points]
            status, answer = await connection.post("/v1/learn", rows)
            if status != 200:
                raise SystemExit(f"/v1/learn: {status} {answer}")


async def ask(load: Load, count: float, seed: int, rate: float | None = None) -> None:
    """Ask for predictions in lists, until n wait for their labels, which are sent later."""
    draw, pace = random.Random(seed), Pace(rate)
    async with Connection(load.address) as connection:
        while len(load.waiting) < count and not load.over:
            await pace.next(LIST)
            points = [point(draw) for _ in range(LIST)]
            rows = [{"features": features} for features, _ in points]
            status, answers = await connection.post("/v1/predict", rows)
            if status != 200:
                load.refused += 1
                await asyncio.sleep(0.05)
                continue
            load.waiting.extend(
                {"id": answer["id"], "label": label}
                for answer, (_, label) in zip(answers, points, strict=True)
            )


async def predict(load: Load, seed: int, pause: float = 0.0) -> None:
    """Make one prediction after the other."""
    draw = random.Random(seed)
    bodies = [request("POST", "/v1/predict", json.dumps({"features": point(draw)[0]}))
              for _ in range(50)]  # fmt: skip
    await asyncio.sleep(pause * draw.random())
    async with Connection(load.address) as connection:
        while not load.over:
            data = draw.choice(bodies)
            began = time.perf_counter()
            status, _ = await connection.send(data)
            took = time.perf_counter() - began
            if status == 200:
                load.seconds.append(took)
            else:
                load.refused += 1
            if pause:
                await asyncio.sleep(draw.uniform(0.5, 1.5) * pause)


async def label(load: Load, rate: float | None = None) -> float:
    """Send labels in lists, at a rate or as fast as they are taken; seconds until they were sent."""
    began, pace = time.perf_counter(), Pace(rate)
    async with Connection(load.address) as connection:
        while (load.waiting or load.growing) and not load.over:
            if not load.waiting:
                await asyncio.sleep(0.01)
                continue
            await pace.next(LIST)
            rows = [load.waiting.popleft() for _ in range(min(LIST, len(load.waiting)))]
            status, _ = await connection.post("/v1/label", rows)
            if status == 200:
                load.labels += len(rows)
            else:
                load.refused += 1
                load.waiting.extendleft(reversed(rows))
                await asyncio.sleep(0.05)
    return time.perf_counter() - began


async def learned(address: str, points: int) -> None:
    """Wait until it has learned: our service acknowledges labels first, and learns them later."""
    async with Connection(address) as connection:
        async with asyncio.timeout(ANSWER):
            while (await connection.get("/v1/status"))["figures"]["points"] < points:
                await asyncio.sleep(0.05)


async def watch_own_lag(load: Load) -> None:
    """Measure how late this process itself is: its measurements are too long by about that time."""
    while not load.over:
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        load.lag.append(time.perf_counter() - began - 0.005)


# -- its cost --------------------------------------------------------------------------------------


class Meter:
    """Processor time of a service, and the time that it and this process waited for a core."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        self._service, self._client = self.contender.scheduled(), scheduled(os.getpid())
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began
        ran, waited = self.contender.scheduled()
        self.ran, self.waited = ran - self._service[0], waited - self._service[1]
        self.client_waited = scheduled(os.getpid())[1] - self._client[1]

    def figures(self) -> dict[str, float]:
        """Return the cores in use, and the seconds of waiting, per second of wall time."""
        return {
            "cores": round(self.ran / self.seconds, 2),
            "waited_for_a_core": round(self.waited / self.seconds, 3),
            "client_waited": round(self.client_waited / self.seconds, 3),
        }


def quantiles(seconds: list[float]) -> dict[str, float | None]:
    if not seconds:
        return {"p50_ms": None, "p99_ms": None}
    ordered = sorted(seconds)
    at = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
          for name, share in (("p50_ms", 0.5), ("p99_ms", 0.99))}  # fmt: skip
    return {name: round(1000 * value, 3) for name, value in at.items()}

"""Compare `riparian serve` with River's ARF and AMF behind a minimal FastAPI app: time per request.

    python -m benchmarks.serve --minutes 10 --out benchmarks/record/serve.json
    python -m benchmarks.serve_table benchmarks/record/serve.json

Ours has 100 trees and is durable, theirs have 10 and keep nothing. One client and 64 predict as fast as
they can; one and 64 send labels in lists of 20, until they are learned; eight clients predict, twenty
times per second each, while labels come in lists of 20 at a given rate: once while the forest is young
(R21: its trees are still rebuilt), and once at the end. With `--minutes`, our service alone then does
the last for that time, and each id is predicted in a list and labelled in a list.

A busy machine makes every time longer. So each result also says how long the service waited for a core,
and how late the measuring process itself was.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.serve_load import (
    Connection,
    Contender,
    Load,
    Meter,
    ask,
    label,
    learned,
    predict,
    quantiles,
    reachable,
    teach,
    watch_own_lag,
)

LEARN_FIRST = 5000  # points, so that the trees have grown
PREDICTORS, PAUSE = (
    8,
    0.05,
)  # clients that predict while labels come, and seconds between two of one
EVERY = 10.0  # seconds between two looks at the memory
BEHIND = 5.0  # seconds from a prediction to its label, in the long run
PACKAGES = ("river", "fastapi", "starlette", "uvicorn", "uvloop", "orjson")


def commands(state: str) -> dict[str, list[str]]:
    ours = [sys.executable, "-m", "riparian.cli", "serve", "--new", "--port", "0", "--state"]
    plain = [sys.executable, "-m", "benchmarks.peers.river_app"]
    return {
        "riparian, 100 trees": [*ours, f"{state}/durable"],
        "riparian, 100 trees, lazy": [*ours, f"{state}/lazy", "--predictions", "lazy"],
        "River ARF, 10 trees": [*plain, "arf"],
        "River AMF, 10 trees": [*plain, "amf"],
    }


class Bench:
    """The phases of one contender."""

    def __init__(self, contender: Contender, name: str, rate: float) -> None:
        self.contender, self.name, self.rate = contender, name, rate
        self.points = LEARN_FIRST  # that it has learned

    async def run(self, seconds: float) -> dict[str, Any]:
        await self.begin()
        phases = {"while learning, young": await self.while_learning(seconds)}
        for clients in (1, 64):
            phases[f"predicting, {clients}"] = await self.predicting(clients, seconds)
            phases[f"labelling, {clients}"] = await self.labelling(clients, seconds)
        phases["while learning"] = await self.while_learning(seconds)
        return phases

    async def begin(self) -> None:
        await reachable(self.contender.address)
        await teach(self.contender.address, LEARN_FIRST)
        await self.settled()

    async def settled(self) -> None:
        if self.name.startswith("riparian"):
            await learned(self.contender.address, self.points)

    def load(self, seconds: float) -> Load:
        return Load(self.contender.address, time.perf_counter() + seconds)

    async def with_ids(self, count: float, seconds: float) -> Load:
        """Return ids that wait for their labels; fewer than n if the predictions take too long."""
        before = self.load(seconds)
        await asyncio.gather(*(ask(before, count, seed) for seed in (1, 2)))
        load = self.load(seconds)
        load.waiting = before.waiting
        return load

    async def predicting(self, clients: int, seconds: float) -> dict[str, Any]:
        load = self.load(seconds)
        with Meter(self.contender) as meter:
            await asyncio.gather(*(predict(load, seed) for seed in range(clients)))
        return self.report(f"{clients} predicting", {
            "per_second": round(len(load.seconds) / meter.seconds, 1),
            **quantiles(load.seconds),
            "cpu_ms_each": round(1000 * meter.ran / max(1, len(load.seconds)), 3),
            **meter.figures(), "refused": load.refused,
        })  # fmt: skip

    async def labelling(self, clients: int, seconds: float) -> dict[str, Any]:
        """Send labels as fast as they are learned, not only accepted."""
        load = await self.with_ids(4 * self.rate * seconds, seconds)
        with Meter(self.contender) as meter:
            await asyncio.gather(*(label(load) for _ in range(clients)))
            self.points += load.labels
            await self.settled()
        return self.report(f"{clients} labelling", {
            "per_second": round(load.labels / meter.seconds, 1),
            "cpu_ms_each": round(1000 * meter.ran / max(1, load.labels), 3),
            **meter.figures(), "refused": load.refused,
        })  # fmt: skip

    async def while_learning(self, seconds: float) -> dict[str, Any]:
        return await self.learning(await self.with_ids(self.rate * seconds, seconds))

    async def learning(self, load: Load, *more: Any) -> dict[str, Any]:
        """Labels come at the rate, and eight clients predict."""
        with Meter(self.contender) as meter:
            took, *_ = await asyncio.gather(
                label(load, self.rate), watch_own_lag(load), *more,
                *(predict(load, seed, PAUSE) for seed in range(PREDICTORS)),
            )  # fmt: skip
        self.points += load.labels
        await self.settled()
        return self.report("while learning", {
            "per_second": round(load.labels / took, 1), "asked_for": self.rate,
            **quantiles(load.seconds), "predictions": len(load.seconds), **meter.figures(),
            "own_lag_p99_ms": quantiles(load.lag)["p99_ms"], "refused": load.refused,
            "resident_mb": megabytes(self.contender.memory()),
        })  # fmt: skip

    async def sustained(self, seconds: float, log: Path) -> list[dict[str, Any]]:
        """Predict and label every id, for minutes, and measure the memory at intervals."""
        await self.begin()
        waiting = (await self.with_ids(BEHIND * self.rate, 60.0)).waiting
        began, marks = time.perf_counter(), []
        while (at := time.perf_counter() - began) < seconds:
            load = self.load(min(EVERY, seconds - at))
            load.waiting, load.growing = waiting, True
            asking = ask(load, float("inf"), len(marks), self.rate)
            marks.append({
                "second": round(at, 1), **await self.learning(load, asking),
                "points": self.points, "forest_mb": megabytes(await self.forest_bytes()),
                "log_mb": megabytes(sum(file.stat().st_size for file in log.glob("log.sqlite*"))),
            })  # fmt: skip
        return marks

    async def forest_bytes(self) -> int:
        async with Connection(self.contender.address) as connection:
            return int((await connection.get("/v1/status"))["figures"]["memory"])

    def report(self, phase: str, figures: dict[str, Any]) -> dict[str, Any]:
        print(f"{self.name}: {phase}: {figures}", flush=True)
        return figures


def megabytes(size: int) -> float:
    return round(size / 1e6, 1)


def compared(given: argparse.Namespace) -> dict[str, Any]:
    services = {}
    with tempfile.TemporaryDirectory() as state:
        for name, command in commands(state).items():
            if given.only is None or given.only in name:
                with Contender(command) as contender:
                    bench = Bench(contender, name, given.rate)
                    services[name] = asyncio.run(bench.run(given.seconds))
    return services


def sustained(given: argparse.Namespace) -> dict[str, Any]:
    services = {}
    with tempfile.TemporaryDirectory() as state:
        for name, command in commands(state).items():
            ours = name.startswith("riparian")
            if ours and (given.only is None or given.only in name):
                with Contender(command) as contender:
                    bench = Bench(contender, name, given.rate)
                    folder = Path(command[command.index("--state") + 1])
                    services[name] = asyncio.run(bench.sustained(60 * given.minutes, folder))
    return services


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="of each phase; 0: none of them"
    )
    parser.add_argument("--minutes", type=float, default=0.0, help="of the long run of ours")
    parser.add_argument("--rate", type=float, default=2000.0, help="labels per second")
    parser.add_argument("--only", help="contenders whose name contains this")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    gc.disable()  # a pause here would look like one of the service
    figures: dict[str, Any] = {"seconds": given.seconds, "minutes": given.minutes}
    figures["services"] = compared(given) if given.seconds else {}
    if given.out:  # a long run that fails does not take this with it
        record.write(given.out, "serve", figures, PACKAGES)
    if given.minutes:
        figures["sustained"] = sustained(given)
        if given.out:
            record.write(given.out, "serve", figures, PACKAGES)


if __name__ == "__main__":
    main()

"""Predictions that come at the same time are made in one call, and each gets its own."""

from __future__ import annotations

import asyncio

import pytest

from riparian.serve.items import Forecast
from riparian.serve.together import Together


def forecast(point):
    return Forecast(point["a"], (), (), 0)


def test_what_is_asked_in_one_turn_is_one_call_and_everyone_gets_their_own():
    calls = []

    def make(points):
        calls.append(len(points))
        return [forecast(point) for point in points]

    async def ask():
        together = Together(make)
        sizes = [1, 3, 0, 2]
        asked = [
            together.forecasts([{"a": 10 * i + j} for j in range(n)]) for i, n in enumerate(sizes)
        ]
        answers = await asyncio.gather(*asked)
        assert [[f.label for f in answer] for answer in answers] == [
            [0],
            [10, 11, 12],
            [],
            [30, 31],
        ]
        await together.forecasts([{"a": 7}])

    asyncio.run(ask())
    assert calls == [6, 1]


def test_a_mistake_reaches_all_its_callers_and_none_after_them():
    broken = [True]

    def make(points):
        if broken.pop():
            raise ValueError("a mistake")
        return [forecast(point) for point in points]

    async def ask():
        together = Together(make)
        asked = [together.forecasts([{"a": 1}]) for _ in range(2)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [str(answer) for answer in answers] == ["a mistake", "a mistake"]
        broken.append(False)
        gone = asyncio.create_task(together.forecasts([{"a": 1}]))
        stays = asyncio.create_task(together.forecasts([{"a": 2}]))
        await asyncio.sleep(0)
        gone.cancel()
        assert [f.label for f in await stays] == [2]
        with pytest.raises(asyncio.CancelledError):
            await gone

    asyncio.run(ask())

"""Bodies as lines: answered as they come, and counted in bytes while they are in use."""

from __future__ import annotations

import asyncio

import pytest

from riparian.serve.http.body import Bodies, grouped
from riparian.serve.http.bulk import json_lines
from riparian.serve.options import Limits
from riparian.serve.refused import Overloaded, Refused


class Sent:
    """A request whose body comes part by part."""

    def __init__(self, *parts, pause=0.0):
        self.parts, self.pause, self.headers = parts, pause, {}

    async def stream(self):
        for part in self.parts:
            await asyncio.sleep(self.pause)
            yield part


def test_lines_that_are_together_are_few_and_have_few_bytes():
    assert [len(group) for group in grouped([b"x"] * 450, 1000)] == [200, 200, 50]
    assert [len(group) for group in grouped([b"x" * 400] * 5, 1000)] == [2, 2, 1]
    assert [len(group) for group in grouped([b"x" * 5000, b""], 1000)] == [1, 1]
    assert list(grouped([], 1000)) == []


@pytest.mark.parametrize("cut", [1, 3, 100, 10_000])
def test_lines_are_what_was_sent_whatever_the_parts(cut):
    body = b"first\n\nsecond\n" + b"x" * 1000 + b"\nlast"
    parts = [body[i : i + cut] for i in range(0, len(body), cut)]
    bodies = Bodies(Limits())

    async def lines():
        return [line async for group in bodies.lines(Sent(*parts)) for line in group]

    assert b"\n".join(asyncio.run(lines())) == body
    assert bodies.held == 0


def test_the_bytes_of_lines_are_counted_while_they_are_in_use():
    bodies = Bodies(Limits())
    held = []

    async def read():
        async for _ in bodies.lines(Sent(*[b"x" * 700_000 + b"\n"] * 6)):
            held.append(bodies.held)

    asyncio.run(read())
    assert held == [700_000] * 6 + [0]


def test_a_line_is_answered_before_the_next_one_is_sent():
    answered = []

    async def exchange():
        async def stream():
            for number in range(3):
                yield [b'{"n": %d}' % number]
                assert len(answered) == number + 1

        async def do(rows):
            return rows

        response = json_lines(stream(), lambda row, limits: row, do, Limits())
        async for answer in response.body_iterator:
            answered.append(answer)

    asyncio.run(exchange())
    assert answered == [b'{"n":0}\n', b'{"n":1}\n', b'{"n":2}\n']


def test_a_body_that_comes_too_slowly_is_refused():
    bodies = Bodies(Limits(timeout=0.05))
    with pytest.raises(Refused, match="too slowly") as refused:
        asyncio.run(bodies.read(Sent(b"x", pause=0.2)))
    assert refused.value.status == 408
    with pytest.raises(Refused, match="too slowly"):  # each part in time, and too many of them
        asyncio.run(bodies.read(Sent(*[b"x"] * 100, pause=0.02)))
    assert bodies.held == 0


def test_small_bodies_are_read_although_large_ones_fill_the_memory():
    bodies = Bodies(Limits(bodies=1000))
    bodies.held = 1000
    assert asyncio.run(bodies.read(Sent(b"x" * 500))) == b"x" * 500
    with pytest.raises(Overloaded):
        asyncio.run(bodies.read(Sent(b"x" * 100_000)))

"""Many rows: streams of JSON lines, and Arrow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import orjson
from starlette.responses import Response, StreamingResponse

from riparian.serve.door import parsed, read_or_bad
from riparian.serve.items import Bad
from riparian.serve.options import Limits
from riparian.serve.refused import Overloaded, Refused
from riparian.tools.optional import optional_module

NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"

TOGETHER = 200  # lines that are stored together
PATIENCE = 0.02  # seconds before a stream tries again that was asked to wait
OWN = ("id", "label", "weight")  # columns that are no features


# -- JSON lines ------------------------------------------------------------------------------------


def json_lines(
    lines: AsyncIterator[bytes], read: Callable[..., Any], do: Callable[..., Any], limits: Limits
) -> Response:
    """A line of answer for each line, as they come. A stream waits where others would be refused."""
    return Both(_answers(lines, read, do, limits), media_type=NDJSON)


class Both(StreamingResponse):
    """An answer that is sent while the request is read; Starlette's would take its body away."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.stream_response(send)


async def _answers(
    lines: AsyncIterator[bytes], read: Callable[..., Any], do: Callable[..., Any], limits: Limits
) -> AsyncIterator[bytes]:
    rows: list[Any] = []
    try:
        async for line in lines:
            if line.strip():
                rows.append(_row(line, read, limits))
            if len(rows) >= TOGETHER:
                yield await _done(rows, do)
                rows = []
        if rows:
            yield await _done(rows, do)
    except Refused as refused:  # the status is long gone
        yield orjson.dumps({"id": None, **refused.answer()}) + b"\n"


def _row(line: bytes, read: Callable[..., Any], limits: Limits) -> Any:
    try:
        value = parsed(line)
    except Refused as refused:
        return Bad({"id": None, **refused.answer()})
    return read_or_bad(value, read, limits)


async def _done(rows: list[Any], do: Callable[..., Any]) -> bytes:
    while True:
        try:
            answers = await do(rows)
        except Overloaded:
            await asyncio.sleep(PATIENCE)
        else:
            return b"".join(orjson.dumps(answer) + b"\n" for answer in answers)


# -- Arrow -----------------------------------------------------------------------------------------


def arrow_rows(body: bytes, limits: Limits) -> list[dict[str, Any]]:
    """The rows of an Arrow stream. All columns but id, label and weight are features."""
    pa = _pyarrow("pyarrow")
    ipc = _pyarrow("pyarrow.ipc")
    try:
        with ipc.open_stream(body) as reader:
            table = pa.Table.from_batches(_batches(reader, limits), reader.schema)
        table.validate(full=True)
        columns = {name: column.to_pylist() for name, column in _columns(table)}
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise Refused(400, f"the body must be an Arrow stream: {error}") from None
    return [_as_row(columns, number) for number in range(table.num_rows)]


def _batches(reader: Any, limits: Limits) -> Iterator[Any]:
    rows = 0
    for batch in reader:
        rows += batch.num_rows
        if rows > limits.rows:
            raise Refused(413, f"a body may have {limits.rows} rows, got {rows} or more")
        yield batch


def _columns(table: Any) -> Any:
    names = table.column_names
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    return zip(names, table.columns, strict=True)


def _as_row(columns: dict[str, list[Any]], number: int) -> dict[str, Any]:
    own = {name: columns[name][number] for name in OWN if name in columns}
    features = {name: _value(cells[number]) for name, cells in columns.items() if name not in OWN}
    return {**own, **({"features": features} if features else {})}


def _value(cell: Any) -> Any:
    """Arrow has two kinds of missing values."""
    return None if isinstance(cell, float) and cell != cell else cell


def arrow_answer(answers: list[dict[str, Any]]) -> Response:
    """The answers as an Arrow stream: a column for each field, probabilities as a struct."""
    pa, ipc = _pyarrow("pyarrow"), _pyarrow("pyarrow.ipc")
    table = pa.Table.from_pylist(answers, schema=None) if answers else pa.table({"id": []})
    names = list(dict.fromkeys(name for answer in answers for name in answer))
    if names:
        table = pa.table({name: [answer.get(name) for answer in answers] for name in names})
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Response(sink.getvalue().to_pybytes(), media_type=ARROW)


def _pyarrow(module: str) -> Any:
    try:
        return optional_module(module, needed_by="Arrow", extra="cli")
    except ImportError as error:
        raise Refused(415, str(error)) from None

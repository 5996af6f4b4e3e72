"""Many rows as an Arrow stream.

Nothing in a stream may become larger than the stream itself: its size was checked, and memory should not
be a multiple of it. So buffers must not be compressed, and a text that many rows share must be short.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from starlette.responses import Response

from riparian.serve.options import Limits
from riparian.serve.refused import Refused
from riparian.tools.optional import optional_module

ARROW = "application/vnd.apache.arrow.stream"
OWN = ("id", "label", "weight")  # columns that are no features


def rows(body: bytes, limits: Limits) -> list[dict[str, Any]]:
    """The rows of an Arrow stream. All columns but id, label and weight are features."""
    pa, ipc = _pyarrow("pyarrow"), _pyarrow("pyarrow.ipc")
    try:
        for message in ipc.MessageReader.open_stream(body):
            if _is_compressed(message):
                raise Refused(400, "the buffers of the Arrow stream must not be compressed")
        with ipc.open_stream(body) as reader:
            table = pa.Table.from_batches(_batches(reader, limits), reader.schema)
        table.validate(full=True)
        for name, column in _columns(table):
            _check(pa, name, column, limits)
        columns = {name: column.to_pylist() for name, column in _columns(table)}
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise Refused(400, f"the body must be an Arrow stream: {error}") from None
    return [_as_row(columns, number) for number in range(table.num_rows)]


def _batches(reader: Any, limits: Limits) -> Iterator[Any]:
    rows = 0
    for batch in reader:
        rows += batch.num_rows
        if rows > limits.rows:
            raise Refused(413, f"a body may have {limits.rows} rows, got {rows} or more")
        yield batch


def _check(pa: Any, name: str, column: Any, limits: Limits) -> None:
    """Rows that share a text must not make many copies of a long one."""
    kinds, kind, chunks = pa.types, column.type, column.chunks
    shared = kinds.is_dictionary(kind)
    if shared:
        kind, chunks = kind.value_type, [chunk.dictionary for chunk in chunks]
    if kinds.is_string_view(kind):
        longest = [_longest_view(chunk) for chunk in chunks]
    elif kinds.is_string(kind) or kinds.is_large_string(kind):
        longest = [_longest_text(chunk) for chunk in chunks] if shared else []
    elif kinds.is_primitive(kind) or kinds.is_null(kind):
        longest = []
    else:
        raise Refused(400, f"a column must hold numbers, bools or texts, not {kind}", name)
    if max(longest, default=0) > 4 * limits.value:  # bytes of a character, at the most
        raise Refused(
            400, f"a text may have {limits.value} characters, got {max(longest)} bytes", name
        )


def _longest_text(texts: Any) -> int:
    compute = _pyarrow("pyarrow.compute")
    return compute.max(compute.binary_length(texts)).as_py() or 0


def _longest_view(texts: Any) -> int:
    """Each view has four numbers, and the first is its length, which pyarrow does not tell."""
    numbers = np.frombuffer(texts.buffers()[1], dtype="<i4")
    return int(numbers[4 * texts.offset :: 4][: len(texts)].max(initial=0))


# -- is it compressed? -----------------------------------------------------------------------------

# Arrow describes a batch by a FlatBuffer, which pyarrow has checked, but of which it does not show this
# field: tables name the places of their fields, by number; 0 is a field that is not there.
HEADER = 2  # of a message
DATA = 1  # of the header of a dictionary: its batch
COMPRESSION = 3  # of a batch


def _is_compressed(message: Any) -> bool:
    data = bytes(message.metadata)
    place: int = struct.unpack_from("<I", data)[0]
    path = {"record batch": [HEADER], "dictionary": [HEADER, DATA]}.get(message.type)
    if path is None:
        return False
    for number in path:
        field = _field(data, place, number)
        if field is None:
            return False
        place = field + struct.unpack_from("<I", data, field)[0]
    return _field(data, place, COMPRESSION) is not None


def _field(data: bytes, table: int, number: int) -> int | None:
    places = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", data, places)[0]:
        return None
    offset = struct.unpack_from("<H", data, places + 4 + 2 * number)[0]
    return table + offset if offset else None


# -- rows and answers ------------------------------------------------------------------------------


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


def answer(answers: list[dict[str, Any]]) -> Response:
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

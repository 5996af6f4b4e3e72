"""Many rows as an Arrow stream.

A few bytes of a stream can become many values: nulls have no buffer, rows share the text of a
dictionary, and columns may share buffers. So values and the bytes of their texts are counted before any
is made, and buffers must not be compressed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response

from riparian.client import plain
from riparian.serve.options import Limits
from riparian.serve.refused import Refused
from riparian.tools.optional import optional_module

ARROW = "application/vnd.apache.arrow.stream"
OWN = ("id", "label", "weight")  # columns that are no features


def rows(body: bytes, limits: Limits) -> list[dict[str, Any]]:
    """Return the rows of an Arrow stream. All columns but id, label and weight are features."""
    pa, ipc = _pyarrow("pyarrow"), _pyarrow("pyarrow.ipc")
    try:
        for message in ipc.MessageReader.open_stream(body):
            if _is_compressed(message):
                raise Refused(400, "the buffers of the Arrow stream must not be compressed")
        with ipc.open_stream(body) as reader:
            for field in reader.schema:
                _check_kind(pa, field.name, field.type)
            table = pa.Table.from_batches(_batches(reader, limits), reader.schema)
        table.validate(full=True)
        _check_texts(sum(_text_bytes(pa, column) for column in table.columns), limits)
        columns = {name: _readable(pa, column).to_pylist() for name, column in _columns(table)}
        return [_as_row(columns, number) for number in range(table.num_rows)]
    except (pa.ArrowException, OSError, ValueError, OverflowError, struct.error) as error:
        raise Refused(400, f"the body must be an Arrow stream: {error}") from None


def _batches(reader: Any, limits: Limits) -> Iterator[Any]:
    rows, columns = 0, len(reader.schema)
    for batch in reader:
        rows += batch.num_rows
        if rows > limits.rows:
            raise Refused(413, f"a body may have {limits.rows} rows, got {rows} or more")
        if rows * columns > limits.values:
            raise Refused(
                413, f"a body may have {limits.values} values, got {rows} rows of {columns} or more"
            )
        yield batch


def _check_kind(pa: Any, name: str, kind: Any) -> None:
    kinds = pa.types
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    numbers = (
        kinds.is_integer,
        kinds.is_floating,
        kinds.is_decimal,
        kinds.is_boolean,
        kinds.is_null,
    )
    times = (kinds.is_timestamp, kinds.is_date, kinds.is_time, kinds.is_duration)
    if not any(fits(kind) for fits in (*numbers, *times, *_text_kinds(pa))):
        raise Refused(400, f"a column must hold numbers, bools, texts or dates, not {kind}", name)


def _text_kinds(pa: Any) -> tuple[Any, ...]:
    return pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view


def _text_bytes(pa: Any, column: Any) -> int:
    """Return how many bytes the texts of a column have, each counted as often as it occurs."""
    shared = pa.types.is_dictionary(column.type)
    kind = column.type.value_type if shared else column.type
    if not any(fits(kind) for fits in _text_kinds(pa)):
        return 0
    size = 0
    for chunk in column.chunks:
        texts = chunk.dictionary if shared else chunk
        lengths = _view_lengths(texts) if pa.types.is_string_view(kind) else _lengths(texts)
        if shared:
            lengths = lengths[chunk.indices.drop_null().to_numpy()]
        size += int(lengths.sum())
    return size


def _lengths(texts: Any) -> NDArray[np.int64]:
    lengths = _pyarrow("pyarrow.compute").binary_length(texts).fill_null(0)
    return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64)


def _view_lengths(texts: Any) -> NDArray[np.int64]:
    """Return the first of the four numbers of each view: its length, which pyarrow does not give."""
    numbers = np.frombuffer(texts.buffers()[1], dtype="<i4")
    return numbers[4 * texts.offset :: 4][: len(texts)].astype(np.int64)


def _check_texts(size: int, limits: Limits) -> None:
    if size > limits.body:
        raise Refused(413, f"the texts of a body may have {limits.body} bytes, got {size}")


# -- compression -----------------------------------------------------------------------------------

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


def _readable(pa: Any, column: Any) -> Any:
    """Return a column whose values Python can hold: moments in UTC, times in microseconds."""
    kinds, kind = pa.types, column.type
    wanted = kind
    if kinds.is_timestamp(kind):
        wanted = pa.timestamp("us", None if kind.tz is None else "UTC")
    elif kinds.is_date64(kind):
        wanted = pa.date32()
    elif kinds.is_time(kind):
        wanted = pa.time64("us")
    elif kinds.is_duration(kind):
        wanted = pa.duration("us")
    if wanted == kind:
        return column
    compute = _pyarrow("pyarrow.compute")
    return compute.cast(column, options=compute.CastOptions(wanted, allow_time_truncate=True))


def _value(cell: Any) -> Any:
    """Return a value as JSON would have it. Arrow has two kinds of missing values."""
    return cell if cell is None or isinstance(cell, str) else plain(cell)


def answer(answers: list[dict[str, Any]]) -> Response:
    """Return answers as an Arrow stream: a column for each field, probabilities as a struct."""
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

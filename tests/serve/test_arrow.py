"""Arrow bodies that are small on the wire and large in memory."""

from __future__ import annotations

import io
from datetime import datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from riparian.serve.http import arrow
from riparian.serve.options import Limits
from riparian.serve.refused import Refused


def stream(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def refused(table, monkeypatch):
    """Why a table is refused, before any of its values becomes an object."""
    monkeypatch.setattr("riparian.serve.http.arrow._as_row", None)
    with pytest.raises(Refused) as error:
        arrow.rows(stream(table), Limits())
    return error.value


def test_nulls_in_many_columns_are_counted_as_values(monkeypatch):
    table = pa.table({f"c{i}": pa.nulls(10_000) for i in range(5000)})
    error = refused(table, monkeypatch)
    assert (error.status, "2000000 values" in error.message) == (413, True)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_text_that_many_rows_share_is_counted_each_time(monkeypatch, kind):
    texts = pa.DictionaryArray.from_arrays(
        np.zeros(10_000, np.int32), pa.array(["x" * 1000] * 10, kind)
    )
    error = refused(pa.table({f"c{i}": texts for i in range(100)}), monkeypatch)
    assert (error.status, "got 1000000000" in error.message) == (413, True)


def test_a_text_that_views_share_is_counted_each_time(monkeypatch):
    texts = pa.array(["x" * 1000] * 10_000, pa.string()).cast(pa.string_view())
    error = refused(pa.table({f"c{i}": texts.slice(0, 10_000) for i in range(2)}), monkeypatch)
    assert error.status == 413


def test_texts_within_the_limit_come_through_in_every_form():
    values = ["a", None, "long enough for a buffer of its own", "a"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        rows = arrow.rows(stream(pa.table({"t": pa.array(values, kind)})), Limits())
        assert [row["features"]["t"] for row in rows] == values
    shared = pa.array(values).dictionary_encode()
    rows = arrow.rows(stream(pa.table({"t": shared})), Limits())
    assert [row["features"]["t"] for row in rows] == values


@pytest.mark.parametrize(
    "kind", [pa.timestamp("s"), pa.timestamp("us"), pa.date64(), pa.duration("s"), pa.time64("us")]
)
def test_times_that_python_cannot_hold_are_refused(kind):
    table = pa.table({"t": pa.array([2**62], pa.int64()).view(kind)})
    with pytest.raises(Refused, match="the body must be an Arrow stream") as error:
        arrow.rows(stream(table), Limits())
    assert error.value.status == 400


def test_dates_and_times_become_the_texts_that_json_would_have():
    may = datetime(2024, 5, 1, 10, 30)
    table = pa.table({
        "a": pa.array([may, None], pa.timestamp("ns")),
        "b": pa.array([may, None], pa.timestamp("ms", "Asia/Tokyo")),
        "c": pa.array([may.date(), None]),
        "d": pa.array([may.time(), None], pa.time32("s")),
        "e": pa.array([timedelta(hours=2), None], pa.duration("ns")),
        "f": pa.array([Decimal("1.5"), None]),
    })  # fmt: skip
    first, second = (row["features"] for row in arrow.rows(stream(table), Limits()))
    assert first == {"a": "2024-05-01 10:30:00", "b": "2024-05-01 10:30:00+00:00", "c": "2024-05-01",
                     "d": "10:30:00", "e": 7200.0, "f": 1.5}  # fmt: skip
    assert second == dict.fromkeys("abcdef")
    with pytest.raises(Refused, match="numbers, bools, texts or dates, not binary"):
        arrow.rows(stream(pa.table({"t": [b"x"]})), Limits())

"""Dates and times are read as in ISO 8601, and become numbers that float32 can distinguish."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.sources.arff_dates import python_format, read_date
from riparian.table.arrow import ArrowCells
from riparian.table.cells import Listed, Unreadable
from riparian.table.times import (
    DAY,
    SECOND,
    Clock,
    Moment,
    clocks,
    moment_from,
    moments,
    parts_of,
    time_from_state,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WHEN = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


def micros(when):
    return (when - EPOCH) // timedelta(microseconds=1)


def filled(encoder, values):
    values = values if isinstance(values, pa.Array) else pa.array(values, pa.string())
    out = np.empty((len(values), encoder.width), dtype=np.float32)
    encoder.fill(ArrowCells(values), out)
    return out


def read(reader, values):
    return reader(ArrowCells(values))


MAY = micros(datetime(2024, 5, 1, tzinfo=UTC))
HALF_PAST_TEN = MAY + (10 * 3600 + 30 * 60) * SECOND


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01", MAY),
        ("2024/05/01", MAY),
        ("2024-5-1", MAY),
        (" 2024-05-01 ", MAY),
        ("2024-05-01 10:30", HALF_PAST_TEN),
        ("2024-05-01T10:30:00", HALF_PAST_TEN),
        ("2024-05-01T10:30:00Z", HALF_PAST_TEN),
        ("2024-05-01 10:30:00 UTC", HALF_PAST_TEN),
        ("2024-05-01 12:30:00+02:00", HALF_PAST_TEN),
        ("2024-05-01T08:00-0230", HALF_PAST_TEN),
        ("2024-05-01T13:30+03", HALF_PAST_TEN),
        ("2024-05-01 10:30:00.25", HALF_PAST_TEN + 250_000),
        ("2024-05-01 10:30:00,123456789", HALF_PAST_TEN + 123_456),
        ("1969-12-31 23:59:59", -SECOND),
        ("2024-02-29", MAY - 62 * DAY),
    ],
)
def test_a_date_is_read_as_iso_8601_has_it(text, expected):
    times = read(moments, pa.array([None, text]))
    assert times.there.tolist() == [False, True]
    assert times.micros.tolist() == [0, expected]


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2023-02-29", "2024-13-01", "2024-00-10", "2024-05-32", "0000-01-01", "20240501",
     "01/05/2024", "2024-05-01 24:00", "2024-05-01 10:61", "2024-05-01T", "2024-05-01 10:30 CET",
     "10:30"],
)  # fmt: skip
def test_a_text_that_is_not_a_date_is_refused_with_its_row(text):
    with pytest.raises(Unreadable, match=r"expected a date such as 2024-05-31") as refused:
        read(moments, pa.array(["2024-05-01", None, text]))
    assert refused.value.row == 2 and repr(text) in str(refused.value)


@given(st.lists(st.tuples(WHEN, ZONES), max_size=5), st.sampled_from("T "))
def test_texts_are_the_same_moments_as_pythons(whens, joint):
    there = [when.replace(tzinfo=zone) for when, zone in whens]
    times = read(moments, pa.array([when.isoformat(joint) for when in there], pa.string()))
    assert times.micros.tolist() == [micros(when) for when in there]


@given(st.lists(st.none() | WHEN, max_size=5), st.sampled_from(["s", "ms", "us"]))
def test_timestamps_are_the_same_moments_as_texts(whens, unit):
    plain = [when and when.replace(microsecond=0) for when in whens]
    typed = read(moments, pa.array(plain, pa.timestamp(unit)))
    texts = read(moments, pa.array([when and when.isoformat() for when in plain], pa.string()))
    assert typed.micros.tolist() == texts.micros.tolist()
    assert typed.there.tolist() == texts.there.tolist()


def test_dates_and_times_of_every_type_are_read():
    may = datetime(2024, 5, 1)
    for kind in (pa.date32(), pa.date64(), pa.timestamp("ns"), pa.timestamp("us", "Europe/Oslo")):
        assert read(moments, pa.array([may], kind)).micros.tolist() == [MAY]
    for kind in (pa.time32("s"), pa.time64("ns")):
        assert read(clocks, pa.array([may.time(), None], kind)).there.tolist() == [True, False]
    assert filled(Clock(), ["10:30", "0:00:01.5", None])[:2, 0].tolist() == [37_800, 1.5]
    assert filled(Clock(), pa.array([timedelta(days=2)], pa.duration("s"))).tolist() == [[172_800]]
    with pytest.raises(Unreadable, match="expected a time of day such as 10:30:00"):
        read(clocks, pa.array(["25:00"]))
    with pytest.raises(Unreadable, match="expected a date, got values of type double"):
        read(moments, pa.array([None, 1.5]))


@given(st.lists(WHEN, min_size=1, max_size=5))
def test_the_parts_are_those_of_the_calendar(whens):
    parts = parts_of(np.array([micros(when.replace(tzinfo=UTC)) for when in whens]))
    expected = [(w.hour, w.weekday(), w.day, w.month) for w in whens]
    assert [*zip(*(part.tolist() for part in parts.values()), strict=True)] == expected


def test_seconds_are_counted_from_the_first_value():
    encoder = moment_from([Listed(["", "2024-05-01 10:00", "2024-05-01 12:00"][1:])])
    assert encoder.features("when") == [
        "when", "when.hour", "when.weekday", "when.day", "when.month",
    ]  # fmt: skip
    out = filled(encoder, [None, "2024-05-01 10:00", "2024-06-02 11:00:01"])
    assert np.isnan(out[0]).all()
    assert out[1:].tolist() == [[0, 10, 2, 1, 5], [2_768_401, 11, 6, 2, 6]]
    assert encoder.words == ("date: seconds since 2024-05-01 10:00 UTC, hour, weekday, day, month")


@pytest.mark.parametrize(
    ("values", "hours"),
    [
        (["2024-05-01", "2024-05-01"], False),
        (["2024-05-01", "2024-05-01 00:00"], True),
        ([date(2024, 5, 1)], False),
        ([datetime(2024, 5, 1)], True),
        ([], True),
    ],
)
def test_a_date_has_the_parts_of_its_resolution_whether_they_vary_yet_or_not(values, hours):
    assert moment_from([Listed(values)]).parts == (*["hour"] * hours, "weekday", "day", "month")


def test_if_the_first_rows_have_no_date_the_origin_is_the_first_later_one():
    encoder = moment_from([Listed([])])
    assert np.isnan(filled(encoder, ["2024-05-01"])[0, 0])
    encoder = encoder.followed(Listed([None, "2024-05-01"]))
    assert encoder.followed(Listed(["2020-01-01"])) is encoder
    assert filled(encoder, ["2024-05-02"])[0, 0] == 86_400


@given(st.lists(st.none() | WHEN, max_size=5))
def test_values_of_python_are_the_same_moments_as_texts(whens):
    texts = [when and when.isoformat() for when in whens]
    for values in (whens, [when and np.datetime64(when) for when in whens]):
        assert moments(Listed(values)).micros.tolist() == moments(Listed(texts)).micros.tolist()


@pytest.mark.parametrize("encoder", [Moment(None, ()), Moment(-5, ("hour", "month")), Clock()])
def test_a_time_comes_back_from_json(encoder):
    other = time_from_state(encoder.name, json.loads(json.dumps(encoder.state())))
    assert type(other) is type(encoder) and other.state() == encoder.state()


@pytest.mark.parametrize(
    "state",
    [{}, {"origin": 1.5, "parts": []}, {"origin": True, "parts": []}, {"origin": 2**63, "parts": []},
     {"origin": 0, "parts": ["month", "hour"]}, {"origin": 0, "parts": ["year"]}],
    ids=str,
)  # fmt: skip
def test_times_that_cannot_be_are_refused(state):
    assert time_from_state("moment", state) is None


@given(WHEN.map(lambda when: when.replace(microsecond=0)))
def test_arff_declares_dates_in_the_letters_of_java(when):
    for declared, written in {
        "yyyy-MM-dd'T'HH:mm:ss": when.isoformat(),
        "dd.MM.yyyy 'at' HH:mm:ss": f"{when:%d.%m.}{when.year:04} at {when:%H:%M:%S}",
        "yyyyMMdd HHmmss Z": f"{when.year:04}{when:%m%d %H%M%S} +0000",
    }.items():
        assert read_date(written, python_format(declared)) == when.replace(tzinfo=UTC)


@pytest.mark.parametrize("declared", ["yyyy-ww", "QQ", "yyyy 'open"])
def test_a_format_that_cannot_be_read_is_refused(declared):
    with pytest.raises(ValueError, match="is not supported"):
        python_format(declared)

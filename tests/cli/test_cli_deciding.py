"""The type of each column is decided without an option; warnings and errors name doubtful ones."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pytest

from riparian.cli.features.choosing import choose_columns
from riparian.cli.option_groups.reading import ColumnOptions
from riparian.sources.errors import BadData, BadUsage
from riparian.sources.formats import Reading
from riparian.sources.stream import Stream

from commands import SMALL, call, write

ROWS = 120


def mixed(rows=ROWS):
    """One column of each kind."""
    start = datetime(2024, 5, 1, 10)
    hours = [start + timedelta(hours=i) for i in range(rows)]
    return pa.table(
        {
            "id": [f"L{i:04}" for i in range(rows)],
            "number": [i % 7 for i in range(rows)],
            "width": [i / 8 for i in range(rows)],
            "old": [i % 3 == 0 for i in range(rows)],
            "city": [["Oslo", "Bergen", None, "Vaasa"][i % 4] for i in range(rows)],
            "when": pa.array([None, *hours[1:]], pa.timestamp("s")),
            "day": [date(2024, 5, 1 + i % 2) for i in range(rows)],
            "clock": pa.array([time(i % 24) for i in range(rows)], pa.time32("s")),
            "label": ["ab"[i % 2] for i in range(rows)],
        }
    )


WORDS = {
    "id": "category",
    "number": "number",
    "width": "number",
    "old": "number",
    "city": "category",
    "when": "date: seconds since 2024-05-01 11:00 UTC, hour, weekday, day, month",
    "day": "date: seconds since 2024-05-01 UTC, weekday, day, month",
    "clock": "time of day: seconds since midnight",
}


def chosen(path, missing=(), limit=None, **options):
    with Stream([str(path)], Reading(missing=missing)) as stream:
        return choose_columns(stream, ColumnOptions(target="label", **options), limit)


def words(choice):
    return {name: decision.encoder.words for name, decision in choice.decisions.items()}


def as_text(data):
    """Dates and times as texts, as most formats have them."""
    for name in ("when", "day", "clock"):
        texts = [None if v is None else str(v) for v in data[name].to_pylist()]
        data = data.set_column(data.column_names.index(name), name, pa.array(texts))
    return data


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow", "t.arrows", "t.jsonl"])
def test_columns_are_what_they_look_like_in_every_format(name, tmp_path):
    data = as_text(mixed()) if name == "t.jsonl" else mixed()
    assert words(chosen(write(data, tmp_path / name))) == WORDS


def test_texts_with_types_are_read_like_texts(tmp_path):
    data = as_text(mixed())
    coded = data.set_column(4, "city", data["city"].dictionary_encode())
    assert words(chosen(write(coded, tmp_path / "t.parquet"))) == WORDS


def test_arff_says_itself_what_is_nominal_and_what_is_a_date(tmp_path):
    (tmp_path / "t.arff").write_text(
        "@relation r\n@attribute level {1,2,3}\n@attribute when date 'dd.MM.yyyy HH:mm'\n"
        "@attribute plain date\n@attribute label {a,b}\n@data\n"
        "1,'01.05.2024 10:00',2024-05-01T10:00:00,a\n"
        "3,'02.05.2024 11:30',?,b\n"
    )
    choice = chosen(tmp_path / "t.arff")
    assert words(choice) == {
        "level": "category",
        "when": "date: seconds since 2024-05-01 10:00 UTC, hour, weekday, day, month",
        "plain": "date: seconds since 2024-05-01 10:00 UTC, hour, weekday, day, month",
    }


def test_the_user_decides_otherwise(tmp_path):
    path = write(mixed(), tmp_path / "t.csv")
    choice = chosen(path, categorical=["number", "when", "old"], ignore=["id", "clock"])
    assert words(choice) == {
        "number": "category",
        "width": "number",
        "old": "category",
        "city": "category",
        "when": "category",
        "day": WORDS["day"],
    }
    assert choice.columns.categorical == [0, 2, 3, 4]
    assert choice.columns.ignored == ("id", "clock")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_texts_that_are_numbers_are_read_as_such_if_the_user_says_so(name, tmp_path):
    data = pa.table({"x": ["1.5", " 2", "", "NA"] * 5, "label": ["a", "b"] * 10})
    path = write(data, tmp_path / name)
    columns = chosen(path, numeric=["x"]).columns
    with Stream([str(path)], Reading()) as stream:
        X = np.concatenate([columns.points(batch) for batch in stream.batches(columns.kinds)])
    assert X[:2, 0].tolist() == [1.5, 2.0] and np.isnan(X[2:4]).all()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_text_in_a_column_that_was_said_to_be_numeric_is_named(name, tmp_path):
    data = pa.table({"x": ["one", "two"], "label": ["a", "b"]})
    path = write(data, tmp_path / name)
    columns = chosen(path, numeric=["x"]).columns
    with Stream([str(path)], Reading()) as stream:
        (batch,) = stream.batches(columns.kinds)
        with pytest.raises(
            BadData, match=r"row 1, column 'x': expected a number, got 'one'; .*--cat"
        ):
            columns.points(batch)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"numeric": ["x"]}, "--numeric 'x': "),
        ({"categorical": ["x"]}, "--categorical 'x': "),
        ({"categorical": ["city"], "numeric": ["city"]}, "--numeric and --categorical both name"),
        ({"ignore": ["label"]}, "--target and --ignore both name the column 'label'"),
    ],
)
def test_wishes_that_cannot_be_meant_are_bad_usage(options, reason, tmp_path):
    with pytest.raises(BadUsage, match=reason):
        chosen(write(mixed(), tmp_path / "t.csv"), **options)


def test_a_date_may_not_take_the_name_of_another_column(tmp_path):
    (tmp_path / "t.csv").write_text(
        "when,when.hour,label\n2024-01-01 10:00,1,a\n2024-01-01 11:00,1,b\n"
    )
    with pytest.raises(BadUsage, match=r"two columns give a feature 'when.hour'"):
        chosen(tmp_path / "t.csv")


# -- mixed kinds -------------------------------------------------------------------------------------


def column(values, tmp_path):
    rows = "".join(f"{value},{'ab'[i % 2]}\n" for i, value in enumerate(values))
    (tmp_path / "t.csv").write_text(f"x,label\n{rows}")
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["12", "7A", "12", "B"], "category"),  # most are not numbers
        (["red", "3", "blue", "red"], "category"),
        (["NA", "", "2024-01-01", "null"], "date"),
        (["2024-01-01", "2024-01-02 10:00", "2024-01-03T10:00Z", ""], "date"),
        (["10:30", "11:30:00", "12:00:00.5", "NA"], "time of day"),
        (["", "", "", ""], "number"),
    ],
)
def test_most_rows_decide_what_a_column_is(values, expected, tmp_path):
    assert words(chosen(column(values, tmp_path)))["x"].startswith(expected)


@pytest.mark.parametrize(
    ("values", "place", "reason"),
    [
        (["1", "2", "n.a.", "4"], "row 3 (line 4)", "expected a number, as in earlier rows, got 'n.a.'"),
        (["2024-01-01", "2024-01-02", "soon"], "row 3", "expected a date such as 2024-05-31, as in "
         "earlier rows, got 'soon'"),
        (["10:00", "11:00", "99:00"], "row 3", "expected a time of day such as 10:30:00"),
    ],
)  # fmt: skip
def test_a_column_of_mostly_one_kind_is_an_error_that_offers_options(
    values, place, reason, tmp_path
):
    with pytest.raises(BadData) as refused:
        chosen(column(values, tmp_path))
    message = str(refused.value)
    assert f"{place}, column 'x': {reason}" in message
    assert "--missing" in message and "--categorical x" in message and "--ignore x" in message
    assert words(chosen(tmp_path / "t.csv", missing=(values[2],)))["x"] != "category"
    assert words(chosen(tmp_path / "t.csv", categorical=["x"]))["x"] == "category"


def test_a_date_that_cannot_be_read_later_is_named(tmp_path):
    path = column(["2024-01-01"] * 30 + ["2024-02-30"], tmp_path)
    columns = chosen(path, category_rows=10).columns
    with Stream([str(path)], Reading()) as stream:
        (batch,) = stream.batches(columns.kinds)
        with pytest.raises(
            BadData, match=r"row 31, column 'x': expected a date .*'2024-02-30'; if"
        ):
            columns.points(batch)


# -- what the first rows say -------------------------------------------------------------------------


def test_only_the_first_rows_decide_however_they_are_cut(tmp_path, monkeypatch):
    path = write(mixed(), tmp_path / "t.parquet")
    first = words(chosen(path, category_rows=10))["when"]
    assert first == WORDS["when"]
    assert words(chosen(path, limit=10))["when"] == first
    for rows in (1, 3, 10, 11):
        monkeypatch.setattr("riparian.sources.parquet.MOST_ROWS", rows)
        assert words(chosen(path, category_rows=10))["when"] == first


def test_rows_that_were_inspected_are_read_again_once(tmp_path):
    data = mixed()
    paths = [str(write(data.slice(40 * i, 40), tmp_path / f"{i}.csv")) for i in range(3)]
    with Stream(paths, Reading()) as stream:
        columns = choose_columns(stream, ColumnOptions(target="label", category_rows=50)).columns
        for _ in range(2):
            batches = list(stream.batches(columns.kinds, skip=7, limit=100))
            ids = [i for batch in batches for i in batch.table.column("id").to_pylist()]
            assert ids == data["id"].to_pylist()[7:100]


def test_a_column_of_different_values_is_warned_of(tmp_path):
    data = mixed().append_column("number of row", pa.array(range(ROWS)))
    decisions = chosen(write(data, tmp_path / "t.csv")).decisions
    warned = {name: d.warning for name, d in decisions.items() if d.warning is not None}
    assert [*warned] == ["id", "number of row"]
    assert warned["id"] == (
        "has a different value in each of the first 120 rows; if it is an id, leave it out with "
        "--ignore id"
    )
    assert decisions["city"].about == "3 values in 90 rows: 'Oslo', 'Bergen', 'Vaasa'"


def test_advice_can_be_typed_as_it_stands_whatever_the_name(tmp_path):
    """A frame that pandas wrote with its index has a column without a name."""
    data = mixed().append_column("number of row", pa.array(range(ROWS)))
    data = data.rename_columns(["", *data.column_names[1:]])
    decisions = chosen(write(data, tmp_path / "t.csv")).decisions
    assert decisions[""].warning.endswith("--ignore ''")
    assert decisions["number of row"].warning.endswith("--ignore 'number of row'")


@pytest.mark.parametrize("window", [0, ROWS])
def test_rows_that_are_sorted_by_the_target_are_warned_of(window, tmp_path):
    """Test-then-train sees every class for the first time when it is tested on nothing else."""
    data = mixed().drop_columns(["id"]).sort_by("label")
    path = write(data, tmp_path / "t.csv")
    done = call(
        "learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--shuffle-window", window
    )
    warned = (
        "warning: the first 120 rows are sorted by class, so the test-then-train scores mean little"
    )
    assert (warned in done.stderr) == (window == 0)


@pytest.mark.parametrize("labels", [["a"] * 119 + ["b"], ["a"] * 120, ["a", "b"] * 60, ["a", "b"]])
def test_rows_that_may_have_come_so_are_not(labels, tmp_path):
    data = pa.table({"x": [i / 8 for i in range(len(labels))], "label": labels})
    assert chosen(write(data, tmp_path / "t.csv")).warnings == []


def test_a_target_that_may_be_missing_is_warned_of(tmp_path):
    data = pa.table({"x": [1.5, 2.5, 1.0] * 20, "label": ["yes", "no", "NaN"] * 20})
    assert chosen(write(data, tmp_path / "t.csv")).warnings == [
        "the target 'label' has the value 'NaN', which is learned as a class; if it means a "
        "missing label, remove these rows"
    ]


def test_a_column_without_a_name_is_listed_as_such(tmp_path):
    (tmp_path / "t.csv").write_text(",x,label\n0,1,a\n1,2,b\n")
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m", *SMALL)
    assert "  ''     number\n" in done.stderr


@pytest.mark.parametrize(
    "values", [["1,234", "17,001", "9"], ["0,25", "-3,5"], ["1.234.567,5"], ["12 000", "1'000"]]
)
def test_numbers_that_are_written_for_people_are_warned_of(values, tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n" + "".join(f'"{value}",a\n' for value in values))
    decision = chosen(tmp_path / "t.csv").decisions["x"]
    assert decision.encoder.words == "category"
    assert f"has numbers with separators such as '{values[0]}'" in decision.warning


def test_dates_written_in_two_ways_are_warned_of(tmp_path):
    decision = chosen(column(["2024-05-06", "05/06/2024"], tmp_path)).decisions["x"]
    assert "has ambiguous dates such as '05/06/2024'" in decision.warning


def test_dates_that_can_be_read_in_two_ways_are_warned_of(tmp_path):
    decision = chosen(column(["05/06/2024", "31.12.24", "7-8-1999 10:00"], tmp_path)).decisions["x"]
    assert decision.encoder.words == "category"
    assert "has ambiguous dates such as '05/06/2024'" in decision.warning

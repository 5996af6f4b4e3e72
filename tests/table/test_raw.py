"""A value that a column cannot have is missing in a prediction, and has a fault when it is learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.engine.categories import MixedRows, Table
from riparian.table.encoders import Category, Number, Numeral
from riparian.table.raw import BadCell, RawColumns
from riparian.table.times import Clock, Moment

COLUMNS = RawColumns(
    {
        "x": Number(),
        "price": Numeral(),
        "when": Moment(0),
        "opens": Clock(),
        "city": Category(),
        "kind": Category(as_it_is=True),
        "code": Category(numbers=True, as_it_is=True),
    }
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, width=64).filter(lambda value: abs(value) < 3e38),
    st.text(max_size=5),
    st.sampled_from(["2024-05-01", "2024-02-30", "9999-12-31 23:59+14", "10:30", "25:00", "1e999",
                     "-inf", "nan", "7", "", "NA"]),
)  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from([*COLUMNS.encoders, "other"]), VALUES), max_size=4))
def test_a_value_with_a_fault_is_a_missing_value_and_no_other_is_touched(points):
    rows = COLUMNS.of_points(points)
    good = [
        {k: v for k, v in point.items() if k in COLUMNS.encoders and not COLUMNS.fault(k, v)}
        for point in points
    ]
    numbers = {k for k, each in COLUMNS.encoders.items() if type(each) is Number}
    texts = [{k: v for k, v in p.items() if k not in numbers or k in g}
             for p, g in zip(points, good, strict=True)]  # fmt: skip
    assert isinstance(rows, MixedRows)
    assert not np.isinf(rows.numbers[:, 1:]).any()
    again = COLUMNS.of_points([{**t, **g} for t, g in zip(texts, good, strict=True)])
    alone = COLUMNS.of_points(good)
    assert isinstance(again, MixedRows) and isinstance(alone, MixedRows)
    assert np.array_equal(again.numbers, alone.numbers, equal_nan=True)
    for column, cells in alone.coded.items():
        other = rows.coded[column]
        assert [other.values[i] if i >= 0 else None for i in other.which] == [
            cells.values[i] if i >= 0 else None for i in cells.which
        ]


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("x", "1", "must be a number or null, got '1'"),
        ("price", "1e999", "expected a number that fits float32, got '1e999'"),
        ("price", "dear", "expected a number, got 'dear'"),
        ("when", 7, "must be a date or null, got 7"),
        ("when", "soon", "expected a date such as 2024-05-31, got 'soon'"),
        ("opens", 1e300, "must be a time of day or null, got 1e+300"),
        ("opens", "25:00", "expected a time of day such as 10:30:00, got '25:00'"),
        ("kind", 7, "must be a text or null, got 7"),
        ("code", "7", "must be a number or null, got '7'"),
        ("code", 2**70, "must be a number or null, got 1180591620717411303424"),
        ("city", 7, None),
        ("opens", 3600.0, None),
        ("when", None, None),
    ],
)
def test_a_fault_says_what_was_expected(name, value, fault):
    assert COLUMNS.fault(name, value) == fault


def test_a_model_without_columns_has_those_of_its_features():
    columns = RawColumns.of_features(["a", "b"], {1: Table(["x"])})
    assert columns.feature_names == ["a", "b"] and columns.categorical == [1]
    assert columns.shown(0, 1.0) is None


def test_rows_of_a_table_name_the_value_that_cannot_be_used():
    from riparian.table.cells import Listed

    cells = {"x": Listed([1.0, 1e39]), "price": Listed(["1", "2"])}
    with pytest.raises(BadCell, match=r"column 'x', row 1: expected a number that fits float32"):
        COLUMNS.rows(cells.get, 2)
    assert COLUMNS.faults(cells.get, 2) == {1: ("x", "expected a number that fits float32")}

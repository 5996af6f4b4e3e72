"""Columns become numbers or categories; the model stores how."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riparian.table import encoders
from riparian.table.arrow import ArrowCells
from riparian.table.cells import Unreadable
from riparian.table.encoders import Category, Number, Numeral
from riparian.table.saved import columns_from_state

from commands import call, learn, table, write

TEXTS = st.lists(st.none() | st.sampled_from(["", "red", "green", "blue", "ç\0"]), min_size=1)


def again(encoder):
    return encoders.from_state(encoder.name, json.loads(json.dumps(encoder.state())))


@pytest.mark.parametrize(
    "encoder", [Number(), Numeral(), Category(), Category(True), Category(as_it_is=True)]
)
def test_an_encoder_comes_back_from_json(encoder):
    other = again(encoder)
    assert type(other) is type(encoder) and other.state() == encoder.state()
    assert other.features("c") == encoder.features("c")


@given(TEXTS)
def test_a_dictionary_is_read_like_texts(texts):
    values = pa.array(texts, pa.string())
    dictionary = pa.array([*texts, "unused", "red"], pa.string()).dictionary_encode()
    plain = Category().coded("c", ArrowCells(values))
    coded = Category().coded("c", ArrowCells(dictionary.slice(0, len(texts))))
    assert coded.values == plain.values and coded.which.tolist() == plain.which.tolist()


HOSTILE_COLUMNS = [
    ["x"],
    ["x", "number", {"a": 1}],
    ["x", "magic", {}],
    ["x", "category", {}],
    ["x", "category", {"numbers": 1}],
    ["x", "moment", {"origin": 0, "parts": ["minute"]}],
    ["x", "clock", {"origin": 0}],
]
HOSTILE = [
    None,
    [],
    {"kind": "table"},
    {"kind": "rows"},
    {"kind": "table", "target": ["y", "tuple"], "columns": []},
    {"kind": "table", "target": ["y", "int"], "columns": [["x", "number", {}]] * 2},
    {"kind": "sparse", "width": 0, "zero_based": True},
    {"kind": "sparse", "width": 3, "zero_based": 1},
    *({"kind": "table", "target": ["y", "int"], "columns": [column]} for column in HOSTILE_COLUMNS),
]


@pytest.mark.parametrize("state", HOSTILE, ids=str)
def test_columns_that_cannot_be_are_refused(state):
    with pytest.raises(ValueError, match=r"not a description|unknown encoding"):
        columns_from_state(state)


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "hash"])
def test_a_model_learned_with_encode_names_the_version_that_reads_it(encode):
    columns = [["x", "number", {}], ["colour", encode, {"most": 3, "categories": ["red"]}]]
    with pytest.raises(ValueError, match=f"--encode {encode}.* use the file with riparian 0.2"):
        columns_from_state({"kind": "table", "target": ["y", "int"], "columns": columns})


# -- in the command ------------------------------------------------------------------------------------


def test_a_text_never_seen_is_no_error_when_predicting(tmp_path):
    learn(write(table(), tmp_path / "t.csv"), tmp_path / "m")
    text = (tmp_path / "t.csv").read_text().replace("red", "mauve").replace("blue", "")
    (tmp_path / "new.csv").write_text(text)
    done = call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.jsonl")
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 300


def test_numerals_are_read_out_of_texts():
    out = np.empty((4, 1), dtype=np.float32)
    Numeral().fill(ArrowCells(pa.array(["1.5", " -2e3 ", None, "7"])), out)
    assert out[[0, 1, 3], 0].tolist() == [1.5, -2000, 7] and np.isnan(out[2, 0])
    with pytest.raises(Unreadable, match="expected a number, got 'x'") as refused:
        Numeral().fill(ArrowCells(pa.array(["1", None, "x", "y"])), out)
    assert refused.value.row == 2


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["7", "", None, "12"]),
        pa.array(["7", "12", "7", None]).dictionary_encode().take(pa.array([0, 3, 3, 1])),
        pa.array([7, None, None, 12]),
        pa.array([7.0, float("nan"), None, 12.0]),
    ],
    ids=lambda values: str(values.type),
)
def test_categories_are_texts_whatever_the_file_has_for_them(values):
    coded = Category().coded("c", ArrowCells(values))
    assert coded.values == ["7", "12"] and coded.which.tolist() == [0, -1, -1, 1]


def test_categories_are_numbers_where_the_forest_has_numbers():
    coded = Category(numbers=True).coded("c", ArrowCells(pa.array(["7", "", "NA", "12.0", "7"])))
    assert coded.values == [7, 12] and coded.which.tolist() == [0, -1, -1, 1, 0]


def test_the_columns_of_a_model_must_be_those_of_its_forest(tmp_path):
    from riparian.loading import from_bytes_with_extra, to_bytes_with_extra

    data = learn(write(table(text=False), tmp_path / "t.csv"), tmp_path / "m")
    forest, extra = from_bytes_with_extra(data)
    extra["columns"]["columns"].pop()
    (tmp_path / "m").write_bytes(to_bytes_with_extra(forest, extra))
    done = call("inspect", tmp_path / "m")
    assert done.exit_code == 1
    assert "the columns give 2 features, but the forest has 3" in done.stderr

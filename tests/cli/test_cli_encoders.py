"""Texts become numbers in one of three ways; the model remembers how."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riparian
from riparian.cli.features import encoders
from riparian.cli.features.encoders import (
    Category,
    Hash,
    Number,
    Numeral,
    OneHot,
    Ordinal,
    Unreadable,
)
from riparian.cli.features.saved import columns_from_state

from commands import call, learn, said, table, write

TEXTS = st.lists(st.none() | st.sampled_from(["", "red", "green", "blue", "ç\0"]), min_size=1)


def filled(encoder, values):
    values = pa.array(values, pa.string())
    out = np.full((len(values), encoder.width), -1.0, dtype=np.float32)
    encoder.fill(values, out)
    return out


def again(encoder):
    return encoders.from_state(encoder.name, json.loads(json.dumps(encoder.state())))


def test_ordinals_are_given_in_the_order_of_arrival():
    encoder = Ordinal(10, [])
    encoder.follow(pa.array(["red", None, "blue", "red", ""]))
    encoder.follow(pa.array(["blue", "green"]))
    out = filled(encoder, ["green", "red", "blue", None, "", "pink"])[:, 0]
    assert out[:3].tolist() == [2, 0, 1]
    assert np.isnan(out[3:]).all()


def test_ordinals_beyond_the_most_are_as_if_never_seen():
    encoder = Ordinal(2, [])
    encoder.follow(pa.array(["red", "blue", "green", "blue"]))
    assert encoder.categories == ["red", "blue"]
    assert np.isnan(filled(encoder, ["green"])).all()


def test_one_hot_has_a_feature_for_each_value_at_the_beginning_and_one_for_the_rest():
    encoder = OneHot(2, None)
    encoder.settle([pa.array(["red", None]), pa.array(["blue", "green"])])
    assert encoder.features("c") == ["c=red", "c=blue", "c=(other)"]
    out = filled(encoder, ["blue", "green", "pink", None, "", "red"])
    expected = [[0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert out.tolist() == expected


def test_hashes_need_nothing_learned_and_never_change():
    out = filled(Hash(4), ["red", "green", None, "red", ""])
    assert out.sum(axis=1).tolist() == [1, 1, 0, 1, 0]
    assert out[0].tolist() == out[3].tolist()
    # A model learned today is used tomorrow: the buckets are those of CRC-32.
    assert [row.argmax() for row in filled(Hash(1000), ["red", "green", "blue"])] == [455, 433, 964]


@pytest.mark.parametrize(
    "encoder",
    [Ordinal(3, ["blue"]), OneHot(3, ["red"]), Hash(5), Number(), Numeral(), Category(True)],
)
def test_an_encoder_comes_back_from_json(encoder):
    other = again(encoder)
    assert type(other) is type(encoder) and other.state() == encoder.state()
    assert other.features("c") == encoder.features("c")


@given(TEXTS, st.integers(1, 3))
def test_to_encode_again_later_gives_the_same(texts, most):
    encoder = Ordinal(most, [])
    values = pa.array(texts, pa.string())
    encoder.follow(values.slice(0, len(texts) // 2 + 1))
    before = filled(encoder, texts[: len(texts) // 2 + 1])
    encoder.follow(values)
    encoder = again(encoder)
    encoder.follow(values)
    np.testing.assert_array_equal(filled(encoder, texts)[: len(before)], before)


@given(TEXTS)
def test_a_dictionary_is_as_good_as_texts(texts):
    plain, coded = Ordinal(9, []), Ordinal(9, [])
    values = pa.array(texts, pa.string())
    dictionary = pa.array([*texts, "unused", "red"], pa.string()).dictionary_encode()
    plain.follow(values)
    coded.follow(dictionary.slice(0, len(texts)))
    assert coded.categories == plain.categories


HOSTILE_COLUMNS = [
    ["x"],
    ["x", "number", {"a": 1}],
    ["x", "ordinal", {}],
    ["x", "ordinal", {"most": 1, "categories": ["a", "b"]}],
    ["x", "onehot", {"most": 3, "categories": ["a", "a"]}],
    ["x", "onehot", {"most": 3, "categories": [1]}],
    ["x", "hash", {"buckets": 0}],
    ["x", "hash", {"buckets": 10**9}],
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
    *({"kind": "table", "target": ["y", "int"], "columns": [found]} for found in HOSTILE_COLUMNS),
]


@pytest.mark.parametrize("state", HOSTILE, ids=str)
def test_columns_that_cannot_be_are_refused(state):
    with pytest.raises(ValueError, match=r"not a description|no encoding is like"):
        columns_from_state(state)


# -- in the command ------------------------------------------------------------------------------------

WAYS = {
    "ordinal": (["--encode", "ordinal"], ["colour"]),
    "onehot": (
        ["--encode", "onehot", "--category-rows", 2],
        ['colour=pale "grey", or so', "colour=red", "colour=(other)"],
    ),
    "hash": (["--encode", "hash", "--hash-buckets", 3], ["colour#0", "colour#1", "colour#2"]),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_encoding_is_saved_with_the_model_and_used_again(way, tmp_path):
    args, names = WAYS[way]
    path = write(table(seed=3), tmp_path / "t.csv")
    learn(path, tmp_path / "m", *args)
    model = riparian.load(tmp_path / "m")
    assert model.feature_names_in_.tolist() == ["width", "age", "old", *names]
    accuracy = {}
    for suffix in ("csv", "parquet", "jsonl"):
        path = write(table(seed=4), tmp_path / f"new.{suffix}")
        found = said(call("evaluate", tmp_path / "m", path, "--json"))
        accuracy[suffix] = found["accuracy"]
    assert len({*accuracy.values()}) == 1 and accuracy["csv"] > 0.4


def test_a_text_never_seen_is_no_error_when_predicting(tmp_path):
    learn(write(table(), tmp_path / "t.csv"), tmp_path / "m", "--encode", "ordinal")
    text = (tmp_path / "t.csv").read_text().replace("red", "mauve").replace("blue", "")
    (tmp_path / "new.csv").write_text(text)
    done = call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.jsonl")
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 300


def test_numerals_are_read_out_of_texts():
    out = np.empty((4, 1), dtype=np.float32)
    Numeral().fill(pa.array(["1.5", " -2e3 ", None, "7"]), out)
    assert out[[0, 1, 3], 0].tolist() == [1.5, -2000, 7] and np.isnan(out[2, 0])
    with pytest.raises(Unreadable, match="expected a number, got 'x'") as refused:
        Numeral().fill(pa.array(["1", None, "x", "y"]), out)
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
    coded = Category().coded("c", values)
    assert coded.values == ["7", "12"] and coded.which.tolist() == [0, -1, -1, 1]


def test_categories_are_numbers_where_the_forest_has_numbers():
    coded = Category(numbers=True).coded("c", pa.array(["7", "", "NA", "12.0", "7"]))
    assert coded.values == [7, 12] and coded.which.tolist() == [0, -1, -1, 1, 0]


def test_the_columns_of_a_model_must_be_those_of_its_forest(tmp_path):
    from riparian.loading import from_bytes_with_extra, to_bytes_with_extra

    data = learn(write(table(text=False), tmp_path / "t.csv"), tmp_path / "m")
    forest, extra = from_bytes_with_extra(data)
    extra["columns"]["columns"].pop()
    (tmp_path / "m").write_bytes(to_bytes_with_extra(forest, extra))
    done = call("inspect", tmp_path / "m")
    assert done.exit_code == 1
    assert "the columns give 2 features, the forest has 3" in done.stderr

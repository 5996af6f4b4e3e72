"""Rows are the same in every format, and in blocks of any size."""

from __future__ import annotations

import io
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_digits

import riparian
from riparian.sources import raw
from riparian.sources.arff import ArffSource
from riparian.sources.csv import Dialect
from riparian.sources.formats import Format, Reading
from riparian.sources.opening import open_source
from riparian.sources.raw import Blocks, Raw
from riparian.sources.source import Kind
from riparian.sources.stream import Stream

from commands import SMALL, call, learn, output_of, run, table, write

NAMES = [
    "t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.arrow", "t.arrows", "t.jsonl", "t.arff",
]  # fmt: skip


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    return learn(write(table(), folder / "t.csv"), folder / "m")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_table_gives_the_same_model_in_every_format(name, tmp_path, expected):
    assert learn(write(table(), tmp_path / name), tmp_path / "m") == expected


def test_files_of_several_formats_are_one_stream_in_their_order(tmp_path, expected):
    parts = [
        write(table().slice(40 * i, 40 if i < 7 else None), tmp_path / f"{i}{name}")
        for i, name in enumerate(NAMES)
    ]
    assert learn(parts, tmp_path / "m") == expected


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    cuts=st.lists(st.integers(1, 299), max_size=4),
    block_bytes=st.integers(700, 20_000),
    names=st.lists(st.sampled_from(NAMES), min_size=5, max_size=5),
    rows=st.integers(1, 400),
)
def test_no_cut_into_files_and_batches_changes_a_bit(
    tmp_path, monkeypatch, expected, cuts, block_bytes, names, rows
):
    monkeypatch.setattr(raw, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr("riparian.sources.parquet.MOST_ROWS", rows)
    monkeypatch.setattr("riparian.sources.arrow.MOST_ROWS", rows)
    ends = sorted({0, *cuts, 300})
    parts = [
        write(table().slice(start, stop - start), tmp_path / f"{i}{name}")
        for i, (start, stop, name) in enumerate(zip(ends, ends[1:], names, strict=False))
    ]
    assert learn(parts, tmp_path / "m", "--block", str(rows)) == expected


def test_a_glob_is_its_files_by_name(tmp_path, expected):
    for i in range(3):
        write(table().slice(100 * i, 100), tmp_path / f"part-{i}.csv")
    assert learn(tmp_path / "part-*.csv", tmp_path / "m") == expected


def test_columns_may_stand_in_another_order_in_the_next_file(tmp_path, expected):
    first = write(table().slice(0, 100), tmp_path / "a.csv")
    rest = table().slice(100)
    second = write(rest.select(rest.column_names[::-1]), tmp_path / "b.csv")
    assert learn([first, second], tmp_path / "m") == expected


def test_a_pipe_is_a_source_packed_or_not(tmp_path, expected):
    for name in ("t.csv", "t.csv.gz"):
        data = write(table(), tmp_path / name).read_bytes()
        done = call("learn", "-", "--format", "csv", "-t", "label", "-m", tmp_path / "m",
                    *SMALL, input=data)  # fmt: skip
        assert done.exit_code == 0, done.output
        assert (tmp_path / "m").read_bytes() == expected


def test_a_shell_pipe_works(tmp_path, expected):
    data = write(table(), tmp_path / "t.csv").read_text()
    done = run("learn", "-", "--format", "csv", "-t", "label", "-m", tmp_path / "m",
               *SMALL, input=data)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m").read_bytes() == expected


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["-"], "--format is required"),
        (["-", "t.csv"], "must be the only source"),
        (["t.xyz"], "t.xyz: the format is not clear from the file name"),
        (["none-*.csv"], "no file matches"),
        (["none.csv"], "none.csv: No such file"),
        (["none.parquet"], "none.parquet: No such file"),
        (["-", "--format", "parquet"], "cannot be read from a pipe"),
        (["-", "--format", "libsvm"], "--features is required"),
        (["-", "--format", "csv", "--passes", "2"], "can be read only once"),
        (["t.csv", "--delimiter", ";;"], "one ASCII character"),
    ],
)
def test_a_source_that_cannot_be_meant_is_bad_usage(tmp_path, monkeypatch, args, reason):
    monkeypatch.chdir(tmp_path)
    write(table(5), "t.csv")
    done = call("learn", *args, "-t", "label", "-m", "m", input=b"label 1:2\n")
    assert (done.exit_code, reason in done.stderr) == (2, True), done.stderr


# -- texts in blocks -----------------------------------------------------------------------------------


# A block has room for the mark that a text may begin with.
@given(
    st.binary(max_size=300).map(lambda b: b.replace(b"\r", b"\n")), st.integers(len(raw.BOM), 40)
)
@example(raw.BOM, len(raw.BOM))
@example(raw.BOM + b"a\nb", len(raw.BOM))
def test_blocks_of_lines_are_the_text(data, size):
    class Fake:
        name = "fake"

        def __init__(self):
            self.file = io.BytesIO(data)

        def read(self, n):
            return self.file.read(min(n, 7))

        read_all = Raw.read_all

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "BLOCK_BYTES", size)
        blocks = list(Blocks(Fake()))
    assert b"".join(block.data for block in blocks) == data.removeprefix(raw.BOM)
    assert all(block.data.endswith(b"\n") for block in blocks[:-1])
    line = 1
    for block in blocks:
        assert block.line == line
        line += block.data.count(b"\n")


CELL = st.text(st.sampled_from('a"\n,; é'), max_size=5)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8), st.integers(0, 80))
def test_a_line_may_end_within_quotes_but_a_block_may_not(rows, cut):
    import csv

    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    data = text.getvalue().encode()
    ends = [0, *Dialect().ends(data)]
    assert ends[-1] == len(data) and len(ends) == len(rows) + 1
    assert Dialect().whole(data[:cut]) == max(end for end in ends if end <= cut)


def test_a_quote_within_a_cell_is_a_character(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n" + '1,5" wide\n2,narrow\n' * 40)
    learn(tmp_path / "t.csv", tmp_path / "m")
    assert riparian.load(tmp_path / "m").classes_.tolist() == ['5" wide', "narrow"]


def test_windows_has_other_ends_of_lines_and_a_mark_at_the_beginning(tmp_path):
    plain = "x,label\n1,a\n2,b\n" * 1 + "3,a\n" * 50
    (tmp_path / "a.csv").write_text(plain)
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode())
    assert learn(tmp_path / "a.csv", tmp_path / "m") == learn(tmp_path / "b.csv", tmp_path / "m")


def test_cells_can_have_another_separator_and_another_mark_for_missing_values(tmp_path):
    data = table(text=False)
    expected = learn(write(data, tmp_path / "a.csv"), tmp_path / "m")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    other = "\n".join(line.replace(",", ";") if line[0] != "," else f"?{line}".replace(",", ";")
                      for line in lines)  # fmt: skip
    (tmp_path / "b.csv").write_text(other)
    args = ("--delimiter", ";", "--missing", "?")
    assert learn(tmp_path / "b.csv", tmp_path / "m", *args) == expected


def test_columns_without_a_header_are_numbered(tmp_path):
    (tmp_path / "t.csv").write_text("1,2,a\n3,4,b\n" * 50)
    done = call(
        "learn", tmp_path / "t.csv", "--no-header", "-t", "c3", "-m", tmp_path / "m", *SMALL
    )
    assert done.exit_code == 0, done.output
    assert riparian.load(tmp_path / "m").feature_names_in_.tolist() == ["c1", "c2"]


def test_whole_numbers_may_get_fractions_later(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 100)
    (tmp_path / "t.csv").write_text("x,label\n" + "1,a\n" * 60 + "1.5,b\n" * 60)
    (tmp_path / "t.jsonl").write_text(
        '{"x": 1, "label": "a"}\n' * 60 + '{"x": 1.5, "label": "b"}\n' * 60
    )
    assert learn(tmp_path / "t.csv", tmp_path / "m") == learn(tmp_path / "t.jsonl", tmp_path / "m")


# -- reading is not holding --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows"),
    # Parquet has pages of a megabyte for each column, of which a few are held.
    [("t.csv", 40_000), ("t.csv.gz", 40_000), ("t.parquet", 500_000), ("t.arrow", 40_000)],
)
def test_a_file_is_never_held_as_a_whole(tmp_path, name, rows):
    rng = np.random.default_rng(0)
    data = pa.table({f"x{i}": rng.normal(size=rows) for i in range(9)})
    path = tmp_path / name
    write(data, path) if name != "t.parquet" else pyarrow.parquet.write_table(data, path)
    held = data.nbytes
    del data
    most = read = 0
    with Stream([str(path)], Reading()) as stream:
        before = pa.total_allocated_bytes()
        for batch in stream.batches(lambda source: dict.fromkeys(source.fields, Kind.NUMBER)):
            most = max(most, pa.total_allocated_bytes() - before)
            read += len(batch)
    assert read == rows
    assert most < 0.7 * held


def test_rows_to_skip_are_not_even_read_from_parquet(tmp_path):
    source = open_source(str(write(table(), tmp_path / "t.parquet")), Reading())
    batches = list(source.batches({"age": Kind.NUMBER}, source.place_of(150)))
    assert batches[0].first == 140  # groups of 70
    assert sum(len(batch) for batch in batches) == 160
    source.close()


@given(skip=st.integers(0, 320), limit=st.none() | st.integers(1, 320), data=st.data())
@settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_stream_continues_from_any_row_in_any_file(tmp_path, skip, limit, data):
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=3))
    trees = table()
    parts = [
        write(trees.slice(100 * i, 100), tmp_path / f"{i}{name}") for i, name in enumerate(names)
    ]
    with Stream([str(part) for part in parts], Reading()) as stream:
        batches = stream.batches(lambda _: {"age": Kind.NUMBER}, skip, limit)
        ages = [age for batch in batches for age in batch.table.column("age").to_pylist()]
    assert ages == trees["age"].to_pylist()[skip:limit]


AGE = {"age": Kind.NUMBER}


@given(stop=st.integers(0, 300), block_bytes=st.integers(300, 20_000), data=st.data())
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_position_leads_to_the_same_rows(tmp_path, monkeypatch, stop, block_bytes, data):
    monkeypatch.setattr(raw, "BLOCK_BYTES", block_bytes)
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=3))
    rows = table()
    parts = [
        str(write(rows.slice(100 * i, 100), tmp_path / f"{i}{name}"))
        for i, name in enumerate(names)
    ]
    with Stream(parts, Reading()) as stream:
        for _ in stream.batches(lambda _: AGE):
            if stream.row >= stop:
                break
        position = json.loads(json.dumps(stream.position(stop)))
    assert position[0] == min(2, max(0, stop - 1) // 100) or position[0] == stop // 100
    with Stream(parts, Reading()) as stream:
        batches = stream.batches(lambda _: AGE, stop, position=position)
        ages = [age for batch in batches for age in batch.table.column("age").to_pylist()]
    assert ages == rows["age"].to_pylist()[stop:]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.arff"])
def test_rows_before_a_position_are_not_read(tmp_path, monkeypatch, name):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 2000)
    path = write(table(), tmp_path / name)
    with Stream([str(path)], Reading()) as stream:
        list(stream.batches(lambda _: AGE))
        position = stream.position(250)
    _, _, row, (offset, _) = position
    content = bytearray(path.read_bytes())
    content[4000 : offset - 1] = b"?" * (offset - 1 - 4000)
    path.write_bytes(content)
    with Stream([str(path)], Reading()) as stream:
        (first, *rest) = stream.batches(lambda _: AGE, 250, position=position)
    age = table()["age"][250].as_py()
    assert row > 100 and first.first == 250 and first.table["age"][0].as_py() == age
    assert rest


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.arrows"])
def test_a_position_is_the_group_that_has_the_row(tmp_path, monkeypatch, name):
    monkeypatch.setattr("riparian.sources.parquet.MOST_ROWS", 40)
    with Stream([str(write(table(), tmp_path / name))], Reading()) as stream:
        list(stream.batches(lambda _: AGE))
        assert stream.position(150) == [0, 0, 140, 2]  # groups of 70 rows


def test_a_pipe_is_read_up_to_a_position(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 1000)
    data = write(table(), tmp_path / "t.csv").read_bytes()
    reading = Reading(format=Format.CSV)
    monkeypatch.setattr(raw, "_stdin", lambda: io.BytesIO(data))
    with Stream(["-"], reading) as stream:
        list(stream.batches(lambda _: AGE))
        position = stream.position(200)
    with Stream(["-"], reading) as stream:
        batches = stream.batches(lambda _: AGE, 200, position=position)
        ages = [age for batch in batches for age in batch.table.column("age").to_pylist()]
    assert ages == table()["age"].to_pylist()[200:]


# -- LIBSVM --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("digits") / "digits.libsvm"
    dump_svmlight_file(X[:600], y[:600], str(path), zero_based=False)
    return path, X[:600], y[:600]


def test_sparse_rows_are_learned_as_the_estimator_learns_them(digits, tmp_path):
    path, X, y = digits
    done = call("learn", path, "-m", tmp_path / "m", *SMALL)
    assert done.exit_code == 0, done.output
    forest = riparian.OnlineForestClassifier(3, random_state=0).partial_fit(X, y)
    assert (riparian.load(tmp_path / "m").predict_proba(X) == forest.predict_proba(X)).all()


def test_the_number_of_features_is_optional_except_for_a_pipe(digits, tmp_path):
    path, _, _ = digits
    data = path.read_bytes()
    done = call("learn", "-", "--format", "libsvm", "--features", 70, "-m", tmp_path / "m", *SMALL,
                input=data)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert riparian.load(tmp_path / "m").n_features_in_ == 70
    done = call("learn", path, "--features", 10, "-m", tmp_path / "m2", *SMALL)
    assert done.exit_code == 1
    assert (
        "row 1, column '11': expected indices up to 10, got 11; give the number with --features"
        in done.stderr
    )


def test_indices_begin_with_one_by_default(tmp_path):
    (tmp_path / "t.svm").write_text("1 0:5 3:2 # a comment\n-1 2:1\n" * 20)
    done = call("learn", tmp_path / "t.svm", "-m", tmp_path / "m", *SMALL)
    assert done.exit_code == 1 and "give --zero-based" in done.stderr
    done = call("learn", tmp_path / "t.svm", "-m", tmp_path / "m", *SMALL, "--zero-based", "--json")
    assert output_of(done)["features"] == 4
    assert output_of(done)["classes"] == [-1, 1]


def test_an_index_beyond_the_model_is_noted_when_it_predicts(digits, tmp_path):
    path, _, _ = digits
    assert call("learn", path, "-m", tmp_path / "m", *SMALL).exit_code == 0
    (tmp_path / "t.libsvm").write_text("0 1:3 900:1\n0 2:1\n")
    done = call("predict", tmp_path / "m", tmp_path / "t.libsvm", "-o", tmp_path / "p.csv")
    assert done.exit_code == 0, done.output
    assert "1 values were not used: their feature numbers are above the 64 features" in done.stderr
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 3


# -- ARFF ----------------------------------------------------------------------------------------------


def test_sparse_rows_of_arff_leave_out_zeros_and_first_values(tmp_path):
    header = "@relation r\n@attribute x numeric\n@attribute 'the label' {a, 'b c'}\n@data\n"
    (tmp_path / "a.arff").write_text(header + "0, a\n1.5, 'b c'\n?, a\n" * 40)
    (tmp_path / "b.arff").write_text(header + '{}\n{0 1.5, 1 "b c"}\n{0 ?}\n' * 40)
    models = []
    for name in ("a.arff", "b.arff"):
        done = call("learn", tmp_path / name, "-t", "the label", "-m", tmp_path / "m", *SMALL)
        assert done.exit_code == 0, done.output
        models.append((tmp_path / "m").read_bytes())
    assert models[0] == models[1]
    assert riparian.load(tmp_path / "m").classes_.tolist() == ["a", "b c"]


class Counting(str):
    """A name that counts how often names are compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counting.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize("name", ["t.csv", "t.arff"])
def test_a_wide_header_is_checked_without_comparing_every_pair_of_names(
    name, tmp_path, monkeypatch
):
    names = [f"c{i}" for i in range(1500)]
    cells, attribute = Dialect.cells, ArffSource._attribute

    def counting_attribute(source, *args):
        read = attribute(source, *args)
        return replace(read, name=Counting(read.name))

    monkeypatch.setattr(Dialect, "cells", lambda *args: [*map(Counting, cells(*args))])
    monkeypatch.setattr(ArffSource, "_attribute", counting_attribute)
    rows = ",".join("1" for _ in names)
    header = ",".join(names)
    if name == "t.arff":
        header = "".join(f"@attribute {name} real\n" for name in names) + "@data"
    (tmp_path / name).write_text(f"{header}\n{rows}\n")
    Counting.compared = 0
    with closing(open_source(str(tmp_path / name), Reading())) as source:
        assert [*source.fields] == names
    assert Counting.compared < 10 * len(names)


def test_a_length_that_a_broken_file_claims_takes_no_memory(tmp_path):
    path = tmp_path / "short"
    path.write_bytes(b"0123456789")
    with closing(Raw(str(path))) as file:
        assert file.read_all(2**50) == b"0123456789"

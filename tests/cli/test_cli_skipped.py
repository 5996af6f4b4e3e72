"""Rows that cannot be used stop a command, or are left out, named and counted: exactly once."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import riparian
from riparian.cli.learning.checkpoint import Checkpoint
from riparian.sources import raw

from commands import SMALL, call, output_of, table, write

pytestmark = pytest.mark.engine

SKIP = ("--on-error", "skip")


def lines_of(rows=300, seed=0):
    """A CSV file, as lines below its header: numbers, a date, a text and the label."""
    data = table(rows, seed).to_pylist()
    day = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(rows)]
    return "width,day,colour,label\n", [
        f'{row["width"] if row["width"] is not None else ""},{day[i]},"{row["colour"][:4]}",'
        f"{row['label']}\n"
        for i, row in enumerate(data)
    ]


BAD = {
    7: "wide,2024-01-01,red,oak\n",  # a text among numbers
    20: "1.5,soon,red,oak\n",  # no date
    21: "1.5,2024-01-01,red\n",  # a cell is missing
    90: "1.5,2024-01-01,red,\n",  # no target
    91: "1e300,2024-01-01,red,elm\n",  # beyond float32
    200: "1.5,2024-02-31,blue,elm\n",  # no such day
    299: "1.5,2024-01-01,red,elm,x\n",  # a cell too many
}


@pytest.fixture
def files(tmp_path):
    """A file with bad rows, and the same without them."""
    head, lines = lines_of()
    spoilt = [BAD.get(i, line) for i, line in enumerate(lines)]
    good = [line for i, line in enumerate(lines) if i not in BAD]
    (tmp_path / "bad.csv").write_text(head + "".join(spoilt))
    (tmp_path / "good.csv").write_text(head + "".join(good))
    return tmp_path


def learned(path, model, *args):
    done = call("learn", path, "-t", "label", "-m", model, *SMALL, "--json", *args)
    return output_of(done), done


def forest_of(path):
    """Return the forest of a model file without the description of its columns."""
    forest = riparian.load(path)
    forest.model_.raw_columns = forest._raw_columns = None
    return forest.to_bytes()


@pytest.mark.parametrize("way", [[], ["--shuffle-window", "40", "--passes", "2"], ["--delay", "30"],
                                 ["--limit", "250"]], ids=str)  # fmt: skip
@pytest.mark.parametrize("size", [700, 2**20])
def test_the_model_is_that_of_the_rows_that_can_be_used(way, size, files, monkeypatch):
    learned(files / "good.csv", files / "good", *way)
    monkeypatch.setattr(raw, "BLOCK_BYTES", size)
    output, done = learned(files / "bad.csv", files / "bad", *way, *SKIP)
    assert forest_of(files / "bad") == forest_of(files / "good")
    expected = [row + 1 for row in BAD if "--limit" not in way or row < 256]
    assert [row["row"] for row in output["skipped"]["first"]] == expected
    assert output["skipped"]["rows"] == len(expected)
    assert f"note: {len(expected)} rows were skipped" in done.stderr
    assert "bad.csv, row 22 (line 23): expected 4 cells" in done.stderr


def test_the_default_is_to_stop_at_the_first(files):
    done = call("learn", files / "bad.csv", "-t", "label", "-m", files / "m", *SMALL)
    assert done.exit_code == 1 and not (files / "m").exists()
    assert "row 22 (line 23): expected 4 cells" in done.stderr


class PowerCut(Exception):
    """The process is gone."""


@pytest.mark.parametrize(
    "way", [[], ["--shuffle-window", "60", "--passes", "2"], ["--delay", "50"]], ids=str
)
@pytest.mark.parametrize("size", [700, 2**20])
def test_a_run_that_was_killed_counts_each_row_once(way, size, files, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", size)
    args = ("learn", files / "bad.csv", "-t", "label", *SMALL, *way, *SKIP, "--json")
    whole = output_of(call(*args, "-m", files / "whole"))
    write_it = Checkpoint.write

    def write_and_fail(self, *given):
        write_it(self, *given)
        raise PowerCut

    monkeypatch.setattr(Checkpoint, "write", write_and_fail)
    args = (*args, "-m", files / "m", "--checkpoint-every", "60")
    done, kills = call(*args), 0
    while isinstance(done.exception, PowerCut):
        done, kills = call(*args, "--resume"), kills + 1
    assert kills >= 2
    assert output_of(done)["skipped"] == whole["skipped"]
    assert (files / "m").read_bytes() == (files / "whole").read_bytes()


def test_several_files_count_together(files):
    paths = [files / "bad.csv", files / "bad.csv"]
    args = ("-t", "label", *SMALL, *SKIP, "--json")
    output = output_of(call("learn", *paths, "-m", files / "m", *args))
    assert output["skipped"]["rows"] == 2 * len(BAD) and output["rows"] == 2 * (300 - len(BAD))


FORMATS = {
    "t.jsonl": '{"x": 1.0, "when": "2024-01-01", "label": "a"}\n'
    '{"x": 2.0, "when": "2024-01-02", "label": "b"}\n'
    '{"x": "big", "when": "2024-01-02", "label": "b"}\n'
    "no JSON\n"
    '{"x": 2.0, "when": "soon", "label": "b"}\n'
    '{"x": 2.0, "when": "2024-01-04"}\n'
    '{"x": 3.0, "when": "2024-01-03", "label": "a"}\n',
    "t.arff": "@relation r\n@attribute x numeric\n@attribute when date 'yyyy-MM-dd'\n"
    "@attribute label {a,b}\n@data\n1,2024-01-01,a\n2,2024-01-02,b\nbig,2024-01-02,b\n1,a\n"
    "2,soon,b\n2,2024-01-04,?\n3,2024-01-03,a\n",
    "t.libsvm": "1 1:0.5\n0 2:1.5\nx 1:2\n1.5 1:2\n0 1:1e300\n1 one\n1 1:2.5\n",
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_text_format_names_the_rows_that_it_leaves_out(name, tmp_path):
    (tmp_path / name).write_text(FORMATS[name])
    target = [] if name == "t.libsvm" else ["-t", "label"]
    args = ("-m", tmp_path / "m", *target, *SMALL, *SKIP, "--json")
    output = output_of(call("learn", tmp_path / name, *args))
    assert output["rows"] == 3
    assert [row["row"] for row in output["skipped"]["first"]] == [3, 4, 5, 6]
    assert riparian.load(tmp_path / "m").stats()["points"] == 3


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_a_file_with_types_may_lack_labels_and_have_infinities(name, tmp_path):
    rows = 300
    label = pa.array(["a", "b"] * (rows // 2), mask=np.arange(rows) % 100 == 50)
    width = np.where(np.arange(rows) % 100 == 70, np.inf, np.arange(rows) / 8)
    path = write(pa.table({"width": width, "label": label}), tmp_path / name)
    output, _ = learned(path, tmp_path / "m", *SKIP)
    assert [row["row"] for row in output["skipped"]["first"]] == [51, 71, 151, 171, 251, 271]


def test_predictions_and_tests_leave_them_out_too(files):
    learned(files / "good.csv", files / "m")
    for name in ("bad", "good"):
        args = ("predict", files / "m", files / f"{name}.csv", "-o", files / f"{name}.jsonl")
        done = output_of(call(*args, *(SKIP if name == "bad" else ()), "--json"))
    assert done["skipped"]["rows"] == 0
    bad, good = ((files / f"{n}.jsonl").read_text().splitlines() for n in ("bad", "good"))
    assert len(bad) == len(good) + 1  # a row without a target can be predicted
    tested = [
        output_of(call("evaluate", files / "m", files / f"{name}.csv", *SKIP, "--json"))
        for name in ("bad", "good")
    ]
    assert tested[0]["accuracy"] == tested[1]["accuracy"]
    assert [output["skipped"]["rows"] for output in tested] == [len(BAD), 0]


def test_a_file_of_nothing_else_has_no_rows_to_learn(tmp_path):
    (tmp_path / "t.csv").write_text("x,label\n1\n2\n")
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m", *SMALL, *SKIP)
    assert done.exit_code == 1 and "there are no rows to learn from" in done.stderr


def test_only_the_first_rows_are_named_and_all_are_counted(tmp_path):
    rows = "".join(f"{i},{'ab'[i % 2]}\n{i},\n" for i in range(50))
    (tmp_path / "t.csv").write_text(f"x,label\n{rows}")
    output, done = learned(tmp_path / "t.csv", tmp_path / "m", *SKIP)
    assert output["skipped"]["rows"] == 50 and json.dumps(output)
    named = [line for line in done.stderr.splitlines() if line.startswith("skipped: ")]
    assert len(named) == 21 and named[-1] == "skipped: rows after this one are only counted"

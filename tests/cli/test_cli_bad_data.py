"""Bad data ends the real command with exit code 1 and one message with the place and the fault."""

from __future__ import annotations

import gzip
import json
import resource

import numpy as np
import pyarrow as pa
import pytest

import riparian
from riparian.sources import raw

from commands import RIPARIAN, SMALL, call, learn, run, table, write

GOOD = "".join(f"{i % 7},{i % 5}.5,{'ab'[i % 2]}\n" for i in range(1000))


def csv(rows):
    return f"x,y,label\n{rows}".encode()


BAD = {
    "a type that changes half-way": (
        "t.csv", csv(f"{GOOD}abc,1,a\n{GOOD}"),
        "t.csv, row 1,001 (line 1,002), column 'x': expected a number, as in earlier rows, "
        "got 'abc'",
    ),
    "a ragged row": (
        "t.csv", csv(f"{GOOD}1,2\n{GOOD}"),
        "t.csv, row 1,001 (line 1,002): expected 3 cells, one per column, got 2: '1,2'",
    ),
    "a wrong encoding": (
        "t.csv", csv(GOOD) + b"1,2,\xe9t\xe9\n",
        "t.csv, row 1,001 (line 1,002), column 'label': not UTF-8 (invalid continuation byte 0xe9)",
    ),
    "an empty file": ("t.csv", b"", "t.csv: the file is empty"),
    "a header and nothing else": ("t.csv", csv(""), "t.csv: there are no rows to learn from"),
    "a missing target": (
        "t.csv", csv(f"{GOOD}1,2,\n"), "t.csv, row 1,001, column 'label': the target is missing",
    ),
    "a file cut off": (
        "t.csv.gz", gzip.compress(csv(GOOD))[:-50], "t.csv.gz: cannot be decompressed: Truncated",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_data_is_reported_with_its_place_and_no_model_is_written(kind, tmp_path):
    name, data, reason = BAD[kind]
    (tmp_path / name).write_bytes(data)
    done = call("learn", name, "-t", "label", "-m", "model", *SMALL, cwd=tmp_path)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done.exception
    assert f"error: {reason}" in done.stderr, done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "model").exists()


MORE = {
    "no date": (
        "t.csv", b"when,label\n2020-01-01,a\n2020-01-32,b\n2020-01-02,b\n",
        "t.csv, row 2, column 'when': expected a date such as 2024-05-31, as in earlier rows, got "
        "'2020-01-32'; if it means a missing value, give --missing",
    ),
    "infinity": (
        "t.csv", csv("1,2,a\n1,inf,a\n"),
        "row 2, column 'y': expected a number that fits float32, got 'inf'; if it means a missing "
        "value, give --missing",
    ),
    "no target": ("t.csv", csv("1,2,a\n1,2,\n"), "row 2, column 'label': the target is missing; remove"),
    "semicolons and commas": (
        "t.csv", b"x;label\n0,5;a\n",
        "row 1 (line 2): expected 1 cell, one per column, got 2: '0,5;a'; the header is 'x;label': do "
        "you need --delimiter",
    ),
    "another header": (
        "t.csv", b"150,4,label\n1,2,3,a\n",
        "row 1 (line 2): expected 3 cells, one per column, got 4: '1,2,3,a'; the header is '150', '4', "
        "'label'",
    ),
    "no header": (
        "t.csv", b"1,1,a\n2,1,b\n",
        "appear more than once: '1'; if the file has no header, give --no-header",
    ),
    "a title above the header": (
        "t.csv", b"all my trees\nx,label\n1,a\n", "are there lines before the header?"
    ),
    "UTF-16": ("t.csv", "x,label\n1,a\n".encode("utf-16"), "convert it first with iconv -f UTF-16"),
    "an infinite target": ("t.csv", csv("1,2,1.5\n1,2,inf\n"), "the target must be a finite"),
    "a header in latin-1": ("t.csv", "größe,label\n".encode("latin-1"), "the header is not UTF-8"),
    "a name that comes twice": ("t.csv", b"x,x,label\n", "these appear more than once: 'x'"),
    "nothing to learn from": ("t.csv", b"label\na\n", "no column to learn from except the target"),
    "a quote left open": ("t.csv", csv(f'1,"2,a\n{GOOD}'), "is a quote left open?"),
    "no JSON": ("t.jsonl", b'{"x":1,"label":"a"}\n{"x":\n', "row 2 (line 2): not JSON"),
    "null first": ("t.jsonl", b'null\n{"x":1,"label":"a"}\n', "row 1 (line 1): expected an object"),
    "null after a mark": ("t.jsonl", b"\xef\xbb\xbfnull\n", "expected an object"),
    "null between rows": (
        "t.jsonl", b'{"x":1,"label":"a"}\n null\n{"x":1,"label":"b"}\n', "row 2 (line 2): expected an",
    ),
    "deep lists": (
        "t.jsonl", b'{"x":1,"label":"a"}\n{"x":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
        "row 2 (line 2): values are nested more than 64 times",
    ),
    "deep objects": (
        "t.jsonl", b'{"x":' * 500 + b"1" + b"}" * 500 + b"\n",
        "row 1 (line 1): values are nested more than 64 times",
    ),
    "no object": ("t.jsonl", b'{"x":1,"label":"a"}\n[1]\n', "row 2 (line 2): expected an object"),
    "a field twice": (
        "t.jsonl", b'{"x":1,"label":"a"}\n{"x":1,"x":2,"label":"a"}\n',
        "row 2 (line 2), column 'x': expected each field once per line, got it twice",
    ),
    "another type": (
        "t.jsonl", b'{"x":1,"label":"a"}\n{"x":"1","label":"a"}\n',
        "row 2 (line 2), column 'x': expected a number, as in earlier rows, got '\"1\"'",
    ),
    "a list": ("t.jsonl", b'{"x":[1],"label":"a"}\n', "column 'x': values of type list"),
    "JSON in latin-1": ("t.jsonl", b'{"x":1,"label":"\xe9"}\n', "row 1 (line 1): not UTF-8"),
    "no index": ("t.libsvm", b"1 1:2\n2 x:4\n", "row 2 (line 2): expected label index:value"),
    "an index beyond 64 bits": (
        "t.libsvm", b"1 1:2\n2 9999999999999999999:4\n", "row 2 (line 2): expected label index:value",
    ),
    "an index that would claim gigabytes": (
        "t.libsvm", b"1 1:2\n2 2147483000:4\n",
        "row 2 (line 2): expected label index:value ..., got '2 2147483000:4' (indices must be at most",
    ),
    "a label beyond 53 bits": ("t.libsvm", b"1 1:2\n1e300 1:4\n", "below 2^53, got 1e+300"),
    "no number as label": ("t.libsvm", b"1 1:2\nnan 1:4\n", "row 2 (line 2): expected label"),
    "a fraction as label": ("t.libsvm", b"1 1:2\n1.5 1:4\n", "row 2 (line 2): the label must be"),
    "no feature": ("t.libsvm", b"1\n2\n", "the file has no features"),
    "a value not declared": (
        "t.arff", b"@attribute x real\n@attribute label {a}\n@data\n1,a\n2,c\n",
        "row 2 (line 5), column 'label': 'c' is not one of the declared values",
    ),
    "no number": (
        "t.arff", b"@attribute x real\n@attribute label {a}\n@data\n1,a\nz,a\n",
        "row 2 (line 5), column 'x': expected a number, got 'z'",
    ),
    "too few values": (
        "t.arff", b"@attribute x real\n@attribute label {a}\n@data\n1\n",
        "row 1 (line 4): expected 2 values, one per attribute, got 1",
    ),
    "no data": ("t.arff", b"@attribute x real\n", "it has no @data"),
    "a relation": ("t.arff", b"@attribute d relational\n@data\n", "attributes of type relational"),
    "an unusual date format": (
        "t.arff", b"@attribute d date 'yyyy-ww'\n@data\n",
        "line 1, column 'd': the date format 'yyyy-ww' cannot be used: 'ww' is not supported",
    ),
    "another format": (
        "t.arff", b"@attribute d date\n@attribute label {a}\n@data\n2024-01-01,a\n",
        "row 1 (line 4), column 'd': expected a date in the declared format, got '2024-01-01'",
    ),
    "no Parquet": ("t.parquet", b"hello", "t.parquet: not a Parquet file"),
    "no Arrow": ("t.arrow", b"hello, you there", "t.arrow: not an Arrow file"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MORE)
def test_every_kind_of_bad_data_has_its_error(kind, tmp_path):
    name, data, reason = MORE[kind]
    (tmp_path / name).write_bytes(data)
    done = call("learn", tmp_path / name, "-t", "label", "-m", tmp_path / "model", *SMALL)
    assert (done.exit_code, reason in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "model").exists()


def test_a_field_that_turns_up_later_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 500)
    rows = '{"x":1,"label":"a"}\n' * 100
    (tmp_path / "t.jsonl").write_text(rows + '{"x":1,"label":"a","z":0}\n')
    done = call("learn", tmp_path / "t.jsonl", "-t", "label", "-m", tmp_path / "m", *SMALL)
    assert "row 101 (line 101), column 'z': earlier rows do not have this field" in done.stderr


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("x,z,label", "b.csv: these columns are missing: 'y'; the file has 'x', 'z', 'label'"),
        ("x,y,label,z", "b.csv: these columns are not in the earlier files: 'z'"),
    ],
)
def test_files_of_one_stream_must_have_the_same_columns(tmp_path, columns, reason):
    (tmp_path / "a.csv").write_bytes(csv(GOOD))
    (tmp_path / "b.csv").write_text(f"{columns}\n")
    done = call(
        "learn", tmp_path / "a.csv", tmp_path / "b.csv", "-t", "label", "-m", tmp_path / "m"
    )
    assert done.exit_code == 1 and reason in done.stderr


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_text_among_numbers_is_reported_with_what_to_do(name, tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 500)
    numbers, words = {"x": 1, "label": "a"}, {"x": "many", "label": "b"}
    rows = [numbers] * 200 + [words]
    lines = [json.dumps(row) for row in rows] if name == "t.jsonl" else [
        "x,label", *(",".join(map(str, row.values())) for row in rows)
    ]  # fmt: skip
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    done = call("learn", tmp_path / name, "-t", "label", "-m", tmp_path / "m", *SMALL)
    assert done.exit_code == 1
    assert "row 201" in done.stderr and "column 'x': expected a number" in done.stderr
    assert (
        "--categorical x learns the column as categories, --ignore x leaves it out." in done.stderr
    )
    assert ("give --missing" in done.stderr) == (name == "t.csv")


def test_the_error_says_how_much_was_learned_before_bad_data(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv(f"{GOOD * 200}abc,1,a\n"))
    args = ("-t", "label", "-m", tmp_path / "m", *SMALL, "--no-eval")
    done = call("learn", tmp_path / "t.csv", *args)
    assert "122,880 rows had been learned; no model was written.\n" in done.stderr
    done = call("learn", tmp_path / "t.csv", *args, "--checkpoint-every", 100_000)
    assert "no model was written, but " in done.stderr
    assert "m.checkpoint holds the first 106,496." in done.stderr
    assert riparian.load(tmp_path / "m.checkpoint").stats()["points"] == 106_496


def test_with_json_the_place_is_a_field(tmp_path):
    (tmp_path / "t.csv").write_bytes(csv(f"{GOOD}abc,1,a\n"))
    done = call("learn", tmp_path / "t.csv", "-t", "label", "-m", tmp_path / "m", *SMALL, "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["row"], error["line"], error["column"], error["exit_code"]) == (
        1001,
        1002,
        "x",
        1,
    )
    assert error["message"] in done.stderr


# -- after learning ------------------------------------------------------------------------------------


def test_a_class_never_seen_counts_as_a_mistake_and_is_reported(tmp_path):
    learn(write(table(text=False), tmp_path / "t.csv"), tmp_path / "m")
    lines = (tmp_path / "t.csv").read_text().replace('"oak"', '"yew"')
    (tmp_path / "new.csv").write_text(lines)
    done = call("evaluate", "m", "new.csv", "--json", cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert (
        "the model has never seen these classes; their rows count as mistakes: 'yew'" in done.stderr
    )
    output = json.loads(done.stdout)
    yews = lines.count("yew")
    assert output["unseen_classes"] == [{"label": "yew", "rows": yews}]
    assert output["accuracy"] <= 1 - yews / output["rows"]
    done = call("predict", "m", "new.csv", "-o", "p.csv", cwd=tmp_path)
    assert done.exit_code == 0 and "yew" not in (tmp_path / "p.csv").read_text()


def test_a_damaged_model_is_bad_data(tmp_path):
    data = bytearray(learn(write(table(text=False), tmp_path / "t.csv"), tmp_path / "m"))
    data[-1] ^= 1
    (tmp_path / "m").write_bytes(data)
    done = run("predict", "m", "t.csv", "-o", "p.csv", cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: m: the checksum is wrong")


def test_when_the_disk_is_full_the_checkpoint_from_before_survives(tmp_path):
    whole = table(3000, text=False)
    write(whole, tmp_path / "t.csv")
    expected = learn(tmp_path / "t.csv", tmp_path / "whole")
    args = ["learn", "t.csv", "-t", "label", "-m", "m", *SMALL, "--checkpoint-every", "300"]
    few = learn(write(whole.slice(0, 300), tmp_path / "few.csv"), tmp_path / "few")

    def full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * len(few), 2 * len(few)))

    done = run(*args, cwd=tmp_path, preexec_fn=full_disk)
    assert done.returncode == 1
    assert "error: m.checkpoint: could not write the checkpoint: File too large" in done.stderr
    assert "is intact: free some disk space and continue with --resume." in done.stderr
    assert riparian.load(tmp_path / "m.checkpoint").stats()["points"] % 300 == 0
    assert [path.name for path in tmp_path.glob(".*")] == []
    done = call(*args, "--resume", cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "m").read_bytes() == expected


def test_without_its_packages_the_command_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('No module', name='typer')")
    import subprocess

    done = subprocess.run(
        RIPARIAN, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "riparian: the command line needs typer: pip install 'riparian[cli]'\n"


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows"])
def test_offsets_that_lead_anywhere_are_bad_data(name, tmp_path):
    path = write(
        pa.table({"x": range(8), "kind": ["oak", "elm"] * 4, "label": ["a"] * 8}), tmp_path / name
    )
    offsets = np.arange(0, 27, 3, dtype="<i4")
    data = path.read_bytes()
    assert offsets.tobytes() in data
    path.write_bytes(data.replace(offsets.tobytes(), (offsets * 2**26).tobytes()))
    done = run("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL)  # it crashed
    assert done.returncode == 1, done
    assert f"{name}: cannot read the rest of the file" in done.stderr


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.arrows"])
@pytest.mark.parametrize("text", [b"elm", b"label"])
def test_texts_and_names_that_are_no_unicode_are_bad_data(text, name, tmp_path):
    path = write(pa.table({"x": range(8), "label": ["oak", "elm"] * 4}), tmp_path / name)
    path.write_bytes(path.read_bytes().replace(text, b"\xff" + text[1:]))
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit), done.exception
    assert name in done.stderr


def test_a_signalling_nan_is_a_missing_value(tmp_path):
    values = np.arange(8.0)
    values.view(np.uint64)[2] = 0x7FF0000000000001
    path = write(pa.table({"x": values, "label": ["oak", "elm"] * 4}), tmp_path / "t.arrow")
    done = run("learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL)  # with -W error
    assert done.returncode == 0, done.stderr

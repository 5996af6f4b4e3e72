"""Run the command for tests, in a new process or in this one, and write files for it to read."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
from typer.testing import CliRunner

from riparian.cli.app import app

RIPARIAN = [sys.executable, "-W", "error", "-m", "riparian.cli"]

SMALL = ("--trees", "3", "--threads", "1")


def run(*args, **more):
    """Run the command in a new process, to test pipes, signals and limits."""
    return subprocess.run(
        [*RIPARIAN, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **more,
    )


def start(*args, **more):
    """Start the command in a new process without waiting."""
    return subprocess.Popen(
        [*RIPARIAN, *map(str, args)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def call(*args, cwd=".", **more):
    """Run the command in this process, which is faster."""
    with chdir(cwd):
        return CliRunner().invoke(app, [*map(str, args)], **more)


def learn(source, model, *args):
    """Learn in this process, with few trees; return the bytes of the model."""
    sources = source if isinstance(source, list) else [source]
    done = call("learn", *sources, "-t", "label", "-m", model, *SMALL, *args)
    assert done.exit_code == 0, done.output
    return Path(model).read_bytes()


def output_of(done):
    """Return the JSON that a successful command printed."""
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


# -- tables --------------------------------------------------------------------------------------------


def table(rows=300, seed=0, text=True):
    """Numbers with gaps, whole numbers, true and false, a text, and a label that depends on them."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=rows)
    width = np.round(rng.normal(kind, 1.0), 3)
    columns = {
        "width": pa.array(width, mask=rng.random(rows) < 0.1),
        "age": pa.array(rng.integers(0, 50, size=rows) + 10 * kind),
        "old": pa.array(rng.random(rows) < 0.3 + 0.2 * kind),
    }
    if text:
        colours = np.array(["red", "green", "blue", 'pale "grey", or so'])
        columns["colour"] = pa.array(colours[(kind + rng.integers(2, size=rows)) % 4])
    columns["label"] = pa.array(np.array(["ash", "elm", "oak"])[kind])
    return pa.table(columns)


def write(data, path):
    """Write a table in the format of the file name."""
    path = Path(path)
    match path.suffix:
        case ".csv":
            pyarrow.csv.write_csv(data, path)
        case ".gz" | ".zst":
            codec = {".gz": "gzip", ".zst": "zstd"}[path.suffix]
            with pa.CompressedOutputStream(str(path), codec) as file:
                pyarrow.csv.write_csv(data, file)
        case ".parquet":
            pyarrow.parquet.write_table(data, path, row_group_size=70)
        case ".arrow":
            with pyarrow.ipc.new_file(str(path), data.schema) as writer:
                writer.write_table(data, max_chunksize=70)
        case ".arrows":
            with pyarrow.ipc.new_stream(str(path), data.schema) as writer:
                writer.write_table(data, max_chunksize=70)
        case ".jsonl":
            path.write_text("".join(f"{json.dumps(row)}\n" for row in data.to_pylist()))
        case ".arff":
            path.write_text(arff(data))
        case other:
            raise ValueError(other)
    return path


def arff(data):
    lines = ["% a comment", "@RELATION trees", ""]
    for field in data.schema:
        values = sorted({*data[field.name].to_pylist()} - {None}, key=str)
        nominal = "{" + ",".join(_quoted(value) for value in values) + "}"
        lines.append(
            f"@attribute {field.name} {nominal if field.type == pa.string() else 'numeric'}"
        )
    lines.append("@data")
    for row in data.to_pylist():
        lines.append(",".join(_quoted(value) for value in row.values()))
    return "\n".join(lines) + "\n"


def _quoted(value):
    if value is None:
        return "?"
    if isinstance(value, bool):
        return str(int(value))
    return f"'{value}'" if isinstance(value, str) else repr(value)

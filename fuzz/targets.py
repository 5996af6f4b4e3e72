"""What the fuzzer breaks: snapshots, checkpoints, model files, logs, Arrow bodies, text files, dtypes.

A target makes a case from random choices: some bytes, and a check of what riparian does with them, which
returns the outcome in a word. An input that is refused with the error that is meant for it is fine; any
other error is a finding.
"""

from __future__ import annotations

import base64
import copy
import json
import shutil
import sqlite3
import string
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from plausible import check_plausible

import riparian._core as core
from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.cli.learning.checkpoint import Checkpoint
from riparian.serve import validation
from riparian.serve.http import arrow
from riparian.serve.items import Lesson
from riparian.serve.options import Limits, ServiceOptions
from riparian.serve.refused import Refused
from riparian.serve.state.folder import LOG, MODEL, BadState, StateFolder
from riparian.serve.state.model import ServedModel

from commands import SMALL, call, table, write
from snapshots import (
    DEPTH_KINDS,
    KINDS,
    NUMBER_KINDS,
    NUMBERS,
    VALUES,
    change_header,
    changed,
    forged,
    grow,
    learned,
    opened,
    scratched,
    sealed,
    survive,
)

GOLDENS = Path(__file__).parents[1] / "tests/goldens"


@dataclass(frozen=True)
class Case:
    data: bytes  # kept if the check fails
    check: Callable[[], str]  # returns the outcome
    format: str | None = None  # counted, too


class Target:
    """Something that can be broken in many ways."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # for files

    def case(self, random: Random) -> Case:
        raise NotImplementedError

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


# -- snapshots ---------------------------------------------------------------------------------------


class Snapshots(Target):
    """Real snapshots, broken; one in twenty is whole, and learns on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole = [
            learned(**kind).to_bytes(prediction_only=prediction_only)
            for kind in (KINDS | DEPTH_KINDS | NUMBER_KINDS).values()
            for prediction_only in (False, True)
        ]
        self.old = [path.read_bytes() for path in sorted(GOLDENS.glob("*_1.riparian"))]
        self.opened = {data: opened(data) for data in self.whole + self.old}
        for data in self.opened:
            assert survive(data).startswith("valid")
            check_plausible(data)

    def case(self, random: Random) -> Case:
        data = random.choice(self.old if random.randrange(4) == 0 else self.whole)
        written = f"format {self.opened[data][0]['format']}"
        core.use_kernels(random.choice(core.kernel_names()))
        if random.randrange(20) == 0:
            return Case(data, lambda: self._grown(random, data), written)
        broken = self._broken(random, data)
        return Case(broken, lambda: survive(broken), written)

    def _broken(self, random: Random, data: bytes) -> bytes:
        what = random.randrange(5)
        if what == 0:
            return scratched(random, data)
        return (changed if what < 3 else forged)(random, *self.opened[data])

    @staticmethod
    def _grown(random: Random, data: bytes) -> str:
        check_plausible(grow(random, data))
        return "plausible"


class Dtypes(Target):
    """The text of the dtype of the labels."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        names = ["oak", "ash", "elm"]
        self.opened = [opened(learned(names=n).to_bytes()) for n in (None, names)]

    def case(self, random: Random) -> Case:
        header, arrays = random.choice(self.opened)
        labels = copy.deepcopy(header["labels"]) | {"dtype": self._text(random)}
        if random.randrange(3) == 0:
            change_header(random, labels)
        data = sealed({**header, "labels": labels}, arrays)
        return Case(data, lambda: survive(data))

    @staticmethod
    def _text(random: Random) -> str:
        if random.randrange(4) == 0:
            return "".join(random.choices(string.printable, k=random.randrange(12)))
        order, kind = random.choice(["<", ">", "|", "=", ""]), random.choice("?biufcmMOSUV")
        size = random.choice(
            ["", "0", "1", "2", "3", "4", "8", "16", "50000000", "999999999", "-1"]
        )
        more = random.choice(["", "", "", "[ns]", ",i4", "(2,)", " ", "\n", "\0"])
        return f"{order}{kind}{size}{more}"


# -- what the command line reads ---------------------------------------------------------------------


def source_in(path: Path, rows: int, text: bool = True) -> Path:
    """Write a table in the format of the file name; text columns are left out unless `text`."""
    if path.suffix != ".libsvm":
        return write(table(rows, seed=rows, text=text), path)
    draw = np.random.default_rng(rows)
    lines = [f"{i % 3} {1 + i % 5}:{draw.normal():.3f} {6 + i % 4}:1\n" for i in range(rows)]
    path.write_text("".join(lines))
    return path


def learned_by_command(folder: Path, name: str, *options: str) -> tuple[Path, list[Any]]:
    """Return a table that was learned, and the arguments of that; the checkpoint stays."""
    source = source_in(folder / name, 400)
    target = () if source.suffix == ".libsvm" or "-t" in options else ("-t", "label")
    args = [source, *target, "-m", folder / "m", *SMALL, "--quiet", *options]
    remove, Checkpoint.remove = Checkpoint.remove, lambda self: None  # type: ignore[method-assign]
    try:
        done = call("learn", *args, "--checkpoint-every", "150", "--block", "50")
    finally:
        Checkpoint.remove = remove  # type: ignore[method-assign]
    assert done.exit_code == 0, done.output
    return source, [*args, "--block", "50"]


def end_of(done: Any) -> str:
    """Return how a command ended: with a result or with an error of its own."""
    if done.exit_code not in (0, 1, 2) or not isinstance(done.exception, SystemExit | None):
        raise AssertionError(done.output) from done.exception
    return {0: "valid", 1: "bad data", 2: "bad usage"}[done.exit_code]


def bomb(random: Random) -> str:
    """Return compressed numbers that need far more room than their text."""
    return base64.b64encode(zlib.compress(bytes(2 ** random.randrange(24, 28)), 9)).decode()


def other_extra(random: Random, header: dict[str, Any], arrays: Any) -> bytes:
    """Return the snapshot with changes in its extra part, and a correct checksum."""
    header = json.loads(json.dumps(header))
    for _ in range(1 + random.randrange(3)):
        if not header["extra"]:
            break
        change_header(random, header["extra"])
    text = json.dumps(header)
    if random.randrange(20) == 0:
        text = text.replace('"rows": "', f'"rows": "{bomb(random)}", "was": "')
    return sealed(json.loads(text), arrays)


class Checkpoints(Target):
    """Runs that are resumed."""

    WAYS = (
        ("t.csv",),
        ("t.jsonl", "--delay", "30"),
        ("t.parquet", "--passes", "2", "--shuffle-window", "60"),
        ("t.libsvm",),
        ("t.arff", "--adaptive"),
        ("t.csv", "--kept-points", "0", "--no-eval"),
        ("t.csv", "-t", "age"),  # numbers
        ("t.parquet", "-t", "age", "--adaptive", "--delay", "30"),
        ("t.csv", "-t", "age", "--interval", "0.9"),
        ("t.jsonl", "--on-error", "skip", "--threshold", "recall=0.8"),
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.runs = []
        for number, way in enumerate(self.WAYS):
            (folder / str(number)).mkdir()
            _, args = learned_by_command(folder / str(number), *way)
            checkpoint = folder / str(number) / "m.checkpoint"
            self.runs.append((checkpoint, args, checkpoint.read_bytes()))

    def case(self, random: Random) -> Case:
        path, args, whole = random.choice(self.runs)
        report = random.randrange(9) == 0
        if random.randrange(5) == 0:
            data = scratched(random, whole)
        else:
            data = other_extra(random, *opened(whole))

        def check() -> str:
            path.write_bytes(data)
            page = ("--html", self.folder / "page.html") if report else ()
            return end_of(call("learn", *args, *page, "--resume"))

        return Case(data, check)


class Extra(Target):
    """The extra part of a model file: what it says of columns, and what a service adds."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.models, self.states = [], []
        for forest, target in ((OnlineForestClassifier, "label"), (OnlineForestRegressor, "age")):
            (folder / target).mkdir()
            self.source, _ = learned_by_command(folder / target, "t.csv", "-t", target)
            self.models.append((folder / target / "m").read_bytes())
            log, model = served(folder / target / "state", forest)
            assert state_of(folder / "again", model, log)[0] == "valid"
            self.states.append((log, model))

    def case(self, random: Random) -> Case:
        if random.randrange(2):
            data = other_extra(random, *opened(random.choice(self.models)))
            return Case(data, lambda: self._predict(data))
        log, model = random.choice(self.states)
        data = other_extra(random, *opened(model))
        return Case(data, lambda: state_of(self.folder / "again", data, log)[0])

    def _predict(self, data: bytes) -> str:
        model = self.file("changed", data)
        seen = end_of(call("inspect", model))
        predicted = end_of(call("predict", model, self.source, "-o", self.folder / "p.csv"))
        return f"{seen}, {predicted}"


class Text(Target):
    """A text format: real files with bytes and pieces changed."""

    name = ""
    pieces: tuple[str, ...] = ()
    options: tuple[str, ...] = ("-t", "label")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole = [
            source_in(folder / f"whole{self.name}", rows, text).read_bytes()
            for rows, text in ((3, False), (40, False), (40, True))
        ]

    def case(self, random: Random) -> Case:
        data = random.choice(self.whole)
        for _ in range(random.randrange(4)):
            at = random.randrange(len(data) + 1)
            piece = random.choice(self.pieces).encode()
            data = data[:at] + piece + data[at + random.choice([0, 0, len(piece)]) :]
        if random.randrange(2):
            data = scratched(random, data)

        def check() -> str:
            path = self.file(f"t{self.name}", data)
            done = call("learn", path, *self.options, "-m", self.folder / "m", *SMALL, "--quiet")
            return end_of(done)

        return Case(data, check)


NUMBERS_AS_TEXT = (
    "1e308",
    "1e999",
    "-0",
    "nan",
    "inf",
    "0x1",
    "1_000",
    "9" * 30,
    "1,5",
    "",
    "é",
    "\0",
)


class Csv(Text):
    name = ".csv"
    pieces = (",", '"', '""', "\n", "\r\n", "\r", "\ufeff", "2024-02-30", "12:00", "true", "label",
              ",label", "\n\n", ",,,,", *NUMBERS_AS_TEXT)  # fmt: skip


class Arff(Text):
    name = ".arff"
    pieces = ("@attribute x {a,b}\n", "@attribute x date 'yyyy-MM-dd'\n", "@attribute", "@data\n", "%",
              "{", "}", "{0 1, 3 oak}\n", "'", '"', "\\", "?", ",", "\n", " real", " string",
              " relational\n", "@relation x\n", *NUMBERS_AS_TEXT)  # fmt: skip


class JsonLines(Text):
    name = ".jsonl"
    pieces = ("null", "null\n", "[", "]", "{", "}", "[" * 300, '{"a":' * 300, "{}", '"', "\\ud800",
              "\\", ":", ",", "\n", "\r", "\ufeff", "NaN", '"age":', "true", '"2024-02-30"',
              *NUMBERS_AS_TEXT)  # fmt: skip


class Libsvm(Text):
    name = ".libsvm"
    pieces = (" ", ":", "1:1", " 2147483647:1", " 4294967296:1", " 9999999999999999999:1", " -1:2",
              " 16777216:1", "\n", "#", "qid:3", "1 1:1 1:2\n", *NUMBERS_AS_TEXT)  # fmt: skip
    options = ()


class Tables(Target):
    """Parquet and Arrow files with bytes changed, most of them where the file describes itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        names = ("whole.parquet", "whole.arrow", "whole.arrows")
        sizes = ((3, False), (40, True), (300, True))
        self.whole = [
            (Path(name).suffix, source_in(folder / name, rows, text).read_bytes())
            for name in names
            for rows, text in sizes
        ]

    def case(self, random: Random) -> Case:
        suffix, whole = random.choice(self.whole)
        broken = bytearray(whole)
        for _ in range(random.choice([1, 1, 3, 20])):
            at = random.randrange(len(broken))
            at = random.choice([at, -1 - at % 1500 % len(broken)])
            broken[at] = random.choice([0, 127, 128, 255, random.randrange(256)])
        data = bytes(broken)

        def check() -> str:
            path = self.file(f"t{suffix}", data)
            return end_of(
                call("learn", path, "-t", "label", "-m", self.folder / "m", *SMALL, "--quiet")
            )

        return Case(data, check)


# -- what the service reads --------------------------------------------------------------------------


Forest = type[OnlineForestClassifier] | type[OnlineForestRegressor]


def opened_state(
    path: Path, origin: str = "", forest: Forest = OnlineForestClassifier
) -> StateFolder:
    def start() -> ServedModel:
        return ServedModel.new(forest(2, random_state=0), None)

    return StateFolder.open(path, start, origin, ServiceOptions(keep_log=True))


def served(path: Path, forest: Forest = OnlineForestClassifier) -> tuple[bytes, bytes]:
    """Return a log and a snapshot of its first half."""
    lessons = [
        Lesson({"a": i / 7, "b": "xyz"[i % 3]}, i % 2, 1.0, None, 0.0, 0.0, 0.0) for i in range(40)
    ]
    folder = opened_state(path, "new", forest)
    with folder.log.transaction():
        folder.log.add_lessons(lessons)
    for lesson in folder.model.learn(lessons[:20]):
        folder.scores.add(lesson)
    folder.save(folder.model, folder.scores, 20)
    folder.close()
    return (path / LOG).read_bytes(), (path / MODEL).read_bytes()


def state_of(path: Path, model: bytes, log: bytes) -> tuple[str, bytes | None]:
    """Open a folder with these files; return the outcome, and the model if there is one."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    (path / MODEL).write_bytes(model)
    (path / LOG).write_bytes(log)
    try:
        folder = opened_state(path)
    except BadState:
        return "bad state", None
    try:
        folder.model.forecasts([{"a": 1.0}, {"b": "x"}])
        content = folder.model.to_bytes({})
        folder.save(folder.model, folder.scores, folder.position)
        return "valid", content
    finally:
        folder.close()


class Logs(Target):
    """The database of a service: what still opens gives the model that was there."""

    COLUMNS = (("lessons", "number"), ("lessons", "body"), ("lessons", "chain"), ("meta", "value"),
               ("meta", "name"), ("sqlite_sequence", "seq"), ("predictions", "time"))  # fmt: skip

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.log, self.model = served(folder / "whole")
        outcome, self.content = state_of(folder / "again", self.model, self.log)
        assert outcome == "valid"

    def case(self, random: Random) -> Case:
        data = self._changed(random) if random.randrange(2) else self._scratched(random)

        def check() -> str:
            outcome, content = state_of(self.folder / "again", self.model, data)
            assert content in (None, self.content), "a damaged log gave another model"
            return outcome

        return Case(data, check)

    def _scratched(self, random: Random) -> bytes:
        broken = bytearray(self.log)
        for _ in range(random.choice([1, 3, 100])):
            broken[random.randrange(len(broken))] = random.randrange(256)
        return bytes(broken[: random.choice([len(broken), random.randrange(len(broken) + 1)])])

    def _changed(self, random: Random) -> bytes:
        path = self.file("changed.sqlite", self.log)
        values = [*NUMBERS, *VALUES, b"", b"\xff", b"[]", "1e3"]
        with sqlite3.connect(path) as db:
            for _ in range(1 + random.randrange(3)):
                name, column = random.choice(self.COLUMNS)
                value = random.choice(values)
                if isinstance(value, list | dict) or (
                    isinstance(value, int) and abs(value) >= 2**63
                ):
                    value = json.dumps(value)
                where = (
                    f"rowid % {random.choice([1, 2, 7, 40])} = 0" if name == "lessons" else "TRUE"
                )
                try:
                    if random.randrange(4) == 0:
                        db.execute(f"DELETE FROM {name} WHERE {where}")
                    else:
                        db.execute(f"UPDATE {name} SET {column} = ? WHERE {where}", (value,))
                except (sqlite3.Error, UnicodeEncodeError):
                    continue
        db.close()
        return path.read_bytes()


LIMITS = Limits(body=2**20, values=20_000, rows=500)


class ArrowBodies(Target):
    """Streams of Arrow as a client could send them."""

    def case(self, random: Random) -> Case:
        data = self._stream(random)
        if random.randrange(3):
            data = scratched(random, data)
        label = random.choice([validation.class_label, validation.number_label])
        return Case(data, lambda: self._read(data, label))

    @staticmethod
    def _read(data: bytes, label: validation.ReadLabel) -> str:
        try:
            rows = arrow.rows(data, LIMITS)
        except Refused as refused:
            return str(refused.status)
        taken = 0
        for row in rows:
            try:
                validation.teach_row(row, LIMITS, label)
                taken += 1
            except Refused:
                continue
        return "rows" if taken else "no row"

    def _stream(self, random: Random) -> bytes:
        rows = random.choice([0, 1, 3, 40, 600])
        names = random.sample(["a", "b", "c", "id", "label", "weight", ""], random.randrange(1, 6))
        columns = [self._column(random, rows) for _ in names]
        if random.randrange(9) == 0:
            names[0] = names[-1]
        batch = pa.RecordBatch.from_arrays(columns, names=names)
        sink = pa.BufferOutputStream()
        codec = random.choice([None, None, None, "zstd"])
        options = pyarrow.ipc.IpcWriteOptions(compression=codec)
        with pyarrow.ipc.new_stream(sink, batch.schema, options=options) as writer:
            for _ in range(random.choice([0, 1, 1, 3])):
                writer.write_batch(batch)
        return bytes(sink.getvalue().to_pybytes())

    @staticmethod
    def _column(random: Random, rows: int) -> Any:
        draw = np.random.default_rng(random.randrange(2**32))
        match random.randrange(10):
            case 0:
                return pa.nulls(rows)
            case 1:
                return pa.array(draw.normal(size=rows), mask=draw.random(rows) < 0.2)
            case 2:
                return pa.array(draw.integers(-9, 9, rows))
            case 3:
                return pa.array([random.choice(["x", "", "é" * 50, None]) for _ in range(rows)])
            case 4:
                texts = [random.choice(["x" * 2 ** random.randrange(12), "y"]) for _ in range(rows)]
                return pa.array(texts, pa.string()).dictionary_encode()
            case 5:
                return pa.array(["a" * (i % 30) for i in range(rows)], pa.string_view())
            case 6:
                return pa.array([[1, 2]] * rows)
            case 7:
                return pa.array(draw.integers(0, 2**62, rows), pa.int64()).view(pa.timestamp("ns"))
            case 8:
                return pa.array(draw.random(rows) < 0.5)
        return pa.array([{"x": 1}] * rows, pa.struct([("x", pa.int8())]))


TARGETS: dict[str, type[Target]] = {
    "snapshot": Snapshots,
    "dtype": Dtypes,
    "checkpoint": Checkpoints,
    "extra": Extra,
    "csv": Csv,
    "arff": Arff,
    "libsvm": Libsvm,
    "jsonl": JsonLines,
    "tables": Tables,
    "log": Logs,
    "arrow": ArrowBodies,
}


def made(name: str) -> Target:
    """Return a target with a folder of its own, which goes with the process."""
    folder = tempfile.mkdtemp(prefix=f"fuzz-{name}-")
    return TARGETS[name](Path(folder))

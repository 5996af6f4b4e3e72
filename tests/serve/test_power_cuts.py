"""After a power cut at any moment, what a service acknowledged and what was saved is on the disk."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys

import pytest

import riparian
from riparian import OnlineForestClassifier
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel

from commands import RIPARIAN, SMALL, table, write
from power_cuts import cuts, environment, library, note
from serve_history import TREES, learned_offline, unexpected
from serve_process import Process

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs LD_PRELOAD and a compiler"
)

ROWS = 40


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return library(tmp_path_factory.mktemp("shim"))


def start():
    return ServedModel.new(OnlineForestClassifier(TREES, random_state=0), None)


@pytest.fixture(scope="module", params=[True, False], ids=["the whole log", "a trimmed log"])
def served(request, shim, tmp_path_factory):
    """The journal of a service that learns, is stopped, and learns again."""
    folder = tmp_path_factory.mktemp("served")
    root, journal, mark = folder / "disk", folder / "journal", 0
    root.mkdir()
    options = ["--new", "--trees", str(TREES), "--snapshot-every", "0.1"]
    options += ["--keep-log"] if request.param else []
    for _ in range(2):
        with Process(root / "state", *options, env=environment(shim, root, journal)) as process:
            with process.client() as client:
                for _ in range(ROWS // 2):
                    note(journal, f"sent {mark}")
                    features = {"mark": float(mark), "city": f"city {mark % 3}"}
                    assert client.learn(features, "ab"[mark % 2])["learned"]
                    note(journal, f"learned {mark}")
                    mark += 1
            process.stop()
    return root, journal, request.param


def check(path, notes, keep_log):
    """The folder opens, with every lesson that was acknowledged before, once, and their model."""
    learned = [float(text.split()[1]) for text in notes if text.startswith("learned")]
    sent = [float(text.split()[1]) for text in notes if text.startswith("sent")]
    options = ServiceOptions(keep_log=keep_log)
    folder = StateFolder.open(path / "state", unexpected if learned else start, "new", options)
    try:
        points = folder.model.points
        assert len(learned) <= points <= len(sent)
        if keep_log:
            lessons = [lesson for _, lesson in folder.log.lessons(0, 10**6)]
            assert [lesson.features["mark"] for lesson in lessons] == sent[:points]
            assert folder.model.to_bytes({}) == learned_offline(lessons)[0].to_bytes({})
        return len(learned)
    finally:
        folder.close()


def test_no_acknowledged_lesson_is_lost_when_the_power_fails(served, tmp_path):
    root, journal, keep_log = served
    checked = [
        check(tmp_path / "cut", notes, keep_log)
        for notes in cuts(journal, root, tmp_path / "cut", random.Random(1), each=0.12)
    ]
    assert len(checked) > 20 and max(checked) > ROWS / 2


def test_a_disk_that_ignores_fsync_is_found(served, tmp_path):
    root, journal, keep_log = served
    failed = 0
    for notes in cuts(journal, root, tmp_path / "cut", random.Random(1), each=0.05, syncs=False):
        try:
            check(tmp_path / "cut", notes, keep_log)
        except Exception:  # an assertion, or a folder that cannot be opened
            failed += 1
    assert failed > 5


@pytest.fixture(scope="module")
def learned(shim, tmp_path_factory):
    """The journal of a run of `riparian learn` with checkpoints."""
    folder = tmp_path_factory.mktemp("learned")
    root, journal = folder / "disk", folder / "journal"
    root.mkdir()
    source = write(table(600, text=False), folder / "t.csv")
    args = ["learn", source, "-t", "label", "-m", root / "m", *SMALL, "--quiet", "--block", "50"]
    done = subprocess.run(
        [*RIPARIAN, *map(str, args), "--checkpoint-every", "100"],
        env={**os.environ, **environment(shim, root, journal)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return root, journal


def rows_on(disk):
    """How many rows the model or its checkpoint has; None without either. Both must load."""
    models = [
        riparian.load(disk / name) for name in ("m", "m.checkpoint") if (disk / name).exists()
    ]
    return max((model.stats()["points"] for model in models), default=None)


@pytest.mark.parametrize("syncs", [True, False])
def test_a_model_and_its_checkpoints_are_whole_when_the_power_fails(learned, syncs, tmp_path):
    root, journal = learned
    seen, damaged = [], 0
    for _ in cuts(journal, root, tmp_path / "cut", random.Random(2), each=1.0, syncs=syncs):
        try:
            seen.append(rows_on(tmp_path / "cut"))
        except riparian.SnapshotError:
            damaged += 1
    if not syncs:
        assert damaged > 0
        return
    assert damaged == 0
    first = next(i for i, rows in enumerate(seen) if rows is not None)
    durable = [rows for rows in seen[first:] if rows is not None]
    assert max(durable) == 600 and len(seen) - first - len(durable) <= 3

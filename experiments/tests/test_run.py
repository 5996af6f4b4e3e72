"""A study is computed once, piece by piece, and resumes after any interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import small_study

from riparian_experiments.readers import DataError
from riparian_experiments.running import Interrupted, WorkerLost, run
from riparian_experiments.store import StudyError

PROGRAM = """
import sys
from pathlib import Path
import small_study
from riparian_experiments.running import Interrupted, run

if __name__ == "__main__":
    out, log = sys.argv[1:]
    try:
        run(small_study.study(runs=6, seconds=0.4, log=log), Path(out), jobs=2)
    except Interrupted as stopped:
        sys.exit(str(stopped))
"""


@pytest.fixture
def program(tmp_path):
    """Starts a slow study of six runs, with two workers."""
    script, log = tmp_path / "program.py", tmp_path / "log"
    script.write_text(PROGRAM)
    log.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(Path(small_study.__file__).parent)}

    def start(out: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, script, out, log],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    start.log = log
    return start


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def kept(out: Path) -> int:
    """How many runs of the small study are in the file."""
    runs = out / "runs.csv"
    rows = len(runs.read_text().splitlines()) - 1 if runs.exists() else 0
    return rows // len(small_study.SIZES)


def computations(log: Path) -> list[int]:
    return sorted(int(file.name.partition("-")[0]) for file in log.iterdir())


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(
        f"/proc/{process}/stat"
    )  # an orphan stays in the table until its parent waits for it
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted")
    run(small_study.study(runs=6), out, jobs=1)
    return (out / "runs.csv").read_bytes()


def test_after_a_kill_a_study_continues_and_ends_as_if_nothing_had_happened(
    tmp_path, program, uninterrupted
):
    out = tmp_path / "out"
    with program(out) as first:
        wait_for(lambda: kept(out) >= 2)
        first.kill()
    safe = kept(out)
    assert safe < 6
    workers = {int(file.name.split("-")[1]) for file in program.log.iterdir()}
    wait_for(lambda: not any(map(is_running, workers)), seconds=10)
    before = computations(program.log)

    run(small_study.study(runs=6, log=str(program.log)), out, jobs=1)
    assert (out / "runs.csv").read_bytes() == uninterrupted
    again = len(computations(program.log)) - len(before)
    assert again == 6 - safe


def test_an_interrupt_stops_at_once_and_says_how_to_go_on(tmp_path, program, uninterrupted):
    out = tmp_path / "out"
    with program(out) as first:
        wait_for(lambda: kept(out) >= 1)
        first.send_signal(signal.SIGINT)
        _, stderr = first.communicate(timeout=30)
    assert first.returncode == 1
    assert stderr.strip() == (
        f"{kept(out)} of 6 pieces are kept in {out}; the same command continues from there"
    )
    run(small_study.study(runs=6), out, jobs=1)
    assert (out / "runs.csv").read_bytes() == uninterrupted


def test_processes_change_nothing_in_the_file(tmp_path, uninterrupted):
    run(small_study.study(runs=6), tmp_path, jobs=2)
    assert (tmp_path / "runs.csv").read_bytes() == uninterrupted


def test_results_that_are_read_back_equal_those_that_were_computed(tmp_path):
    computed = run(small_study.study(), tmp_path, jobs=1)
    assert run(small_study.study(failing=0), tmp_path, jobs=1) == computed


def test_a_folder_may_get_more_runs(tmp_path, uninterrupted):
    log = tmp_path / "log"
    log.mkdir()
    run(small_study.study(runs=2), tmp_path, jobs=1)
    run(small_study.study(runs=6, log=str(log)), tmp_path, jobs=1)
    assert (tmp_path / "runs.csv").read_bytes() == uninterrupted
    assert computations(log) == [2, 3, 4, 5]


def test_fewer_runs_than_there_are_is_refused(tmp_path):
    run(small_study.study(runs=3), tmp_path, jobs=1)
    with pytest.raises(StudyError, match=r"more than was asked for, such as \{'run': '2'\}"):
        run(small_study.study(runs=2), tmp_path, jobs=1)


def test_runs_of_different_settings_are_never_mixed(tmp_path):
    run(small_study.study(offset=0.1), tmp_path, jobs=1)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    message = r"settings\.offset is 0\.1 there and 0\.2 here; give another --out, or --fresh"
    with pytest.raises(StudyError, match=message):
        run(small_study.study(offset=0.2), tmp_path, jobs=1)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_runs_of_different_versions_are_never_mixed(tmp_path):
    run(small_study.study(), tmp_path, jobs=1)
    settings = tmp_path / "settings.json"
    stored = json.loads(settings.read_text())
    stored["versions"]["riparian"] = "0.0.1"
    settings.write_text(json.dumps(stored))
    with pytest.raises(StudyError, match=r"versions\.riparian is '0\.0\.1' there"):
        run(small_study.study(), tmp_path, jobs=1)


def test_runs_without_their_settings_are_refused(tmp_path):
    run(small_study.study(), tmp_path, jobs=1)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(StudyError, match="unknown settings"):
        run(small_study.study(), tmp_path, jobs=1)


def test_a_fresh_start_forgets_the_runs_and_nothing_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    run(small_study.study(offset=0.1), tmp_path, jobs=1)
    rows = run(small_study.study(offset=0.2, runs=1), tmp_path, jobs=1, fresh=True)
    assert [row["run"] for row in rows] == [0, 0]
    assert json.loads((tmp_path / "settings.json").read_text())["settings"]["offset"] == 0.2
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_fails_leaves_those_that_did_not(jobs, tmp_path):
    with pytest.raises(RuntimeError, match="this run fails"):
        run(small_study.study(runs=4, failing=3, seconds=0.2), tmp_path, jobs=jobs)
    assert kept(tmp_path) >= 1


def test_a_worker_that_is_killed_leaves_what_is_done(tmp_path):
    with pytest.raises(WorkerLost, match=r"of 4 pieces are kept in .* perhaps with fewer --jobs"):
        run(small_study.study(runs=4, dying=3, seconds=0.2), tmp_path, jobs=2)
    assert kept(tmp_path) >= 1


def test_an_interrupt_without_workers_says_the_same(tmp_path):
    def computed(task):
        if task.run == 2:
            raise KeyboardInterrupt
        return small_study.compute(task)

    study = replace(small_study.study(), compute=computed)
    with pytest.raises(Interrupted, match="2 of 4 pieces are kept"):
        run(study, tmp_path, jobs=1)
    assert kept(tmp_path) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,points\n0,1\n1\n", r"runs\.csv, line 3: expected 2 values, got 1"),
        ("nonsense\n", r"runs\.csv, line 1: expected columns \['run'\] first, got \['nonsense'\]"),
        ("", r"runs\.csv, line 1: expected columns"),
    ],
)
def test_a_damaged_file_is_named_with_the_line(text, message, tmp_path):
    run(small_study.study(), tmp_path, jobs=1)
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        run(small_study.study(), tmp_path, jobs=1)

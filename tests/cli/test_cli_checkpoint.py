"""A run that was stopped at any moment resumes and ends with the same model, to the last bit."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
import signal
import sys
import time

import numpy as np
import pytest

import riparian
from riparian.cli.learning.checkpoint import Checkpoint, Every
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.snapshot import container
from riparian.sources import raw
from riparian.sources.errors import BadUsage
from riparian.tools.packed import packed

import learn_crash
from commands import SMALL, call, learn, output_of, start, table, write
from snapshots import opened

WAYS = {
    "plain": [],
    "not tested": ["--no-eval"],
    "in odd blocks": ["--block", "17"],
    "two passes": ["--passes", "2"],
    "shuffled": ["--shuffle-window", "130", "--passes", "2"],
    "few categories": ["--max-categories", "2"],
    "decided early": ["--category-rows", "50", "--shuffle-window", "90"],
    "late": ["--delay", "75", "--block", "20"],
    "late and shuffled": ["--delay", "500", "--shuffle-window", "130", "--passes", "2"],
    "adaptive": ["--adaptive", "--drift-confidence", "0.5"],
    "by a threshold": ["--threshold", "recall=0.7"],
    "balanced": ["--class-weight", "balanced", "--limit", "333"],
}


class PowerCut(Exception):
    """The process is gone."""


@pytest.fixture
def cut_after(monkeypatch):
    """Simulates a power cut after some checkpoints."""
    write = Checkpoint.write

    def prepare(checkpoints):
        left = [checkpoints]

        def write_and_fail(self, *args):
            write(self, *args)
            left[0] -= 1
            if left[0] == 0:
                raise PowerCut

        monkeypatch.setattr(Checkpoint, "write", write_and_fail)

    yield prepare
    monkeypatch.undo()


def metrics(done):
    """Return the output of a run without its times."""
    output = output_of(done)
    # The memory of the process besides the forest depends on its history.
    output["forest"].pop("held_bytes", None)
    same = ("rows", "classes", "prequential", "forest", "replacements")
    return {name: output[name] for name in same}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("names", [["a.csv.gz", "b.csv"], ["a.parquet", "b.jsonl"]], ids=str)
def test_wherever_it_was_stopped_it_ends_with_the_same_model(
    way, names, tmp_path, cut_after, monkeypatch
):
    monkeypatch.setattr(
        raw, "BLOCK_BYTES", 3000
    )  # so that positions are not all in the first block
    data = table(500, text=any("categor" in arg for arg in WAYS[way]))
    paths = [write(data.slice(260 * i, 260), tmp_path / name) for i, name in enumerate(names)]
    common = ["learn", *paths, "-t", "label", *SMALL, "--json", *WAYS[way]]
    expected = metrics(call(*common, "-m", tmp_path / "whole"))

    args = [*common, "-m", tmp_path / "m", "--checkpoint-every", "90"]
    cut_after(1)
    stopped = call(*args)
    stops = 0
    while isinstance(stopped.exception, PowerCut):
        stops += 1
        cut_after(1)
        stopped = call(*args, "--resume")
    assert metrics(stopped) == expected
    # In one block, or with all labels at the end, there are few moments to stop at.
    assert stops >= (1 if way in ("not tested", "late and shuffled") else 3)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not (tmp_path / "m.checkpoint").exists()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_checkpoint_of_0_2_continues_from_the_number_of_its_row(
    name, tmp_path, cut_after, monkeypatch
):
    monkeypatch.setattr(raw, "BLOCK_BYTES", 3000)
    source = write(table(500), tmp_path / name)
    expected = learn(source, tmp_path / "whole")
    args = ["learn", source, "-t", "label", *SMALL, "-m", tmp_path / "m"]
    cut_after(2)
    assert isinstance(call(*args, "--checkpoint-every", "90").exception, PowerCut)
    forest, extra = from_bytes_with_extra((tmp_path / "m.checkpoint").read_bytes())
    assert extra["learning"].pop("position") is not None
    extra["learning"]["plan"] |= {"--encode": None, "--hash-buckets": 64}
    (tmp_path / "m.checkpoint").write_bytes(to_bytes_with_extra(forest, extra))
    cut_after(-1)
    assert call(*args, "--resume").exit_code == 0
    assert (tmp_path / "m").read_bytes() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="it kills by processor time, which /proc tells")
def test_the_real_command_killed_at_random_moments_ends_with_the_same_model(tmp_path):
    killer = learn_crash.Killer(tmp_path, "adaptive", rows=3000)
    kills, same = killer.run(random.Random(1), most=1)
    assert same and kills >= 1
    assert not [*tmp_path.glob(".*")]


@pytest.mark.parametrize(
    ("options", "what_remains"),
    [
        (
            [],
            "the work of this run is lost. Free some disk space and run it again; --checkpoint-every",
        ),
        (
            ["--checkpoint-every", "90"],
            "is intact: free some disk space and continue with --resume",
        ),
    ],
)
def test_a_model_that_cannot_be_written_at_the_end(options, what_remains, tmp_path, monkeypatch):
    path = write(table(400, text=False), tmp_path / "t.csv")
    args = ["learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, *options]
    replace = os.replace

    def full(source, target):
        if target.endswith("m"):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    done = call(*args)
    assert done.exit_code == 1
    assert "could not write the model: No space left on device" in done.stderr
    assert what_remains in done.stderr
    monkeypatch.undo()
    if options:
        assert call(*args, "--resume").exit_code == 0
        assert (tmp_path / "m").read_bytes() == learn(path, tmp_path / "whole")


def test_a_report_that_cannot_be_written_leaves_the_model_and_says_so(tmp_path, monkeypatch):
    path = write(table(400, text=False), tmp_path / "t.csv")

    def full(page, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("riparian.report.report.write_whole", full)
    done = call("learn", path, "-t", "label", "-m", "m", *SMALL, "--html", "r.html", cwd=tmp_path)
    assert done.exit_code == 1
    assert "r.html: could not write the report: No space left on device" in done.stderr
    assert "The model was written to m." in done.stderr
    assert (tmp_path / "m").read_bytes() == learn(path, tmp_path / "whole")


def test_a_checkpoint_is_a_model_that_can_be_looked_at(tmp_path, cut_after):
    path = write(table(400, text=False), tmp_path / "t.csv")
    cut_after(1)
    call(
        "learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--checkpoint-every", "200rows"
    )
    assert riparian.load(tmp_path / "m.checkpoint").stats()["points"] == 200
    assert output_of(call("inspect", tmp_path / "m.checkpoint", "--json"))["kind"] == (
        "a checkpoint, after 200 rows"
    )
    assert output_of(call("evaluate", tmp_path / "m.checkpoint", path, "--json"))["rows"] == 400


# -- signals -------------------------------------------------------------------------------------------


PIPED = ["learn", "-", "--format", "csv", "-t", "label", *SMALL, "--quiet",
         "--block", "500", "--category-rows", "1000"]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The lines of a stream, and the model of a run without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    lines = write(table(2000, text=False), folder / "t.csv").read_text().splitlines(keepends=True)
    # Enough that the columns are known: nothing is learned before a mebibyte has been read.
    lines += [f"1.{'0' * 150},1,true,oak\n"] * 8000
    done = call(*PIPED, "-m", folder / "m", input="".join(lines))
    assert done.exit_code == 0, done.output
    return lines, (folder / "m").read_bytes()


@pytest.fixture
def piped(whole, tmp_path):
    """Return a run that waits for more data from a pipe, and how to end it."""
    lines, model = whole

    def begin():
        process = start(*PIPED, "-m", "m", "--checkpoint-every", "2000", cwd=tmp_path)
        process.stdin.write("".join(lines[:-500]))
        process.stdin.flush()
        wait_for((tmp_path / "m.checkpoint").exists)
        return process

    def end():
        done = call(*PIPED, "-m", "m", "--resume", input="".join(lines), cwd=tmp_path)
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / "m").read_bytes() == model
        assert [path.name for path in tmp_path.iterdir()] == ["m"]

    return begin, end


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_killed_run_continues_from_its_checkpoint(piped, tmp_path):
    begin, end = piped
    process = begin()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL and not (tmp_path / "m").exists()
    end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_keeps_what_it_has_and_says_how_to_go_on(number, piped, tmp_path):
    begin, end = piped
    process = begin()
    before = riparian.load(tmp_path / "m.checkpoint").stats()["points"]
    time.sleep(1)  # until it waits for data: the signal must reach it there too
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.startswith("stopped: after ") and "rows, saved in m.checkpoint" in stderr
    assert stderr.endswith("run the same command with --resume\n")
    assert riparian.load(tmp_path / "m.checkpoint").stats()["points"] >= before
    end()


def test_killed_among_packed_files_in_its_second_pass(tmp_path):
    data = table(6000)
    for i in range(3):
        write(data.slice(2000 * i, 2000), tmp_path / f"{i}.csv.gz")
    args = ["learn", "?.csv.gz", "-t", "label", *SMALL, "--passes", "2", "--shuffle-window", "700",
            "--block", "5", "--json"]  # fmt: skip
    expected = call(*args[:1], tmp_path / "?.csv.gz", *args[2:], "-m", tmp_path / "whole")
    process = start(*args, "-m", "m", "--checkpoint-every", "800", cwd=tmp_path)
    wait_for((tmp_path / "m.checkpoint").exists)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = call(*args, "-m", "m", "--resume", cwd=tmp_path)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert json.loads(done.stdout)["prequential"] == output_of(expected)["prequential"]


def test_stopped_before_the_first_row_there_is_nothing_to_keep(tmp_path):
    process = start("learn", "-", "--format", "csv", "-t", "label", "-m", "m", cwd=tmp_path)
    process.stdin.write("x,label\n" + "1,a\n" * 50_000)  # more than a pipe holds: it is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == [] and "Traceback" not in stderr


# -- the same run, and no other ------------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path, cut_after):
    """The arguments of a run that was stopped."""
    path = write(table(400, text=False), tmp_path / "t.csv")
    args = ["learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL]
    cut_after(1)
    assert isinstance(call(*args, "--checkpoint-every", 100).exception, PowerCut)
    cut_after(10**9)
    return args


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--trees", 4], "--trees is 4 now but was 3 in the checkpoint"),
        (["--alpha", "geometric:2,2"], "--alpha is 'geometric:2,2' now"),
        (["--passes", 2], "--passes is 2 now but was 1"),
        (["--no-eval"], "--no-eval is True now"),
        (["--delay", 9], "--delay is 9 now but was 0 in the checkpoint"),
        (["--ignore", "age"], "--ignore is ['age'] now"),
    ],
)
def test_other_options_are_another_run(stopped, more, reason):
    done = call(*stopped, *more, "--resume")
    assert (done.exit_code, reason in done.stderr) == (2, True), done.stderr


def test_other_threads_and_other_checkpoints_are_the_same_run(stopped, tmp_path):
    done = call(*stopped, "--resume", "--threads", 2, "--checkpoint-every", "10s")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m").read_bytes() == learn(tmp_path / "t.csv", tmp_path / "whole")


def test_another_file_is_another_run(stopped, tmp_path):
    with (tmp_path / "t.csv").open("a") as file:
        file.write("1,2,true,oak\n")
    done = call(*stopped, "--resume")
    assert done.exit_code == 2 and "--resume: sources is" in done.stderr


def test_work_is_not_replaced_by_accident(stopped, tmp_path):
    done = call(*stopped)
    assert done.exit_code == 2
    assert "continue it with --resume, or delete the file to start again" in done.stderr
    (tmp_path / "m.checkpoint").unlink()
    assert call(*stopped).exit_code == 0


def test_there_must_be_something_to_go_on_from(stopped, tmp_path):
    (tmp_path / "m.checkpoint").unlink()
    done = call(*stopped, "--resume")
    assert done.exit_code == 2 and "there is no checkpoint" in done.stderr
    learn(tmp_path / "t.csv", tmp_path / "model")
    done = call(*stopped, "--resume", "--checkpoint", tmp_path / "model")
    assert done.exit_code == 2 and "is a model, not a checkpoint" in done.stderr


def test_a_damaged_checkpoint_is_bad_data(stopped, tmp_path):
    data = (tmp_path / "m.checkpoint").read_bytes()
    (tmp_path / "m.checkpoint").write_bytes(data[:-1])
    done = call(*stopped, "--resume")
    assert done.exit_code == 1 and "m.checkpoint: not a snapshot, or a damaged one" in done.stderr


FORGED = {
    "no plan": lambda state: state.pop("plan"),
    "no scores": lambda state: state["test"].pop("scores"),
    "labels of two types": lambda state: state["test"]["scores"]["labels"].append(1),
    "a pair of no label": lambda state: state["test"]["scores"]["pairs"].append([0, 9, 1]),
    "nine bins": lambda state: state["test"]["scores"]["bins"].pop(),
    "a point of two numbers": lambda state: state["test"]["curve"].append([1, 2]),
    "a text as window": lambda state: state["test"].update(window="x"),
    "a position of one number": lambda state: state.update(position=[0]),
    "a position in no file": lambda state: state.update(position=[7, 0, 0, None]),
    "a place of another format": lambda state: state.update(position=[0, 0, 0, 3]),
    "a position that is a text": lambda state: state.update(position="0000"),
    "rows that are a list": lambda state: state.update(row=[]),
    "a mistake without its row": lambda state: state["mistakes"]["mistakes"][0].pop("row"),
    "a mistake of other width": lambda state: state["mistakes"]["mistakes"][0].update(
        x=packed(np.zeros(9, np.float32))
    ),
    "a bomb": lambda state: state["mistakes"]["mistakes"][0].update(
        x=packed(np.zeros(2**26, np.float32))
    ),
    "a sample without words": lambda state: state["sample"].pop("words"),
    "seconds beyond float64": lambda state: state.update(seconds="1e999"),
    "skipped rows without a reason": lambda state: state["skipped"].update(rows=3),
    "more rows that wait than there are": lambda state: state["test"].update(waiting=2**61),
    "a mistake that is no class": lambda state: state["mistakes"]["mistakes"][0].update(
        predicted="x"
    ),
    "ranked labels of another type": lambda state: state["test"]["scores"]["ranking"].update(
        truths=[[3, 299]], classes=[]
    ),
    "ranked rows without a label": lambda state: state["test"]["scores"]["ranking"].update(rows=7),
    "a class that is ranked twice": lambda state: state["test"]["scores"]["ranking"][
        "classes"
    ].append(state["test"]["scores"]["ranking"]["classes"][0]),
    "a bin with too many rows": lambda state: state["test"]["scores"]["ranking"]["classes"][0][
        1
    ].append([7, 2**61]),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_checkpoint_is_an_error_and_no_traceback(kind, tmp_path, cut_after):
    path = write(table(400, text=False), tmp_path / "t.csv")
    stopped = ["learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--block", "50"]
    cut_after(1)
    assert isinstance(call(*stopped, "--checkpoint-every", 200).exception, PowerCut)
    cut_after(10**9)
    forest, extra = from_bytes_with_extra((tmp_path / "m.checkpoint").read_bytes())
    FORGED[kind](extra["learning"])
    header, arrays = opened(to_bytes_with_extra(forest, extra))
    text = json.dumps(header).replace('"1e999"', "1e999")
    (tmp_path / "m.checkpoint").write_bytes(container.pack(text, arrays))
    done = call(*stopped, "--resume", "--html", tmp_path / "page.html")
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code in (1, 2) and "checkpoint" in done.stderr


def test_a_compressed_pipe_continues_too(stopped, tmp_path, cut_after):
    packed = gzip.compress((tmp_path / "t.csv").read_bytes())
    args = ["learn", "-", "--format", "csv", "-t", "label", "-m", tmp_path / "n", *SMALL]
    cut_after(2)
    assert isinstance(call(*args, "--checkpoint-every", 100, input=packed).exception, PowerCut)
    assert call(*args, "--resume", input=packed).exit_code == 0
    assert (tmp_path / "n").read_bytes() == learn(tmp_path / "t.csv", tmp_path / "whole")


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("100", Every(rows=100)), ("100rows", Every(rows=100)), ("100 rows", Every(rows=100)),
        ("30s", Every(seconds=30)), ("0.5s", Every(seconds=0.5)),
    ],
)  # fmt: skip
def test_rows_or_seconds(text, every):
    assert Every.parse(text) == every


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "0s", "rows", "5m", "1e3"])
def test_nothing_else(text):
    with pytest.raises(BadUsage, match="--checkpoint-every must be"):
        Every.parse(text)

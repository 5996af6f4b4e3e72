"""The command as a whole: help, version, streams of output, and the demo."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

import riparian
from riparian.cli import app
from riparian.cli.output.display import Status

from commands import RIPARIAN, SMALL, call, output_of, run, table, write

COMMANDS = ["learn", "predict", "evaluate", "inspect", "export", "demo"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_and_writes_json(command):
    done = call(command, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    assert done.exit_code == 0
    assert re.search(rf"riparian {command} \S+", done.stdout.split("Example")[1])
    assert "--json" in done.stdout


def test_the_real_command_lists_its_commands_and_says_its_version():
    done = run("--help")
    assert done.returncode == 0 and all(command in done.stdout for command in COMMANDS)
    assert call("--version").stdout == f"riparian {riparian.__version__}\n"


def test_without_a_command_there_is_help_and_a_wrong_one_is_bad_usage():
    assert call().exit_code == 2
    assert call("lern").exit_code == 2


def test_on_a_terminal_progress_is_live_and_stays_out_of_stdout(tmp_path):
    path = write(table(20_000, text=False), tmp_path / "t.csv")
    ours, theirs = pty.openpty()
    args = ["learn", path, "-t", "label", "-m", tmp_path / "m", *SMALL, "--block", "10", "--json"]
    with open(tmp_path / "stdout", "w") as stdout:  # a pipe without a reader would fill up
        process = subprocess.Popen(
            [*RIPARIAN, *args],
            stderr=theirs, stdout=stdout, text=True, env={**os.environ, "TERM": "xterm"},
        )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 2**16)
        except OSError:  # the other end is closed
            break
    assert process.wait(timeout=60) == 0
    os.close(ours)
    assert (tmp_path / "stdout").read_text().startswith("{")
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen.decode())
    assert "learning" in text and "rows/s" in text and "leaves" in text and "accuracy" in text
    assert re.search(r"\d+%", text)


def test_a_line_of_progress_says_what_is_known():
    status = Status(1200, 300.4, 0.25, ["accuracy 0.5000", "1,000 leaves"])
    assert status.line() == "25%, 1,200 rows, 300 rows/s, accuracy 0.5000, 1,000 leaves"
    assert Status(1200, 300.4, None).line() == "1,200 rows, 300 rows/s"


def test_the_demo_ends_with_reports_to_look_at(tmp_path):
    done = call("demo", "--out", tmp_path / "out", "--trees", 3)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[-3:] == [
        "Reports to open in a browser:",
        f"  {tmp_path}/out/mixture.html",
        f"  {tmp_path}/out/digits.html",
    ]
    for name in ("mixture", "digits"):
        assert "<html" in (tmp_path / "out" / f"{name}.html").read_text()
    assert any(line.startswith("Each point was seen once: after 30,000") for line in lines)


def test_the_demo_writes_json_too(tmp_path):
    output = output_of(call("demo", "--out", tmp_path, "--trees", 1, "--json"))
    assert [len(output[name]) for name in ("mixture", "digits")] == [10, 6]
    assert output["reports"]["digits"] == f"{tmp_path}/digits.html"


HELP = [
    [], *([command] for command in COMMANDS), ["experiment"], ["experiment", "usps"],
    ["experiment", "kinect"], ["data"], ["data", "usps"],
]  # fmt: skip


def test_the_first_help_does_not_import_numpy():
    program = """
import sys
from typer.testing import CliRunner
from riparian.cli.app import app

done = CliRunner().invoke(app, ["--help"])
print(done.exit_code, "numpy" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0 False\n", "")


def test_help_imports_no_library_that_is_slow_to_import():
    program = f"""
import sys
from typer.testing import CliRunner
from riparian.cli.app import app

for command in {HELP}:
    done = CliRunner().invoke(app, [*command, "--help"])
    assert done.exit_code == 0, done.output
print(*{{"scipy", "sklearn", "pandas", "pyarrow", "plotly", "joblib"}} & sys.modules.keys())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("\n", "")


@pytest.mark.parametrize(
    "command", ["experiment mixture --out o", "experiment --help", "data usps"]
)
def test_without_their_package_the_commands_of_the_experiments_say_how_to_get_it(command):
    program = f"""
import sys
class NotInstalled:
    def find_spec(name, *about):
        if name == "riparian_experiments":
            raise ModuleNotFoundError("not installed", name=name)
sys.meta_path.insert(0, NotInstalled)
sys.argv = ["riparian", *{command.split()}]
from riparian.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: .*: pip install riparian-experiments .*\n", done.stderr)


def test_without_their_package_help_still_lists_the_commands_of_the_experiments(monkeypatch):
    real = app.import_module
    missing = ModuleNotFoundError("not installed", name="riparian_experiments")

    def without(name):
        if name.startswith("riparian_experiments"):
            raise missing
        return real(name)

    monkeypatch.setattr(app, "import_module", without)
    done = call("--help")
    assert (
        done.exit_code == 0
        and done.stdout.count("Install riparian-experiments to use this command.") == 2
    )

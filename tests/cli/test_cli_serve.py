"""The options of `riparian serve`: bad usage is an error before any file changes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import riparian
from riparian.cli.commands.serve import _classes as parsed_classes
from riparian.depth import DepthForestClassifier
from riparian.serve.options import ServiceOptions
from riparian.serve.state.folder import StateFolder
from riparian.serve.state.model import ServedModel

from commands import call

GOLDENS = Path(__file__).parents[1] / "goldens"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a MODEL"),
        (["--state", "nowhere"], "holds no model"),
        (["m.riparian", "--new"], "takes no MODEL"),
        (["--new", "--state", "s", "--host", "0.0.0.0"], "needs --token-file"),
        (["--new", "--state", "s", "--token-file", "short"], "at least 16 characters"),
        (["--new", "--state", "s", "--classes", "a,a"], "different labels of one type"),
        (["--new", "--state", "s", "--classes", "[1"], "--classes must be JSON"),
        (["--new", "--state", "s", "--predictions", "quick"], "durable or lazy"),
        (["--new", "--state", "s", "--wait", "0"], "--wait must be above 0"),
        (["--new", "--state", "s", "--min-gain", "-1"], "--min-gain must be finite"),
        (["m.riparian", "--trees", "7"], "--trees requires --new"),
        (["--new", "--state", "s", "--fading", "0.9"], "--fading requires --adaptive"),
        (["m.riparian", "--adaptive"], "--adaptive requires --new"),
        (["m.riparian", "--class-weight", "0=2"], "--class-weight requires --new"),
        (["--new", "--state", "s", "--class-weight", "0=2"], "--class-weight must be balanced"),
        (["m.riparian", "--classes", "a"], "--classes requires --new"),
        (["m.riparian", "--task", "numbers"], "--task requires --new"),
        (["--new", "--state", "s", "--task", "number"], "'number' is not one of"),
        (["--new", "--state", "s", "--task", "numbers", "--classes", "1,2"], "--classes conflicts"),
        (
            ["--new", "--state", "s", "--task", "numbers", "--class-weight", "balanced"],
            "--class-weight is for classes, and 'label' holds numbers",
        ),
        (["nowhere.riparian"], "nowhere.riparian: No such file or directory"),
        (["."], ".: Is a directory"),
    ],
)
def test_bad_usage_is_an_error(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("secret")
    forest = riparian.OnlineForestClassifier(2, random_state=0).partial_fit([[0.0], [1.0]], [0, 1])
    forest.save("m.riparian")
    done = call("serve", *arguments, "--port", "0")
    assert done.exit_code == 2
    assert message in done.output


def test_a_model_that_cannot_be_served_is_bad_data_and_named(tmp_path):
    (tmp_path / "broken.riparian").write_bytes(b"nonsense")
    done = call("serve", "broken.riparian", "--port", "0", cwd=tmp_path)
    assert done.exit_code == 1
    assert "error: broken.riparian: not a snapshot" in done.stderr
    assert not (tmp_path / "broken.riparian.state").exists()


@pytest.mark.parametrize("library", ["starlette", "orjson"])
def test_who_has_no_libraries_of_the_service_is_told_what_to_install(
    library, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, library, None)
    done = call("serve", "--new", "--state", tmp_path / "s")
    assert done.exit_code == 2
    assert f'riparian serve needs {library}: pip install "riparian[serve]"' in done.stderr
    assert not (tmp_path / "s").exists()


def test_a_folder_with_another_kind_of_forest_is_another_service(tmp_path):
    started = StateFolder.open(
        tmp_path / "s",
        lambda: ServedModel.new(riparian.AdaptiveForestClassifier(2, random_state=0), None),
        "new",
        ServiceOptions(),
    )
    started.close()
    done = call("serve", "--new", "--state", tmp_path / "s", "--trees", 2, "--port", "0")
    assert done.exit_code == 2
    assert "holds AdaptiveForestClassifier, not OnlineForestClassifier" in done.output


@pytest.mark.parametrize("stored", ["classes", "numbers"])
def test_a_restart_with_another_task_says_what_to_do(stored, tmp_path):
    numbers = stored == "numbers"
    forest = (riparian.OnlineForestRegressor if numbers else riparian.OnlineForestClassifier)(
        2, random_state=0
    )
    StateFolder.open(
        tmp_path / "s", lambda: ServedModel.new(forest, None), "new", ServiceOptions()
    ).close()
    given = [] if numbers else ["--task", "numbers"]
    done = call("serve", "--new", "--state", "s", "--trees", 2, *given, cwd=tmp_path)
    assert done.exit_code == 2
    other = "classes" if numbers else "numbers"
    assert f"predicts {stored}, not {other}: give --task {stored}, omit --new" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("forest", ["SaffariForestClassifier", "DepthForestClassifier"])
def test_a_forest_that_a_service_cannot_use_is_named(forest, tmp_path):
    if forest == "SaffariForestClassifier":
        model = riparian.SaffariForestClassifier(2, random_state=0).partial_fit([[0.0]], [0])
    else:
        model = DepthForestClassifier(2, random_state=0)
        model.partial_fit(np.ones((1, 4, 4), np.float32), [[0, 1, 1]], [0])
    model.save(tmp_path / "m.riparian")
    done = call("serve", "m.riparian", "--port", "0", cwd=tmp_path)
    assert done.exit_code == 1
    assert f"got a {forest}; a service cannot use it" in done.stderr


@pytest.mark.parametrize("saved", ["by riparian 0.2", "with prediction_only=True"])
def test_a_model_that_cannot_learn_is_refused_and_the_error_says_what_to_do(saved, tmp_path):
    model = riparian.load(GOLDENS / "trees_replaced_2.riparian")
    if saved == "with prediction_only=True":
        model = riparian.OnlineForestClassifier(2, random_state=0).partial_fit([[0.0]], [0])
    model.save(tmp_path / "m.riparian", prediction_only=True)
    done = call("serve", "m.riparian", "--port", "0", cwd=tmp_path)
    assert done.exit_code == 1
    assert f"saved {saved}" in done.stderr
    assert "learn a new AdaptiveForestClassifier" in done.stderr or "start again" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
@pytest.mark.parametrize(("mode", "warned"), [(0o644, True), (0o600, False)])
def test_a_token_file_that_others_can_read_is_named_in_a_warning(tmp_path, mode, warned):
    (tmp_path / "token").write_text("short")  # so that it stops here
    os.chmod(tmp_path / "token", mode)
    done = call("serve", "--new", "--state", "s", "--token-file", "token", cwd=tmp_path)
    assert done.exit_code == 2
    assert ("other users can read it; run: chmod 600 token" in done.stderr) == warned


def test_a_damaged_log_is_an_error_and_no_traceback(tmp_path):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "log.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    done = call("serve", "--new", "--state", "s", "--port", "0", cwd=tmp_path)
    assert done.exit_code == 2
    assert "log.sqlite cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("0,1", [0, 1]),
        ("-1, 7", [-1, 7]),
        ("true,false", [True, False]),
        ("0,b", ["0", "b"]),
        ("1.5,2", ["1.5", "2"]),
        ('["0","1"]', ["0", "1"]),
    ],
)
def test_classes_that_are_numbers_are_numbers(text, labels):
    given = parsed_classes(text, new=True)
    assert given == labels and [*map(type, given)] == [*map(type, labels)]

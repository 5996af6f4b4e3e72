"""`riparian export` writes a model that predicts without riparian."""

from __future__ import annotations

import onnxruntime
import pytest

import riparian

from commands import call, learn, output_of, table, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    learn(write(table(text=False), folder / "t.csv"), folder / "m.riparian")
    return folder / "m.riparian"


@pytest.mark.parametrize(
    ("name", "kind"), [("m.onnx", "ONNX"), ("m.treelite", "treelite"), ("m.h", "C")]
)
def test_the_file_is_written_in_the_format_of_its_name(model, tmp_path, name, kind):
    output = output_of(call("export", model, tmp_path / name, "--json"))
    assert output["format"] == kind
    assert output["bytes"] == (tmp_path / name).stat().st_size > 0
    assert output["classes"] == ["ash", "elm", "oak"]
    assert output["features"] == ["width", "age", "old"]


def test_the_file_predicts_as_the_model_does(model, tmp_path):
    done = call("export", model, tmp_path / "m.onnx")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("ONNX: ")
    forest = riparian.load(model)
    X = [[1.0, 40.0, 0.0], [4.0, 3.0, float("nan")]]
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    import pandas as pd

    frame = pd.DataFrame(X, columns=forest.feature_names_in_, dtype="float32")
    label, _ = session.run(None, {"X": frame.to_numpy()})
    assert label.tolist() == forest.predict(frame).tolist()


def test_a_suffix_that_names_no_format_is_bad_usage(model, tmp_path):
    done = call("export", model, tmp_path / "m.pmml")
    assert done.exit_code == 2
    assert "path must end in one of .onnx (ONNX)" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_bad_usage(model, tmp_path):
    done = call("export", model, tmp_path / "nowhere" / "m.h")
    assert done.exit_code == 2
    assert "cannot write a file there" in done.stderr


def test_a_model_that_is_not_one_is_bad_data(tmp_path):
    (tmp_path / "m").write_bytes(b"not a model")
    done = call("export", tmp_path / "m", tmp_path / "m.h")
    assert done.exit_code == 1
    assert not (tmp_path / "m.h").exists()

"""An exported forest predicts what ours predicts, wherever it runs."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import threading

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import treelite
from hypothesis import HealthCheck, given, settings

from riparian import OnlineForestClassifier, OnlineForestRegressor
from riparian.depth import DepthForestClassifier
from riparian.explain import Explainer, PermutationImportance
from riparian.export import c_header, onnx, to_c, to_onnx, to_treelite
from riparian.export import treelite as builder

from plain_forests import (
    KINDS,
    NUMBERS,
    WAYS_TO_ASK,
    grown,
    labels,
    mixture,
    numbers,
    of_categories,
    predictions,
    probabilities,
    spread_of,
)

few = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(params=KINDS)
def forest_and_rows(request):
    return KINDS[request.param]()


@pytest.fixture(params=NUMBERS)
def numbers_and_rows(request):
    return NUMBERS[request.param]()


def run_onnx(model: bytes, X):
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], {"X": X})


def run_treelite(model: bytes, X):
    loaded = treelite.Model.deserialize_bytes(model)
    return treelite.gtil.predict(loaded, X.astype(np.float64), nthread=1)[:, 0, :]


def compiled(header: str, folder, name="forest"):
    """The function of the header, through a compiler that lets nothing pass."""
    library = built(
        header,
        folder,
        f"int predict(const float *x, double *proba);\n"
        f"int predict(const float *x, double *proba) {{ return {name}_predict(x, proba); }}\n"
        f"const char *label(int k);\n"
        f"const char *label(int k) {{ return {name}_labels[k]; }}\n",
    )
    library.label.restype = ctypes.c_char_p
    return library


def built(header: str, folder, code: str):
    (folder / "forest.h").write_text(header)
    (folder / "forest.c").write_text(f'#include "forest.h"\n{code}')
    library = folder / "forest.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, folder / "forest.c", "-o", library], check=True, timeout=120)
    return ctypes.CDLL(str(library))


def run_c(library, X, n_classes):
    proba, best = np.full((len(X), n_classes), -1.0), np.empty(len(X), dtype=int)
    for i, row in enumerate(X):
        out = proba[i].ctypes.data_as(ctypes.c_void_p)
        best[i] = library.predict(row.ctypes.data_as(ctypes.c_void_p), out)
        assert library.predict(row.ctypes.data_as(ctypes.c_void_p), None) == best[i]
    return best, proba


# -- ONNX -----------------------------------------------------------------------------------------


def check_onnx(forest, X):
    label, proba = run_onnx(to_onnx(forest), X)
    np.testing.assert_allclose(proba, probabilities(forest, X), rtol=0, atol=1e-6)
    assert proba.shape == (len(X), len(forest.classes_))
    assert label.tolist() == labels(forest, X).tolist()


def test_onnx_has_our_probabilities_and_our_classes(forest_and_rows):
    check_onnx(*forest_and_rows)


@few
@given(grown())
def test_onnx_equals_any_forest(forest_and_rows):
    check_onnx(*forest_and_rows)


def test_onnx_carries_the_names_of_the_features():
    forest, _ = KINDS["names"]()
    session = onnxruntime.InferenceSession(to_onnx(forest), providers=["CPUExecutionProvider"])
    props = session.get_modelmeta().custom_metadata_map
    assert props["feature_names"].split("\n") == ["girth", 'height "m"']


def test_labels_that_onnx_does_not_know_are_refused():
    forest = OnlineForestClassifier(1, random_state=0).fit(np.eye(2), np.array([1, 2**63 + 1]))
    with pytest.raises(ValueError, match="text or 64-bit integers, got 1"):
        to_onnx(forest)


# -- treelite -------------------------------------------------------------------------------------


def check_treelite(forest, X):
    proba = run_treelite(to_treelite(forest), X)
    np.testing.assert_allclose(proba, probabilities(forest, X), rtol=0, atol=1e-12)


def test_treelite_has_our_probabilities(forest_and_rows):
    check_treelite(*forest_and_rows)


@few
@given(grown())
def test_treelite_equals_any_forest(forest_and_rows):
    check_treelite(*forest_and_rows)


# -- C --------------------------------------------------------------------------------------------


def test_c_has_our_bits(forest_and_rows, tmp_path):
    forest, X = forest_and_rows
    best, proba = run_c(compiled(to_c(forest), tmp_path), X, len(forest.classes_))
    ours = probabilities(forest, X)
    assert np.array_equal(proba, ours)
    assert np.array_equal(best, ours.argmax(axis=1))


@settings(few, max_examples=5)
@given(grown())
def test_c_equals_any_forest(tmp_path_factory, forest_and_rows):
    forest, X = forest_and_rows
    library = compiled(to_c(forest), tmp_path_factory.mktemp("c"))
    assert np.array_equal(run_c(library, X, len(forest.classes_))[1], probabilities(forest, X))


HOSTILE = ["*/", 'quo"te', "back\\slash", "new\nline", "tri??/graph", "ü 木", "a\0b"]


def test_c_labels_are_strings_whatever_is_in_them(tmp_path):
    X = np.arange(len(HOSTILE), dtype=np.float32)[:, None]
    forest = OnlineForestClassifier(2, random_state=0).fit(X, HOSTILE)
    library = compiled(to_c(forest, "1 odd-näme.*/"), tmp_path, "forest_1_odd_n_me")
    for k, label in enumerate(forest.classes_.tolist()):
        assert library.label(k) == label.encode().split(b"\0")[0]


def test_c_allocates_nothing_and_needs_nothing_but_integers():
    header = to_c(mixture().forest)
    assert re.findall(r"#include (\S+)", header) == ["<stdint.h>"]
    assert not re.search(r"\b(malloc|calloc|alloca|new)\b", header)


# -- numbers (R26) --------------------------------------------------------------------------------


def test_onnx_has_our_numbers(numbers_and_rows):
    forest, X = numbers_and_rows
    session = onnxruntime.InferenceSession(to_onnx(forest), providers=["CPUExecutionProvider"])
    [result] = session.run(["variable"], {"X": X})
    precise = {"rtol": 1e-15, "atol": 2.0**-23 * spread_of(forest)}
    np.testing.assert_allclose(result, predictions(forest, X), **precise)


def test_treelite_has_our_numbers(numbers_and_rows):
    forest, X = numbers_and_rows
    loaded = treelite.Model.deserialize_bytes(to_treelite(forest))
    result = treelite.gtil.predict(loaded, X.astype(np.float64), nthread=1)[:, 0]
    precise = {"rtol": 1e-15, "atol": 1e-12 * spread_of(forest)}
    np.testing.assert_allclose(result, predictions(forest, X), **precise)


def test_c_has_our_bits_of_numbers(numbers_and_rows, tmp_path):
    forest, X = numbers_and_rows
    declared = "double predict(const float *x)"
    code = f"{declared};\n{declared} {{ return forest_predict(x); }}\n"
    library = built(to_c(forest), tmp_path, code)
    library.predict.restype = ctypes.c_double
    result = [library.predict(row.ctypes.data_as(ctypes.c_void_p)) for row in X]
    assert result == forest.model_.predict(X, 1).tolist()


def test_a_forest_of_numbers_is_exported_as_it_is_at_that_moment():
    forest, X = numbers(points=300)
    before = to_c(forest)
    forest.partial_fit(X[:50], np.full(50, 1e6))
    assert to_c(forest) != before


# -- categories (R22) -----------------------------------------------------------------------------


def test_a_frame_is_exported_with_the_names_of_its_categories(tmp_path):
    """From the frame to each format and back: the user writes codes by `categories_`."""
    rng = np.random.default_rng(2)
    kinds = np.array(["elm", "oak", "yew", 'pale "ash"'])
    frame = pd.DataFrame({"height": rng.normal(size=800), "kind": kinds[rng.integers(4, size=800)]})
    y = np.where(frame["kind"] == "yew", "rare", np.where(frame["height"] > 0, "tall", "small"))
    forest = OnlineForestClassifier(5, random_state=0).partial_fit(frame, y)
    codes = {name: code for code, name in enumerate(forest.categories_["kind"])}
    asked = pd.concat([frame[:100], pd.DataFrame({"height": [0.0, np.nan], "kind": ["fir", None]})])
    X = np.stack([asked["height"], asked["kind"].map(codes)], axis=1).astype(np.float32)
    expected = forest.predict_proba(asked)
    label, proba = run_onnx(to_onnx(forest), X)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-6)
    assert label.tolist() == forest.predict(asked).tolist()
    np.testing.assert_allclose(run_treelite(to_treelite(forest), X), expected, rtol=0, atol=1e-12)
    header = to_c(forest)
    assert np.array_equal(run_c(compiled(header, tmp_path), X, 3)[1], expected)
    assert all(f"{c_header.text(name)}," in header for name in codes)
    result = Explainer(forest, "kept").contributions(asked)
    np.testing.assert_allclose(result.probabilities, expected, rtol=0, atol=1e-9)
    importance = PermutationImportance()
    importance.update(forest, asked, [*y[:100], "tall", "small"])
    assert importance.results()[1].accuracy.mean > 0.1


@pytest.fixture(scope="module", params=WAYS_TO_ASK, ids=str)
def categorical(request):
    columns, halves = request.param
    return of_categories(columns, halves=halves)


def test_onnx_asks_categories_by_their_codes(categorical):
    model = onnx.model(categorical.ensemble)
    label, proba = run_onnx(model, categorical.X)
    np.testing.assert_allclose(proba, categorical.answers, rtol=0, atol=1e-6)
    assert label.tolist() == categorical.answers.argmax(axis=1).tolist()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    named = json.loads(session.get_modelmeta().custom_metadata_map["categories"])
    assert named["0"] == [f"kind {code}" for code in range(6)]


def test_treelite_asks_categories_by_their_codes(categorical):
    proba = run_treelite(builder.model(categorical.ensemble), categorical.X)
    np.testing.assert_allclose(proba, categorical.answers, rtol=0, atol=1e-12)


def test_c_asks_categories_by_their_codes_and_names_them(categorical, tmp_path):
    header = c_header.header(categorical.ensemble, "forest")
    best, proba = run_c(compiled(header, tmp_path), categorical.X, categorical.ensemble.n_outputs)
    assert np.array_equal(proba, categorical.answers)
    assert np.array_equal(best, categorical.answers.argmax(axis=1))
    assert 'forest_categories_0[] = {\n"kind 0","kind 1",' in header


@pytest.mark.parametrize("unknown", [60.0, 1e9, -1.0, 2.5, np.nan])
def test_a_category_that_is_not_known_goes_right_at_a_half(unknown, tmp_path):
    forest, X = KINDS["halves"]()
    X = X[:40].copy()
    X[::2, 0], X[1::2, 2] = np.nan, np.nan
    expected = probabilities(forest, X)
    X[::2, 0], X[1::2, 2] = unknown, unknown
    np.testing.assert_allclose(run_onnx(to_onnx(forest), X)[1], expected, rtol=0, atol=1e-6)
    assert np.array_equal(run_c(compiled(to_c(forest), tmp_path), X, 4)[1], expected)
    if not unknown % 1:  # treelite takes whole numbers for codes, whatever is behind the point
        result = run_treelite(to_treelite(forest), X)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_halves_that_an_onnx_file_cannot_hold_are_refused(monkeypatch):
    monkeypatch.setattr(onnx, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"send half of the categories .* export it to C"):
        to_onnx(KINDS["halves"]().forest)


# -- by suffix ------------------------------------------------------------------------------------


def test_the_suffix_names_the_format(tmp_path):
    forest, X = mixture()
    for name in ("forest.onnx", "forest.treelite", "River-Bank.h"):
        forest.export(tmp_path / name)
    label, _ = run_onnx((tmp_path / "forest.onnx").read_bytes(), X)
    assert label.tolist() == labels(forest, X).tolist()
    loaded = treelite.Model.deserialize(str(tmp_path / "forest.treelite"))
    assert loaded.num_tree == forest.n_estimators
    assert "river_bank_predict" in (tmp_path / "River-Bank.h").read_text()


def test_another_suffix_is_an_error_and_writes_nothing(tmp_path):
    with pytest.raises(ValueError, match=r"must end in one of \.onnx .*got '.*forest\.pmml'"):
        mixture().forest.export(tmp_path / "forest.pmml")
    assert list(tmp_path.iterdir()) == []


def test_a_forest_is_exported_as_it_is_at_that_moment():
    forest, X = mixture()
    model, before = to_onnx(forest), probabilities(forest, X)
    forest.partial_fit(X[:200], np.zeros(200, dtype=int))
    np.testing.assert_allclose(run_onnx(model, X)[1], before, rtol=0, atol=1e-6)
    check_onnx(forest, X)


def test_an_export_waits_until_the_batch_that_is_being_learned_is_whole():
    forest, _ = mixture()
    done = threading.Event()

    def export():
        to_treelite(forest)
        done.set()

    thread = threading.Thread(target=export)
    with forest.model_.engine.learning:
        thread.start()
        assert not done.wait(0.2)
    thread.join(60)
    assert done.is_set()


def test_a_forest_that_knows_no_class_is_refused():
    forest = OnlineForestClassifier(2).partial_fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="needs a class, but none is known yet"):
        to_onnx(forest)
    forest = OnlineForestRegressor(2).partial_fit(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="needs a target, but none is known yet"):
        to_onnx(forest)


def test_a_depth_forest_refuses_and_says_why(tmp_path):
    forest = DepthForestClassifier(1, random_state=0)
    forest.partial_fit(np.ones((1, 4, 4)), [[0, 1, 1]], ["arm"])
    with pytest.raises(TypeError, match="compare the depths at two places"):
        forest.export(tmp_path / "forest.onnx")
    with pytest.raises(TypeError, match="compare the depths at two places"):
        forest.to_shap()
    for ask in (to_onnx, to_treelite, to_c, Explainer):
        with pytest.raises(
            TypeError, match=r"an ex.* of a DepthForestClassifier is not possible.*two"
        ):
            ask(forest)

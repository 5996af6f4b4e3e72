"""Snapshots: what comes back is what was saved, and a file is the old one or the new one."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import riparian
from riparian import Geometric, OnlineForestClassifier
from riparian.engine.trees import Totals
from riparian.loading import from_bytes_with_extra, to_bytes_with_extra
from riparian.parameters.forests import PARTS, ROOTS
from riparian.snapshot import arrays, categories, container, kept
from riparian.snapshot.header import CLASSES

from plain_forests import deep
from snapshots import (
    DEPTH_KINDS,
    KINDS,
    NUMBER_KINDS,
    images,
    learned,
    mixture,
    opened,
    same_forest,
    sealed,
)

pytestmark = pytest.mark.engine

every_kind = pytest.mark.parametrize("kind", KINDS)


def back(forest, **options):
    return riparian.from_bytes(forest.to_bytes(**options))


# -- there and back ----------------------------------------------------------------------------------


@every_kind
def test_a_loaded_forest_is_the_same_to_the_last_bit(kind):
    forest = learned(**KINDS[kind])
    assert same_forest(back(forest), forest)


@every_kind
def test_a_loaded_forest_continues_as_the_saved_one_would(kind):
    forest = learned(**KINDS[kind])
    other = back(forest)
    X, y = mixture(500, seed=1)
    labels = y if not len(forest.classes_) else forest.classes_[y % len(forest.classes_)]
    assert same_forest(other.partial_fit(X, labels), forest.partial_fit(X, labels))
    assert (other.predict_proba(X) == forest.predict_proba(X)).all()


@pytest.mark.parametrize("kind", DEPTH_KINDS)
def test_depth_forests_come_back_too(kind, tmp_path):
    forest = learned(**DEPTH_KINDS[kind])
    forest.save(tmp_path / "forest.riparian")
    other = riparian.load(tmp_path / "forest.riparian")
    assert type(other) is type(forest)
    assert other.get_params() == forest.get_params()
    assert same_forest(other, forest)
    depth, pixels, _ = next(images(1, seed=5))
    assert (other.predict_proba(depth, pixels) == forest.predict_proba(depth, pixels)).all()
    lean = back(forest, prediction_only=True)
    assert (lean.predict_proba(depth, pixels) == forest.predict_proba(depth, pixels)).all()
    assert (lean.apply(depth, pixels) == forest.apply(depth, pixels)).all()
    with pytest.raises(riparian.SnapshotError, match="prediction_only"):
        lean.partial_fit(depth, pixels, [0] * len(pixels))


def test_depth_forests_keep_the_far_depth_that_they_started_with():
    forest = learned(**DEPTH_KINDS["depth, pixels kept and lost"]).set_params(far=9.1)
    other = back(forest)
    assert (other.far, other.model_.engine.far) == (9.1, 6.0)
    assert same_forest(other, forest)


@every_kind
def test_the_class_comes_back(kind):
    forest = learned(**KINDS[kind])
    saved = opened(forest.to_bytes())[0]["class"]
    assert saved in [cls.__name__ for cls in type(forest).__mro__]
    assert type(back(forest)).__name__ == saved


def test_a_subclass_is_loaded_as_its_base():
    class Mine(OnlineForestClassifier):
        pass

    assert type(back(Mine(1).partial_fit([[0.0]], [1]))) is OnlineForestClassifier


def test_kept_points_are_not_needed_to_predict():
    forest = learned(**KINDS["all points kept"])
    _, lean = opened(forest.to_bytes(prediction_only=True))
    assert not any(name.startswith("kept_") for name in lean)
    assert not {"growth", "next_look", "had_lost", "dims"} & lean.keys()


def test_a_number_of_kept_points_that_was_left_open_is_known_to_the_engine():
    forest = learned(kept_points="auto", max_memory=10**6)
    other = back(forest)
    assert other.kept_points == "auto"
    assert (
        other.model_.engine.parameters.kept_points
        == forest.model_.engine.parameters.kept_points
        > 400
    )
    assert same_forest(other, forest)


def test_a_file_holds_what_to_bytes_gives(tmp_path):
    forest = learned()
    forest.save(tmp_path / "forest.riparian")
    assert (tmp_path / "forest.riparian").read_bytes() == forest.to_bytes()
    assert same_forest(riparian.load(str(tmp_path / "forest.riparian")), forest)


def test_bytes_of_any_kind_can_be_read():
    data = learned().to_bytes()
    for kind in (bytes, bytearray, memoryview):
        assert riparian.from_bytes(kind(data)).to_bytes() == data


def test_feature_names_come_back():
    X, y = mixture(50)
    forest = OnlineForestClassifier(n_estimators=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "ç", "d e"])
    other = back(forest.fit(frame, y))
    assert other.feature_names_in_.tolist() == ["a", "b", "ç", "d e"]
    assert other.feature_names_in_.dtype == object
    assert (other.predict(frame) == forest.predict(frame)).all()
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame.rename(columns={"a": "z"}))


def test_no_warning_is_given_twice():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back(learned(alpha=Geometric(1, 1)))


def test_the_same_forest_gives_the_same_bytes_and_numbers_are_as_narrow_as_may_be():
    data = learned(max_memory=10**6).to_bytes()
    assert learned(max_memory=10**6).to_bytes() == data
    _, tensors = opened(data)
    assert {name: tensors[name].dtype.name for name in ("child", "histogram", "planned")} == {
        "child": "uint8", "histogram": "uint8", "planned": "uint16"}  # fmt: skip


# -- for predicting alone ----------------------------------------------------------------------------


@every_kind
def test_without_the_fringe_it_predicts_the_same(kind):
    forest = learned(**KINDS[kind])
    other = back(forest, prediction_only=True)
    assert other.stats()["active"] == 0
    assert other.stats()["leaves"] == forest.stats()["leaves"]
    if len(forest.classes_):
        X = mixture(300, seed=2)[0]
        assert other.predict_proba(X).tobytes() == forest.predict_proba(X).tobytes()
        assert (other.predict_trees(X) == forest.predict_trees(X)).all()
        assert (other.apply(X) == forest.apply(X)).all()
    assert (other.feature_importances_ == forest.feature_importances_).all()


def test_without_the_fringe_learning_is_an_error():
    forest = learned()
    other = back(forest, prediction_only=True)
    before = other.to_bytes()
    with pytest.raises(riparian.SnapshotError, match="prediction_only=True") as caught:
        other.partial_fit(*mixture(10))
    assert caught.value.case == "prediction_only"
    assert other.to_bytes() == before


def test_without_the_fringe_it_can_start_again():
    X, y = mixture(300)
    other = back(learned(), prediction_only=True).fit(X, y)
    assert same_forest(other, learned().fit(X, y))
    assert other.partial_fit(X, y).stats()["points"] == 600


@pytest.mark.parametrize("again", [back, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_a_forest_that_only_predicts_still_only_predicts_after_loading(again):
    other = again(back(learned(), prediction_only=True))
    with pytest.raises(riparian.SnapshotError, match="prediction_only"):
        other.partial_fit(*mixture(10))
    assert other.to_bytes() == learned().to_bytes(prediction_only=True)


def test_without_the_fringe_it_is_small():
    forest = learned(3000)
    assert len(forest.to_bytes(prediction_only=True)) < len(forest.to_bytes()) / 3


# -- copies of other kinds ---------------------------------------------------------------------------


@every_kind
def test_joblib_keeps_every_bit(kind, tmp_path):
    forest = learned(**KINDS[kind])
    joblib.dump(forest, tmp_path / "forest.joblib", compress=3)
    assert same_forest(joblib.load(tmp_path / "forest.joblib"), forest)


# -- what cannot be saved ----------------------------------------------------------------------------


def test_a_forest_that_has_not_started_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        OnlineForestClassifier().save(tmp_path / "forest")
    assert list(tmp_path.iterdir()) == []


def test_an_error_can_be_pickled_and_has_its_case():
    error = pickle.loads(pickle.dumps(riparian.SnapshotError("size", "too large")))
    assert (str(error), error.case) == ("too large", "size")
    assert isinstance(error, ValueError)


def test_every_case_is_documented():
    documented = set(re.findall(r'^ +"(\w+)"  ', riparian.SnapshotError.__doc__, re.MULTILINE))
    assert documented == set(riparian.snapshot.errors.Case.__args__)


# -- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["chmod", "fsync", "replace"])
def test_when_writing_fails_the_old_file_is_untouched(tmp_path, monkeypatch, step):
    path = tmp_path / "forest"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space"):
        learned(50).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["forest"]


KEEP_SAVING = """
import sys
import numpy as np
from riparian import OnlineForestClassifier
X = np.random.default_rng(0).normal(size=(2000, 4))
forest = OnlineForestClassifier(5, random_state=0).fit(X, X[:, 0] > 0)
while True:
    forest.save(sys.argv[1])
    print("saved", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_crash_at_any_moment_leaves_a_whole_file(tmp_path):
    path = tmp_path / "forest"
    for milliseconds in (0, 1, 3, 7):
        process = subprocess.Popen(
            [sys.executable, "-c", KEEP_SAVING, str(path)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert riparian.load(path).stats()["points"] == 2000


@pytest.mark.skipif(os.name == "nt", reason="other permissions")
def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    path = tmp_path / "forest"
    before = os.umask(0o027)
    try:
        learned(50).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        learned(50).save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("real")
    learned(50).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert same_forest(riparian.load(tmp_path / "real"), learned(50))


def test_a_folder_is_not_replaced_and_a_missing_one_not_made(tmp_path):
    with pytest.raises(ValueError, match="must name a regular file"):
        learned(50).save(tmp_path)
    with pytest.raises(FileNotFoundError):
        learned(50).save(tmp_path / "missing" / "forest")
    with pytest.raises(FileNotFoundError):
        riparian.load(tmp_path / "forest")


# -- formats -----------------------------------------------------------------------------------------


def test_an_array_that_a_file_is_too_old_for_is_read_as_zeros(monkeypatch):
    forest = learned(**KINDS["young and settled leaves"])
    assert any(tree["received"].any() for tree in forest.model_.engine.save().trees)
    later = arrays.SAVED["received"]._replace(since=arrays.FORMAT + 1)
    monkeypatch.setitem(arrays.SAVED, "received", later)
    header, stored = opened(forest.to_bytes())
    assert "received" not in stored
    trees = riparian.from_bytes(sealed(header, stored)).model_.engine.save().trees
    assert not any(tree["received"].any() for tree in trees)


# -- the page about the format -----------------------------------------------------------------------


PAGE = Path(__file__).parents[2] / "docs" / "snapshot-format.md"


def test_the_page_about_the_format_describes_every_field_of_the_header():
    rows = re.findall(r"^\| (`\w+`.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    kinds = ("default", "adaptive", "Saffari", "categories, some put together")
    for kind in (*(KINDS[kind] for kind in kinds), *NUMBER_KINDS.values()):
        header, _ = opened(learned(**kind).to_bytes())
        fields = {*header, *header["estimator"], *header["engine"], *header["labels"]}
        fields |= {*header["class_weights"], *header.get("categories", ())}
        assert described >= {*fields, "sha256"}
        assert json.dumps(header)


def test_the_page_about_the_format_names_every_class_and_every_word_of_a_parameter():
    page = PAGE.read_text("utf-8")
    assert all(f'"{name}"' in page for name in (*CLASSES, *ROOTS, *PARTS))


def test_the_page_about_the_format_describes_every_array_as_the_core_lists_it():
    row = re.compile(r"^\| `(\w+)` \| ([UIF]\d+) \| (\w.*?) \|", re.MULTILINE)
    assert row.findall(PAGE.read_text("utf-8")) == [
        (field.name, container.NAMES[np.dtype(field.dtype.replace("feature", "uint32"))], field.per)
        for field in (*arrays.SAVED.values(), *kept.FIELDS, *categories.FIELDS)
    ]


def test_every_array_that_is_described_is_in_some_snapshot_and_no_other():
    stored = [
        opened(learned(**kind).to_bytes())[1]
        for kind in (*KINDS.values(), *DEPTH_KINDS.values(), *NUMBER_KINDS.values())
    ]
    of_parts = {field.name for field in kept.OF_PARTS}  # only a shard writes these: tests/ray
    assert {name for one in stored for name in one} | of_parts == {
        field.name for field in (*arrays.SAVED.values(), *kept.FIELDS, *categories.FIELDS)
    }
    assert not any(one.keys() & of_parts for one in stored)
    of_others = {name for name, f in arrays.SAVED.items() if f.since > 1}  # than format 1 has
    assert set(opened(learned().to_bytes())[1]) == arrays.SAVED.keys() - of_others


def test_the_page_about_the_format_lists_the_totals_in_their_order():
    section = PAGE.read_text("utf-8").split("The numbers of `totals`, in this order")[1]
    described = re.findall(r"^\| `(\w+)`", section.split("\n\n")[1], re.MULTILINE)
    assert described == list(Totals._fields)


# -- what a program keeps with it --------------------------------------------------------------------


def test_an_object_stored_with_a_forest_is_restored_and_changes_nothing_else():
    forest, kept = learned(), {"columns": [1, 2.5, "ç", None, {"a": []}]}
    data = to_bytes_with_extra(forest, kept)
    other, extra = from_bytes_with_extra(data)
    assert extra == kept
    assert same_forest(other, forest)
    assert same_forest(riparian.from_bytes(data), forest)
    assert to_bytes_with_extra(other, kept) == data


@every_kind
def test_an_object_stored_with_a_forest_is_compressed_too(kind):
    forest, extra = learned(**KINDS[kind]), {"a": '"ç\\\n'}
    header, arrays = opened(forest.to_bytes())
    assert to_bytes_with_extra(forest, extra) == sealed({**header, "extra": extra}, arrays)


def test_a_forest_with_nothing_kept_has_nothing():
    assert from_bytes_with_extra(learned().to_bytes())[1] is None


@pytest.mark.parametrize("wrong", [{"a": float("nan")}, {"a": b"bytes"}])
def test_a_value_that_is_not_json_cannot_be_stored(wrong):
    with pytest.raises(riparian.SnapshotError, match="extra cannot be saved"):
        to_bytes_with_extra(learned(), wrong)


def test_an_object_stored_with_a_forest_has_a_maximal_length(monkeypatch):
    monkeypatch.setattr("riparian.snapshot.header.MOST_CHARACTERS", 5000)
    with pytest.raises(riparian.SnapshotError, match="extra is too long"):
        to_bytes_with_extra(learned(), {"a": "b" * 5000})


def test_a_table_that_is_given_for_a_model_is_named_as_text():
    with pytest.raises(
        riparian.SnapshotError,
        match=r"not a snapshot, but text that begins with 'age,label\\n3,oak\\n'",
    ) as bad:
        riparian.from_bytes(b"age,label\n3,oak\n")
    assert bad.value.case == "container"
    with pytest.raises(riparian.SnapshotError, match="not a snapshot, or a damaged one"):
        riparian.from_bytes(b"\0\1\2")


def test_a_deep_eager_tree_is_saved():
    forest, X = deep()
    again = riparian.from_bytes(forest.to_bytes())
    assert same_forest(again, forest)
    assert (again.predict_proba(X) == forest.predict_proba(X)).all()

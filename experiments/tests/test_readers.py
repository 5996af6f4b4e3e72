"""Data sets in all supported formats, and errors for other files."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest

from riparian_experiments.readers import DataError, holds_data, read_pair

X_TRAIN = np.array([[0.5, 0, -1], [0, 0, 1], [0.25, 1, 0]], dtype=np.float32)
Y_TRAIN = np.array([6, 0, 9])
X_TEST = np.array([[0, -0.125, 0]], dtype=np.float32)
Y_TEST = np.array([6])

# Zeros are left out, so the last column is nowhere in the test part, and the middle one rarely.
LIBSVM = {"usps": "7 1:0.5 3:-1 \n1 3:1\n10 1:.25 2:1\n", "usps.t": "7 2:-0.125\n"}
ESL = {
    "zip.train": "6.0000 0.5000 0.0000 -1.0000 \n0.0 0 0 1\n\n9 .25 1 0\n",
    "zip.test": "6 0 -0.125 0\n",
}
PACKED = {"": lambda b: b, ".bz2": bz2.compress, ".gz": gzip.compress}


def write(folder, texts, ending=""):
    for name, text in texts.items():
        (folder / (name + ending)).write_bytes(PACKED[ending](text.encode()))


def write_npz(path, **changes):
    arrays = {"X_train": X_TRAIN, "y_train": Y_TRAIN, "X_test": X_TEST, "y_test": Y_TEST}
    arrays |= changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def check(pair):
    (X_train, y_train), (X_test, y_test) = pair
    for result, expected in zip(
        (X_train, y_train, X_test, y_test), (X_TRAIN, Y_TRAIN, X_TEST, Y_TEST), strict=True
    ):
        np.testing.assert_array_equal(result, expected)
    assert (X_train.dtype, X_test.dtype) == (np.float32, np.float32)
    assert (y_train.dtype, y_test.dtype) == (np.int64, np.int64)


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("texts", [LIBSVM, ESL], ids=["libsvm", "esl"])
@pytest.mark.parametrize("named", ["the folder", "the training part", "the test part"])
def test_text_is_read_plain_or_packed_by_any_of_its_names(texts, ending, named, tmp_path):
    write(tmp_path, texts, ending)
    train, test = texts
    path = {"the folder": tmp_path, "the training part": tmp_path / (train + ending)}
    check(read_pair(path.get(named, tmp_path / (test + ending))))


def test_the_two_parts_may_be_packed_differently(tmp_path):
    write(tmp_path, {"usps": LIBSVM["usps"]}, ".bz2")
    write(tmp_path, {"usps.t": LIBSVM["usps.t"]})
    check(read_pair(tmp_path))


def test_arrays_are_read_by_file_or_folder(tmp_path):
    write_npz(tmp_path / "usps.npz", y_train=Y_TRAIN.astype(np.int16))
    check(read_pair(tmp_path / "usps.npz"))
    check(read_pair(tmp_path))


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("usps", "7 1:0.5\n1 3-1\n", r"usps, line 2: expected index:value with .*got '3-1'"),
        (
            "usps",
            "7 0:0.5\n",
            r"usps, line 1: expected index:value with indices from 1, got '0:0.5'",
        ),
        ("usps", "7 1:0.5\n1 3:x\n", r"usps, line 2: expected a number, got 'x'"),
        ("usps", "0 1:0.5\n", r"usps, line 1: expected a class"),
        ("usps.t", "1 1:nan\n", r"usps\.t, line 1: expected finite values"),
        ("usps.t", "", r"usps\.t holds no points"),
        (
            "zip.train",
            "6 1 2 3\n\nsix 1 2 3\n",
            r"zip\.train, line 3: expected a number, got 'six'",
        ),
        ("zip.train", "6 1 2 3\n7 1 2\n", r"zip\.train, line 2: expected 3 values, got 2"),
        ("zip.test", "6.5 1 2 3\n", r"zip\.test, line 1: expected a class"),
        ("zip.test", "6 1 2 3 4\n", r"zip\.test: expected 3 values per point, .* got 4"),
        ("zip.test", "6 1 2 \xe9\n", r"zip\.test cannot be read"),
    ],
)
def test_a_bad_line_is_named(file, text, message, tmp_path):
    write(tmp_path, LIBSVM if file.startswith("usps") else ESL)
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_pair(tmp_path)


def test_a_packed_file_that_is_cut_off_is_named(tmp_path):
    write(tmp_path, ESL, ".gz")
    whole = (tmp_path / "zip.train.gz").read_bytes()
    (tmp_path / "zip.train.gz").write_bytes(whole[:-12])
    with pytest.raises(DataError, match=r"zip\.train\.gz cannot be read"):
        read_pair(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y_test": None}, "expected an array y_test, got"),
        ({"y_train": Y_TRAIN[:2]}, r"got shapes \(3, 3\) and \(2,\)"),
        ({"y_train": Y_TRAIN - 1}, "expected y_train to hold whole numbers from 0"),
        ({"y_train": np.array([0.5, 1, 2])}, "expected y_train to hold whole numbers from 0"),
        ({"X_test": X_TEST[:, :2]}, "X_train and X_test must have the same number of columns"),
        ({"X_train": np.full((3, 3), np.nan)}, "expected finite values in X_train"),
    ],
)
def test_bad_arrays_are_named(changes, message, tmp_path):
    write_npz(tmp_path / "usps.npz", **changes)
    with pytest.raises(DataError, match=message):
        read_pair(tmp_path / "usps.npz")


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut off"])
def test_a_file_that_is_not_an_npz_is_named(content, tmp_path):
    (tmp_path / "usps.npz").write_bytes(content)
    with pytest.raises(DataError, match=r"usps\.npz cannot be read"):
        read_pair(tmp_path)


def test_a_missing_partner_is_named(tmp_path):
    write(tmp_path, {"usps": LIBSVM["usps"]})
    with pytest.raises(DataError, match=r"holds no usps\.t \(nor usps\.t\.bz2, usps\.t\.gz\)"):
        read_pair(tmp_path / "usps")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "does not exist; expected LIBSVM's usps"),
        ("digits.txt", "the format is not clear from the name; expected LIBSVM's usps"),
        (".", "holds no data set; expected LIBSVM's usps"),
    ],
)
def test_a_path_to_nothing_says_what_was_expected(name, message, tmp_path):
    (tmp_path / "digits.txt").write_text("1 2 3")
    with pytest.raises(DataError, match=message):
        read_pair(tmp_path / name)


def test_a_folder_holds_data_when_one_of_the_files_is_there(tmp_path):
    assert not holds_data(tmp_path / "nowhere")
    assert not holds_data(tmp_path)
    write(tmp_path, {"usps.t": LIBSVM["usps.t"]}, ".bz2")
    assert holds_data(tmp_path)

"""Clips from folders, archives, files and lists; and poses to train and to test on."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from motion_capture import add, bvh, data, write_archive, write_folder

from riparian_experiments.body import (
    STANDARD,
    ClipError,
    Pictures,
    RandomPoses,
    open_clips,
    train_test_poses,
)
from riparian_experiments.body.bvh import UNIT

TEN, FRAMES = 10, 5  # clips, and frames of each, the T-pose among them


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("clips"), TEN, FRAMES)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return write_archive(tmp_path_factory.mktemp("archive") / "clips.tar.xz", TEN, FRAMES)


def listed(**changes):
    """The arrays of a list: two clips of three rows, in mixed order."""
    joints = len(STANDARD.names)
    channels = np.arange(6)[:, None] * 100 + np.zeros((6, 3 + 3 * joints), dtype=int)
    arrays = {
        "channels": channels.astype(np.int16),
        "clip": np.array([0, 1, 0, 1, 0, 1], dtype=np.int8),
        "clip_name": np.array(["02_04", "02_05"]),
        "skeleton_offsets": np.stack([STANDARD.offsets / UNIT] * 2).astype(np.float32),
        "joint_names": np.array(STANDARD.names),
        "joint_parent": np.array(STANDARD.parents, dtype=np.int8),
        "train_large": np.array([5, -1, 0, 5, 2], dtype=np.int16),
        "test": np.array([-1, 3, 4], dtype=np.int16),
    }
    return arrays | changes


@pytest.fixture
def npz(tmp_path):
    np.savez(tmp_path / "list.npz", **listed())
    return tmp_path / "list.npz"


def sources(poses):
    return [(pose.clip, pose.frame) for pose in poses]


def same(some, others):
    return len(some) == len(others) and all(
        np.array_equal(a.rotations, b.rotations) for a, b in zip(some, others, strict=True)
    )


# -- where clips come from ---------------------------------------------------------------------------


def test_a_folder_and_an_archive_give_the_same_clips(folder, archive):
    # The folder has its files in two folders below, so the names sort in another way.
    clips = [
        sorted(clips.read(clips.names), key=lambda clip: clip.name[-6:])
        for clips in (open_clips(folder), open_clips(archive))
    ]
    assert [len(some) for some in clips] == [TEN, TEN]
    for a, b in zip(*clips, strict=True):
        assert np.array_equal(a.angles, b.angles) and len(a) == FRAMES - 1


def test_an_archive_need_not_be_compressed_and_is_not_unpacked(tmp_path, archive):
    plain = write_archive(tmp_path / "clips.tar", 3)
    assert [Path(name).name for name in open_clips(plain).names] == ["00.bvh", "01.bvh", "02.bvh"]
    assert [path.name for path in tmp_path.iterdir()] == ["clips.tar"]


def test_only_clips_that_are_wanted_are_read(tmp_path):
    folder = write_folder(tmp_path, 3)
    broken = folder / "00" / "00.bvh"
    broken.write_text("broken")
    clips = open_clips(folder)
    assert len(list(clips.read(clips.names[1:]))) == 2
    with pytest.raises(ClipError, match=r"00\.bvh:1: expected HIERARCHY"):
        list(clips.read(clips.names))


def test_one_file_is_one_clip(folder):
    assert open_clips(folder / "00" / "00.bvh").names == (str(folder / "00" / "00.bvh"),)


def test_a_broken_clip_in_an_archive_is_named(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        add(archive, "x/good.bvh", data(bvh()))
        add(archive, "x/bad.bvh", data(bvh()[:-1]))
    clips = open_clips(tmp_path / "a.tar")
    with pytest.raises(ClipError, match=r"a\.tar/x/bad\.bvh:\d+: line \d+ promises 3 frames"):
        list(clips.read(clips.names))


def test_a_file_without_a_clip_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no poses at .*nowhere"):
        open_clips(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no \.bvh file in"):
        open_clips(tmp_path)
    with pytest.raises(ValueError, match=r"no \.bvh file in"):
        open_clips(write_archive(tmp_path / "empty.tar", 0))
    (tmp_path / "poses.zip").write_bytes(b"PK")
    with pytest.raises(
        ValueError, match=r"must be a folder, a \.tar\.xz, \.tar, \.bvh or \.npz file"
    ):
        open_clips(tmp_path / "poses.zip")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("suffix", [".tar", ".tar.xz"])
def test_a_truncated_archive_is_refused(tmp_path, suffix, share):
    path = write_archive(tmp_path / f"clips{suffix}", 3, frames=30)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content) * 0.9)] or b"no archive")
    with pytest.raises(ValueError, match=r"must be a tar archive of BVH files|promises|ends"):
        clips = open_clips(path)
        assert len(clips.names) == 3, "expected all clips, but the file ends"
        list(clips.read(clips.names))


def test_a_clip_that_is_too_large_is_refused(folder, monkeypatch):
    monkeypatch.setattr("riparian_experiments.body.clip_sources._LARGEST", 100)
    clips = open_clips(folder)
    with pytest.raises(ValueError, match=r"00\.bvh must have at most 100 bytes, got \d+"):
        list(clips.read(clips.names))


@pytest.mark.parametrize("name", ["clips.tar", "clips.tar.xz", "list.npz"])
def test_a_damaged_file_is_clips_or_an_error(tmp_path, name):
    path, rng = tmp_path / name, np.random.default_rng(0)
    if path.suffix == ".npz":
        np.savez_compressed(path, **listed())
    else:
        write_archive(path, 2)
    content = path.read_bytes()
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        for at in rng.integers(len(content), size=rng.integers(1, 5)):
            damaged[at] ^= rng.integers(1, 256)
        path.write_bytes(damaged)
        try:
            clips = open_clips(path)
            list(clips.read(clips.names))
        except ValueError:
            refused += 1
    assert refused > 50


# -- train and test ----------------------------------------------------------------------------------


def test_train_and_test_poses_never_share_a_clip(folder, archive):
    for path in (folder, archive):
        for seed in range(5):
            train, test = train_test_poses(path, 30, 9, seed=seed)
            clips = [{pose.clip for pose in poses} for poses in (train, test)]
            assert not clips[0] & clips[1]
            assert [len(some) for some in clips] == [8, 2]


def test_the_share_of_clips_to_test_on_can_be_chosen_and_is_never_nothing(folder):
    for share, clips in ((0.5, 5), (0.01, 1), (0.99, 9)):
        _, test = train_test_poses(folder, 10, 40, test_share=share)
        assert len({pose.clip for pose in test}) == clips


def test_poses_are_spread_evenly_from_the_first_to_the_last(folder):
    train, test = train_test_poses(folder, 40, 5)
    for end in range(8, 41, 8):
        counts = {}
        for pose in train[:end]:
            counts[pose.clip] = counts.get(pose.clip, 0) + 1
        assert set(counts.values()) == {end // 8}
    orders = {tuple(pose.clip for pose in train[start : start + 8]) for start in range(0, 40, 8)}
    assert len(orders) == 5
    assert len({pose.clip for pose in test[:2]}) == 2


def test_no_frame_comes_twice_before_all_have_come(folder):
    train, _ = train_test_poses(folder, 8 * (FRAMES - 1), 0)
    assert len(set(sources(train))) == 8 * (FRAMES - 1)
    more, _ = train_test_poses(folder, 8 * FRAMES, 0)
    assert same(more[-8:], [next(p for p in train if p.clip == q.clip) for q in more[-8:]])


def test_asking_for_more_poses_leaves_the_first_ones_as_they_are(folder):
    few, many = train_test_poses(folder, 5, 2), train_test_poses(folder, 30, 9)
    assert same(few[0], many[0][:5]) and same(few[1], many[1][:2])


def test_another_seed_is_another_split_and_other_poses(folder):
    splits = [train_test_poses(folder, 20, 20, seed=seed) for seed in range(6)]
    assert len({frozenset(pose.clip for pose in test) for _, test in splits}) > 1
    assert len({tuple(sources(train)) for train, _ in splits}) == 6
    assert same(splits[3][0], train_test_poses(folder, 20, 20, seed=3)[0])


def test_clips_are_shared_on_request_but_frames_are_not(folder):
    train, test = train_test_poses(folder, 60, 20, share_clips=True)
    assert {pose.clip for pose in train} == {pose.clip for pose in test}
    assert not set(sources(train)) & set(sources(test))


def test_one_clip_must_be_shared(folder):
    one = folder / "00" / "00.bvh"
    with pytest.raises(ValueError, match=r"one clip in .*00\.bvh: .* set share_clips=True"):
        train_test_poses(one, 3, 1)
    train, test = train_test_poses(one, 3, 1, share_clips=True)
    assert len(set(sources(train)) | set(sources(test))) == 4


def test_a_clip_of_one_pose_cannot_be_shared(tmp_path):
    (tmp_path / "short.bvh").write_bytes(data(bvh(frames=2)))
    with pytest.raises(ValueError, match="must have two poses to share"):
        train_test_poses(tmp_path / "short.bvh", 1, 1, share_clips=True)


def test_random_poses_to_test_on_are_others():
    train, test = train_test_poses(None, 40, 40, seed=2)
    assert same(train, RandomPoses(40, seed=2))
    ours = {pose.rotations.tobytes() for pose in train}
    assert not ours & {pose.rotations.tobytes() for pose in test}
    assert same(test[:3], train_test_poses(None, 7, 3, seed=2)[1])


@pytest.mark.parametrize(
    "options", [{"train": -1}, {"test": -1}, {"seed": -1}, {"test_share": 0}, {"test_share": 1}]
)
def test_impossible_wishes_are_refused(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        train_test_poses(None, **({"train": 1, "test": 1} | options))


# -- lists -------------------------------------------------------------------------------------------


def test_a_list_has_its_rows_by_clip(npz):
    clips = {clip.name: clip for clip in open_clips(npz).read(["02_04", "02_05"])}
    assert clips["02_04"].angles[:, 0, 0].tolist() == [0, 2, 4]
    assert clips["02_05"].angles[:, 0, 0].tolist() == [1, 3, 5]
    assert np.allclose(clips["02_04"].skeleton.offsets, STANDARD.offsets, atol=1e-6)


def test_a_list_is_split_by_clip_and_gives_the_authors_lists_if_clips_may_be_shared(npz):
    train, test = train_test_poses(npz, 6, 3)
    assert len({pose.clip for pose in train} | {pose.clip for pose in test}) == 2
    assert not {pose.clip for pose in train} & {pose.clip for pose in test}
    train, test = train_test_poses(npz, 3, 2, share_clips=True)
    assert sources(train) == [("02_05", 2), ("02_04", 0), ("02_05", 2)]
    assert sources(test) == [("02_05", 1), ("02_04", 2)]


def test_more_than_is_in_the_authors_lists_is_refused(npz):
    with pytest.raises(ValueError, match=r"the list test of .* has 2 poses, but 3 are needed"):
        train_test_poses(npz, 3, 3, share_clips=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"channels": np.zeros((6, 5), dtype=np.int16)}, "channels must have 3 columns and 3"),
        ({"channels": np.zeros(6, dtype=np.int16)}, "channels has 1 dimensions of type int16"),
        ({"channels": listed()["channels"].astype(float)}, "channels has 2 dimensions of type float64"),
        ({"clip": np.array([0, 1, 0, 1, 0, 2])}, "clip must be one of clip_name"),
        ({"clip": np.zeros(6, dtype=int)}, "each must have a row"),
        ({"clip": np.array([0, 1])}, "clip must be one of clip_name"),
        ({"clip_name": np.array(["a", "a"])}, "names of joints and clips must differ"),
        ({"clip_name": np.array([{}, {}], dtype=object)}, "must be a list of poses as .npz"),
        ({"skeleton_offsets": np.zeros((2, 3, 3))}, "skeleton_offsets must be"),
        ({"skeleton_offsets": 0 * listed()["skeleton_offsets"]}, "clip 02_04: the bone that ends"),
        ({"joint_parent": np.array(STANDARD.parents)[::-1]}, "joint_parent must be -1 for the first"),
        ({"joint_parent": np.array([-1, 2])}, "joint_parent must be -1 for the first"),
        ({"joint_parent": np.array([-1, 2, *STANDARD.parents[2:]])}, "must name an earlier joint"),
        ({"joint_names": np.array([f"j{i}" for i in range(len(STANDARD.names))])}, "the skeleton lacks"),
        ({"test": np.array([6])}, "test must hold rows of channels, or -1"),
        ({"train_large": np.array([-2])}, "train_large must hold rows of channels, or -1"),
    ],
)  # fmt: skip
def test_a_list_that_does_not_fit_together_is_refused(tmp_path, changes, reason):
    np.savez(tmp_path / "list.npz", **listed(**changes))
    with pytest.raises(ValueError, match=r"list\.npz") as caught:
        open_clips(tmp_path / "list.npz")
    assert reason in str(caught.value)


def test_a_value_that_is_not_a_list_is_refused(tmp_path):
    np.savez(tmp_path / "list.npz", X_train=np.zeros(3))
    with pytest.raises(ValueError, match=r"list\.npz must be a list of poses as \.npz"):
        open_clips(tmp_path / "list.npz")
    for content in (b"", b"no zip", (tmp_path / "list.npz").read_bytes()[:100]):
        (tmp_path / "broken.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"broken\.npz must be a list of poses as \.npz"):
            open_clips(tmp_path / "broken.npz")


# -- real data ---------------------------------------------------------------------------------------


@pytest.mark.skipif("RIPARIAN_DATA" not in os.environ, reason="RIPARIAN_DATA is not set")
@pytest.mark.parametrize(
    ("name", "share"), [("cmu_bvh_30fps.tar.xz", False), ("cmu_poses_icml2013.npz", True)]
)
def test_real_clips_make_pictures(name, share):
    path = Path(os.environ["RIPARIAN_DATA"]) / name
    if not path.exists():
        pytest.skip(f"{name} is not there")
    train, test = train_test_poses(path, 200, 40, share_clips=share)
    assert share or not {pose.clip for pose in train} & {pose.clip for pose in test}
    pictures = Pictures(train, (160, 120))
    seen = np.unique(np.concatenate([np.unique(pictures[i][1]) for i in range(0, 200, 5)]))
    assert seen.tolist() == list(range(20))

"""Pictures of bodies: exact pairs, the same in any order, with every part in them."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from riparian_experiments.body import FAR, Part, Pictures, RandomPoses, Views

SMALL = (80, 60)


def pictures(count=40, size=SMALL, **options):
    return Pictures(RandomPoses(count), size, **options)


def test_a_pair_has_the_types_and_the_shape_that_are_promised():
    depth, parts = pictures(1, (90, 70))[0]
    assert depth.dtype == np.float32 and parts.dtype == np.uint8
    assert depth.shape == parts.shape == (70, 90)
    assert Pictures(RandomPoses(1))[0][0].shape == (480, 640)


@pytest.mark.parametrize("far", [FAR, 5.7, 8])
def test_background_is_where_the_depth_is_far_and_nowhere_else(far):
    for depth, parts in pictures(30, far=far):
        assert np.array_equal(depth == np.float32(far), parts == Part.BACKGROUND)
        assert (depth > 0.5).all() and (depth <= np.float32(far)).all()
        assert (parts > 0).sum() > 30


@pytest.fixture(scope="module")
def many():
    """The parts of many pictures."""
    return np.array([parts for _, parts in pictures(150)])


@pytest.fixture(scope="module")
def pixels(many):
    """How many pixels show each part."""
    return {part: int((many == part).sum()) for part in Part}


def test_all_parts_are_seen_over_some_poses(many):
    for part in Part:
        seen_in = (many == part).any(axis=(1, 2)).mean()
        assert seen_in > (0.9 if part <= Part.HEAD else 0.4), part


def test_left_and_right_are_seen_equally_often(pixels):
    for part in Part:
        if part.name.endswith("_LEFT"):
            assert 0.75 < pixels[part] / pixels[Part[part.name.replace("LEFT", "RIGHT")]] < 1.33


def test_parts_have_plausible_sizes(pixels):
    """Of the pixels of bodies: thighs have many, hands have few, and so on."""
    body = sum(pixels.values()) - pixels[Part.BACKGROUND]
    share = {}
    for part, count in pixels.items():
        piece = part.name.removesuffix("_LEFT").removesuffix("_RIGHT")
        share[piece] = share.get(piece, 0) + count / body
    assert 0.05 < share["HEAD"] < 0.12
    assert share["THIGH"] > share["SHIN"] > share["FOOT"] > 0.02
    assert share["UPPER_ARM"] > share["HAND"] > 0.02
    assert min(share["CHEST"], share["WAIST"], share["HIPS"]) > 0.05


def test_bodies_are_mostly_in_view(many):
    """One that is cut off reaches the edge of the picture."""
    inner = many[:, 1:-1, 1:-1] > 0
    at_the_edge = (many > 0).sum(axis=(1, 2)) > inner.sum(axis=(1, 2))
    assert at_the_edge.mean() < 0.25


def test_picture_i_is_the_same_however_it_is_requested():
    some = pictures(20, seed=3)
    depth, parts = some[11]
    for again in (
        list(some)[11],
        some[-9],
        some[10:13][1],
        pictures(12, seed=3)[11],
        some[np.int64(11)],
    ):
        assert np.array_equal(again[0], depth) and np.array_equal(again[1], parts)
    assert not np.array_equal(pictures(20, seed=4)[11][0], depth)
    assert not np.array_equal(some[12][0], depth)


def test_another_process_renders_the_same():
    some = pictures(4)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        theirs = list(pool.map(some.__getitem__, [3, 1]))
    for i, (depth, parts) in zip([3, 1], theirs, strict=True):
        assert np.array_equal(depth, some[i][0]) and np.array_equal(parts, some[i][1])
    assert np.array_equal(pickle.loads(pickle.dumps(some))[2][0], some[2][0])


def test_one_pose_is_seen_in_many_ways():
    pose = RandomPoses(1)[0]
    seen = Pictures([pose] * 30, SMALL)
    areas = [(parts > 0).sum() for _, parts in seen]
    nearest = [depth.min() for depth, _ in seen]
    assert max(areas) > 2 * min(areas) and max(nearest) > min(nearest) + 1


def test_a_larger_picture_is_the_same_picture_finer():
    coarse, fine = pictures(3)[2][1], pictures(3, (240, 180))[2][1]
    # Three by three pixels have the middle of the large pixel as the middle one's.
    assert np.array_equal(fine[1::3, 1::3], coarse)


def test_there_are_as_many_pictures_as_poses():
    some = pictures(3)
    assert len(some) == 3 and len(list(some)) == 3 and list(Pictures([], SMALL)) == []
    with pytest.raises(IndexError):
        some[3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": (0, 10)}, "width must be"),
        ({"seed": -1}, "seed must be"),
        ({"far": 5.0}, r"distance must be from 1.5 to far - 1.5 .* \(5.0\), got \(2.2, 4.0\)"),
        ({"far": float("nan")}, "far must be"),
        ({"views": Views(distance=(1.0, 2.0))}, "distance must be from 1.5"),
        ({"field_of_view": 0}, "field_of_view must be"),
    ],
)
def test_impossible_pictures_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        pictures(**options)

"""The position of a figure in the picture: heading, distance, above and below."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riparian_experiments.body import STANDARD, Build, Camera, Part, View, Views, body, render
from riparian_experiments.body.camera import facing
from riparian_experiments.body.rotations import Y, turn

T_POSE = np.tile(np.eye(3), (len(STANDARD.names), 1, 1))
CAMERA = Camera(320, 240)


def figure(heading=0.0):
    return STANDARD.place(T_POSE).moved(turn(Y, heading), np.zeros(3))


def middle_of(parts, part):
    """Row and column, on average."""
    return np.argwhere(parts == part).mean(axis=0)


def picture(view):
    return render(body(view.of(figure()), Build()), CAMERA)


@pytest.mark.parametrize("heading", [-170, -90, 0, 30, 90, 179])
def test_facing_is_where_the_hips_look(heading):
    assert facing(figure(heading)) == pytest.approx(heading)


def test_a_body_that_faces_the_camera_has_its_left_hand_on_the_right_of_the_picture():
    _, parts = picture(View(3, 0))
    for part in ("HAND", "FOREARM", "UPPER_ARM", "CHEST", "WAIST", "HIPS", "THIGH", "SHIN", "FOOT"):
        left, right = (middle_of(parts, Part[f"{part}_{side}"]) for side in ("LEFT", "RIGHT"))
        assert right[1] < 160 < left[1]
        assert 320 - right[1] == pytest.approx(left[1], abs=2)


def test_the_head_is_above_the_feet():
    _, parts = picture(View(3, 0))
    rows = [middle_of(parts, part)[0] for part in
            (Part.HEAD, Part.CHEST_LEFT, Part.WAIST_LEFT, Part.HIPS_LEFT, Part.THIGH_LEFT,
             Part.SHIN_LEFT, Part.FOOT_LEFT)]  # fmt: skip
    assert rows == sorted(rows)


def test_from_behind_left_is_left():
    _, parts = picture(View(3, 180))
    assert middle_of(parts, Part.HAND_LEFT)[1] < middle_of(parts, Part.HAND_RIGHT)[1]


def test_at_heading_90_the_toes_point_to_the_right_of_the_picture_and_the_right_arm_is_near():
    depth, parts = picture(View(3, 90))
    assert middle_of(parts, Part.FOOT_RIGHT)[1] > middle_of(parts, Part.SHIN_RIGHT)[1]
    assert depth[parts == Part.HAND_RIGHT].max() < depth[parts == Part.HEAD].min()


@pytest.mark.parametrize("heading", [-40, 0, 135])
def test_heading_does_not_depend_on_how_the_clip_is_turned(heading):
    seen = View(3, heading).of(figure())
    again = View(3, heading).of(figure(77))
    assert np.allclose(seen.positions, again.positions)


@pytest.mark.parametrize("distance", [2.0, 3.5])
def test_distance_is_to_the_middle_of_the_body(distance):
    z = View(distance, 20, 10).of(figure()).positions[:, 2]
    assert z.min() < distance < z.max()
    assert (z.min() + z.max()) / 2 == pytest.approx(distance)


def test_twice_as_far_is_half_as_high():
    heights = []
    for distance in (4, 8):
        rows = np.flatnonzero(
            (render(body(View(distance, 0).of(figure()), Build()), CAMERA, 99)[1] > 0).any(axis=1)
        )
        heights.append(rows[-1] - rows[0] + 1)
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.05)


def test_from_above_the_head_is_nearer_than_the_feet():
    level, above = (View(3, 0, pitch).of(figure()) for pitch in (0, 30))
    assert level.at("Head")[2] == pytest.approx(level.at("LeftFoot")[2], abs=0.1)
    assert above.at("Head")[2] < above.at("LeftFoot")[2] - 0.5


def test_shift_moves_the_body_in_the_picture():
    straight, shifted = View(3, 0).of(figure()), View(3, 0, shift=(0.2, -0.1)).of(figure())
    assert np.allclose(shifted.positions - straight.positions, [0.2, -0.1, 0])


def test_the_field_of_view_is_that_of_the_kinect():
    camera = Camera()
    across, down = camera.slopes()
    assert (len(across), len(down)) == (640, 480)
    edge = across[-1] + 0.5 / camera.focal_length, down[-1] + 0.5 / camera.focal_length
    assert [2 * math.degrees(math.atan(slope)) for slope in edge] == pytest.approx(
        [57, 44.3], abs=0.1
    )
    assert np.allclose(across, -across[::-1])


def test_views_are_drawn_from_the_whole_of_their_ranges():
    views = Views(distance=(2.5, 3), heading=(-30, 60), pitch=(5, 5), shift=(0.1, 0))
    rng = np.random.default_rng(0)
    drawn = [views.draw(rng) for _ in range(500)]
    for name, least, most in (("distance", 2.5, 3), ("heading", -30, 60), ("pitch", 5, 5)):
        values = [getattr(view, name) for view in drawn]
        slack = (most - least) / 50
        assert least <= min(values) <= least + slack and most - slack <= max(values) <= most
    assert max(abs(view.shift[0]) for view in drawn) <= 0.1 and {v.shift[1] for v in drawn} == {0}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Camera(0, 10), "width must be from 1"),
        (lambda: Camera(10, 2**20), "height must be from 1"),
        (lambda: Camera(10, 10, 180), "field_of_view must be below 180"),
        (lambda: Camera(10, 10, 0), "field_of_view must be"),
        (lambda: Views(distance=(3, 2)), "distance must be a smaller and a larger number"),
        (lambda: Views(heading=(0, math.inf)), "heading must be"),
        (lambda: Views(shift=(-1, 0)), "shift must be"),
    ],
)
def test_an_impossible_camera_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

"""Casting rays: against what is known of balls and capsules, and against a slow renderer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riparian_experiments.body import (
    FAR,
    Build,
    Camera,
    Capsule,
    Ellipsoid,
    Part,
    RandomPoses,
    View,
    body,
    render,
)
from riparian_experiments.body.flesh import Halves

CAMERA = Camera(201, 151)  # odd, so that a pixel lies on the optical axis
MIDDLE = (75, 100)


def ball(centre, radius, part=Part.HEAD):
    return Ellipsoid(np.array(centre, dtype=float), radius * np.eye(3), part)


def capsule(start, end, radius, end_radius=None, part=Part.HEAD):
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)
    return Capsule(start, end, radius, end_radius or radius, part)


# -- closed forms ------------------------------------------------------------------------------------


def test_a_ball_straight_ahead_is_nearest_at_its_front_and_has_the_area_of_its_cone():
    depth, parts = render([ball((0, 0, 3), 0.5)], CAMERA)
    assert depth[MIDDLE] == np.float32(2.5)
    assert depth.min() == depth[MIDDLE]
    # Its outline is a circle of slope r / √(z² - r²).
    outline = CAMERA.focal_length * 0.5 / math.sqrt(3**2 - 0.5**2)
    assert (parts > 0).sum() == pytest.approx(math.pi * outline**2, rel=0.01)
    across, down = CAMERA.slopes()
    inside = across**2 + down[:, None] ** 2 < 0.5**2 / (3**2 - 0.5**2)
    assert np.array_equal(parts > 0, inside)


def test_depth_is_along_the_optical_axis_and_not_along_the_ray():
    """The near cap of a huge ball is a wall: everywhere of one depth, while rays to it differ."""
    depth, _ = render([ball((0, 0, 1e6 + 3), 1e6)], CAMERA)
    assert np.allclose(depth, 3, atol=1e-4)


def test_the_points_of_an_ellipsoid_lie_on_it():
    axes = np.array([[0.3, 0.1, 0], [-0.2, 0.2, 0.1], [0.1, 0, 0.4]])
    centre = np.array([0.2, -0.1, 2.5])
    depth, parts = render([Ellipsoid(centre, axes, Part.HEAD)], CAMERA)
    points = seen_points(depth)[parts > 0]
    unit = np.linalg.solve(axes, (points - centre).T).T
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("end_radius", [0.2, 0.1, 0.35])
def test_a_capsule_across_the_view_is_as_thick_as_it_is(end_radius):
    depth, parts = render([capsule((-0.5, 0, 3), (0.5, 0, 3), 0.2, end_radius)], CAMERA)
    middle = (0.2 + end_radius) / 2
    # The flank leans, so its nearest point is a bit further out than the radius half way.
    lean = math.sqrt(1 - (0.2 - end_radius) ** 2)
    assert depth[MIDDLE] == pytest.approx(3 - middle / lean, abs=1e-6)
    columns = np.flatnonzero((parts > 0).any(axis=0))
    pixel = 1 / CAMERA.focal_length
    across, _ = CAMERA.slopes()
    assert across[columns[0]] == pytest.approx(-outermost(0.5, 0.2), abs=pixel)
    assert across[columns[-1]] == pytest.approx(outermost(0.5, end_radius), abs=pixel)


def outermost(x, radius, z=3.0):
    """The slope of the ray that touches a ball from outside."""
    return math.tan(math.atan(x / z) + math.asin(radius / math.hypot(x, z)))


def test_a_capsule_that_points_at_the_camera_shows_its_end():
    depth, _ = render([capsule((0, 0, 2), (0, 0, 4), 0.2)], CAMERA)
    assert depth[MIDDLE] == np.float32(1.8)
    assert np.array_equal(depth < 2, render([ball((0, 0, 2), 0.2)], CAMERA)[0] < 2)


def test_a_ball_within_the_other_ball_of_a_capsule_is_not_seen():
    hidden = render([capsule((0, 0, 3), (0.05, 0, 3), 0.3, 0.1)], CAMERA)
    assert np.array_equal(hidden[0], render([ball((0, 0, 3), 0.3)], CAMERA)[0])


def test_a_capsule_of_no_length_is_a_ball():
    seen = render([capsule((0, 0, 3), (0, 0, 3), 0.3)], CAMERA)
    assert np.array_equal(seen[0], render([ball((0, 0, 3), 0.3)], CAMERA)[0])


# -- what is in front --------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearest_solid_wins_whatever_the_order(order):
    solids = [ball((0, 0, 4), 0.5, Part.HEAD), ball((0.05, 0, 2), 0.1, Part.HAND_LEFT)]
    depth, parts = render(solids[::order], CAMERA)
    assert parts[MIDDLE] == Part.HAND_LEFT and depth[MIDDLE] < 2.1
    assert (parts == Part.HEAD).sum() > (parts == Part.HAND_LEFT).sum() > 0
    assert (depth[parts == Part.HEAD] >= 3.5).all()


def test_a_pixel_without_a_body_is_background():
    for solids in ([], [ball((0, 0, 8), 1)], [ball((0, 0, -3), 1)], [ball((5, 0, 3), 0.5)]):
        depth, parts = render(solids, CAMERA)
        assert (depth == np.float32(FAR)).all() and (parts == 0).all()
    depth, parts = render([ball((0, 0, 3), 0.5)], CAMERA, far=2.6)
    assert ((depth == np.float32(2.6)) == (parts == 0)).all()
    assert depth[MIDDLE] == np.float32(2.5)


def test_a_body_part_that_reaches_behind_the_camera_is_still_visible_in_front():
    depth, parts = render([capsule((0, 0.5, -2), (0, 0.5, 4), 0.2)], CAMERA)
    points = seen_points(depth)[parts > 0]
    assert (parts > 0).any() and not (parts > 0)[: MIDDLE[0]].any()
    from_axis = np.hypot(points[:, 0], points[:, 1] - 0.5)
    assert (from_axis < 0.2 + 1e-5).all()


def test_halves_differ_by_the_side_of_the_plane():
    middle, left = np.array([0.1, 0, 3.0]), np.array([1.0, 0, 0])
    halves = Halves(Part.HIPS_LEFT, Part.HIPS_RIGHT, middle, left)
    depth, parts = render([ball((0, 0, 3), 0.5, halves)], CAMERA)
    x = seen_points(depth)[..., 0]
    assert set(np.unique(parts)) == {0, Part.HIPS_LEFT, Part.HIPS_RIGHT}
    assert (x[parts == Part.HIPS_LEFT] > 0.1 - 1e-6).all()
    assert (x[parts == Part.HIPS_RIGHT] < 0.1 + 1e-6).all()


# -- the slow renderer -------------------------------------------------------------------------------


def test_a_picture_lies_between_those_of_a_slightly_fatter_and_a_slightly_thinner_body():
    camera = Camera(24, 18, 40)
    pose = RandomPoses(5)[4]
    figure = View(2.5, 30).of(pose.skeleton.place(pose.rotations))
    solids = body(figure, Build())
    depth, parts = render(solids, camera)
    fat, fat_parts = slow_render(solids, camera, 1.001)
    thin, thin_parts = slow_render(solids, camera, 0.999)
    assert (fat < depth).sum() > 60 and np.array_equal(fat < FAR, fat < depth)
    assert (depth <= thin).all()
    same = (fat_parts == thin_parts) & (thin < FAR)
    assert same.sum() > 50 and np.array_equal(parts[same], fat_parts[same])
    assert np.abs(thin - fat)[same].max() < 0.1 and np.median((thin - fat)[same]) < 0.001


def slow_render(solids, camera, swell):
    """Pixel by pixel, solid by solid; a capsule is two hundred balls."""
    depth = np.full((camera.height, camera.width), FAR)
    parts = np.zeros(depth.shape, dtype=int)
    balls = [(solid, *as_balls(solid, swell)) for solid in solids]
    for row in range(camera.height):
        for column in range(camera.width):
            ray = np.array([
                (column + 0.5 - camera.width / 2) / camera.focal_length,
                (row + 0.5 - camera.height / 2) / camera.focal_length,
                1,
            ])  # fmt: skip
            for solid, to_balls, middles, radii in balls:
                z = nearest_ball(to_balls @ ray, middles, radii)
                if z < depth[row, column]:
                    depth[row, column], parts[row, column] = z, part_at(solid.part, z * ray)
    return depth, parts


def as_balls(solid, swell):
    """How to turn and stretch space, and the balls that the solid then is."""
    if isinstance(solid, Ellipsoid):
        to_unit = np.linalg.inv(swell * solid.axes)
        return to_unit, (to_unit @ solid.centre)[None], np.ones(1)
    share = np.linspace(0, 1, 200)
    radii = (1 - share) * solid.start_radius + share * solid.end_radius
    return np.eye(3), solid.start + np.outer(share, solid.end - solid.start), swell * radii


def nearest_ball(ray, middles, radii):
    """How many times the ray goes to the first of the balls, infinitely often if it meets none."""
    closest = middles @ ray / (ray @ ray)
    apart = np.linalg.norm(closest[:, None] * ray - middles, axis=1)
    hit = apart < radii
    before = np.sqrt(radii[hit] ** 2 - apart[hit] ** 2) / np.linalg.norm(ray)
    return (closest[hit] - before).min(initial=np.inf)


def part_at(part, point):
    if isinstance(part, Part):
        return part
    return part.left if (point - part.middle) @ part.to_left > 0 else part.right


def seen_points(depth):
    """The point in space that each pixel shows."""
    across, down = CAMERA.slopes()
    x, y = np.meshgrid(across, down)
    return np.stack([x, y, np.ones_like(x)], axis=-1) * depth[..., None].astype(float)

"""Forests over depth images (R16): native equals reference, and invalid input is rejected."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riparian import _core
from riparian.depth import DepthForestClassifier, DepthSaffariClassifier, sample_pixels
from riparian.depth.reference import DepthDifferences, FixedDepthDifferences, Pixel
from riparian.engine import native
from riparian.engine.native import Pixels
from riparian.model.classes import Classes
from riparian.parameters.forests import PaperParameters, SaffariParameters
from riparian.parameters.schedules import Geometric
from riparian.reference import Draws, key
from riparian.reference_saffari import SaffariForest

from equivalence import Native, assert_same, assert_same_answers, reference_forest

pytestmark = pytest.mark.engine

FAR = 6.0

thorough = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def two_streams(**changes):
    standard = dict(
        n_trees=2, seed=0, candidate_dims=3.0, split_points=5, min_gain=0.05,
        alpha=Geometric(1, 1.1), beta=Geometric(30, 1.1), structure_fraction=0.5,
        ignore_fraction=0.0, fringe_size=None, voting="average",
    )  # fmt: skip
    return PaperParameters(**(standard | changes))


def one_stream(**changes):
    standard = dict(
        n_trees=2, seed=0, candidate_dims=4, split_points=5, thresholds="points", min_gain=0.05,
        min_samples=10, max_depth=3, replacement_rate=None, voting="average",
    )  # fmt: skip
    return SaffariParameters(**(standard | changes))


@st.composite
def pictures(draw):
    """A few images, near and far, with steps and slopes; and pixels with labels."""
    n, height, width = draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(1, 15))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([1.0, 3.0, 1e-3, 1e-38, 1e30]))
    images = (rng.integers(1, 5, size=(n, height, width)) * scale).astype(np.float32)
    images += (rng.random(images.shape) * draw(st.sampled_from([0, 0.1]))).astype(np.float32)
    points = draw(st.integers(0, 120))
    pixels = rng.integers([n, height, width], size=(points, 3)).astype(np.int32)
    labels = rng.integers(draw(st.sampled_from([1, 2, 5])), size=points)
    return images, pixels, labels


def learn_native(p, offset_std, images, pixels, labels, cuts=()):
    engine = Native.__new__(Native)
    engine.forest, engine.labels = native.DepthEngine(p, offset_std, FAR), Classes(None)
    edges = [0, *sorted(min(cut, len(pixels)) for cut in cuts), len(pixels)]
    for first, last in itertools.pairwise(edges):
        engine.learn(Pixels(images, pixels[first:last]), labels[first:last], workers=2)
        engine = engine.reborn()
    return engine


def learn_reference(p, offset_std, images, pixels, labels):
    points = [Pixel(images[i], r, c) for i, r, c in pixels.tolist()]
    if isinstance(p, SaffariParameters):
        forest = SaffariForest(p, FixedDepthDifferences(offset_std, FAR, p.candidate_dims))
    else:
        forest = reference_forest(p, DepthDifferences(offset_std, FAR, p.rate(2**31)))
    forest.learn(points, labels.tolist())
    return forest, points


@thorough
@given(pictures(), st.integers(0, 2**64 - 1), st.sampled_from([0.5, 3.0, 75.0]), st.data())
def test_engines_agree_on_depth_images(picture, seed, offset_std, data):
    images, pixels, labels = picture
    p = data.draw(
        st.sampled_from(
            [
                two_streams(seed=seed, candidate_dims=20.0),
                two_streams(seed=seed, fringe_size=2, candidate_dims=0.0, voting="majority"),
                two_streams(seed=seed, kept_points=25, beta=Geometric(8, 1.1)),
                two_streams(seed=seed, kept_points=200, fringe_size=3, candidate_dims=10.0),
                two_streams(seed=seed, kept_points=25, beta=Geometric(8, 1.1), eager=True),
                two_streams(seed=seed, kept_points=200, fringe_size=3, eager=True),
                one_stream(seed=seed, candidate_dims=17),
                one_stream(seed=seed, thresholds="range", replacement_rate=0.05),
            ]
        )
    )
    cuts = data.draw(st.lists(st.integers(0, 120), max_size=3))
    engine = learn_native(p, offset_std, images, pixels, labels, cuts)
    forest, points = learn_reference(p, offset_std, images, pixels, labels)
    assert_same(forest, engine, [])
    if points:
        assert_same_answers(forest, engine, points[:20], Pixels(images, pixels[:20]))


@pytest.fixture(scope="module")
def noise():
    """PaperParameters, images, pixels and labels that keep every candidate of a leaf in play."""
    rng = np.random.default_rng(0)
    images = (1 + 3 * rng.random((2, 30, 40))).astype(np.float32)
    pixels = rng.integers([2, 30, 40], size=(400, 3)).astype(np.int32)
    return two_streams(candidate_dims=60.0), 20.0, images, pixels, rng.integers(3, size=400)


@pytest.fixture(scope="module")
def reference_of_noise(noise):
    forest, _ = learn_reference(*noise)
    return forest


@pytest.mark.parametrize("kernels", _core.kernel_names())
def test_every_instruction_set_reads_the_same_depths(kernels, noise, reference_of_noise):
    before = _core.kernel_names()[-1]
    _core.use_kernels(kernels)
    try:
        assert_same(reference_of_noise, learn_native(*noise), [])
    finally:
        _core.use_kernels(before)


# -- the feature ----------------------------------------------------------------------------------


def value(offsets, image, row, column):
    space = DepthDifferences(75.0, FAR, 1.0)
    return space.value(offsets, Pixel(np.float32(image), row, column))


STEPS = [[2.0, 2.0, 1.0], [2.0, 2.0, 4.0]]


def test_a_feature_is_the_difference_of_two_depths():
    assert value((0, 2, 1, 2), STEPS, 0, 0) == 1.0 - 4.0


def test_offsets_shrink_with_distance_and_are_cut_off_towards_zero():
    assert value((0, 1.9, 0, 0), STEPS, 0, 0) == 2.0 - 2.0  # one column, not two
    assert value((0, 0, 0, -3.9), STEPS, 1, 2) == 4.0 - 2.0  # at 4 m half of it: one column
    assert value((0, 0, 0, -1.1), STEPS, 0, 2) == 1.0 - 2.0  # at 1 m twice of it: two


def test_outside_is_far():
    assert value((-1, 0, 0, 0), STEPS, 0, 0) == FAR - 2.0
    assert value((0, 0, 0, 99), STEPS, 0, 0) == 2.0 - FAR
    assert value((3e38, -3e38, 0, 0), STEPS, 0, 0) == FAR - 2.0


def test_offsets_are_gaussian_with_the_given_deviation():
    drawn = np.array(DepthDifferences(75.0, FAR, 4000.0).draw(Draws(key(1))))
    assert drawn.shape[1] == 4
    assert drawn.std() == pytest.approx(75, rel=0.02)
    assert drawn.mean() == pytest.approx(0, abs=2)
    assert (np.abs(drawn) < 75).mean() == pytest.approx(0.6827, abs=0.01)
    assert (np.abs(drawn) < 150).mean() == pytest.approx(0.9545, abs=0.005)


def test_offsets_do_not_depend_on_each_other():
    drawn = np.array(DepthDifferences(1.0, FAR, 4000.0).draw(Draws(key(2))))
    assert np.abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 0.05


# -- the estimator --------------------------------------------------------------------------------


def scene(n=6, size=(24, 32), seed=0):
    """A near square before a far wall: the classes are its left and right halves."""
    rng = np.random.default_rng(seed)
    depth = np.full((n, *size), 5.0, dtype=np.float32)
    labels = np.zeros((n, *size), dtype=int)
    for i in range(n):
        top, left = rng.integers([4, 4], [size[0] - 12, size[1] - 16])
        depth[i, top : top + 8, left : left + 12] = 2.0
        labels[i, top : top + 8, left : left + 6] = 1
        labels[i, top : top + 8, left + 6 : left + 12] = 2
    return depth, labels


BOTH = pytest.mark.parametrize("Forest", [DepthForestClassifier, DepthSaffariClassifier])


def small(Forest, **changes):
    return Forest(n_estimators=5, candidate_dims=50, offset_std=8.0, random_state=0, **changes)


def learned(Forest, images=40, **changes):
    depth, labels = scene(images)
    forest = small(Forest, **changes)
    for i in range(images):
        pixels, known = sample_pixels(labels[i : i + 1], per_class=48, random_state=i)
        forest.partial_fit(depth[i : i + 1], pixels, known)
    return forest


@BOTH
def test_a_forest_learns_parts_that_differ_only_in_their_surroundings(Forest):
    depth, labels = scene(5, seed=1)
    predicted = learned(Forest).predict_image(depth)
    assert predicted.shape == labels.shape
    assert (predicted == labels).mean() > 0.9
    assert (predicted == labels)[labels > 0].mean() > 0.7


@BOTH
def test_an_image_is_all_its_pixels(Forest):
    forest = learned(Forest, images=5)
    depth, _ = scene(1, seed=2)
    _, height, width = depth.shape
    pixels = [(0, row, column) for row in range(height) for column in range(width)]
    np.testing.assert_array_equal(
        forest.predict_image(depth[0]).ravel(), forest.predict(depth, pixels)
    )
    proba = forest.predict_image_proba(depth[0])
    assert proba.shape == (height, width, 3)
    np.testing.assert_array_equal(proba.reshape(-1, 3), forest.predict_proba(depth, pixels))
    assert forest.predict_trees(depth, pixels).shape == forest.apply(depth, pixels).shape


@BOTH
def test_threads_and_batches_change_nothing(Forest):
    depth, labels = scene(6)
    pixels, known = sample_pixels(labels, random_state=0)
    whole = small(Forest, n_jobs=2).partial_fit(depth, pixels, known)
    pieces = small(Forest)
    for image in range(6):
        mine = pixels[:, 0] == image
        there = pixels[mine] - [image, 0, 0]
        pieces.partial_fit(depth[image : image + 1], there, known[mine])
    assert whole.stats() == pieces.stats()
    np.testing.assert_array_equal(whole.predict_image(depth), pieces.predict_image(depth))


@pytest.mark.parametrize(
    ("Forest", "changes"),
    [
        (DepthForestClassifier, {}),
        (DepthForestClassifier, {"kept_points": 100}),
        (DepthForestClassifier, {"kept_points": 10_000}),
        (DepthSaffariClassifier, {}),
    ],
)
def test_a_copy_continues_as_the_original_would(Forest, changes):
    depth, labels = scene(3, seed=5)
    pixels, known = sample_pixels(labels, random_state=0)
    forest = learned(Forest, images=5, **changes)
    for other in (copy.deepcopy(forest), pickle.loads(pickle.dumps(forest))):
        before = copy.deepcopy(forest)
        other.partial_fit(depth, pixels, known)
        before.partial_fit(depth, pixels, known)
        np.testing.assert_array_equal(
            other.predict_image_proba(depth), before.predict_image_proba(depth)
        )


def test_fit_makes_as_many_passes_as_requested():
    depth, labels = scene(3)
    pixels, known = sample_pixels(labels, random_state=0)
    forest = small(DepthForestClassifier, passes=3).fit(depth, pixels, known)
    assert forest.stats()["points"] == 3 * len(pixels)
    assert forest.score(depth, pixels, known) > 0.5
    assert forest.fit(depth, pixels, known).stats()["points"] == 3 * len(pixels)


def test_a_pixel_without_a_return_reads_the_far_depth():
    forest = learned(DepthForestClassifier)
    depth, _ = scene(1, seed=3)
    depth[0, :, 20:] = np.nan
    filled = np.where(np.isnan(depth), np.float32(6.0), depth)
    zeros = np.nan_to_num(depth, nan=0.0)
    for other in (depth, zeros):
        np.testing.assert_array_equal(
            forest.predict_image_proba(other), forest.predict_image_proba(filled)
        )


def test_another_far_depth_waits_for_the_next_start():
    depth, labels = scene(2, seed=3)
    depth[0, :, 20:] = 0.0
    pixels, known = sample_pixels(labels[1:], per_class=20, random_state=0)
    one, other = (learned(DepthForestClassifier, images=5) for _ in range(2))
    other.far = None
    for forest in (one, other):
        forest.partial_fit(depth[1:], pixels, known)
    np.testing.assert_array_equal(one.predict_image_proba(depth), other.predict_image_proba(depth))
    with pytest.raises(TypeError, match="far must be a number"):
        other.fit(depth[1:], pixels, known)


def test_the_fringe_bounds_the_memory():
    free, bound = (
        learned(DepthForestClassifier, fringe_size=n, kept_points=0).memory() for n in (None, 2)
    )
    assert bound["fringe"] < free["fringe"] / 2


@pytest.mark.parametrize("kept_points", [1, 150, "auto"])
def test_kept_pixels_hold_on_to_their_images_and_depend_on_no_batches(kept_points):
    depth, labels = scene(6)
    pixels, known = sample_pixels(labels, random_state=0)
    whole = small(DepthForestClassifier, kept_points=kept_points).partial_fit(depth, pixels, known)
    pieces = small(DepthForestClassifier, kept_points=kept_points, n_jobs=2)
    for image in range(6):  # arrays without another reference
        rows = pixels[:, 0] == image
        pieces.partial_fit(depth[image : image + 1].copy(), pixels[rows] * (0, 1, 1), known[rows])
    np.testing.assert_array_equal(
        whole.predict_image_proba(depth), pieces.predict_image_proba(depth)
    )
    assert whole.memory()["kept"] > 0
    assert whole.memory()["lists"] == pieces.memory()["lists"]


def test_of_pixels_twenty_thousand_are_kept_if_that_is_left_to_the_forest():
    depth, labels = scene(1)
    pixels, known = sample_pixels(labels, random_state=0)
    forest = small(DepthForestClassifier, kept_points="auto").partial_fit(depth, pixels, known)
    assert forest.model_.engine.parameters.kept_points == 20_000


def test_the_offsets_of_a_tree_are_those_of_its_splits():
    forest = learned(DepthForestClassifier)
    for i, tree in enumerate(forest.stats()["trees"]):
        assert forest.offsets(i).shape == (tree["splits"], 4)


# -- sampling -------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.integers(0, 2**31))
def test_pixels_are_sampled_without_replacement_and_all_where_there_are_fewer(per_class, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=(3, 5, 9))
    pixels, known = sample_pixels(labels, per_class, random_state=seed)
    assert len({tuple(pixel) for pixel in pixels.tolist()}) == len(pixels)
    np.testing.assert_array_equal(labels[tuple(pixels.T)], known)
    for image in range(3):
        for label in range(4):
            there = (labels[image] == label).sum()
            drawn = ((pixels[:, 0] == image) & (known == label)).sum()
            assert drawn == min(there, per_class)
    assert (np.diff(pixels[:, 0]) >= 0).all()


def test_sampled_pixels_are_in_no_order_of_class():
    labels = np.repeat(np.arange(4), 100).reshape(1, 20, 20)
    _, known = sample_pixels(labels, 50, random_state=0)
    assert (np.diff(known) < 0).sum() > 40


# -- what does not get in -------------------------------------------------------------------------

GOOD = np.full((2, 3, 4), 2.0, dtype=np.float32)


def with_value(value):
    depth = GOOD.copy()
    depth[1, 2, 3] = value
    return depth


@pytest.mark.parametrize(
    ("depth", "pixels", "labels", "message"),
    [
        (with_value(-1.0), [[0, 0, 0]], [1], r"not negative.*got -1.0 at image 1, row 2, column 3"),
        (with_value(np.inf), [[0, 0, 0]], [1], r"finite.*got inf at image 1, row 2, column 3"),
        (GOOD.astype(np.float64) * 1e300, [[0, 0, 0]], [1], r"finite.*got 2e\+300 at image 0"),
        (with_value(0.0), [[0, 0, 0], [1, 2, 3]], [1, 1], r"pixel 1 \(image 1, row 2, column 3\)"),
        (with_value(np.nan), [[1, 2, 3]], [1], r"has the depth nan"),
        (GOOD, [[2, 0, 0]], [1], r"pixel 0 is \[2, 0, 0\]"),
        (GOOD, [[0, 0, 0], [0, 3, 0]], [1, 1], r"pixel 1 is \[0, 3, 0\]"),
        (GOOD, [[0, 0, -1]], [1], r"shape is \(2, 3, 4\)"),
        (GOOD, [[0.5, 0, 0]], [1], r"whole numbers, got float64"),
        (GOOD, [[0, 0]], [1], r"\(pixels, 3\).*got \(1, 2\)"),
        (GOOD, [[0, 0, 0]], [1, 2], r"labels must have the shape \(1,\).*got \(2,\)"),
        (GOOD, [[0, 0, 0]], [[1]], r"labels must have the shape \(1,\).*got \(1, 1\)"),
        (GOOD, [[0, 0, 0]], GOOD, r"labels must have the shape \(1,\).*got \(2, 3, 4\)"),
        (GOOD[0], [[0, 0, 0]], [1], r"\(images, height, width\), got \(3, 4\)"),
        ([GOOD[0], GOOD[0, :2]], [[0, 0, 0]], [1], r"images of one size"),
        (GOOD.astype(str), [[0, 0, 0]], [1], r"numbers, in metres"),
        (GOOD, [[0, 0, 0]], [1.5], r"classes, got 1.5"),
    ],
)  # fmt: skip
@BOTH
def test_an_error_names_the_wrong_value_and_nothing_is_learned(
    Forest, depth, pixels, labels, message
):
    forest = learned(Forest, images=3)
    before = forest.stats()
    with pytest.raises((TypeError, ValueError), match=message):
        forest.partial_fit(depth, pixels, labels)
    assert forest.stats() == before
    fresh = small(Forest)
    with pytest.raises((TypeError, ValueError), match=message):
        fresh.partial_fit(depth, pixels, labels)
    assert not hasattr(fresh, "classes_")


@pytest.mark.parametrize(
    ("name", "value"),
    [("offset_std", 0.0), ("offset_std", np.nan), ("far", -1.0), ("far", np.inf), ("far", "wide"),
     ("candidate_dims", "sqrt"), ("candidate_dims", -1.0), ("min_gain", -1)],
)  # fmt: skip
def test_a_parameter_that_makes_no_sense_is_named(name, value):
    with pytest.raises((TypeError, ValueError), match=f"{name} must"):
        DepthForestClassifier(**{name: value}).partial_fit(GOOD, [[0, 0, 0]], [1])


@pytest.mark.parametrize("call", ["predict", "predict_image"])
def test_a_forest_that_has_learned_nothing_says_so(call):
    from sklearn.exceptions import NotFittedError

    arguments = (GOOD, [[0, 0, 0]]) if call == "predict" else (GOOD,)
    with pytest.raises(NotFittedError):
        getattr(DepthForestClassifier(), call)(*arguments)


def test_sample_pixels_names_what_is_wrong():
    with pytest.raises(ValueError, match=r"images, height, width.*got \(3, 4\)"):
        sample_pixels(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="per_class must be from 1"):
        sample_pixels(np.zeros((1, 3, 4)), per_class=0)

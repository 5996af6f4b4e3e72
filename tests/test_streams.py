"""The mixture of Gaussians: what it draws, and the Bayes classifier that goes with it."""

import numpy as np
import pytest

from riparian.streams import GaussianMixture, NoisyLabels

PAPER = GaussianMixture.paper()

# Two classes on a line, mirror images at -1 and 1: the Bayes classifier is the sign of x.
MIRROR = GaussianMixture([0.5, 0.5], [[-1], [1]], [[[1]], [[1]]])


def test_the_papers_mixture_is_the_papers():
    assert PAPER.weights.tolist() == [0.20, 0.33, 0.30, 0.15, 0.02]
    assert PAPER.means.tolist() == [[2, 2], [6, 2], [4, 0], [8, 0], [5, 2]]
    assert PAPER.covariances.tolist() == [
        [[3, 1.5], [1.5, 3]],
        [[3, -1.5], [-1.5, 3]],
        [[3, 0], [0, 3]],
        [[3, 0], [0, 3]],
        [[0.1, 0], [0, 0.1]],
    ]


def test_the_papers_bayes_accuracy_is_two_thirds():
    value, error = PAPER.bayes_accuracy_estimate(200_000)
    assert error < 0.001
    assert value == pytest.approx(0.666, abs=0.002)


def test_the_mirror_mixture_has_the_accuracy_of_the_normal_distribution():
    phi_of_one = 0.8413447
    value, error = MIRROR.bayes_accuracy_estimate(200_000)
    assert abs(value - phi_of_one) < 5 * error


def test_an_estimate_may_take_more_points_than_one_block():
    whole, _ = MIRROR.bayes_accuracy_estimate(65_536 + 7, random_state=1)
    assert whole == pytest.approx(0.8413447, abs=0.005)


def test_a_sample_has_the_requested_weights_means_and_covariances():
    X, y = PAPER.sample(400_000, random_state=1)
    for k, weight in enumerate(PAPER.weights):
        points = X[y == k].astype(np.float64)
        assert len(points) / len(X) == pytest.approx(weight, abs=0.003)
        np.testing.assert_allclose(points.mean(axis=0), PAPER.means[k], atol=0.03)
        np.testing.assert_allclose(np.cov(points.T), PAPER.covariances[k], atol=0.06)


def test_a_sample_is_float32_points_and_int64_labels():
    X, y = PAPER.sample(10, random_state=0)
    assert (X.shape, X.dtype, y.shape, y.dtype) == ((10, 2), np.float32, (10,), np.int64)


def test_the_same_seed_gives_the_same_points():
    for first, second in zip(PAPER.sample(50, 3), PAPER.sample(50, 3), strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_generator_continues_from_its_state():
    rng = np.random.default_rng(3)
    first, second = PAPER.sample(50, rng)[0], PAPER.sample(50, rng)[0]
    assert not np.array_equal(first, second)


def test_an_empty_sample_is_a_sample():
    X, y = PAPER.sample(0)
    assert X.shape == (0, 2)
    assert PAPER.bayes_proba(X).shape == (0, 5)
    assert PAPER.bayes_predict(X).tolist() == y.tolist() == []


def test_the_bayes_probability_follows_from_the_densities():
    x = np.array([-3.0, -0.5, 0.0, 2.0])
    left, right = np.exp(-0.5 * (x + 1) ** 2), np.exp(-0.5 * (x - 1) ** 2)
    expected = np.column_stack([left, right]) / (left + right)[:, None]
    np.testing.assert_allclose(MIRROR.bayes_proba(x[:, None]), expected, rtol=1e-12)


def test_the_bayes_probability_counts_the_volume_of_a_class():
    # At their common mean a density with a fourth of the standard deviation is four times as high.
    mixture = GaussianMixture([0.5, 0.5], [[0], [0]], [[[16]], [[1]]])
    np.testing.assert_allclose(mixture.bayes_proba([[0]]), [[0.2, 0.8]])


def test_far_points_still_have_probabilities():
    proba = PAPER.bayes_proba([[1e4, -1e4], [-1e5, 3.0]])
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_the_bayes_class_is_the_likeliest():
    X, _ = PAPER.sample(500, random_state=2)
    np.testing.assert_array_equal(PAPER.bayes_predict(X), PAPER.bayes_proba(X).argmax(axis=1))


def test_bayes_accuracy_is_the_share_of_points_it_gets_right():
    assert MIRROR.bayes_accuracy([[-2.0], [-0.1], [0.1], [5.0]], [0, 1, 1, 1]) == 0.75


def test_a_mixture_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        PAPER.weights[0] = 1
    with pytest.raises(AttributeError):
        PAPER.weights = [1.0]


def test_a_mixture_does_not_follow_the_array_it_was_made_from():
    weights = np.array([0.5, 0.5])
    mixture = GaussianMixture(weights, [[-1], [1]], [[[1]], [[1]]])
    weights[:] = 7
    assert mixture.weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "message"),
    [
        ([], [], [], "weights must hold one number per class"),
        ([0.5, 0.6], [[0], [1]], [[[1]], [[1]]], "weights must be positive and sum to 1"),
        ([-1, 2], [[0], [1]], [[[1]], [[1]]], "weights must be positive and sum to 1"),
        ([1], [[0], [1]], [[[1]]], "means must be one row for each of 1 classes"),
        ([1], [[np.nan]], [[[1]]], "means must be finite"),
        ([1], [[0, 0]], [[[1]]], r"covariances must have shape \(1, 2, 2\), got \(1, 1, 1\)"),
        ([1], [[0, 0]], [[[1, 2], [2, 1]]], "symmetric and positive definite"),
        ([1], [[0, 0]], [[[1, 0.5], [0, 1]]], "symmetric and positive definite"),
    ],
)
def test_a_mixture_that_is_none_is_refused(weights, means, covariances, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(weights, means, covariances)


def test_points_of_another_dimension_are_refused():
    with pytest.raises(ValueError, match=r"X must have shape \(n, 2\), got \(1, 3\)"):
        PAPER.bayes_predict([[1, 2, 3]])


def test_a_negative_number_of_points_is_refused():
    with pytest.raises(ValueError, match="n must be >= 0, got -1"):
        PAPER.sample(-1)


# -- noisy labels ---------------------------------------------------------------------------------

NOISY = NoisyLabels(PAPER, flip=0.3)


def test_labels_are_replaced_as_often_as_said_by_all_others_alike():
    X, y = NOISY.sample(200_000, random_state=0)
    clean_X, clean_y = PAPER.sample(200_000, np.random.default_rng(0))
    np.testing.assert_array_equal(X, clean_X)
    assert np.mean(y != clean_y) == pytest.approx(0.3, abs=0.005)
    shift = (y - clean_y)[y != clean_y] % 5
    np.testing.assert_allclose(np.bincount(shift, minlength=5)[1:] / len(shift), 0.25, atol=0.01)


def test_noisy_probabilities_are_those_of_the_noisy_labels():
    X, y = NOISY.sample(300_000, random_state=1)
    proba = NOISY.bayes_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    for k in range(5):
        near = (proba[:, k] > 0.2) & (proba[:, k] < 0.3)
        assert np.mean(y[near] == k) == pytest.approx(proba[near, k].mean(), abs=0.01)
    value, error = NOISY.bayes_accuracy_estimate(100_000)
    assert abs(NOISY.bayes_accuracy(X, y) - value) < 5 * error + 0.003


def test_noise_leaves_the_best_answer_as_it_is():
    X, _ = PAPER.sample(1000, random_state=0)
    np.testing.assert_array_equal(NOISY.bayes_predict(X), PAPER.bayes_predict(X))


def test_noise_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"flip must be from 0 to 1, got 1\.5"):
        NoisyLabels(PAPER, flip=1.5)
    with pytest.raises(ValueError, match="at least two classes, got one"):
        NoisyLabels(GaussianMixture([1], [[0]], [[[1]]]), flip=0.5)

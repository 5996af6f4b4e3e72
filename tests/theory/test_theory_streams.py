"""Lemmas big-parts and binomial, against counts of simulated and of real streams."""

import numpy as np
import pytest

from riparian.theory import binomial_tail, points_for

from engines import parameters, stream_of

RUNS = 40_000


def close(frequency, probability, runs=RUNS):
    """Return whether two probabilities agree within four standard errors of a simulation."""
    return abs(frequency - probability) < 4 * np.sqrt(probability * (1 - probability) / runs) + 1e-9


@pytest.mark.parametrize(("n", "measure"), [(20, 0.3), (60, 0.2), (7, 0.9), (200, 0.05)])
def test_the_tail_of_a_cell_is_as_simulated_and_below_its_bound(n, measure):
    tail = binomial_tail(n, measure)
    counts = (np.random.default_rng(0).random((RUNS, n)) < measure).sum(axis=1)
    assert close(np.mean(counts <= n * measure / 2), tail.exact)
    assert tail.exact <= tail.bound <= 1


def test_the_bound_goes_to_zero_as_points_come():
    bounds = [binomial_tail(n, 0.1).bound for n in (0, 100, 1000, 10_000)]
    assert bounds[0] == 1 and bounds[-1] < 1e-20
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize(("received", "measure", "delta"), [(1, 0.2, 0.1), (8, 0.3, 0.05)])
def test_the_points_for_a_cell_are_enough_and_the_sharp_number_is_just_enough(
    received, measure, delta
):
    rng = np.random.default_rng(1)
    paper = points_for(received, measure, delta)
    sharp = points_for(received, measure, delta, sharp=True)
    assert sharp < paper

    def failed(n):
        return np.mean((rng.random((RUNS, n)) < measure).sum(axis=1) < received)

    error = 4 * np.sqrt(delta * (1 - delta) / RUNS)
    assert failed(paper) <= delta
    assert failed(sharp) <= delta + error
    assert failed(sharp - 1) > delta - error


def test_every_stream_of_a_tree_gets_its_share():
    p = parameters(structure_fraction=0.3, ignore_fraction=0.2)
    for tree in range(20):
        streams = stream_of(p, tree, 2000)
        for name, share in (("structure", 0.3), ("ignored", 0.2), ("estimation", 0.5)):
            # Each of the sixty fails with the probability of the tail, here below 1e-17.
            assert binomial_tail(2000, share).bound < 1e-17
            assert np.sum(streams == name) > 2000 * share / 2
            assert close(np.mean(streams == name), share, runs=2000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binomial_tail(10, 0), "measure must be > 0 and <= 1, got 0"),
        (lambda: binomial_tail(10, 1.5), r"measure must be > 0 and <= 1, got 1\.5"),
        (lambda: points_for(0, 0.5, 0.1), "received must be from 1 to"),
        (lambda: points_for(1, 0.5, 1), "delta must be < 1, got 1"),
        (lambda: points_for(1, 0.5, 0), "delta must be > 0 and <= 1, got 0"),
    ],
)
def test_a_number_that_is_not_a_probability_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()

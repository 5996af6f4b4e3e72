"""The parts of streams that change (R27): ADWIN, and a logarithm and exponential of our own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riparian import _core
from riparian.parameters.forests import HEAD_SIZES, MEMORIES

pytestmark = pytest.mark.engine


def test_python_knows_the_heads_of_a_tree():
    assert _core.head_sizes == [*HEAD_SIZES]
    assert _core.memory_factors == [float(np.float32(factor)) for factor in MEMORIES]


def test_the_logarithm_is_that_of_numpy_except_for_the_last_bits():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.exp2(rng.uniform(-1000, 1000, 5000)), rng.uniform(0.5, 2, 5000)])
    ours = np.array([_core.ln(each) for each in x])
    assert np.abs(ours - np.log(x)).max() < 1e-12
    near = np.abs(np.log(x)) < 1
    assert np.abs(ours - np.log(x))[near].max() < 1e-15
    assert _core.ln(1.0) == 0.0


def test_the_exponential_is_that_of_numpy_except_for_the_last_bits():
    x = -np.concatenate([np.random.default_rng(0).exponential(50, 5000), [0.0, 1e-300, 692.9]])
    ours = np.array([_core.exp_of_negative(each) for each in x])
    assert (np.abs(ours - np.exp(x)) <= 1e-14 * np.exp(x)).all()
    assert _core.exp_of_negative(0.0) == 1.0
    assert _core.exp_of_negative(-1e300) == _core.exp_of_negative(-np.inf) == 0.0


@st.composite
def errors(draw):
    """Numbers from 0 to 1 whose mean changes now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    means = draw(st.lists(st.floats(0, 1), min_size=1, max_size=6))
    each = draw(st.sampled_from([20, 150, 700]))
    mean = np.repeat(means, each)
    if draw(st.booleans()):
        return (rng.random(len(mean)) < mean).astype(float)
    return np.clip(mean + rng.normal(0, draw(st.sampled_from([0, 0.1])), len(mean)), 0, 1)


@settings(max_examples=60, deadline=None)
@given(errors(), st.sampled_from([0.002, 0.01, 0.5]))
def test_adwin_cuts_where_rivers_does(x, delta):
    river = pytest.importorskip("river.drift.adwin").AdaptiveWindowing(
        delta=delta, clock=32, max_buckets=5, min_window_length=5, grace_period=10
    )
    ours = _core.Adwin(delta)
    for error in x.tolist():
        mean = (ours.total + error) / (ours.width + 1)  # before a cut
        cut = ours.add(error)
        assert (cut != 0) == river.update(error)
        assert (ours.width, ours.total) == (river.get_width(), river.get_total())
        if cut:
            assert cut == (1 if ours.total / ours.width > mean else -1)
    assert ours.variance == river.get_variance()


def test_adwin_distinguishes_a_rise_from_a_fall():
    for before, after, sign in ((0.1, 0.9, 1), (0.9, 0.1, -1)):
        detector = _core.Adwin(0.01)
        cuts = [detector.add(x) for x in [before] * 320 + [after] * 320]
        assert {cut for cut in cuts if cut} == {sign}
        assert not any(cuts[:320])

"""What riparian saves is what learning could have led to; what could not have been is safe to load."""

from __future__ import annotations

from random import Random

import pytest
from hand_made import (
    ALL,
    ALL_KINDS,
    HUGE,
    LATER,
    NAN,
    SAFFARI,
    adaptive,
    hand_made,
    in_engine,
    narrowed,
    of_three_splits,
    put,
    settled,
    snapshot,
    with_a_fringe_of_one,
    with_points,
    young,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plausible import Implausible, check_plausible

from snapshots import forged, grow, opened, sealed, survive

pytestmark = pytest.mark.engine


def implausible(data):
    """Why no stream leads to it; it loads, predicts and learns all the same."""
    assert survive(data).startswith("valid")
    with pytest.raises(Implausible) as caught:
        check_plausible(data)
    return str(caught.value)


@pytest.mark.parametrize("prediction_only", [False, True])
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_learning_could_have_produced_what_is_saved(kind, prediction_only):
    check_plausible(snapshot(kind, prediction_only))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(list(ALL_KINDS)), st.integers(0, 2**32))
def test_a_restored_forest_continues_as_learning_does(kind, seed):
    check_plausible(grow(Random(seed), snapshot(kind)))


@pytest.mark.parametrize("make", [hand_made, with_a_fringe_of_one, of_three_splits, adaptive])
def test_the_hand_made_snapshots_are_plausible(make):
    header, arrays = make()
    check_plausible(sealed(header, narrowed(arrays)))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(list(ALL_KINDS)), st.randoms())
def test_forged_numbers_are_refused_or_a_forest(kind, random):
    survive(forged(random, *opened(snapshot(kind))))


# Which snapshot, what is put in it, and why it cannot be.
IMPLAUSIBLE_ARRAYS = [
    (adaptive, {"window": [29, 3, 2]}, "more errors than points since it is there"),
    (adaptive, {"window": [8, 3, 2]}, "the window is wider than its errors"),
    (adaptive, {"growth": [29, 0, 20]}, "growth: more structure arrivals than points"),
    (adaptive, {"growth": [29, 0, 20], "totals": [29, 14, 0, 1, 0, 2, 0, 0, 0, 0]},
     "growth: more structure arrivals than were received"),
    (adaptive, {"growth": [16, 0, 0]}, "growth: bound must be 0 before the first split only"),
    (adaptive, {"growth": [16, 11, 20]}, "growth: bound must be at least twice the growth"),
    (adaptive, {"replaced": [12, 5]}, "later and later points"),
    (adaptive, {"replaced": [5, 40]}, "points that have been received"),
    (adaptive, {"bucket_total": [0.5, 4.5, 0.5]}, "bucket_total must be that of numbers from 0"),
    (adaptive, {"bucket_total": [NAN, 0.5, 0.5]}, "bucket_total must be that of numbers from 0"),
    (adaptive, {"bucket_variance": [-1.0, 0.0, 0.0]}, "bucket_variance must be that of numbers"),
    (adaptive, {"bucket_variance": [0.44, 0.5, 0.0]}, "bucket_variance must be that of numbers"),
    (adaptive, {"window_sums": [2.4, 0.93]}, "the total is not that of the buckets"),
    (adaptive, {"window_sums": [2.5, 0.7]}, "the variance is not that of the buckets"),
    (adaptive, {"window_sums": [2.5, NAN]}, "the variance is not that of the buckets"),
    (adaptive, {"memory": [0.5, 1, 3, 1, 1, 1, 1e-30, 0, 0, 1.5, 4, 8]},
     "memory must be 0, or finite and at least"),
    (adaptive, {"memory": [0.5, 1, 3, 1, 1, 1, 0, 0, 0, 1.5, 4, 29]}, "must not hold more points"),
    (adaptive, {"memory": [0.5, 1, 3, 0.5, 1, 1, 0, 0, 0, 1.5, 4, 8]}, "must hold the last point"),
    (adaptive, {"eager": [3, 1, 16, 3]}, "the root must hold every vote"),
    (hand_made, {"feature": [1, 0, 1]}, "feature must be 0 in a leaf"),
    (hand_made, {"threshold": [0.5, 0, 1]}, "threshold must be 0 in a leaf"),
    (hand_made, {"totals": [2**61, 10, 0, 1, 0, 2, 0, 0, 0, 0]}, "structure_points must be below"),
    (hand_made, {"totals": [2**60, 10, 0, 1, 0, 2, 0, 0, 0, 0]}, "more points than were received"),
    (hand_made, {"totals": [10, 10, 0, 1, 1, 2, 0, 0, 0, 0]}, "a split for every inner node"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, HUGE, 0, 0]}, "refreshes must be below"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 1, 0]}, "evictions must be 0 without"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 0, 1]}, "stopped_at must be 0 without"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 2, 0, 0, 0, 21]}, "stopped_at must have been reached"),
    (hand_made, {"importance": [2**62, 2**62]}, "importance must not sum up to 2^62"),
    (hand_made, {"importance": [0, -(2**63)]}, "importance must not sum up to 2^62"),
    (hand_made, {"totals": [10, 10, 0, 1, 0, 1, 0, 0, 0, 0]}, "must have arrived at the tree"),
    (hand_made, {"leaf_born": [4, 11]}, "leaf_born must not be later than now"),
    (hand_made, {"histogram": [4, 0, 0, 4]}, "histogram must not end with a class of no points"),
    (hand_made, {"histogram": [9, 1, 0, 4]}, "more points than came since leaf_born"),
    (hand_made, {"histogram": [5, 1, 0, 5]}, "more points than its tree"),
    (hand_made, {"leaf_classes": [2, 0], "histogram": [3, 1]}, "must hold a point, but at the root"),
    (with_a_fringe_of_one, {"key_under": [0]}, "key_under must be from 1 to the age of the leaf"),
    (with_a_fringe_of_one, {"key_under": [7]}, "key_under must be from 1 to the age of the leaf"),
    (with_a_fringe_of_one, {"key_over": [6]}, "key_over must not be above key_under"),
    (with_a_fringe_of_one, {"histogram": [3, 1, 1, 3], "key_over": [0]}, "must be at least ŝ"),
    (hand_made, {"received": [5, 4]}, "received must be points of the leaf"),
    (hand_made, {"planned": [600, 2**63]}, "planned must not sum up to 2^62"),
    (hand_made, {"candidate_dims": [0, 0, 1]}, "candidate_dims must be distinct in a leaf"),
    (hand_made, {"split_point_born": [3, 7, 5]}, "in the life of its leaf"),
    (hand_made, {"split_point_born": [6, 11, 5]}, "split_point_born must not be later than now"),
    (hand_made, {"split_point_born": [7, 6, 5]}, "split_point_born must not fall"),
    (hand_made, {"structure_bits": [0b01_00_01, 0b11_01_00, 0b01_00_00]}, "must come one by one"),
    (hand_made, {"structure_bits": [0b11_00_01, 0b11_01_00, 0b11_10_00]},
     "the first point must meet the first split point"),
    (hand_made, {"structure_bits": [0, 0b01_01_00, 0b11_10_00]}, "must meet the first split point"),
    (hand_made, {"structure_bits": [0b01_00_01] * 3}, "a split point is missing"),
    (hand_made, {"estimation_bits": [0, 0b11_00_00]}, "a point must meet a split point"),
    (hand_made, {"estimation_bits": [0b11_00_00, 0b01_00_01]}, "split points must not vanish"),
    (hand_made, {"split_point_born": [9, 9, 5]}, "more points than came since split_point_born"),
    (hand_made, {"received": [1, 4]}, "estimation_length: more points than received"),
    (hand_made, {"estimation_label": [1, 1]}, "must be in its histogram"),
    (with_a_fringe_of_one, {"structure_length": [0], "structure_label": [], "structure_bits": []},
     "a split point, but no point that brought it"),
    (with_a_fringe_of_one, {"totals": [2, 10, 0, 1, 0, 2, 0, 0, 0, 0]},
     "structure_length: more points than the tree has received"),
    (with_a_fringe_of_one, {"structure_length": [17], "structure_label": [0] * 17,
                            "structure_bits": [17] * 17}, "more points are kept than counting"),
    (hand_made, {"structure_count": [0, 0, 0, 0]}, "a split point without its own point"),
    (hand_made, {"structure_count": [1, 8, 0, 3]}, "more points than the tree has received"),
    (hand_made, {"estimation_count": [0, 1, 2, 4]}, "estimation_count: more points than received"),
    (hand_made, {"split_point_born": [6, 7, 7]}, "more points than since split_point_born"),
    (hand_made, {"estimation_count": [1, 1, 0, 3]}, "must be in its histogram"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "change", "reason"), IMPLAUSIBLE_ARRAYS,
    ids=[f"{reason}: {', '.join(change)}" for _, change, reason in IMPLAUSIBLE_ARRAYS],
)  # fmt: skip
def test_arrays_that_no_stream_leads_to_are_safe_and_implausible(make, change, reason):
    header, arrays = make()
    assert reason in implausible(sealed(header, narrowed({**arrays, **change})))


# A real snapshot, a change, and why it cannot be.
IMPLAUSIBLE_CHANGES = [
    (ALL, in_engine(seed=8), "must include the kept points"),
    (ALL, put("totals", 0, 5), "totals: structure_points must include the kept points"),
    (ALL, put("totals", 0, 500), "must be those of the kept points, which are all"),
    (ALL, put("totals", 1, 500), "totals: estimation_points must be those of the kept points"),
    (ALL, put("totals", 2, 1), "totals: ignored_points must be those of the kept points"),
    (ALL, put("growth", 0, 5), "growth: structure_arrivals must include the kept points"),
    (LATER, put("growth", 0, 350), "growth: more structure arrivals than points"),
    (ALL, put("growth", 1, 399), "growth: growth must have been reached"),
    (ALL, put("growth", 2, 0), "growth: bound must be 0 before the first split only"),
    (ALL, put("growth", 2, 1), "growth: bound must be at least twice the growth"),
    (ALL, put("growth", 2, HUGE), "growth: bound must be at most four times the arrivals"),
    ("points kept, one point", put("growth", 2, 2), "bound must be 0 before the first split only"),
    (ALL, put("totals", 5, 2), "classes"),
    (LATER, put("next_look", young, 2**32 - 1), "next_look must be at most 117"),
    (LATER, put("had_lost", young, 2), "had_lost must be 0 or 1"),
    (LATER, put("had_lost", settled, 1), "0 in a leaf that has settled"),
    (ALL, put("had_lost", young, 1), "had_lost must be 0 while all points are kept"),
    (LATER, put("received", young, 1), "received must be 0 in a young leaf"),
    (LATER, put("received", settled, 2**60), "received must be points of the tree"),
    (LATER, put("planned", young, 1), "planned must be 0 in a young leaf"),
    (SAFFARI, put("bag", 0, 1), "bag: number must be that of the tree's place"),
    (SAFFARI, put("bag", 0, 3 * 2**61), "bag: number must be below 2^61"),
    (SAFFARI, put("bag", 1, 401), "bag: planted must have been reached"),
    (SAFFARI, put("bag", 2, 401), "bag: more points than the tree did not take"),
    (SAFFARI, put("bag", 3, 400), "bag: more errors than points"),
    ("Saffari", put("bag", 0, 3), "bag: number must be that of the tree if none is replaced"),
    ("Saffari", put("bag", 1, 1), "bag must be empty if no tree is replaced"),
    ("Saffari", in_engine(max_depth=1), "leaf_active must be set above max_depth only"),
    ("Saffari", put("received", with_points, 0), "more points than the tree has received"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change", "reason"), IMPLAUSIBLE_CHANGES,
    ids=[f"{kind}: {change.__name__}" for kind, change, _ in IMPLAUSIBLE_CHANGES],
)  # fmt: skip
def test_changes_that_no_stream_leads_to_are_safe_and_implausible(kind, change, reason):
    header, arrays = opened(snapshot(kind))
    change(header, arrays)
    assert reason in implausible(sealed(header, arrays))


def test_totals_that_could_overflow_are_implausible():
    header, arrays = hand_made()
    header["points"] = 2**58
    arrays["totals"][:3] = [2**61 - 1] * 3
    assert "must not sum up to 2^62" in implausible(sealed(header, narrowed(arrays)))


def test_a_key_is_compared_exactly_however_large():
    header, arrays = with_a_fringe_of_one()
    header["points"] = 2**58
    many = 2**50
    arrays.update(
        totals=[10, many, 0, 1, 0, 2, 0, 0, 0, 0], leaf_classes=[2, 2], histogram=[3, 1, 7, 8],
        leaf_born=[4, 4], key_over=[7], key_under=[many - 4],
    )  # fmt: skip
    check_plausible(sealed(header, narrowed(arrays)))
    arrays["key_over"] = [6]
    assert "at least ŝ" in implausible(sealed(header, narrowed(arrays)))


def test_a_fringe_larger_or_smaller_than_it_must_be_is_implausible():
    header, arrays = opened(snapshot("full fringe and a late class"))
    for fringe_size in (2, 4):
        header["engine"]["fringe_size"] = fringe_size
        assert "fringe (R12)" in implausible(sealed(header, arrays))
    header, arrays = opened(snapshot("memory budget and fringe"))
    header["engine"]["fringe_size"] = 3
    assert "more leaves than fringe_size" in implausible(sealed(header, arrays))


def test_a_tree_that_has_stopped_has_no_active_leaf():
    header, arrays = opened(snapshot("memory budget"))
    arrays["totals"][9] = 1
    assert "in a tree that has stopped" in implausible(sealed(header, arrays))


def test_leaves_with_fewer_points_than_alpha_are_implausible():
    header, arrays = opened(snapshot())
    header["engine"]["alpha"]["start"] = 50.0
    header["engine"]["beta"]["start"] = 5000.0
    assert "must hold α points" in implausible(sealed(header, arrays))

"""Turned joints: where they carry the joints behind them."""

from __future__ import annotations

import numpy as np
import pytest

from riparian_experiments.body import STANDARD, Skeleton
from riparian_experiments.body.rotations import X, Y, Z, euler, turn
from riparian_experiments.body.skeleton import NEEDED_JOINTS


def rotations(**turned):
    still = np.tile(np.eye(3), (len(STANDARD.names), 1, 1))
    for name, rotation in turned.items():
        still[STANDARD.index[name]] = rotation
    return still


def changed(**arrays):
    kept = {name: getattr(STANDARD, name) for name in ("names", "parents", "offsets")}
    return Skeleton(**(kept | arrays))


@pytest.mark.parametrize(
    ("axis", "vector", "becomes"),
    [(X, [0, 1, 0], [0, 0, 1]), (Y, [0, 0, 1], [1, 0, 0]), (Z, [1, 0, 0], [0, 1, 0])],
)
def test_a_turn_is_right_handed(axis, vector, becomes):
    assert np.allclose(turn(axis, 90) @ vector, becomes)


def test_euler_angles_turn_about_the_last_axis_first():
    axes, degrees = np.array([[Z, Y, X], [X, Z, Y]]), np.array([[10, 20, 30], [40, 50, 60]])
    expected = [turn(Z, 10) @ turn(Y, 20) @ turn(X, 30), turn(X, 40) @ turn(Z, 50) @ turn(Y, 60)]
    assert np.allclose(euler(axes, degrees), expected)


def test_unturned_joints_are_where_the_offsets_add_up_to():
    figure = STANDARD.place(rotations())
    assert figure.at("LeftHand") == pytest.approx([0.175 + 0.29 + 0.25, 0.12 + 0.13 + 0.1, -0.025])
    assert figure.at("RightFoot") == pytest.approx([-0.085, -0.09 - 0.84, 0.03])


def test_a_turned_joint_moves_all_that_is_behind_it_and_nothing_else():
    straight, bent = STANDARD.place(rotations()), STANDARD.place(rotations(LeftArm=turn(Z, -90)))
    for name in ("LeftArm", "RightHand", "Head", "LeftFoot"):
        assert bent.at(name) == pytest.approx(straight.at(name))
    shoulder = straight.at("LeftArm")
    assert bent.at("LeftForeArm") == pytest.approx(shoulder - [0, 0.29, 0])
    assert bent.at("LeftHand") == pytest.approx(shoulder - [0, 0.54, 0])


def test_turns_add_up_along_the_limb():
    """The arm is raised ahead, and the elbow bent upwards: the forearm points up."""
    figure = STANDARD.place(rotations(LeftArm=turn(Y, -90), LeftForeArm=turn(Z, 90)))
    elbow = figure.at("LeftForeArm")
    assert elbow - figure.at("LeftArm") == pytest.approx([0, 0, 0.29])
    assert figure.at("LeftHand") - elbow == pytest.approx([0, 0.25, 0])
    assert figure.bone("LeftHand") == pytest.approx([0, 1, 0])


def test_a_turned_root_turns_the_whole_figure_about_it():
    still = STANDARD.place(rotations())
    turned = STANDARD.place(rotations(Hips=turn(Y, 90)))
    assert np.allclose(turned.positions, still.positions @ turn(Y, 90).T)
    assert np.allclose(still.moved(turn(Y, 90), np.zeros(3)).turns, turned.turns)


def test_size_stretches_every_bone():
    still = STANDARD.place(rotations())
    assert np.allclose(STANDARD.place(rotations(), size=1.1).positions, 1.1 * still.positions)


def test_the_standard_skeleton_is_its_own_mirror_image():
    for name in STANDARD.names:
        other = name.replace("Left", "*").replace("Right", "Left").replace("*", "Right")
        mirrored = STANDARD.offsets[STANDARD.index[other]] * [-1, 1, 1]
        assert STANDARD.offsets[STANDARD.index[name]] == pytest.approx(mirrored)


@pytest.mark.parametrize("name", NEEDED_JOINTS)
def test_a_skeleton_without_a_joint_that_the_body_needs_is_refused(name):
    names = tuple("Tail" if joint == name else joint for joint in STANDARD.names)
    with pytest.raises(ValueError, match=f"joints that the body needs: {name}"):
        changed(names=names)


def test_a_skeleton_of_impossible_measures_is_refused():
    with pytest.raises(ValueError, match=r"0.5 to 3.0 metres from ankle to head, got 144: are"):
        changed(offsets=100 * STANDARD.offsets)
    with pytest.raises(ValueError, match="got nan"):
        changed(offsets=np.where(STANDARD.offsets == 0.12, np.nan, STANDARD.offsets))
    offsets = STANDARD.offsets.copy()
    offsets[STANDARD.index["LeftHand"]] = 0
    with pytest.raises(ValueError, match="ends in LeftHand must have a length"):
        changed(offsets=offsets)

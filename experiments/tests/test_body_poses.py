"""Random poses: joints stay within their limits, no parts intersect, and all kinds occur."""

from __future__ import annotations

import numpy as np
import pytest

from riparian_experiments.body import STANDARD, RandomPoses
from riparian_experiments.body.anatomy import ARM, LEG, Arm, Leg, Trunk, posed, within
from riparian_experiments.body.random_poses import REACHES, STANCES
from riparian_experiments.body.tangle import tangled

STILL = Trunk(0, 0, 0, 0, 0, 0, 0)
LEG_DOWN, ARM_DOWN = Leg(0, 3, 0, 0, 0), Arm(10, 0, 0, 0, 0, 0)


def figure(trunk=STILL, left=(LEG_DOWN, ARM_DOWN), right=(LEG_DOWN, ARM_DOWN)):
    pose = posed(trunk, left, right)
    return pose.skeleton.place(pose.rotations)


def direction(figure, start, end):
    along = figure.at(end) - figure.at(start)
    return along / np.linalg.norm(along)


AHEAD, UP, LEFT = np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 0, 0])


@pytest.mark.parametrize(
    ("arm", "upper", "fore"),
    [
        (Arm(4, 0, 0, 0, 0, 0), -UP, -UP),
        (Arm(90, 0, 0, 0, 0, 0), LEFT, LEFT),
        (Arm(90, 90, 0, 0, 0, 0), AHEAD, AHEAD),
        (Arm(4, 0, 0, 90, 0, 0), -UP, AHEAD),
        (Arm(4, 0, 80, 90, 0, 0), -UP, -LEFT),  # across the belly
        (Arm(90, 90, 0, 90, 0, 0), AHEAD, UP),  # shows a muscle
    ],
)
def test_the_angles_of_an_arm_mean_what_they_say_on_either_side(arm, upper, fore):
    bent = figure(left=(LEG_DOWN, arm), right=(LEG_DOWN, arm))
    for side, mirror in (("Left", 1), ("Right", -1)):
        for start, end, expected in (("Arm", "ForeArm", upper), ("ForeArm", "Hand", fore)):
            along = direction(bent, side + start, side + end) * [mirror, 1, 1]
            assert along @ expected > 0.97


def test_the_angles_of_a_leg_mean_what_they_say_on_either_side():
    sitting = Leg(90, 0, 0, 90, 0)
    bent = figure(left=(sitting, ARM_DOWN), right=(sitting, ARM_DOWN))
    for side in ("Left", "Right"):
        assert direction(bent, f"{side}UpLeg", f"{side}Leg") == pytest.approx(AHEAD)
        assert direction(bent, f"{side}Leg", f"{side}Foot") == pytest.approx(-UP)
    apart = Leg(0, 40, 0, 0, 0)
    split = figure(left=(apart, ARM_DOWN), right=(apart, ARM_DOWN))
    assert split.at("LeftFoot")[0] > 0.5 and split.at("RightFoot")[0] < -0.5
    toes = figure(left=(Leg(0, 0, 40, 0, 0), ARM_DOWN))
    assert direction(toes, "LeftFoot", "LeftToeBase") @ LEFT > 0.5
    raised = figure(left=(Leg(0, 0, 0, 0, 30), ARM_DOWN))
    assert raised.at("LeftToeBase")[1] > figure().at("LeftToeBase")[1]


def test_the_angles_of_the_trunk_mean_what_they_say():
    upright = figure().at("Head")
    assert figure(Trunk(0, 45, 0, 0, 0, 0, 0)).at("Head")[2] > upright[2] + 0.1
    assert figure(Trunk(45, 0, 0, 0, 0, 0, 0)).at("Head")[2] > upright[2] + 0.1
    assert figure(Trunk(0, 0, 30, 0, 0, 0, 0)).at("Head")[0] > 0.05
    assert figure(Trunk(0, 0, 0, 30, 0, 0, 0)).turned("Spine1")[:, 2] @ LEFT > 0.4
    assert figure(Trunk(0, 0, 0, 0, 0, 0, 60)).turned("Head")[:, 2] @ LEFT > 0.8
    assert figure(Trunk(0, 0, 0, 0, 40, 0, 0)).turned("Head")[:, 2] @ UP < -0.5


def test_no_joint_goes_beyond_its_limit():
    assert Leg(*within(LEG, Leg(200, -90, 90, -5, 80))) == Leg(125, -8, 40, 0, 30)
    impossible, possible = Arm(300, 0, 0, 300, 0, 0), Arm(175, 0, 0, 145, 0, 0)
    assert within(ARM, impossible) == possible
    assert np.allclose(
        figure(left=(LEG_DOWN, impossible)).positions, figure(left=(LEG_DOWN, possible)).positions
    )


@pytest.mark.parametrize(
    ("left", "right", "through"),
    [
        ((LEG_DOWN, ARM_DOWN), (LEG_DOWN, ARM_DOWN), False),
        ((LEG_DOWN, Arm(10, 0, 80, 100, 0, 0)), (LEG_DOWN, ARM_DOWN), True),  # through the belly
        ((LEG_DOWN, Arm(80, 90, 80, 90, 0, 0)), (LEG_DOWN, ARM_DOWN), False),  # before the chest
        ((Leg(0, -8, 0, 0, 0), ARM_DOWN), (Leg(0, -8, 0, 0, 0), ARM_DOWN), True),  # ankles
        ((LEG_DOWN, ARM_DOWN), (LEG_DOWN, Arm(170, 0, 0, 145, 0, 0)), False),
    ],
)
def test_a_tangle_is_seen(left, right, through):
    assert tangled(figure(left=left, right=right)) is through


def test_random_poses_are_free_of_tangles_and_upright():
    poses = RandomPoses(200, seed=5)
    for pose in poses:
        placed = pose.skeleton.place(pose.rotations)
        assert not tangled(placed)
        assert placed.at("Head")[1] > placed.at("Hips")[1] - 0.1
        lowest = min(placed.at(f"{side}Foot")[1] for side in ("Left", "Right"))
        assert lowest < placed.at("Hips")[1]


def test_random_poses_are_of_all_kinds():
    placed = [pose.skeleton.place(pose.rotations) for pose in RandomPoses(300, seed=1)]
    height = np.array(
        [f.at("Head")[1] - min(f.at("LeftFoot")[1], f.at("RightFoot")[1]) for f in placed]
    )
    assert 0.3 < (height > 1.2).mean() < 0.9  # upright; the others sit, crouch, kneel or bow
    hands = np.array([f.at("LeftHand") - f.at("LeftArm") for f in placed])
    assert (hands[:, 1] > 0.25).mean() > 0.05  # raised
    assert (hands[:, 1] < -0.35).mean() > 0.2  # hanging
    assert (hands[:, 2] > 0.35).mean() > 0.1  # ahead
    assert (hands[:, 0] > 0.35).mean() > 0.05  # to the side


def test_no_side_is_preferred():
    placed = [pose.skeleton.place(pose.rotations) for pose in RandomPoses(400, seed=2)]
    for joint in ("Foot", "Hand"):
        ahead = [f.at("Left" + joint)[2] > f.at("Right" + joint)[2] for f in placed]
        assert 0.42 < np.mean(ahead) < 0.58


def test_the_shares_of_the_stances_add_up_and_name_reaches_that_exist():
    assert sum(stance.share for stance in STANCES.values()) == pytest.approx(1)
    assert {arm for stance in STANCES.values() for arm in stance.arms} <= set(REACHES)


def test_pose_i_is_the_same_however_it_is_requested():
    poses = RandomPoses(50, seed=3)
    one = poses[7].rotations
    for again in (list(poses)[7], poses[-43], poses[5:9][2], RandomPoses(9, seed=3)[7],
                  RandomPoses(1, seed=3, first=7)[0]):  # fmt: skip
        assert np.array_equal(again.rotations, one)
    assert not np.array_equal(RandomPoses(50, seed=4)[7].rotations, one)
    assert not np.array_equal(poses[8].rotations, one)
    assert poses[7].skeleton is STANDARD
    with pytest.raises(IndexError):
        poses[50]

"""Joint angles in anatomical terms, their limits, and the pose that they give.

All angles are in degrees. If all are 0, the person stands upright and the arms hang.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riparian_experiments.body.rotations import Matrix, X, Y, Z, turn
from riparian_experiments.body.skeleton import STANDARD, Pose

_MIRROR = np.diag([-1.0, 1.0, 1.0])  # left and right change places


class Trunk(NamedTuple):
    """Pelvis and spine; the neck and the head on top of them."""

    pitch: float  # of the pelvis, ahead
    bend: float  # of the spine, ahead
    lean: float  # of the spine, to the left
    twist: float  # of the spine, to the left
    nod: float  # of the head, ahead
    tilt: float  # of the head, to the left
    look: float  # of the head, to the left


class Leg(NamedTuple):
    flexion: float  # of the hip: the thigh goes ahead
    abduction: float  # of the hip: the thigh goes outwards
    rotation: float  # of the hip: the toes turn outwards
    knee: float  # flexion
    ankle: float  # flexion: the toes go up


class Arm(NamedTuple):
    elevation: float  # of the upper arm: from hanging to upright, 180
    plane: float  # in which it is raised: 0 to the side, 90 ahead
    twist: float  # of the upper arm: the bent forearm goes inwards
    elbow: float  # flexion
    wrist: float  # the palm goes inwards
    roll: float  # of the forearm: the palm turns ahead


class Limits(NamedTuple):
    """The smallest and the largest value of each angle of a part."""

    least: tuple[float, ...]
    most: tuple[float, ...]


TRUNK = Limits(Trunk(-20, -20, -30, -40, -40, -30, -65), Trunk(70, 60, 30, 40, 45, 30, 65))
LEG = Limits(Leg(-25, -8, -15, 0, -45), Leg(125, 45, 40, 145, 30))
ARM = Limits(Arm(4, -90, -80, 0, -50, -80), Arm(175, 115, 80, 145, 50, 80))


def within(limits: Limits, angles: tuple[float, ...]) -> tuple[float, ...]:
    """Return the nearest angles within the limits.

    >>> Leg(*within(LEG, Leg(10, 5, 0, knee=-20, ankle=0))).knee
    0
    """
    return tuple(np.clip(angles, limits.least, limits.most).tolist())


def posed(trunk: Trunk, left: tuple[Leg, Arm], right: tuple[Leg, Arm]) -> Pose:
    """Return the pose of the standard skeleton with these angles, clipped to their limits."""
    rotations = _trunk(Trunk(*within(TRUNK, trunk)))
    for side, (leg, arm) in (("Left", left), ("Right", right)):
        limbs = _leg(Leg(*within(LEG, leg))) | _arm(Arm(*within(ARM, arm)))
        for joint, rotation in limbs.items():
            rotations[side + joint] = rotation if side == "Left" else _MIRROR @ rotation @ _MIRROR
    turned = np.tile(np.eye(3), (len(STANDARD.names), 1, 1))
    for name, rotation in rotations.items():
        turned[STANDARD.index[name]] = rotation
    return Pose(STANDARD, turned)


def _trunk(trunk: Trunk) -> dict[str, Matrix]:
    vertebra = turn(Y, trunk.twist / 3) @ turn(Z, -trunk.lean / 3) @ turn(X, trunk.bend / 3)
    neck = turn(Y, trunk.look / 2) @ turn(Z, -trunk.tilt / 2) @ turn(X, trunk.nod / 2)
    return {
        "Hips": turn(X, trunk.pitch),
        **dict.fromkeys(("LowerBack", "Spine", "Spine1"), vertebra),
        **dict.fromkeys(("Neck1", "Head"), neck),
    }


def _leg(leg: Leg) -> dict[str, Matrix]:
    """Return the rotations of the left leg, which hangs along -y."""
    return {
        "UpLeg": turn(Z, leg.abduction) @ turn(X, -leg.flexion) @ turn(Y, leg.rotation),
        "Leg": turn(X, leg.knee),
        "Foot": turn(X, -leg.ankle),
    }


def _arm(arm: Arm) -> dict[str, Matrix]:
    """Return the rotations of the left arm, which unturned points along x with the palm down."""
    shrug = max(arm.elevation - 60, 0) / 6  # the collar bone rises with the arm
    hanging = turn(Z, -90)
    raised = turn(Y, -arm.plane) @ turn(Z, arm.elevation - shrug) @ turn(Y, arm.plane)
    return {
        "Shoulder": turn(Z, shrug),
        "Arm": raised @ hanging @ turn(X, arm.twist),
        "ForeArm": turn(Y, -arm.elbow) @ turn(X, -arm.roll),
        "Hand": turn(Z, -arm.wrist),
    }

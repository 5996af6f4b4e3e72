"""Solids around bones: ellipsoids and tapered capsules, each with the part that it shows.

They are sized by a build and attached to joints. Lengths are in metres, for a person of 1.7 m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riparian_experiments.body.parts import Part
from riparian_experiments.body.rotations import Matrix
from riparian_experiments.body.skeleton import SIDES, STANDARD, Figure, Vectors


class Halves(NamedTuple):
    """Two parts on one solid, on either side of a plane."""

    left: Part
    right: Part
    middle: Vectors  # a point of the plane
    to_left: Vectors  # at right angles to the plane


class Ellipsoid(NamedTuple):
    """The points centre + axes u with |u| <= 1."""

    centre: Vectors  # (3,)
    axes: Matrix  # the columns are its three half axes
    part: Part | Halves


class Capsule(NamedTuple):
    """The convex hull of two balls. With equal radii it is an ordinary capsule."""

    start: Vectors
    end: Vectors
    start_radius: float
    end_radius: float
    part: Part | Halves


Solid = Ellipsoid | Capsule


@dataclass(frozen=True)
class Build:
    """The proportions of a person, relative to the average of 1."""

    size: float = 1.0  # of everything, bones too
    girth: float = 1.0  # of limbs and torso
    belly: float = 1.0  # of the waist, ahead
    shoulders: float = 1.0  # of the chest, across
    head: float = 1.0

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Build:
        return cls(
            size=rng.uniform(0.90, 1.12),
            girth=rng.uniform(0.88, 1.22),
            belly=rng.uniform(0.85, 1.25),
            shoulders=rng.uniform(0.92, 1.08),
            head=rng.uniform(0.94, 1.06),
        )


def body(figure: Figure, build: Build) -> list[Solid]:
    """Return the solids of the body of a figure."""
    scale = build.size * figure.skeleton.stature / STANDARD.stature
    solids = [*_head(figure, scale * build.head), *_torso(figure, build, scale)]
    for side in SIDES:
        solids += _leg(figure, side, scale * build.girth)
        solids += _arm(figure, side, scale * build.girth)
    return solids


def _head(figure: Figure, scale: float) -> Iterator[Solid]:
    frame = figure.turned("Head")
    skull = figure.at("Head") + frame @ (scale * np.array([0, 0.085, 0.015]))
    face = figure.at("Head") + frame @ (scale * np.array([0, 0.04, 0.045]))
    nose = figure.at("Head") + frame @ (scale * np.array([0, 0.06, 0.112]))
    yield Ellipsoid(skull, frame * (scale * np.array([0.078, 0.115, 0.098])), Part.HEAD)
    yield Ellipsoid(face, frame * (scale * np.array([0.058, 0.075, 0.068])), Part.HEAD)
    yield Ellipsoid(nose, frame * (scale * np.array([0.014, 0.024, 0.018])), Part.HEAD)
    yield Capsule(figure.at("Neck1"), skull, scale * 0.06, scale * 0.056, Part.HEAD)


def _torso(figure: Figure, build: Build, scale: float) -> Iterator[Solid]:
    thick = scale * build.girth
    hips, spine, ribs = (figure.turned(name) for name in ("Hips", "Spine", "Spine1"))
    seat = (figure.at("LeftUpLeg") + figure.at("RightUpLeg")) / 2
    collar = (figure.at("LeftArm") + figure.at("RightArm")) / 2
    tall = max(float(np.linalg.norm(collar - seat)), 0.3 * scale)  # skeletons differ in that
    chest = collar + ribs @ np.array([0, -0.21 * tall, 0.02 * scale])
    waist = (seat + collar) / 2 + spine @ np.array([0, -0.02 * tall, 0.012 * thick * build.belly])
    pelvis = seat + hips @ np.array([0, 0.08 * tall, -0.012 * scale])

    upper = Halves(Part.CHEST_LEFT, Part.CHEST_RIGHT, chest, ribs[:, 0])
    middle = Halves(Part.WAIST_LEFT, Part.WAIST_RIGHT, waist, spine[:, 0])
    lower = Halves(Part.HIPS_LEFT, Part.HIPS_RIGHT, pelvis, hips[:, 0])
    wide = thick * build.shoulders
    yield Ellipsoid(chest, ribs * np.array([0.166 * wide, 0.36 * tall, 0.116 * thick]), upper)
    yield Ellipsoid(
        waist, spine * np.array([0.152 * thick, 0.42 * tall, 0.108 * thick * build.belly]), middle
    )
    yield Ellipsoid(pelvis, hips * np.array([0.158 * thick, 0.27 * tall, 0.112 * thick]), lower)
    neck = figure.at("Neck1")
    for side, sign in zip(SIDES, (1, -1), strict=True):
        shoulder = figure.at(f"{side}Arm")
        breast = chest + ribs @ np.array([0.072 * sign * wide, 0.02 * tall, 0.05 * thick])
        buttock = pelvis + hips @ np.array([0.073 * sign * thick, -0.1 * tall, -0.042 * thick])
        part = upper.left if sign > 0 else upper.right
        yield Capsule(neck, shoulder, 0.055 * thick, 0.056 * thick, part)
        yield Capsule(chest, shoulder, 0.09 * thick, 0.05 * thick, part)
        yield Ellipsoid(breast, ribs * (thick * np.array([0.085, 0.075, 0.064])), part)
        yield Ellipsoid(
            buttock,
            hips * (thick * np.array([0.086, 0.092, 0.082])),
            lower.left if sign > 0 else lower.right,
        )


def _leg(figure: Figure, side: str, thick: float) -> Iterator[Solid]:
    thigh, shin, foot = _parts(side, "THIGH", "SHIN", "FOOT")
    hip, knee, ankle, toes = (
        figure.at(side + joint) for joint in ("UpLeg", "Leg", "Foot", "ToeBase")
    )
    yield Capsule(hip, knee, 0.088 * thick, 0.056 * thick, thigh)
    calf = knee + 0.3 * (ankle - knee) - 0.014 * thick * figure.turned(side + "Leg")[:, 2]
    yield Capsule(knee, calf, 0.053 * thick, 0.058 * thick, shin)
    yield Capsule(calf, ankle, 0.058 * thick, 0.037 * thick, shin)
    down, ahead = figure.bone(side + "Foot"), figure.turned(side + "Foot")[:, 2]
    heel = ankle + thick * (0.045 * down - 0.03 * ahead)
    tip = toes + 0.07 * thick * figure.turned(side + "ToeBase")[:, 2]
    yield Capsule(ankle, toes, 0.042 * thick, 0.036 * thick, foot)
    yield Capsule(heel, toes, 0.034 * thick, 0.036 * thick, foot)
    yield Capsule(toes, tip, 0.036 * thick, 0.024 * thick, foot)


def _arm(figure: Figure, side: str, thick: float) -> Iterator[Solid]:
    upper_arm, forearm, hand = _parts(side, "UPPER_ARM", "FOREARM", "HAND")
    shoulder, elbow, wrist = (figure.at(side + joint) for joint in ("Arm", "ForeArm", "Hand"))
    yield Capsule(shoulder, elbow, 0.053 * thick, 0.042 * thick, upper_arm)
    bulge = elbow + 0.25 * (wrist - elbow)
    yield Capsule(elbow, bulge, 0.040 * thick, 0.043 * thick, forearm)
    yield Capsule(bulge, wrist, 0.043 * thick, 0.028 * thick, forearm)
    axes = _hand_axes(figure, side)
    centre = wrist + 0.08 * thick * axes[:, 0]
    yield Ellipsoid(centre, axes * (thick * np.array([0.092, 0.022, 0.044])), hand)


def _hand_axes(figure: Figure, side: str) -> Matrix:
    """Return axes as columns: along the fingers, out of the palm, and to the thumb."""
    fingers, frame = figure.bone(side + "Hand"), figure.turned(side + "Hand")
    thumb = frame[:, 2] if abs(fingers @ frame[:, 2]) < 0.9 else frame[:, 1]
    flat = np.cross(thumb, fingers)
    flat /= np.linalg.norm(flat)
    return np.column_stack([fingers, flat, np.cross(fingers, flat)])


def _parts(side: str, *names: str) -> list[Part]:
    return [Part[f"{name}_{side.upper()}"] for name in names]

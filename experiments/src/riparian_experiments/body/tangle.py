"""Check whether the limbs of a figure intersect each other or the trunk."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.skeleton import SIDES, Figure

# Groups of balls along the bones: (from joint, to joint, how far along, radius in metres).
_LIMBS = {
    "thigh": ("UpLeg", "Leg", (0.4, 0.6, 0.8), 0.07),
    "shin": ("Leg", "Foot", (0.1, 0.4, 0.7, 1.0), 0.05),
    "foot": ("Foot", "ToeBase", (0.0, 0.5, 1.0), 0.04),
    "upper arm": ("Arm", "ForeArm", (0.4, 0.7, 1.0), 0.045),
    "forearm": ("ForeArm", "Hand", (0.2, 0.5, 0.8, 1.1, 1.4), 0.035),  # and the hand
}
_NEIGHBOURS = {("thigh", "shin"), ("shin", "foot"), ("upper arm", "forearm")}
_TOUCH = 0.9  # flesh is soft: only closer than this share of the radii is a tangle


def tangled(figure: Figure) -> bool:
    """Return whether two parts overlap. Neighbours at a joint do not count."""
    groups = _groups(figure)
    return any(
        _overlap(*groups[a], *groups[b]) for a, b in combinations(groups, 2) if _can_tangle(a, b)
    )


def _can_tangle(a: tuple[str, str], b: tuple[str, str]) -> bool:
    (side, part), (other_side, other_part) = a, b
    if side == other_side:
        return (part, other_part) not in _NEIGHBOURS
    return True


def _groups(
    figure: Figure,
) -> dict[tuple[str, str], tuple[NDArray[np.float64], float]]:
    """Return the middles and the radius of the balls of each group, by side and name."""
    groups = {}
    for side in SIDES:
        for name, (first, second, along, radius) in _LIMBS.items():
            start, end = figure.at(side + first), figure.at(side + second)
            groups[side, name] = start + np.outer(along, end - start), radius
    left = 0.06 * figure.turned("Spine")[:, 0]
    spine = np.array([figure.at(name) for name in ("Hips", "Spine", "Spine1")])
    groups["", "trunk"] = np.concatenate([spine - left, spine + left]), 0.1
    groups["", "head"] = (figure.at("Head") + figure.turned("Head") @ [0, 0.08, 0.02])[None], 0.1
    return groups


def _overlap(
    middles: NDArray[np.float64], radius: float, others: NDArray[np.float64], other_radius: float
) -> bool:
    apart = np.linalg.norm(middles[:, None] - others[None], axis=2)
    return bool(apart.min() < _TOUCH * (radius + other_radius))

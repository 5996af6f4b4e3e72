"""The nineteen parts of a body, and the background."""

from __future__ import annotations

from enum import IntEnum


class Part(IntEnum):
    """The class of a pixel: the head; torso, legs and arms in three pieces per side; or the background.

    Left and right are the person's own.

    >>> len(Part), Part.HAND_LEFT.value, PART_NAMES[Part.HAND_LEFT]
    (20, 18, 'hand left')
    """

    BACKGROUND = 0
    HEAD = 1
    # The torso, from above.
    CHEST_LEFT = 2
    CHEST_RIGHT = 3
    WAIST_LEFT = 4
    WAIST_RIGHT = 5
    HIPS_LEFT = 6
    HIPS_RIGHT = 7
    # The legs.
    THIGH_LEFT = 8
    THIGH_RIGHT = 9
    SHIN_LEFT = 10
    SHIN_RIGHT = 11
    FOOT_LEFT = 12
    FOOT_RIGHT = 13
    # The arms.
    UPPER_ARM_LEFT = 14
    UPPER_ARM_RIGHT = 15
    FOREARM_LEFT = 16
    FOREARM_RIGHT = 17
    HAND_LEFT = 18
    HAND_RIGHT = 19


PART_NAMES = tuple(part.name.lower().replace("_", " ") for part in Part)

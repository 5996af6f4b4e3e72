"""The camera and its position."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riparian.tools.checks import number, whole
from riparian_experiments.body.rotations import X, Y, turn
from riparian_experiments.body.skeleton import Figure

# Camera coordinates: x to the right of the picture, y down, z away. A person's: x left, y up, z ahead.
# The left hand of a person who faces the camera is on the right of the picture.
_FACE_TO_FACE = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Camera:
    """A pinhole camera. 57 degrees is the Kinect's field of view.

    >>> camera = Camera(320, 240)
    >>> round(camera.focal_length, 1)
    294.7
    """

    width: int = 640
    height: int = 480
    field_of_view: float = 57.0  # degrees, across the width; pixels are square

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1, 2**14))
        if not 0 < number("field_of_view", self.field_of_view, 0) < 180:
            raise ValueError(f"field_of_view must be below 180 degrees, got {self.field_of_view!r}")

    @property
    def focal_length(self) -> float:
        """The focal length in pixels."""
        return self.width / 2 / math.tan(math.radians(self.field_of_view / 2))

    def slopes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x / z of the middle of each column, and y / z of the middle of each row."""
        return self._slopes(self.width), self._slopes(self.height)

    def _slopes(self, pixels: int) -> NDArray[np.float64]:
        return np.asarray((np.arange(pixels) + 0.5 - pixels / 2) / self.focal_length)


@dataclass(frozen=True)
class View:
    """The position of the camera relative to the person."""

    distance: float  # metres, along the optical axis, to the middle of the body
    heading: float  # degrees: 0 faces the camera, 90 is turned to the right of the picture
    pitch: float = 0.0  # degrees that the camera looks down from above
    shift: tuple[float, float] = (0.0, 0.0)  # metres that the middle is right of, below the axis

    def of(self, figure: Figure) -> Figure:
        """Return the figure in camera coordinates: x right, y down, z away."""
        turned = figure.moved(
            turn(X, self.pitch) @ _FACE_TO_FACE @ turn(Y, self.heading - facing(figure)),
            np.zeros(3),
        )
        return turned.moved(np.eye(3), np.array([*self.shift, self.distance]) - _middle(turned))


@dataclass(frozen=True)
class Views:
    """The ranges from which the numbers of a view are drawn, uniformly."""

    distance: tuple[float, float] = (2.2, 4.0)
    heading: tuple[float, float] = (-180.0, 180.0)
    pitch: tuple[float, float] = (-5.0, 15.0)
    shift: tuple[float, float] = (0.2, 0.1)  # the largest, in either direction

    def __post_init__(self) -> None:
        for name in ("distance", "heading", "pitch"):
            least, most = getattr(self, name)
            if not (math.isfinite(least) and math.isfinite(most) and least <= most):
                raise ValueError(f"{name} must be a smaller and a larger number, got {least, most}")
        for part in self.shift:
            number("shift", part, at_least=0)

    def draw(self, rng: np.random.Generator) -> View:
        across, down = self.shift
        return View(
            distance=rng.uniform(*self.distance),
            heading=rng.uniform(*self.heading),
            pitch=rng.uniform(*self.pitch),
            shift=(rng.uniform(-across, across), rng.uniform(-down, down)),
        )


def facing(figure: Figure) -> float:
    """Return the direction of the hips: degrees about the vertical, 0 ahead (z), 90 left (x)."""
    left = figure.at("LeftUpLeg") - figure.at("RightUpLeg")
    return math.degrees(math.atan2(-left[2], left[0]))


def _middle(figure: Figure) -> NDArray[np.float64]:
    """Return the middle of the box around the joints and the top of the head."""
    top = figure.at("Head") + 0.2 * figure.turned("Head")[:, 1]
    points = np.vstack([figure.positions, top])
    return np.asarray((points.min(axis=0) + points.max(axis=0)) / 2)

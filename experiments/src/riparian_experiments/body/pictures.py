"""Pairs of pictures, depth and parts, rendered on demand."""

from __future__ import annotations

from collections.abc import Sequence

from riparian.tools.checks import number, whole
from riparian_experiments.body.camera import Camera, Views
from riparian_experiments.body.flesh import Build, body
from riparian_experiments.body.lazy import Draw, Lazy, generator
from riparian_experiments.body.rendering import FAR, Picture, render
from riparian_experiments.body.skeleton import Pose

_REACH = 1.5  # metres: no body extends further from the middle of its joints


class Pictures(Lazy[Picture]):
    """One picture of each pose, with a random build, from a random place.

    `pictures[i]` is a pair of arrays (height, width): depth in metres along the optical axis,
    float32, and the number of the body part, uint8. The background has the depth `far` and the
    part 0, and every body is nearer. Picture i is always the same, in any process and any order.

    >>> from riparian_experiments.body import RandomPoses
    >>> pictures = Pictures(RandomPoses(100), size=(160, 120))
    >>> depth, parts = pictures[7]
    >>> depth.shape, depth.dtype.name, parts.dtype.name
    ((120, 160), 'float32', 'uint8')
    >>> bool(((depth == 6.0) == (parts == 0)).all())
    True

    Parameters
    ----------
    poses : sequence of Pose
        `RandomPoses`, or the result of `train_test_poses`.
    size : (int, int)
        Width and height.
    seed : int
        The seed of builds and views. Use different seeds for training and test pictures.
    views : Views
        The ranges of the positions of the camera.
    field_of_view : float
        The field of view across the width, in degrees.
    far : float
        The depth of the background, in metres.
    """

    def __init__(
        self,
        poses: Sequence[Pose],
        size: tuple[int, int] = (640, 480),
        seed: int = 0,
        *,
        views: Views | None = None,
        field_of_view: float = 57.0,
        far: float = FAR,
    ) -> None:
        self.poses = poses
        self.camera = Camera(*size, field_of_view)
        self.seed = whole("seed", seed, 0, 2**64 - 1)
        self.views = Views() if views is None else views
        self.far = number("far", far, at_least=0)
        nearest, furthest = self.views.distance
        if not _REACH <= nearest <= furthest <= self.far - _REACH:
            raise ValueError(
                f"distance must be from {_REACH} to far - {_REACH} metres, so that bodies are in front "
                f"of the camera and nearer than far ({self.far}), got {self.views.distance!r}"
            )

    def __len__(self) -> int:
        return len(self.poses)

    def _make(self, i: int) -> Picture:
        rng = generator(self.seed, Draw.PICTURE, i)
        build, view = Build.draw(rng), self.views.draw(rng)
        pose = self.poses[i]
        figure = view.of(pose.skeleton.place(pose.rotations, build.size))
        return render(body(figure, build), self.camera, self.far)

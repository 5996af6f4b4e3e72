"""Pictures of bodies: depth, and the body part that each pixel shows.

A pose is a skeleton with turned joints, from motion capture (BVH) or from the built-in generator. Solids
around the bones (ellipsoids and capsules, sized by a random build) are the flesh. Rays are cast at them
from a random place. So depth and parts are exact, and no download is needed.

skeleton, rotations           joints, bones and poses
random_poses, anatomy, tangle poses drawn at random
bvh, clip, clip_*             poses from motion capture
train_test                    poses to train on and poses to test on
flesh, parts                  solids around the bones, and the part that each shows
camera, surfaces, rendering   depth and parts of every pixel
pictures, drawing             pairs of pictures, rendered on demand, and drawn

>>> train, test = train_test_poses(None, train=200, test=50)
>>> depth, parts = Pictures(train, size=(320, 240))[0]
>>> depth.shape, int(parts.max()) < len(PART_NAMES)
((240, 320), True)
"""

from riparian_experiments.body.bvh import read_bvh
from riparian_experiments.body.camera import Camera, View, Views
from riparian_experiments.body.clip import Clip, ClipError
from riparian_experiments.body.clip_sources import open_clips
from riparian_experiments.body.drawing import (
    COLOURS,
    draw_depth,
    draw_legend,
    draw_pair,
    draw_parts,
)
from riparian_experiments.body.flesh import Build, Capsule, Ellipsoid, body
from riparian_experiments.body.parts import PART_NAMES, Part
from riparian_experiments.body.pictures import Pictures
from riparian_experiments.body.random_poses import RandomPoses
from riparian_experiments.body.rendering import FAR, render
from riparian_experiments.body.skeleton import STANDARD, Pose, Skeleton
from riparian_experiments.body.train_test import train_test_poses

__all__ = [
    "Pictures",
    "train_test_poses",
    "Part",
    "PART_NAMES",
    "COLOURS",
    "FAR",
    "Pose",
    "RandomPoses",
    "Skeleton",
    "STANDARD",
    "Clip",
    "ClipError",
    "open_clips",
    "read_bvh",
    "Build",
    "body",
    "Capsule",
    "Ellipsoid",
    "Camera",
    "View",
    "Views",
    "render",
    "draw_pair",
    "draw_depth",
    "draw_parts",
    "draw_legend",
]

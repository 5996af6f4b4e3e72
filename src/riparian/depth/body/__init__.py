"""Pictures of bodies: depth, and the body part that each pixel shows.

A pose is a skeleton with turned joints, from motion capture (BVH) or from the built-in generator. Flesh
is put on it, ellipsoids and capsules sized by a random build, and rays are cast at that from a random
place. So depth and parts are exact, and there is nothing to download.

>>> train, test = train_test_poses(None, train=200, test=50)
>>> depth, parts = Pictures(train, size=(320, 240))[0]
>>> depth.shape, int(parts.max()) < len(PART_NAMES)
((240, 320), True)
"""

from riparian.depth.body.bvh import read_bvh
from riparian.depth.body.camera import Camera, View, Views
from riparian.depth.body.clip import Clip, ClipError
from riparian.depth.body.clips import open_clips
from riparian.depth.body.colours import COLOURS
from riparian.depth.body.draw import draw_depth, draw_legend, draw_pair, draw_parts
from riparian.depth.body.parts import PART_NAMES, Part
from riparian.depth.body.pictures import Pictures
from riparian.depth.body.pose import Pose
from riparian.depth.body.random_poses import RandomPoses
from riparian.depth.body.render import FAR, render
from riparian.depth.body.shape import Build, body
from riparian.depth.body.skeleton import STANDARD, Skeleton
from riparian.depth.body.solids import Capsule, Ellipsoid
from riparian.depth.body.split import train_test_poses

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

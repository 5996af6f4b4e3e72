"""Pictures of bodies: depth, and the body part that each pixel shows.

A pose is a skeleton with turned joints, from motion capture (BVH) or from the built-in generator. Flesh
is put on it, ellipsoids and capsules sized by a random build, and rays are cast at that from a random
place. So depth and parts are exact, and there is nothing to download.

`poses` holds skeletons and what they do, `motion_capture` reads poses from files, `flesh` puts solids
on them, `picture` holds the camera and the pictures it takes.

>>> train, test = train_test_poses(None, train=200, test=50)
>>> depth, parts = Pictures(train, size=(320, 240))[0]
>>> depth.shape, int(parts.max()) < len(PART_NAMES)
((240, 320), True)
"""

from riparian.depth.body.flesh.build import Build, body
from riparian.depth.body.flesh.parts import PART_NAMES, Part
from riparian.depth.body.flesh.solids import Capsule, Ellipsoid
from riparian.depth.body.motion_capture.bvh import read_bvh
from riparian.depth.body.motion_capture.clip import Clip, ClipError
from riparian.depth.body.motion_capture.sources import open_clips
from riparian.depth.body.picture.camera import Camera, View, Views
from riparian.depth.body.picture.colours import COLOURS
from riparian.depth.body.picture.drawing import draw_depth, draw_legend, draw_pair, draw_parts
from riparian.depth.body.picture.pictures import Pictures
from riparian.depth.body.picture.render import FAR, render
from riparian.depth.body.poses.pose import Pose
from riparian.depth.body.poses.random_poses import RandomPoses
from riparian.depth.body.poses.skeleton import STANDARD, Skeleton
from riparian.depth.body.train_test import train_test_poses

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

"""BVH files made by hand, for the tests that read them."""

from __future__ import annotations

import io
import tarfile

import numpy as np

from riparian_experiments.body import STANDARD
from riparian_experiments.body.bvh import UNIT

ROTATIONS = "Zrotation Yrotation Xrotation"
POSITIONS = "Xposition Yposition Zposition"


def hierarchy(skeleton=STANDARD):
    """The first half of a file: the joints, each on lines of its own."""
    lines = ["HIERARCHY"]

    def write(joint, depth):
        root = skeleton.parents[joint] < 0
        lines.append("\t" * depth + ("ROOT " if root else "JOINT ") + skeleton.names[joint])
        lines.append("\t" * depth + "{")
        offset = " ".join(f"{x:.6f}" for x in skeleton.offsets[joint] / UNIT)
        lines.append("\t" * depth + f"\tOFFSET {offset}")
        channels = f"6 {POSITIONS} {ROTATIONS}" if root else f"3 {ROTATIONS}"
        lines.append("\t" * depth + f"\tCHANNELS {channels}")
        children = [i for i, parent in enumerate(skeleton.parents) if parent == joint]
        for child in children:
            write(child, depth + 1)
        if not children:
            lines.extend(
                "\t" * (depth + 1) + text for text in ("End Site", "{", "\tOFFSET 0 1 0", "}")
            )
        lines.append("\t" * depth + "}")

    write(0, 0)
    return lines


def joints_of(lines):
    """The names of the joints in the order of the file, which is that of the channels."""
    return [line.split()[1] for line in lines if line.split()[0] in ("ROOT", "JOINT")]


def motion(frames):
    """The second half: one line for each row of channels."""
    rows = [" ".join(f"{value:g}" for value in frame) for frame in frames]
    return ["MOTION", f"Frames: {len(rows)}", "Frame Time: .0333", *rows]


def bvh(frames=3, seed=0):
    """A whole file: a T-pose, then small movements."""
    head = hierarchy()
    channels = np.random.default_rng(seed).normal(0, 10, (frames, 3 + 3 * len(joints_of(head))))
    channels[0] = 0
    return head + motion(channels)


def data(lines):
    return ("\n".join(lines) + "\n").encode()


def write_folder(folder, clips, frames=5):
    for i in range(clips):
        place = folder / f"{i % 2:02}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{i:02}.bvh").write_bytes(data(bvh(frames, seed=i)))
    return folder


def write_archive(path, clips, frames=5):
    with tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w") as archive:
        add(archive, "README", b"no clip")
        for i in range(clips):
            add(archive, f"clips/{i:02}.bvh", data(bvh(frames, seed=i)))
    return path


def add(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))

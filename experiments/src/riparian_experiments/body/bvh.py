"""Read motion capture from BVH text: a hierarchy of joints, and a line of channels for each frame.

It is made for the CMU motion capture in B. Hahne's conversion, in which one unit is 5.644 cm and frame 0
is an artificial T-pose. "The data used in this project was obtained from mocap.cs.cmu.edu. The database
was created with funding from NSF EIA-0196217."

Files may come from anywhere, so nothing in them is trusted: any mistake is an error that names the file
and the line. Positions are read but not used, because the camera decides where the person is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from riparian_experiments.body.clip import Clip, ClipError
from riparian_experiments.body.skeleton import NEEDED_JOINTS, Skeleton

UNIT = 0.05644  # metres

_AXES = {"Xrotation": 0, "Yrotation": 1, "Zrotation": 2}
_POSITIONS = ("Xposition", "Yposition", "Zposition")
_MOST_JOINTS = 1000
_FURTHEST = 1e4  # units: a larger offset is a mistake, long before numbers overflow


@dataclass
class _Joint:
    """A joint, perhaps read only in part."""

    name: str
    line: int  # where it begins
    parent: int
    offset: list[float] | None = None
    columns: list[int] | None = None  # of its three rotations, in a frame
    axes: list[int] = field(default_factory=list)  # that they turn about


def read_bvh(data: bytes, name: str) -> Clip:
    """Return the clip in a file. `name` is the name of the file, for the clip and for errors."""
    return _Reader(data, name).clip()


class _Reader:
    """Reads the lines once, and counts them."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        # Latin-1 accepts any byte; an error about a bad number names its line.
        self.lines = self._lines(data.decode("latin-1"))
        self.line = 0
        self.joints: list[_Joint] = []
        self.channels = 0  # of all joints so far

    def _lines(self, text: str) -> Iterator[list[str]]:
        """Yield the words of each line that has any."""
        for number, line in enumerate(text.split("\n"), start=1):
            words = line.split()
            if words:
                self.line = number
                yield words

    def fail(self, reason: str, line: int | None = None) -> NoReturn:
        raise ClipError(self.name, line or self.line or 1, reason)

    def next(self, expected: str) -> list[str]:
        """Return the next line; raise an error if the file ends."""
        words = next(self.lines, None)
        if words is None:
            self.fail(f"expected {expected}, but the file ends")
        return words

    def expect(self, *expected: str) -> None:
        words = self.next(" ".join(expected))
        if words != list(expected):
            self.fail(f"expected {' '.join(expected)}, got {_shown(words)}")

    def number(self, word: str, what: str) -> float:
        try:
            value = math.nan if "_" in word else float(word)  # only Python reads 1_000 as a number
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.fail(f"{what} must be a finite number, got {_shown([word])}")
        return value

    def whole(self, word: str, what: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            self.fail(f"{what} must be a whole number, got {_shown([word])}")
        return int(word)

    # -- the hierarchy -------------------------------------------------------------------------------

    def hierarchy(self) -> None:
        self.expect("HIERARCHY")
        words = self.next("ROOT and a name")
        if words[0] != "ROOT" or len(words) < 2:
            self.fail(f"expected ROOT and a name, got {_shown(words)}")
        open_joints = [self.begin(words, parent=-1)]
        while open_joints:
            words = self.next("OFFSET, CHANNELS, JOINT, End Site or }")
            match words:
                case ["OFFSET", *numbers]:
                    self.offset(self.joints[open_joints[-1]], numbers)
                case ["CHANNELS", *rest]:
                    self.set_channels(self.joints[open_joints[-1]], rest)
                case ["JOINT", _, *_]:
                    open_joints.append(self.begin(words, parent=open_joints[-1]))
                case ["End", "Site"]:
                    self.end_site()
                case ["}"]:
                    self.finish(self.joints[open_joints.pop()])
                case _:
                    self.fail(
                        f"expected OFFSET, CHANNELS, JOINT, End Site or }}, got {_shown(words)}"
                    )

    def begin(self, words: list[str], parent: int) -> int:
        name = " ".join(words[1:])
        if any(joint.name == name for joint in self.joints):
            self.fail(f"the joint {_shown([name])} appears twice")
        if len(self.joints) == _MOST_JOINTS:
            self.fail(f"expected at most {_MOST_JOINTS} joints")
        self.joints.append(_Joint(name, self.line, parent))
        self.expect("{")
        return len(self.joints) - 1

    def offset(self, joint: _Joint, words: list[str]) -> None:
        if joint.offset is not None:
            self.fail(f"{joint.name} has a second OFFSET")
        if len(words) != 3:
            self.fail(f"OFFSET must have 3 numbers, got {len(words)}")
        joint.offset = [self.number(word, "OFFSET") for word in words]
        if max(map(abs, joint.offset)) > _FURTHEST:
            self.fail(f"OFFSET must be within {_FURTHEST:g} units, got {_shown(words)}")

    def set_channels(self, joint: _Joint, words: list[str]) -> None:
        if joint.columns is not None:
            self.fail(f"{joint.name} has a second CHANNELS")
        if not words:
            self.fail("CHANNELS must be followed by their number")
        count, names = self.whole(words[0], "the number of CHANNELS"), words[1:]
        if count != len(names):
            self.fail(f"expected {count} names of CHANNELS, got {len(names)}")
        for name in names:
            if name not in _AXES and name not in _POSITIONS:
                self.fail(f"unknown channel {_shown([name])}")
            if names.count(name) > 1:
                self.fail(f"the channel {name} appears twice")
        rotations = [name for name in names if name in _AXES]
        if len(rotations) != 3:
            missing = ", ".join(name for name in _AXES if name not in names)
            self.fail(f"{joint.name} needs three rotations, but has no {missing}")
        joint.columns = [self.channels + names.index(name) for name in rotations]
        joint.axes = [_AXES[name] for name in rotations]
        self.channels += count

    def end_site(self) -> None:
        """Check the end of the last bone, which is not used."""
        end = _Joint("End Site", self.line, -1)
        self.expect("{")
        words = self.next("OFFSET")
        if words[0] != "OFFSET":
            self.fail(f"expected OFFSET, got {_shown(words)}")
        self.offset(end, words[1:])
        self.expect("}")

    def finish(self, joint: _Joint) -> None:
        if joint.offset is None:
            self.fail(f"{joint.name} has no OFFSET", joint.line)
        if joint.columns is None:
            self.fail(f"{joint.name} has no CHANNELS", joint.line)

    def skeleton(self) -> Skeleton:
        names = tuple(joint.name for joint in self.joints)
        missing = [name for name in NEEDED_JOINTS if name not in names]
        if missing:
            self.fail(f"the body needs the joint {missing[0]}, which the hierarchy does not have")
        try:
            return Skeleton(
                names=names,
                parents=tuple(joint.parent for joint in self.joints),
                offsets=UNIT * np.array([joint.offset for joint in self.joints]),
            )
        except ValueError as error:
            self.fail(str(error))

    # -- the motion ----------------------------------------------------------------------------------

    def frames(self) -> NDArray[np.float64]:
        self.expect("MOTION")
        words = self.next("Frames: and their number")
        if words[0] != "Frames:" or len(words) != 2:
            self.fail(f"expected Frames: and their number, got {_shown(words)}")
        promised, promised_at = self.whole(words[1], "the number of Frames"), self.line
        words = self.next("Frame Time: and seconds")
        if words[:2] != ["Frame", "Time:"] or len(words) != 3:
            self.fail(f"expected Frame Time: and seconds, got {_shown(words)}")
        if self.number(words[2], "Frame Time") <= 0:
            self.fail(f"Frame Time must be above 0, got {_shown(words[2:])}")
        frames: list[NDArray[np.float64]] = []
        for words in self.lines:
            if len(frames) == promised:
                self.fail(
                    f"expected the end after {promised} frames, as line {promised_at} promises"
                )
            frames.append(self.frame(words))
        if len(frames) < promised:
            self.fail(
                f"line {promised_at} promises {promised} frames, but the file ends after {len(frames)}"
            )
        if promised < 2:
            self.fail(f"expected a pose after the T-pose, got {promised} frames", promised_at)
        return np.array(frames)

    def frame(self, words: list[str]) -> NDArray[np.float64]:
        if len(words) != self.channels:
            self.fail(f"a frame must have {self.channels} numbers, got {len(words)}")
        try:
            values = np.array([float(word) for word in words])
        except ValueError:
            values = np.array([math.nan])
        if not np.isfinite(values).all() or any("_" in word for word in words):
            for i, word in enumerate(words, start=1):
                self.number(word, f"number {i} of the frame")
        return values

    def clip(self) -> Clip:
        self.hierarchy()
        skeleton = self.skeleton()
        frames = self.frames()
        return Clip(
            name=self.name,
            skeleton=skeleton,
            axes=np.array([joint.axes for joint in self.joints]),
            angles=frames[1:, np.array([joint.columns for joint in self.joints])],
        )


def _shown(words: list[str]) -> str:
    """Quote words of a file in an error: safe to print, and not too long."""
    text = ascii(" ".join(words[:8]))
    return text if len(text) <= 60 else text[:57] + "..."

"""Reading BVH: the angles, and errors that name the file and the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from motion_capture import ROTATIONS, bvh, data, hierarchy, joints_of, motion

from riparian_experiments.body import STANDARD, ClipError, read_bvh
from riparian_experiments.body.rotations import X, Y, Z, turn


def read(lines):
    return read_bvh(data(lines), "clip.bvh")


def refused(lines):
    with pytest.raises(ClipError) as caught:
        read(lines)
    return str(caught.value)


HEAD = hierarchy()
JOINTS = joints_of(HEAD)
CHANNELS = 3 + 3 * len(JOINTS)
WHOLE = bvh(frames=3)


def line_of(text, after=0):
    """The number of the first line with this text, counted from 1."""
    return next(i for i, line in enumerate(WHOLE, start=1) if text in line and i > after)


def with_line(number, text):
    return [*WHOLE[: number - 1], *([] if text is None else [text]), *WHOLE[number:]]


# -- what is read ------------------------------------------------------------------------------------


def test_the_skeleton_is_read_in_metres():
    clip = read(WHOLE)
    assert sorted(clip.skeleton.names) == sorted(STANDARD.names)
    for name in STANDARD.names:
        ours, read_one = STANDARD.index[name], clip.skeleton.index[name]
        assert clip.skeleton.offsets[read_one] == pytest.approx(STANDARD.offsets[ours], abs=1e-6)
    assert clip.skeleton.stature == pytest.approx(STANDARD.stature, abs=1e-5)


def test_the_t_pose_is_no_pose():
    clip = read(WHOLE)
    assert len(clip) == 2
    assert not np.allclose(clip.pose(0).rotations, np.eye(3))
    assert (clip.pose(1).clip, clip.pose(1).frame) == ("clip.bvh", 1)


def test_rotations_are_those_of_the_joint_in_the_order_of_its_channels():
    frame = np.zeros(CHANNELS)
    at = 3 + 3 * JOINTS.index("LeftForeArm")
    frame[at : at + 3] = 10, 20, 30
    pose = read(HEAD + motion([np.zeros(CHANNELS), frame])).pose(0)
    rotation = pose.rotations[pose.skeleton.index["LeftForeArm"]]
    assert np.allclose(rotation, turn(Z, 10) @ turn(Y, 20) @ turn(X, 30))
    still = np.delete(pose.rotations, pose.skeleton.index["LeftForeArm"], axis=0)
    assert np.allclose(still, np.eye(3))


def test_channels_may_come_in_any_order_and_with_positions():
    lines = HEAD.copy()
    at = lines.index(next(line for line in lines if "LeftArm" in line)) + 3
    lines[at] = "CHANNELS 6 Yrotation Xposition Xrotation Yposition Zrotation Zposition"
    frame = np.zeros(CHANNELS + 3)
    first = 3 + 3 * JOINTS.index("LeftArm")
    frame[first : first + 6] = 10, 99, 20, 99, 30, 99
    pose = read(lines + motion([np.zeros(CHANNELS + 3), frame])).pose(0)
    rotation = pose.rotations[pose.skeleton.index["LeftArm"]]
    assert np.allclose(rotation, turn(Y, 10) @ turn(X, 20) @ turn(Z, 30))


def test_a_raised_arm_is_raised_in_the_figure():
    frame = np.zeros(CHANNELS)
    frame[3 + 3 * JOINTS.index("LeftArm")] = 90  # about Z: from the side, upwards
    pose = read(HEAD + motion([np.zeros(CHANNELS), frame])).pose(0)
    figure = pose.skeleton.place(pose.rotations)
    assert figure.at("LeftHand") - figure.at("LeftArm") == pytest.approx([0, 0.54, 0], abs=1e-5)


def test_blank_lines_tabs_and_line_ends_of_other_systems_do_no_harm():
    loose = "\r\n\r\n".join("  " + line.replace(" ", "\t  ") for line in WHOLE)
    assert np.array_equal(read_bvh(loose.encode(), "clip.bvh").angles, read(WHOLE).angles)


# -- what is refused ---------------------------------------------------------------------------------

ROOT_CHANNELS = line_of("CHANNELS 6")
LEG = line_of("JOINT LeftLeg")
FRAMES = line_of("Frames:")

BROKEN = {
    "empty": ([], 1, "expected HIERARCHY, but the file ends"),
    "no hierarchy": (["MOTION"], 1, "expected HIERARCHY, got 'MOTION'"),
    "no root": (with_line(2, "JOINT Hips"), 2, "expected ROOT and a name, got 'JOINT Hips'"),
    "nameless root": (with_line(2, "ROOT"), 2, "expected ROOT and a name, got 'ROOT'"),
    "no brace": (with_line(3, None), 3, "expected {, got 'OFFSET"),
    "two numbers": (with_line(LEG + 2, "OFFSET 0 1"), LEG + 2, "OFFSET must have 3 numbers, got 2"),
    "a word": (with_line(LEG + 2, "OFFSET 0 one 2"), LEG + 2, "must be a finite number, got 'one'"),
    "not finite": (with_line(LEG + 2, "OFFSET 0 1e999 2"), LEG + 2, "OFFSET must be a finite number"),
    "too far": (with_line(LEG + 2, "OFFSET 0 1e5 2"), LEG + 2, "OFFSET must be within 10000 units"),
    "Python's": (with_line(LEG + 2, "OFFSET 0 1_0 2"), LEG + 2, "OFFSET must be a finite number"),
    "no offset": (with_line(LEG + 2, None), LEG, "LeftLeg has no OFFSET"),
    "two offsets": (with_line(LEG + 3, "OFFSET 0 1 2"), LEG + 3, "LeftLeg has a second OFFSET"),
    "no channels": (with_line(LEG + 3, None), LEG, "LeftLeg has no CHANNELS"),
    "two channels": (
        with_line(LEG + 3, f"CHANNELS 3 {ROTATIONS}\nCHANNELS 3 {ROTATIONS}"),
        LEG + 4, "LeftLeg has a second CHANNELS",
    ),
    "uncounted": (with_line(LEG + 3, "CHANNELS"), LEG + 3, "CHANNELS must be followed by their number"),
    "miscounted": (with_line(LEG + 3, f"CHANNELS 4 {ROTATIONS}"), LEG + 3, "expected 4 names"),
    "broken count": (
        with_line(LEG + 3, f"CHANNELS three {ROTATIONS}"), LEG + 3,
        "the number of CHANNELS must be a whole number, got 'three'",
    ),
    "unknown channel": (
        with_line(LEG + 3, "CHANNELS 3 Zrotation Yrotation Wrotation"), LEG + 3,
        "unknown channel 'Wrotation'",
    ),
    "twice a channel": (
        with_line(LEG + 3, "CHANNELS 3 Zrotation Yrotation Zrotation"), LEG + 3,
        "the channel Zrotation appears twice",
    ),
    "missing channel": (
        with_line(LEG + 3, "CHANNELS 2 Zrotation Yrotation"), LEG + 3,
        "LeftLeg needs three rotations, but has no Xrotation",
    ),
    "only positions": (
        with_line(ROOT_CHANNELS, "CHANNELS 3 Xposition Yposition Zposition"), ROOT_CHANNELS,
        "Hips needs three rotations, but has no Xrotation, Yrotation, Zrotation",
    ),
    "unknown word": (with_line(LEG, "LIMB LeftLeg"), LEG, "expected OFFSET, CHANNELS, JOINT, End"),
    "twice a joint": (with_line(LEG, "JOINT Hips"), LEG, "the joint 'Hips' appears twice"),
    "missing joint": (
        with_line(LEG, "JOINT Knee"), line_of("MOTION") - 1,
        "the body needs the joint LeftLeg, which the hierarchy does not have",
    ),
    "end without offset": (
        with_line(line_of("End Site") + 2, "CHANNELS 0"), line_of("End Site") + 2, "expected OFFSET, got"
    ),
    "too small": (
        [line if "OFFSET" not in line else "OFFSET 0 0.01 0" for line in WHOLE],
        line_of("MOTION") - 1, "a body must measure 0.5 to 3.0 metres",
    ),
    "ends in the hierarchy": (WHOLE[:LEG], LEG, "expected {, but the file ends"),
    "ends with the hierarchy": (WHOLE[: FRAMES - 2], FRAMES - 2, "expected MOTION, but the file ends"),
    "second root": (with_line(FRAMES - 1, "ROOT Other"), FRAMES - 1, "expected MOTION, got 'ROOT"),
    "no frames": (with_line(FRAMES, "Frame Time: 1"), FRAMES, "expected Frames: and their number"),
    "broken frames": (with_line(FRAMES, "Frames: -3"), FRAMES, "Frames must be a whole number, got"),
    "broken time": (with_line(FRAMES + 1, "Frame Time: x"), FRAMES + 1, "Frame Time must be a finite"),
    "no time": (with_line(FRAMES + 1, "Frame Time: 0"), FRAMES + 1, "Frame Time must be above 0, got"),
    "timeless": (with_line(FRAMES + 1, None), FRAMES + 1, "expected Frame Time: and seconds"),
    "short frame": (
        with_line(FRAMES + 3, "1 2 3"), FRAMES + 3, f"a frame must have {CHANNELS} numbers, got 3"
    ),
    "broken number": (
        with_line(FRAMES + 3, " ".join(["0"] * 9 + ["1.2.3"] + ["0"] * (CHANNELS - 10))), FRAMES + 3,
        "number 10 of the frame must be a finite number, got '1.2.3'",
    ),
    "nan": (
        with_line(FRAMES + 4, " ".join(["0"] * (CHANNELS - 1) + ["nan"])), FRAMES + 4,
        f"number {CHANNELS} of the frame must be a finite number, got 'nan'",
    ),
    "truncated": (
        with_line(FRAMES + 4, None), FRAMES + 3,
        f"line {FRAMES} promises 3 frames, but the file ends after 2",
    ),
    "too long": (
        [*WHOLE, WHOLE[-1]], FRAMES + 5, f"expected the end after 3 frames, as line {FRAMES} promises"
    ),
    "only the T-pose": (HEAD + motion(np.zeros((1, CHANNELS))), FRAMES, "after the T-pose, got 1"),
    "no frame at all": (HEAD + motion([]), FRAMES, "a pose after the T-pose, got 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_an_error_names_file_and_line(case):
    lines, line, reason = BROKEN[case]
    message = refused(lines)
    assert message.startswith(f"clip.bvh:{line}: "), message
    assert reason in message, message


def test_endless_joints_are_refused():
    lines = ["HIERARCHY", "ROOT Hips", "{"]
    for i in range(5000):
        lines += [f"JOINT j{i}", "{"]
    assert "at most 1000 joints" in refused(lines)


def test_an_excerpt_of_a_file_is_short_and_printable():
    message = refused(["HIERARCHY", "\x1b[31m" + "é" * 10_000])
    assert len(message) < 200 and message.isascii() and "\x1b" not in message


def test_an_error_has_its_place():
    with pytest.raises(ClipError) as caught:
        read(["HIERARCHY", "ROT Hips"])
    assert (caught.value.file, caught.value.line) == ("clip.bvh", 2)


# -- hostile files -----------------------------------------------------------------------------------


def survives(content):
    """A clip, or the one error there is; numpy's warnings are errors in the tests."""
    try:
        clip = read_bvh(content, "clip.bvh")
    except ClipError:
        return
    pose = clip.pose(0)
    assert np.isfinite(pose.skeleton.place(pose.rotations).positions).all()


@given(st.binary(max_size=300))
def test_any_bytes_are_a_clip_or_an_error(content):
    survives(content)


WORDS = ["HIERARCHY", "ROOT", "JOINT", "Hips", "{", "}", "OFFSET", "CHANNELS", "End Site", "MOTION",
         "Frames:", "Frame Time:", "0", "3", "-1", "1e308", "nan", "Zrotation", "\n", "\0",
         "\x85"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_words_are_a_clip_or_an_error(words):
    survives(" ".join(words).encode("latin-1"))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_a_file_with_some_words_changed_is_a_clip_or_an_error(draw):
    lines = WHOLE.copy()
    for _ in range(draw.draw(st.integers(1, 4))):
        at = draw.draw(st.integers(0, max(len(lines) - 1, 0)))
        change = draw.draw(st.sampled_from(["drop", "twice", "cut", "word"]))
        words = "".join(lines[at : at + 1]).split()
        if change == "drop":
            del lines[at : at + 1]
        elif change == "twice":
            lines[at:at] = lines[at : at + 1]
        elif change == "cut":
            lines = lines[: at + 1]
        elif words:
            words[draw.draw(st.integers(0, len(words) - 1))] = draw.draw(st.sampled_from(WORDS))
            lines[at] = " ".join(words)
    survives(data(lines))


@settings(deadline=None)
@given(st.integers(0, len(data(WHOLE)) - 1), st.integers(1, 255))
def test_a_file_with_a_changed_byte_is_a_clip_or_an_error(at, change):
    content = bytearray(data(WHOLE))
    content[at] ^= change
    survives(bytes(content))

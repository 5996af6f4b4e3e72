"""Draw poses to train on and poses to test on, from clips or at random."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riparian.tools.checks import number, whole
from riparian_experiments.body.clip import Clip, Clips
from riparian_experiments.body.clip_lists import LISTS, ListedClips
from riparian_experiments.body.clip_sources import open_clips
from riparian_experiments.body.lazy import Draw, generator
from riparian_experiments.body.random_poses import RandomPoses
from riparian_experiments.body.skeleton import Pose

_TEST_ROW = 2**32  # the first random pose to test on; poses to train on end before it


def train_test_poses(
    path: str | PathLike[str] | None,
    train: int,
    test: int,
    *,
    seed: int = 0,
    test_share: float = 0.2,
    share_clips: bool = False,
) -> tuple[Sequence[Pose], Sequence[Pose]]:
    """Return poses to train on, and poses to test on, from different clips unless `share_clips`.

    They are drawn evenly over the clips: each clip gives one pose before any clip gives a second one. So
    the first poses are spread as evenly as all of them, and they stay the same if you ask for more. A
    clip that has given all its frames starts again.

    >>> train, test = train_test_poses(None, 2000, 500)
    >>> len(train), len(test)
    (2000, 500)

    Parameters
    ----------
    path : path or None
        Motion capture: a folder of .bvh files, a .tar.xz or .tar of them, one .bvh file, or the .npz
        of the paper's clip lists. None: poses of the built-in generator.
    train, test : int
        The number of poses to draw.
    seed : int
        The seed of the split of the clips, and of the draws.
    test_share : float
        The share of the clips for testing.
    share_clips : bool
        Whether train and test poses may come from the same clips. Even then, no frame is in both. The
        .npz file then gives the authors' own lists, in their order.
    """
    train, test = whole("train", train, 0, _TEST_ROW), whole("test", test, 0, _TEST_ROW)
    seed = whole("seed", seed, 0, 2**64 - 1)
    if not 0 < number("test_share", test_share, at_least=0) < 1:
        raise ValueError(f"test_share must be above 0 and below 1, got {test_share!r}")
    if path is None:
        return RandomPoses(train, seed), RandomPoses(test, seed, first=_TEST_ROW)
    clips = open_clips(path)
    if share_clips and isinstance(clips, ListedClips):
        return clips.listed(LISTS[0], train), clips.listed(LISTS[1], test)
    return _drawn(clips, train, test, seed, test_share, share_clips)


class _Request(NamedTuple):
    """A pose to read."""

    to_test: bool
    place: int  # among the poses to train or to test on
    turn: int  # the number of earlier poses of the clip in the same set


def _drawn(
    clips: Clips, train: int, test: int, seed: int, test_share: float, share_clips: bool
) -> tuple[list[Pose], list[Pose]]:
    parts = (np.arange(len(clips.names)),) * 2 if share_clips else _split(clips, seed, test_share)
    requests = _requests(clips, parts, (train, test), seed)
    poses: dict[tuple[bool, int], Pose] = {}
    for clip in clips.read(list(requests)):
        order = generator(seed, Draw.FRAMES, clips.names.index(clip.name)).permutation(len(clip))
        frames = _halved(clip, order, test_share) if share_clips else (order, order)
        for to_test, place, turn in requests[clip.name]:
            order = frames[to_test]
            poses[to_test, place] = clip.pose(int(order[turn % len(order)]))
    return [poses[False, i] for i in range(train)], [poses[True, i] for i in range(test)]


def _requests(
    clips: Clips, parts: Sequence[NDArray[np.int64]], counts: Sequence[int], seed: int
) -> dict[str, list[_Request]]:
    """Return the poses wanted of each clip. Each gives one before any gives a second, in a new order."""
    requests: dict[str, list[_Request]] = {}
    for to_test in (False, True):
        part, count = parts[to_test], counts[to_test]
        for place in range(count):
            turn, at = divmod(place, len(part))
            if at == 0:
                order = generator(seed, Draw.TURN, to_test, turn).permutation(part)
            requests.setdefault(clips.names[order[at]], []).append(_Request(to_test, place, turn))
    return requests


def _split(
    clips: Clips, seed: int, test_share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the clips to train on and of those to test on."""
    count = len(clips.names)
    if count < 2:
        raise ValueError(
            f"there is one clip in {clips.path}: to draw both train and test poses from it, set "
            "share_clips=True"
        )
    shuffled = generator(seed, Draw.SPLIT).permutation(count)
    tests = _portion(test_share, count)
    return np.sort(shuffled[tests:]), np.sort(shuffled[:tests])


def _halved(
    clip: Clip, order: NDArray[np.int64], test_share: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the frames of a clip to train on and those to test on."""
    if len(clip) < 2:
        raise ValueError(f"{clip.name} must have two poses to share between train and test, got 1")
    tests = _portion(test_share, len(clip))
    return order[tests:], order[:tests]


def _portion(share: float, count: int) -> int:
    """Return a share of a count: at least one, and not all."""
    return min(max(round(share * count), 1), count - 1)

"""Whether the WAL of a log lost transactions that were acknowledged.

SQLite reads a WAL up to the first frame whose checksum is wrong, and drops the rest. That is right for
a last transaction that a power cut interrupted. But a commit begins only when the one before it is on
disk, so two commits behind a wrong checksum mean that the file was damaged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADER, FRAME = 32, 24  # bytes
LITTLE, BIG = 0x377F0682, 0x377F0683  # in which order of bytes checksums are computed
AT_ONCE = 2048  # frames
UNKNOWN = 2**31  # any number of commits

Words = NDArray[np.uint32]


def lost_commits(path: Path) -> int:
    """Return how many commits follow the first unreadable frame; `UNKNOWN` without a header."""
    try:
        file = open(path, "rb")  # noqa: SIM115, closed below
    except FileNotFoundError:
        return 0
    with file:
        header = file.read(HEADER)
        if len(header) < HEADER:
            return 0
        magic, _, page, _, *salts = np.frombuffer(header[:24], ">u4").tolist()
        order = {LITTLE: "<u4", BIG: ">u4"}.get(magic)
        before = np.frombuffer(header[24:], ">u4").astype(np.uint32)
        start = np.frombuffer(header[:24], np.uint8)[None]
        readable = (
            order is not None and (_sums(start, order, np.zeros((1, 2), np.uint32)) == before).all()
        )
        if not readable:  # SQLite ignores the whole file; the header is on disk before any frame is
            return UNKNOWN if file.read(FRAME) else 0
        lost, broken = 0, False
        while frames := file.read(AT_ONCE * (FRAME + page)):
            whole = len(frames) // (FRAME + page)
            table = np.frombuffer(frames[: whole * (FRAME + page)], np.uint8).reshape(whole, -1)
            lost, broken, before = _counted(table, order, salts, before, lost, broken)
        return lost


def _counted(
    table: NDArray[np.uint8], order: Any, salts: list[int], before: Words, lost: int, broken: bool
) -> tuple[int, bool, Words]:
    heads = np.ascontiguousarray(table[:, :FRAME]).view(">u4").astype(np.uint32)
    stored = heads[:, 4:6]
    previous = np.concatenate([before[None], stored[:-1]])
    data = np.concatenate([table[:, :8], table[:, FRAME:]], axis=1)
    ours = (heads[:, 2:4] == np.array(salts, np.uint32)).all(axis=1)  # and not of an earlier round
    right = ours & (_sums(data, order, previous) == stored).all(axis=1)
    wrong = np.flatnonzero(~right)
    first = 0 if broken else int(wrong[0]) if len(wrong) else len(table)
    lost += int((ours[first:] & (heads[first:, 1] > 0)).sum())
    return lost, broken or len(wrong) > 0, stored[-1] if len(stored) else before


def _sums(rows: NDArray[np.uint8], order: str, before: Words) -> Words:
    """Return SQLite's checksum of each row, continued from another: all rows at once, word by word."""
    words = np.ascontiguousarray(rows).view(order).astype(np.uint32).T
    a, b = before[:, 0].copy(), before[:, 1].copy()
    for even, odd in zip(words[::2], words[1::2], strict=True):
        a += even + b
        b += odd + a
    return np.stack([a, b], axis=1)

"""How a stream is read while it is learned."""

from __future__ import annotations

from dataclasses import dataclass

BIG_BLOCK = 8192  # rows learned at a time where nothing is tested


@dataclass(frozen=True)
class Course:
    """What decides which rows are learned, and in which order and blocks."""

    passes: int
    shuffle_window: int  # in rows; 0: do not shuffle
    limit: int | None  # rows of each pass
    block: int  # rows that are predicted, then learned, at a time

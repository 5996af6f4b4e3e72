"""What a program keeps with a forest, in the same file and under the same checksum.

The command line keeps here what the columns of its files are. A forest knows nothing of it.
"""

from __future__ import annotations

from typing import Any

from riparian.sklearn.base import ForestClassifier
from riparian.snapshot.load import forest_of
from riparian.snapshot.save import to_bytes
from riparian.snapshot.state import decode


def to_bytes_with_extra(forest: ForestClassifier, extra: dict[str, Any]) -> bytes:
    """The forest, and what is to be kept with it: whatever JSON can say."""
    return to_bytes(forest, extra=extra)


def from_bytes_with_extra(
    data: bytes, *, max_bytes: int | None = None
) -> tuple[Any, dict[str, Any] | None]:
    """The forest, and what was kept with it, if anything was; otherwise as `riparian.from_bytes`.

    >>> import riparian
    >>> forest = riparian.OnlineForestClassifier(n_estimators=1).partial_fit([[0.0]], [1])
    >>> from_bytes_with_extra(to_bytes_with_extra(forest, {"unit": "metres"}))[1]
    {'unit': 'metres'}
    """
    header, engine = decode(bytes(data), max_bytes)
    return forest_of(header, engine), header.extra

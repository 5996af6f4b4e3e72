"""What a program keeps with a forest, in the same file and under the same checksum.

The command line keeps here what the columns of its files are. A forest knows nothing of it.
"""

from __future__ import annotations

import json
from typing import Any

from riparian.forest import OnlineForestClassifier
from riparian.snapshot import container
from riparian.snapshot.errors import SnapshotError, require
from riparian.snapshot.state import decode

MOST_CHARACTERS = 2**26  # the container takes no header of more than 100 MB


def with_extra(data: bytes, extra: dict[str, Any]) -> bytes:
    """The snapshot, and what is to be kept with it."""
    text = container.text_of(data)
    try:
        header = json.dumps({**json.loads(text), "extra": extra}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SnapshotError("header", f"extra cannot be saved: {error}") from None
    require(
        len(header) <= MOST_CHARACTERS,
        "header",
        f"extra is too long: the header may have {MOST_CHARACTERS} characters, has {len(header)}",
    )
    return container.with_text(data, header)


def from_bytes_with_extra(
    data: bytes, *, max_bytes: int | None = None
) -> tuple[OnlineForestClassifier, dict[str, Any] | None]:
    """The forest, and what was kept with it, if anything was; otherwise as `riparian.from_bytes`.

    >>> import riparian
    >>> forest = riparian.OnlineForestClassifier(n_estimators=1).partial_fit([[0.0]], [1])
    >>> from_bytes_with_extra(with_extra(forest.to_bytes(), {"unit": "metres"}))[1]
    {'unit': 'metres'}
    """
    header, engine = decode(bytes(data), max_bytes)
    return OnlineForestClassifier._from_snapshot(header, engine), header.extra

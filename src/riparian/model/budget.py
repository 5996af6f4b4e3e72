"""The effect of a memory budget on a forest so far, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def budget_in_words(stats: Mapping[str, Any]) -> str | None:
    """Describe the budget by the `stats()` of a forest; return None while `max_memory` does not bind.

    >>> budget_in_words({"budget_binds": True, "evictions": 1200, "stopped": 0})
    'max_memory binds: 1,200 leaves evicted from the fringe'
    >>> budget_in_words({"budget_binds": True, "evictions": 7, "stopped": 3})
    'max_memory binds: 7 leaves evicted from the fringe, 3 trees stopped growing'
    """
    if not stats["budget_binds"]:
        return None
    done = {
        "leaves evicted from the fringe": stats["evictions"],
        "trees stopped growing": stats["stopped"],
    }
    return f"max_memory binds: {', '.join(f'{n:,} {what}' for what, n in done.items() if n)}"

"""Return the memory of a snapshot to the system once it is written or read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from riparian import _core

P = ParamSpec("P")
T = TypeVar("T")


def gives_memory_back(work: Callable[P, T]) -> Callable[P, T]:
    """Decorate `work` so that memory goes back to the system once its arrays are freed.

    Otherwise the C library would keep as much as a forest takes.
    """

    @wraps(work)
    def then_gives_back(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        finally:
            _core.trim()

    return then_gives_back

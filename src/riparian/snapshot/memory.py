"""The memory of a snapshot goes back to the system when it is written or read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from riparian import _core

P = ParamSpec("P")
T = TypeVar("T")


def gives_memory_back(work: Callable[P, T]) -> Callable[P, T]:
    """After `work`, whose arrays are gone by then. The C library would keep as much as a forest has."""

    @wraps(work)
    def then_gives_back(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        finally:
            _core.trim()

    return then_gives_back

"""Forks: in the child process, every forest is whole and has locks of its own.

A fork waits until no forest is in the middle of a block.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riparian.engine.native import NativeEngine

_engines: weakref.WeakSet[NativeEngine] = weakref.WeakSet()  # of this process
_held: list[NativeEngine] = []  # during a fork


def survive_forks(engine: NativeEngine) -> None:
    """Make every later fork wait for this engine."""
    _engines.add(engine)


def _before_fork() -> None:
    _held.extend(_engines)
    for engine in _held:
        engine.core.hold()


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().core.let_go()


def _after_fork_in_child() -> None:
    while _held:
        engine = _held.pop()
        engine.learning = threading.Lock()  # a thread that held the old one does not exist here
        engine.core.let_go_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )

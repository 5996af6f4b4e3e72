"""scikit-learn, imported without two large libraries that it names but hardly ever uses.

`import sklearn.base` imports scipy.stats and, where it is installed, pandas: 1.2 of the 2.0 seconds
from a new process to its first prediction. So stand-ins take their places meanwhile. They are gone
right after, and scikit-learn, which keeps one, gets the real thing from it when it does need it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class StandIn(ModuleType):
    """In `sys.modules` where a module would be, until it is asked for anything."""

    def __getattr__(self, name: str) -> Any:
        # Importing a submodule comes here too, for __path__. If the real module imports it as well,
        # there are two of it: so no stand-ins around code that imports submodules of theirs.
        self.leave()
        return getattr(import_module(self.__name__), name)

    def leave(self) -> None:
        """Make room for the real module."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def installed(name: str) -> bool:
    """Whether the module can be found; where a finder forbids it, importing it shall say so."""
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


@contextmanager
def stand_ins(*names: str) -> Iterator[None]:
    """Stand in for those of the modules that are installed and not yet imported."""
    absent = [name for name in names if name not in sys.modules and installed(name)]
    standing = [StandIn(name) for name in absent]
    sys.modules.update({module.__name__: module for module in standing})
    try:
        yield
    finally:
        for module in standing:
            module.leave()


# Another thread could be importing the same libraries, and must get them whole.
if "sklearn" not in sys.modules and threading.active_count() == 1:
    with stand_ins("scipy.stats", "pandas"):
        import sklearn.base  # noqa: F401

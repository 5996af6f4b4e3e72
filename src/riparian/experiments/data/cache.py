"""Where downloads are kept between commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The folder RIPARIAN_CACHE, or `riparian` in the cache folder of this system."""
    chosen = os.environ.get("RIPARIAN_CACHE")
    return Path(chosen) if chosen else _system_cache() / "riparian"


def _system_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

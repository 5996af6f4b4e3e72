"""The door to matplotlib: importing riparian must not need it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def matplotlib(module: str) -> Any:
    """A module of matplotlib, or an error that says how to get it."""
    try:
        return import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError('this figure needs matplotlib: pip install "riparian[plot]"') from error

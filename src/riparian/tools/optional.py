"""Libraries that only some users need: imported when asked for, never with riparian."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def matplotlib(module: str) -> Any:
    """A module of matplotlib, for figures."""
    return optional_module(f"matplotlib.{module}", needed_by="this figure", extra="plot")


def plotly(module: str) -> Any:
    """A module of plotly, for the report."""
    return optional_module(f"plotly.{module}", needed_by="the report", extra="cli")


def optional_module(name: str, *, needed_by: str, extra: str) -> Any:
    """The module, or an error that says which extra of riparian brings it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing(name.partition(".")[0], needed_by=needed_by, extra=extra) from error


def missing(library: str, *, needed_by: str, extra: str) -> ImportError:
    """The error that says which extra of riparian brings a library."""
    return ImportError(f'{needed_by} needs {library}: pip install "riparian[{extra}]"')

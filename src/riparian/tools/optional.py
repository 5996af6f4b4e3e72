"""Libraries that only some users need: imported on demand, never with riparian."""

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
    """Import the module, or raise an error that names the extra that provides it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing(name.partition(".")[0], needed_by=needed_by, extra=extra) from error


def missing(library: str, *, needed_by: str, extra: str) -> ImportError:
    """Return the error that names the extra that provides a library."""
    return ImportError(f'{needed_by} needs {library}: pip install "riparian[{extra}]"')

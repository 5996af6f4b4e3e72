"""A missing library is an error that says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

from riparian.tools.optional import matplotlib, optional_module


def test_a_module_that_is_there_is_imported():
    assert optional_module("json.decoder", needed_by="a test", extra="dev").JSONDecoder


def test_a_module_that_is_missing_says_which_extra_brings_it():
    message = r'^a test needs no_such_library: pip install "riparian\[dev\]"$'
    with pytest.raises(ImportError, match=message):
        optional_module("no_such_library.part", needed_by="a test", extra="dev")


@pytest.mark.parametrize("name", ["river", "capymoa", "ray"])
def test_an_adapter_of_another_library_says_what_it_needs(name):
    """In a process of its own: here, the library may have been imported."""
    code = f"import sys; sys.modules[{name!r}] = None; import riparian.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    reported = done.stderr.splitlines()[-1]
    assert reported == f'ImportError: riparian.{name} needs {name}: pip install "riparian[{name}]"'


def test_a_figure_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.nothing", None)
    with pytest.raises(ImportError, match=r'^this figure needs matplotlib: pip .*\[plot\]"$'):
        matplotlib("nothing")

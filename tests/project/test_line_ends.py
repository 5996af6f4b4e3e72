"""Text files end with one line break, and the hook that sees to it does so."""

from __future__ import annotations

import pytest

from line_ends import ended, main
from phrases import files


@pytest.mark.parametrize(
    "data, expected",
    [(b"", b""), (b"\n\n", b""), (b"a", b"a\n"), (b"a\n", b"a\n"), (b"a\r\n\n", b"a\n")],
)
def test_a_text_ends_with_one_line_break(data, expected):
    assert ended(data) == expected


def test_the_hook_changes_a_file_once(tmp_path):
    path = tmp_path / "a.md"
    path.write_bytes(b"text")
    assert main([path]) == 1 and path.read_bytes() == b"text\n"
    assert main([path]) == 0


def test_all_lines_of_the_project_end_with_a_line_feed():
    assert [path for path in files() if ended(path.read_bytes()) != path.read_bytes()] == []

"""A page may link to a file of the repository that is no page: the site shows the text of the link.

A link to what is not there at all stays, so that the build complains of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]+)\)")
DOCS = Path(__file__).parent.resolve()


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> str:
    folder = Path(page.file.abs_src_path).parent

    def without_outside(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        outside = target.exists() and DOCS not in target.parents
        return match[1] if outside else match[0]

    return LINK.sub(without_outside, markdown)

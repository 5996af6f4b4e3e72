"""Every guide with Python code can be downloaded as a notebook, whose outputs are those of the page.

The tests run the code of each page (tests/project/test_docs.py), so they run that of the notebooks.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]+\)")  # to other pages and files
FIGURE = re.compile(r"^!\[.*\n?", re.MULTILINE)  # a figure lies next to the page, not the notebook
HEADING = re.compile(r"^# .*$", re.MULTILINE)
RUNS = {"python", "sh"}
GUIDES = {"tutorials", "how-to", "concepts"}  # folders of pages to work through

_made: dict[str, str] = {}  # notebooks of this build, by their paths in the site


def notebook_of(markdown: str) -> dict[str, Any]:
    """Return a page as a notebook (nbformat 4.5): a cell for each block of code or text."""
    cells: list[dict[str, Any]] = []
    end = 0
    for match in FENCE.finditer(markdown):
        add_text(cells, markdown[end : match.start()])
        end = match.end()
        language, text = match[1], match[2].rstrip("\n")
        if language in RUNS:
            add(cells, "code", text if language == "python" else for_shell(text))
        elif language == "text" and cells and cells[-1]["cell_type"] == "code":
            cells[-1]["outputs"] = [
                {"output_type": "stream", "name": "stdout", "text": lines_of(text + "\n")}
            ]
        else:
            add_text(cells, match[0])
    add_text(cells, markdown[end:])
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def add(cells: list[dict[str, Any]], kind: str, text: str) -> None:
    cell = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": lines_of(text)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    cells.append(cell)


def add_text(cells: list[dict[str, Any]], text: str) -> None:
    text = LINK.sub(r"\1", FIGURE.sub("", text)).strip()
    if text:
        add(cells, "markdown", text)


def for_shell(text: str) -> str:
    """Return commands as IPython runs them."""
    commands = re.sub(r"\\\n\s*", "", text).splitlines()
    return "\n".join(
        line.replace("pip install", "%pip install", 1) if line.startswith("pip ") else f"!{line}"
        for line in commands
        if line and not line.startswith("#")
    )


def lines_of(text: str) -> list[str]:
    return text.splitlines(keepends=True)


# -- what mkdocs calls ------------------------------------------------------------------------------


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> str:
    """Add a link to the notebook below the title of a guide with Python code."""
    name = Path(page.file.src_path).with_suffix(".ipynb")
    if name.parts[0] not in GUIDES or "```python\n" not in markdown:
        return markdown
    _made[(Path(page.file.dest_path).parent / name.name).as_posix()] = json.dumps(
        notebook_of(markdown), indent=1
    )
    link = f'<p class="notebook"><a href="{name.name}" download>Download as a notebook</a></p>'
    return HEADING.sub(lambda heading: f"{heading[0]}\n\n{link}", markdown, count=1)


def on_post_build(*, config: Any, **kwargs: Any) -> None:
    for path, text in _made.items():
        (Path(config.site_dir) / path).write_text(text)
    _made.clear()
